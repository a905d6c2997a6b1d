//! A thread that is read again after its run broke (section 7): whatever came before, nothing is repeated, and
//! everything that the server has of the run is reported.

use super::*;

/// How a server returns a thread.
#[derive(Debug, Clone, Copy)]
enum Tells {
    /// In a stream, under the streamed ids.
    Snapshot,
    /// As JSON, under other ids.
    State,
}

const BOTH: [Tells; 2] = [Tells::Snapshot, Tells::State];

impl Tells {
    fn terms(self) -> Json {
        json!({"recovery": if matches!(self, Self::Snapshot) { "snapshot" } else { "state" }})
    }

    /// The turn has asked for the thread, and gets these messages and this state.
    fn tell(self, turn: Turn, messages: &[Json], state: &Json, outcome: Json) -> Turn {
        let mut turn = turn.end();
        with_params(&params(&hello(), &self.terms()), |params| turn.decoder.resume(params));
        match self {
            Self::Snapshot => {
                let mut end = finished();
                if !outcome.is_null() {
                    end["outcome"] = outcome;
                }
                let told = json!({"type": "MESSAGES_SNAPSHOT", "messages": messages});
                turn.feed(&[started(), json!({"type": "STATE_SNAPSHOT", "snapshot": state}), told, end]).end()
            }
            Self::State => {
                let body =
                    json!({"threadExists": true, "state": state, "messages": renamed(messages)}).to_string();
                turn.decoder.body(Value::parse(&body).expect("JSON"), &mut turn.seen);
                turn.end()
            }
        }
    }
}

/// The same messages under other ids.
fn renamed(messages: &[Json]) -> Vec<Json> {
    let mut messages = messages.to_vec();
    for (at, message) in messages.iter_mut().enumerate() {
        message["id"] = format!("other {at}").into();
    }
    messages
}

/// A run with two texts, the same text twice, a call of the server and one of the page.
fn run_frames() -> Vec<Json> {
    let mut frames = vec![started(), frame("TEXT_MESSAGE_START", "m1", "")];
    frames.extend(["Let me", " look."].map(|piece| frame("TEXT_MESSAGE_CONTENT", "m1", piece)));
    frames.push(frame("TEXT_MESSAGE_END", "m1", ""));
    frames.extend(calls("c1", "server_tool", r#"{"a":1}"#, "m1"));
    frames.push(result("x1", "c1", "42"));
    frames.push(json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}}));
    frames.extend(says("m2", "Let me look."));
    frames.extend(calls("c2", "mine", r#"{"b":2}"#, "m2"));
    frames.push(finished());
    frames
}

fn uncut(tells: Tells) -> Turn {
    Turn::with(&hello(), &tells.terms()).feed(&run_frames()).end()
}

/// The conversation as the server stores it.
fn stored(turn: &Turn) -> Vec<Json> {
    turn.kept()["messages"].as_array().expect("messages").clone()
}

/// All texts in the deltas.
fn told(turn: &Turn) -> String {
    let deltas = turn.seen.of("model.message.delta");
    deltas.iter().filter_map(|delta| delta["content"].as_str()).collect()
}

#[test]
fn a_run_that_has_ended_is_read_from_its_thread_after_any_frame() {
    let frames = run_frames();
    for tells in BOTH {
        let uncut = uncut(tells);
        for at in 1..frames.len() {
            let turn = Turn::with(&hello(), &tells.terms()).feed(&frames[..at]);
            let turn = tells.tell(turn, &stored(&uncut), &json!({"n": 1}), Json::Null);
            let cut = format!("{tells:?}, cut before frame {at}: {}", frames[at]);
            let texts = |turn: &Turn| -> Vec<String> {
                let shown = turn.shown();
                shown.iter().map(|text| text.split_once(':').expect("an id").1.to_owned()).collect()
            };
            assert_eq!(texts(&turn), texts(&uncut), "{cut}");
            assert_eq!(told(&turn), told(&uncut), "{cut}");
            assert_eq!(state(&turn.seen)["status"], "done", "{cut}");
            assert_eq!(pending(&turn.seen), pending(&uncut.seen), "{cut}");
            assert_eq!(warnings(&turn.seen), [""; 0], "{cut}");
            for kind in ["turn.created", "tool.response", "turn.done", "notice"] {
                assert_eq!(turn.seen.of(kind).len(), uncut.seen.of(kind).len(), "{kind}, {cut}");
            }
            let kept = |turn: &Turn| {
                let all = stored(turn).into_iter();
                all.map(|message| json!([message["role"], message["content"], message["toolCalls"]]))
                    .collect::<Vec<_>>()
            };
            assert_eq!(kept(&turn), kept(&uncut), "{cut}");
            assert_eq!(turn.kept()["state"], json!({"n": 1}), "{cut}");
        }
    }
}

/// The same messages, with other ids of the calls as well.
fn recalled(messages: &[Json]) -> Vec<Json> {
    let text = Json::from(messages).to_string();
    let text = ["c1", "c2"].iter().fold(text, |text, id| {
        text.replace(&format!("\"id\":\"{id}\""), &format!("\"id\":\"new {id}\""))
            .replace(&format!("\"toolCallId\":\"{id}\""), &format!("\"toolCallId\":\"new {id}\""))
    });
    serde_json::from_str(&text).expect("messages")
}

#[test]
fn a_call_that_is_stored_under_another_id_comes_once() {
    let frames = run_frames();
    let begun = |at: usize, id: &str| {
        frames[..at].iter().any(|frame| frame["type"] == "TOOL_CALL_START" && frame["toolCallId"] == id)
    };
    let tells = Tells::State;
    let uncut = uncut(tells);
    for at in 1..frames.len() {
        let turn = Turn::with(&hello(), &tells.terms()).feed(&frames[..at]);
        let turn = tells.tell(turn, &recalled(&stored(&uncut)), &json!({"n": 1}), Json::Null);
        let cut = format!("cut before frame {at}: {}", frames[at]);
        assert_eq!(state(&turn.seen)["status"], "done", "{cut}");
        assert_eq!(turn.seen.of("tool.response").len(), 1, "{cut}");
        let own = if begun(at, "c2") { "c2" } else { "new c2" };
        assert_eq!(pending(&turn.seen), [format!("Response {own}")], "{cut}");
        let calls: Vec<Json> = stored(&turn)
            .iter()
            .flat_map(|message| message["toolCalls"].as_array().cloned().unwrap_or_default())
            .map(|call| call["function"].clone())
            .collect();
        let whole = [
            json!({"name": "server_tool", "arguments": "{\"a\":1}"}),
            json!({"name": "mine", "arguments": "{\"b\":2}"}),
        ];
        assert_eq!(calls, whole, "{cut}");
    }
}

/// A server may not stop at the page's call: other results, and the model's last thoughts, come after it.
#[test]
fn a_call_that_waits_ends_the_run_also_before_results_of_others() {
    for tells in BOTH {
        let both = json!([
            {"id": "c1", "type": "function", "function": {"name": "server_tool", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "mine", "arguments": "{}"}},
        ]);
        let input = stored(&uncut(tells))[0].clone();
        let mut thread = vec![
            input,
            json!({"id": "m1", "role": "assistant", "toolCalls": both}),
            json!({"id": "x1", "role": "tool", "toolCallId": "c1", "content": "42"}),
        ];
        for is_thought in [false, true] {
            if is_thought {
                thread.push(json!({"id": "r1", "role": "reasoning", "content": "Hm."}));
            }
            let turn = Turn::with(&hello(), &tells.terms()).feed(&[started()]);
            let turn = tells.tell(turn, &thread, &json!({}), Json::Null);
            assert_eq!(state(&turn.seen)["status"], "done", "{tells:?} {is_thought}");
            assert_eq!(turn.seen.of("tool.response").len(), 1, "{tells:?} {is_thought}");
            assert_eq!(pending(&turn.seen), ["Response c2"], "{tells:?} {is_thought}");
        }
    }
}

/// A server's call without a result still runs, even beside a call that waits for the page.
#[test]
fn a_run_whose_server_still_works_has_not_ended() {
    for tells in BOTH {
        let both = json!([
            {"id": "c1", "type": "function", "function": {"name": "server_tool", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "mine", "arguments": "{}"}},
        ]);
        let input = stored(&uncut(tells))[0].clone();
        let mut thread = vec![input, json!({"id": "m1", "role": "assistant", "toolCalls": both})];
        let turn = Turn::with(&hello(), &tells.terms()).feed(&[started()]);
        let turn = tells.tell(turn, &thread, &json!({}), Json::Null);
        assert_eq!(turn.seen.of("turn.done").len(), 0, "{tells:?}");
        thread.push(json!({"id": "x1", "role": "tool", "toolCallId": "c1", "content": "42"}));
        let turn = tells.tell(turn, &thread, &json!({}), Json::Null);
        assert_eq!(pending(&turn.seen), ["Response c2"], "{tells:?}");
        // A server may end the run without it: its thread then stays unchanged.
        thread.pop();
        let mut turn = Turn::with(&hello(), &tells.terms()).feed(&[started()]);
        for _ in 0..40 {
            turn = tells.tell(turn, &thread, &json!({}), Json::Null);
        }
        assert!(pending(&turn.seen).contains(&"Response c2".to_owned()), "{tells:?}");
    }
}

/// A server that did not get the first message has it once in its thread, and a server that failed on it has it twice.
#[test]
fn a_message_that_is_said_again_is_found_in_the_thread() {
    let mut terms = Tells::State.terms();
    terms["conversation"] = json!({"messages": [{"id": "earlier:0", "role": "user", "content": "Hi"}]});
    let begin = || Turn::with(&hello(), &terms);
    let once = renamed(&stored(&begin().feed(&run_frames()).end()));
    let mut twice = once.clone();
    twice.insert(0, json!({"id": "older", "role": "user", "content": "Hi"}));
    for thread in [once, twice] {
        let mut turn = begin().feed(&run_frames()[..4]).end();
        with_params(&params(&hello(), &terms), |params| turn.decoder.resume(params));
        let body = json!({"state": {}, "messages": thread}).to_string();
        turn.decoder.body(Value::parse(&body).expect("JSON"), &mut turn.seen);
        assert_eq!(pending(&turn.end().seen), ["Response c2"]);
    }
}

/// A thread without the turn's input is from before the run, and so is a missing thread.
#[test]
fn a_thread_of_before_the_run_ends_nothing() {
    let earlier = [
        json!({"id": "u0", "role": "user", "content": "Hi"}),
        json!({"id": "a0", "role": "assistant", "content": "Yes"}),
    ];
    for tells in BOTH {
        let mut terms = tells.terms();
        terms["conversation"] = json!({"messages": earlier});
        for (messages, begun) in [(&earlier[..], true), (&[], true), (&earlier[..], false)] {
            let turn = Turn::with(&hello(), &terms);
            let mut turn =
                if begun { turn.feed(&[started()]).feed(&says("m", "One")[..2]) } else { turn }.end();
            let before = turn.seen.events.len();
            with_params(&params(&hello(), &terms), |params| turn.decoder.resume(params));
            let told = json!({"type": "MESSAGES_SNAPSHOT", "messages": messages});
            let turn = match tells {
                Tells::Snapshot => turn.feed(&[started(), told, finished()]).end(),
                Tells::State => {
                    let body = json!({"messages": renamed(messages), "state": {}}).to_string();
                    turn.decoder.body(Value::parse(&body).expect("JSON"), &mut turn.seen);
                    turn.end()
                }
            };
            assert_eq!(turn.seen.events.len(), before, "{tells:?}");
        }
    }
}

/// Servers store a running or cancelled run between its steps: that is not its end, and reports nothing yet.
#[test]
fn a_thread_whose_run_goes_on_only_tells_that_it_has_begun() {
    for tells in BOTH {
        let uncut = uncut(tells);
        let all = stored(&uncut);
        let mut turn = Turn::with(&hello(), &tells.terms());
        for len in 1..all.len() {
            turn = tells.tell(turn, &all[..len], &json!({}), Json::Null);
            assert_eq!(turn.seen.events.len(), 1, "{len} messages");
        }
        let turn = tells.tell(turn, &all, &json!({"n": 1}), Json::Null);
        assert_eq!(turn.seen.of("turn.created").len(), 1);
        assert_eq!(told(&turn), told(&uncut));
        assert_eq!(pending(&turn.seen), pending(&uncut.seen));
        // A call that only the server answers is not an end, unless its state lists it as awaited.
        let call = json!({"id": "c9", "type": "function", "function": {"name": "theirs", "arguments": "{}"}});
        let messages = [all[0].clone(), json!({"id": "m9", "role": "assistant", "toolCalls": [call]})];
        for (state, ends) in [(json!({}), 0), (json!({"pending_tool_calls": ["c9"]}), 1)] {
            let turn = tells.tell(Turn::with(&hello(), &tells.terms()), &messages, &state, Json::Null);
            assert_eq!(turn.seen.of("turn.done").len(), ends, "{state}");
        }
    }
}

#[test]
fn what_the_stored_run_waits_for_is_told() {
    let frames = [vec![started()], calls("c1", "server_tool", "{}", "m1")].concat();
    let uncut = Turn::with(&hello(), &Tells::Snapshot.terms()).feed(&frames).feed(&[finished()]).end();
    let interrupt =
        json!({"type": "interrupt", "interrupts": [{"id": "i1", "reason": "approval", "toolCallId": "c1"}]});
    for at in 1..frames.len() {
        let turn = Turn::with(&hello(), &Tells::Snapshot.terms()).feed(&frames[..at]);
        let turn = Tells::Snapshot.tell(turn, &stored(&uncut), &json!({}), interrupt.clone());
        assert_eq!(pending(&turn.seen), ["Approval c1"], "cut before frame {at}");
    }
}

/// The next turn begins with the server's messages.
#[test]
fn a_thread_is_read_after_a_reload() {
    let frames = run_frames();
    for tells in BOTH {
        let uncut = uncut(tells);
        let left = Turn::with(&hello(), &tells.terms()).feed(&frames[..3]).end();
        let mut terms = tells.terms();
        terms["conversation"] = left.kept();
        let asked = params(&hello(), &terms);
        let mut turn = Turn { decoder: RunDecoder::default(), seen: Seen::default() };
        with_params(&asked, |params| turn.decoder.resume(params));
        assert!(turn.decoder.conversation().is_none(), "what was stored stays");
        let turn = tells.tell(turn, &stored(&uncut), &json!({"n": 1}), Json::Null);
        assert_eq!(told(&turn), told(&uncut), "{tells:?}");
        assert_eq!(stored(&turn).len(), stored(&uncut).len(), "{tells:?}");
    }
}

/// A run that failed after the break is awaited at each load of the page, but not for as long again: its thread stays
/// unchanged. Its part in the thread is reported, and it is over.
#[test]
fn an_old_run_whose_thread_stays_the_same_has_failed() {
    let now = 1_767_225_600_000_u64;
    let frames = run_frames();
    for (minutes, ends) in [(5, false), (11, true)] {
        let mut terms = Tells::State.terms();
        terms["now"] = now.into();
        let uncut = Turn::with(&hello(), &terms).feed(&frames).end();
        let left = Turn::with(&hello(), &terms).feed(&frames[..3]).end();
        terms["conversation"] = left.kept();
        terms["now"] = (now + minutes * 60_000).into();
        let mut turn = Turn { decoder: RunDecoder::default(), seen: Seen::default() };
        let reads = |turn: &mut Turn, messages: &[Json], times: u32| {
            for _ in 0..times {
                with_params(&params(&hello(), &terms), |params| turn.decoder.resume(params));
                let body = json!({"state": {}, "messages": renamed(messages)}).to_string();
                turn.decoder.body(Value::parse(&body).expect("JSON"), &mut turn.seen);
                turn.decoder.end(&mut turn.seen);
            }
        };
        let all = stored(&uncut);
        // It still grew, so it is running.
        reads(&mut turn, &all[..1], 150);
        reads(&mut turn, &all[..2], 150);
        assert_eq!(state(&turn.seen), Json::Null, "{minutes}");
        assert_eq!(turn.kept()["open_run"]["begun_at"], now, "a reload is no beginning");
        reads(&mut turn, &all[..2], 1);
        if ends {
            assert_eq!(state(&turn.seen)["status"], "error");
            assert_eq!(
                turn.shown(),
                ["m1: Let me look. server_tool({\"a\":1})"].map(|said| said.replace("m1", "other 1"))
            );
            assert_eq!(turn.kept()["open_run"], Json::Null, "the next load does not ask");
        } else {
            assert_eq!(state(&turn.seen), Json::Null);
        }
    }
}

#[test]
fn a_thread_is_asked_for_without_messages() {
    for (recovery, path, body) in [
        ("snapshot", "", json!({"threadId": "s/1", "runId": "t", "messages": []})),
        ("state", "../agents/state", json!({"threadId": "s/1"})),
    ] {
        let asked =
            json!({"sessionId": "s/1", "turnId": "t", "input": hello(), "terms": {"recovery": recovery}});
        let protocol = AgUi::new().with_terms(&asked["terms"].to_string());
        let request = with_params(&asked, |params| protocol.request(Call::SubscribeTurn, params.clone()));
        let request = request.expect("a request");
        assert_eq!(request.path, path);
        let sent: Json = serde_json::from_str(&request.body.expect("a body")).expect("JSON");
        for (name, value) in body.as_object().expect("an object") {
            assert_eq!(&sent[name], value, "{recovery}: {name}");
        }
        let stop = with_params(&json!({"sessionId": "s", "terms": {"recovery": recovery}}), |params| {
            protocol.request(Call::CancelTurn, params.clone())
        });
        assert_eq!(stop.expect_err("no request").code, crate::ErrorCode::Unsupported);
    }
}

/// Only a thread may come as JSON.
#[test]
fn json_in_place_of_a_run_is_refused() {
    let protocol = AgUi::new().with_terms(&Tells::State.terms().to_string());
    for (call, body, is_taken) in [
        (Call::SubscribeTurn, r#"{"messages":[]}"#, true),
        (Call::SubscribeTurn, r#"{"error":"no"}"#, false),
        (Call::CreateTurnStream, r#"{"messages":[]}"#, false),
    ] {
        let answer = protocol.answer(call, &Object::new(), Value::parse(body).expect("JSON"));
        let refused = answer.err().map(|error| error.code);
        assert_eq!(refused, (!is_taken).then_some(crate::ErrorCode::UnexpectedResponse), "{body}");
    }
}

/// The user's message was sent, whatever happened to the run. An answer can be given again.
#[test]
fn a_message_whose_run_never_answered_is_kept() {
    let said = Turn::new();
    let messages = said.kept()["messages"].clone();
    assert_eq!(messages, json!([{"id": "t:0", "role": "user", "content": "Hi"}]));
    let answer = json!([{"type": "user.tool_response", "tool_call_id": "c", "content": "42"}]);
    assert_eq!(Turn::with(&answer, &json!({})).kept(), Json::Null);
}

/// The first of two equal messages was stored without an answer; then the second was lost.
#[test]
fn the_first_of_two_equal_messages_is_not_the_second() {
    let first = json!({"id": "t0:0", "role": "user", "content": "Hi"});
    let terms = json!({"recovery": "snapshot", "conversation": {"messages": [first]}});
    let asked = |messages: &[Json]| {
        let mut turn = Turn::with(&hello(), &terms);
        with_params(&params(&hello(), &terms), |params| turn.decoder.resume(params));
        let told = json!({"type": "MESSAGES_SNAPSHOT", "messages": messages});
        turn.feed(&[started(), told, finished()]).end()
    };
    for stored in
        [vec![first.clone()], vec![first.clone(), json!({"id": "a", "role": "assistant", "content": "Yes"})]]
    {
        let mut lost = asked(&stored);
        assert!(lost.seen.events.is_empty(), "{:?}", lost.seen.events);
        assert!(lost.decoder.failure().is_some());
    }
    let second = json!({"id": "t:0", "role": "user", "content": "Hi"});
    let found = asked(&[first.clone(), second, json!({"id": "a", "role": "assistant", "content": "Yes"})]);
    assert_eq!(found.shown(), ["a: Yes"]);
    assert_eq!(state(&found.seen)["status"], "done");
}

#[test]
fn messages_of_a_thread_without_ids_are_as_many_as_they_are() {
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let tells = Tells::Snapshot;
    let begun = Turn::with(&hello(), &tells.terms()).feed(&[started()]).feed(&says("m", "Yes")[..2]);
    let mut thread = stored(&begun)[..1].to_vec();
    thread.extend(["Yes", "Yes", "No", "No"].map(said));
    let turn = tells.tell(begun, &thread, &json!({}), Json::Null);
    let texts: Vec<_> = stored(&turn).iter().skip(1).map(|message| message["content"].clone()).collect();
    assert_eq!(texts, ["Yes", "Yes", "No", "No"]);
    assert_eq!(told(&turn), "YesYesNoNo");
}
