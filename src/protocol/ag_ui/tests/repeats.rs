//! A stream that repeats its run after the first one broke (section 7): whatever came before, nothing is repeated, and
//! nothing is lost.

use super::*;

/// A run with everything that could be reported twice by mistake.
fn run_frames() -> Vec<Json> {
    let state = |op: Json| json!({"type": "STATE_DELTA", "delta": [op]});
    let mut frames = vec![
        started(),
        json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}}),
        json!({"type": "REASONING_MESSAGE_START", "messageId": "r1", "role": "reasoning"}),
        json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": "r1", "delta": "Let me "}),
        json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": "r1", "delta": "see."}),
        json!({"type": "REASONING_MESSAGE_END", "messageId": "r1"}),
        json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "r1", "encryptedValue": "x"}),
        frame("TEXT_MESSAGE_START", "m1", ""),
        frame("TEXT_MESSAGE_CONTENT", "m1", "Grüße"),
        frame("TEXT_MESSAGE_CONTENT", "m1", ", one"),
        frame("TEXT_MESSAGE_CONTENT", "m1", ", one"),
        frame("TEXT_MESSAGE_END", "m1", ""),
        state(json!({"op": "replace", "path": "/n", "value": 2})),
    ];
    frames.extend(calls("c1", "server_tool", r#"{"a":1}"#, "m1"));
    frames.extend([
        result("x1", "c1", "42"),
        json!({"type": "STEP_STARTED", "stepName": "plan"}),
        json!({"type": "CUSTOM", "name": "progress", "value": 1}),
        json!({"type": "CUSTOM", "name": "progress", "value": 1}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a1", "activityType": "PLAN", "content": {"n": 0}}),
        json!({"type": "ACTIVITY_DELTA", "messageId": "a1", "activityType": "PLAN", "patch": [{"op": "replace", "path": "/n", "value": 1}]}),
        json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "helper"}),
        json!({"type": "TEXT_MESSAGE_START", "messageId": "m2", "subagentRunId": "s1"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m2", "delta": "Sub", "subagentRunId": "s1"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "m2", "subagentRunId": "s1"}),
        json!({"type": "SUBAGENT_FINISHED", "subagentRunId": "s1"}),
        json!({"type": "LATER_VERSION", "of": "the protocol"}),
        state(json!({"op": "add", "path": "/m", "value": [1]})),
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m3", "delta": "Chunk"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "ed"}),
        json!({"type": "RAW", "event": 1}),
    ]);
    frames.extend(calls("c2", "mine", r#"{"b":2}"#, "m3"));
    frames.push(finished());
    frames
}

/// A turn in a session whose server repeats runs.
fn begun() -> Turn {
    Turn::with(&hello(), &repeating())
}

/// The frames as `CopilotKit`'s runtime has them after the end of their run: pieces are joined, and the state comes once,
/// at the end.
fn compacted(frames: &[Json]) -> Vec<Json> {
    let mut kept: Vec<Json> = Vec::new();
    for frame in frames {
        let kind = frame["type"].as_str().expect("a type");
        if kind.starts_with("STATE_") {
            continue;
        }
        if kind == "RUN_FINISHED" {
            kept.push(json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": 2, "m": [1]}}));
        }
        let is_piece = kind.ends_with("_CONTENT") || kind.ends_with("_ARGS");
        let same = |known: &&mut Json| {
            ["type", "messageId", "toolCallId"].iter().all(|name| known[name] == frame[name])
        };
        match kept.iter_mut().find(same).filter(|_| is_piece) {
            Some(known) => {
                let joined =
                    [known["delta"].as_str(), frame["delta"].as_str()].map(Option::unwrap_or_default);
                known["delta"] = joined.concat().into();
            }
            None => kept.push(frame.clone()),
        }
    }
    kept
}

/// Another run of the same thread.
fn another(id: &str) -> Vec<Json> {
    let mut frames = vec![json!({"type": "RUN_STARTED", "threadId": "s", "runId": id})];
    frames.push(json!({"type": "STATE_SNAPSHOT", "snapshot": {"other": id}}));
    frames.extend(says(&format!("of {id}"), "Another"));
    frames.push(json!({"type": "RUN_FINISHED", "threadId": "s", "runId": id}));
    frames
}

#[test]
fn a_run_that_still_goes_on_is_read_on_from_any_frame() {
    let frames = run_frames();
    let uncut = begun().feed(&frames).end();
    for at in 0..frames.len() {
        let turn = begun().feed(&frames[..at]).again().feed(&another("r0")).feed(&frames).end();
        assert_eq!(turn.seen.events, uncut.seen.events, "cut before frame {at}: {}", frames[at]);
        assert_eq!(turn.kept(), uncut.kept(), "cut before frame {at}");
    }
}

#[test]
fn a_run_that_has_ended_meanwhile_is_read_on_from_any_frame() {
    let frames = run_frames();
    let uncut = begun().feed(&frames).end();
    let whole = [another("r0"), compacted(&frames), another("r1")].concat();
    for at in 0..frames.len() {
        let turn = begun().feed(&frames[..at]).again().feed(&whole).end();
        let cut = format!("cut before frame {at}: {}", frames[at]);
        assert_eq!(turn.shown(), uncut.shown(), "{cut}");
        assert_eq!(turn.kept()["messages"], uncut.kept()["messages"], "{cut}");
        assert_eq!(turn.kept()["state"], uncut.kept()["state"], "{cut}");
        assert_eq!(pending(&turn.seen), pending(&uncut.seen), "{cut}");
        assert_eq!(warnings(&turn.seen), [""; 0], "{cut}");
        for kind in
            ["turn.created", "tool.response", "notice", "activity.snapshot", "activity.delta", "unknown"]
        {
            assert_eq!(turn.seen.of(kind).len(), uncut.seen.of(kind).len(), "{kind}, {cut}");
        }
        // The text comes in other pieces, each once.
        assert_eq!(told(&turn, "content"), told(&uncut, "content"), "{cut}");
        assert_eq!(told(&turn, "reasoning_content"), told(&uncut, "reasoning_content"), "{cut}");
        assert_eq!(state(&turn.seen), state(&uncut.seen), "{cut}");
    }
}

/// All texts in one field of the deltas.
fn told(turn: &Turn, field: &str) -> String {
    let deltas = turn.seen.of("model.message.delta");
    deltas.iter().filter_map(|delta| delta[field].as_str()).collect()
}

#[test]
fn a_second_cut_is_like_the_first() {
    let frames = run_frames();
    let uncut = begun().feed(&frames).end();
    for at in 0..frames.len() {
        let later = (at + 3).min(frames.len() - 1);
        let turn = begun().feed(&frames[..at]).again().feed(&frames[..later]).again().feed(&frames).end();
        assert_eq!(turn.seen.events, uncut.seen.events, "cut before frames {at} and {later}");
    }
}

#[test]
fn a_start_that_was_lost_is_found() {
    let frames = run_frames();
    let turn = begun().again().feed(&another("r0")).feed(&frames).end();
    assert_eq!(turn.seen.events, begun().feed(&frames).end().seen.events);
    let mut absent = begun().again().feed(&another("r0")).end();
    assert!(absent.seen.events.is_empty(), "other runs are none of it");
    assert!(absent.decoder.failure().is_some());
}

#[test]
fn another_text_than_before_is_reported_and_left_out() {
    let turn = begun()
        .feed(&[started()])
        .feed(&says("m", "One two")[..2])
        .again()
        .feed(&[started()])
        .feed(&says("m", "One 2 three"))
        .feed(&[finished()])
        .end();
    assert_eq!(turn.shown(), ["m: One two"]);
    assert_eq!(warnings(&turn.seen), ["repetition_differs"]);
    assert_eq!(state(&turn.seen)["status"], "done");
}

#[test]
fn a_server_that_names_the_run_itself_names_it_again() {
    let mut first = started();
    first["runId"] = "theirs".into();
    let again = [vec![first.clone()], says("m", "One two"), vec![finished()]].concat();
    let turn =
        begun().feed(&[first]).feed(&says("m", "One")[..2]).again().feed(&another("t")).feed(&again).end();
    assert_eq!(turn.shown(), ["m: One two"]);
}

/// What is stored during a run is enough to read it after a reload of the page: all of it, from the same state.
#[test]
fn a_run_is_read_after_a_reload() {
    let frames = run_frames();
    let terms = json!({"recovery": "connect", "conversation": {
        "state": {"before": true},
        "messages": [{"id": "u0", "role": "user", "content": "Before"}, {"id": "m0", "role": "assistant", "content": "Yes"}],
    }});
    let uncut = Turn::with(&hello(), &terms).feed(&frames).end();
    assert_eq!(uncut.kept()["open_run"], Json::Null);
    for at in [1, 3, 14, frames.len() - 1] {
        let left = Turn::with(&hello(), &terms).feed(&frames[..at]).end();
        let stored = json!({"recovery": "connect", "conversation": left.kept()});
        let asked = params(&hello(), &stored);
        let mut turn = Turn { decoder: RunDecoder::default(), seen: Seen::default() };
        with_params(&asked, |params| turn.decoder.resume(params));
        let turn = turn.feed(&another("r0")).feed(&frames).end();
        assert_eq!(turn.seen.events, uncut.seen.events, "left before frame {at}");
        assert_eq!(turn.kept(), uncut.kept(), "left before frame {at}");
        let request = with_params(&asked, |params| {
            let mut params = params.clone();
            params.remove("agentName");
            AgUi::new().request(Call::SubscribeTurn, params)
        });
        let request = request.expect("a request");
        assert_eq!(request.path, "../connect");
        let body: Json = serde_json::from_str(&request.body.expect("a body")).expect("JSON");
        assert_eq!(body["messages"].as_array().map(Vec::len), Some(3), "{body}");
        assert_eq!(body["state"], json!({"before": true}));
    }
}

#[test]
fn a_run_that_is_open_is_the_last_turn_and_runs() {
    let turn = begun().feed(&run_frames()[..5]).end();
    let terms = json!({"terms": {"conversation": turn.kept().to_string()}, "sessionId": "s"});
    let turns =
        with_params(&terms, |params| AgUi::new().local(Call::ListTurns, params).map(|list| list.to_json()));
    let turns: Json = serde_json::from_str(&turns.expect("a list")).expect("JSON");
    let [turn] = turns["items"].as_array().expect("items").as_slice() else { panic!("{turns}") };
    assert_eq!((&turn["id"], &turn["state"]), (&json!("t"), &json!({"status": "running"})));
}

#[test]
fn only_a_server_that_repeats_runs_is_asked_to_repeat_and_to_stop() {
    for (call, path) in [(Call::SubscribeTurn, "../connect"), (Call::CancelTurn, "../stop/s%2F1")] {
        let ask = |terms: Json| {
            let mut params = json!({"sessionId": "s/1", "turnId": "t", "terms": terms});
            if call == Call::SubscribeTurn {
                params["input"] = hello();
            }
            with_params(&params, |params| AgUi::new().request(call, params.clone()))
        };
        assert_eq!(ask(repeating()).expect("a request").path, path);
        assert_eq!(ask(json!({})).expect_err("no request").code, crate::ErrorCode::Unsupported);
    }
    let resume = |terms: Json| AgUi::new().with_terms(&terms.to_string()).capabilities().resume.as_str();
    assert_eq!([resume(repeating()), resume(json!({"recovery": "other"}))], ["history", "none"]);
}
