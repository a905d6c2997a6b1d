//! A turn in a history without turns: found by its input, or by the calls that it answered (section 6).

use serde_json::{Value as Json, json};

use super::{agent, allow, answer, call, full, item, respond, result, user};
use crate::error::{Error, ErrorCode};
use crate::protocol::Call;

/// A turn that was started with this input, and what is known of its start.
fn params(input: &Json, said: Option<u64>, is_begun: bool) -> Json {
    json!({"sessionId": "s", "turnId": "t", "input": input, "said": said, "isBegun": is_begun, "terms": {"tools": ["mine"]}})
}

/// The turn's text in the history; nothing if it does not have the turn.
fn found(params: &Json, history: &Json) -> Result<Option<String>, Error> {
    let page = match answer(Call::ListTurnEvents, params, history) {
        Ok(page) => page,
        Err(error) if error.status == Some(404) => {
            assert_eq!(error.code, ErrorCode::Http);
            let turn = answer(Call::GetTurn, params, history).expect_err("the turn is not there, either");
            assert_eq!(turn.status, Some(404));
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let events = page["items"].as_array().expect("a list").iter();
    let said = events.filter_map(|event| event["content"].as_str()).collect::<Vec<_>>().join("|");
    let turn = answer(Call::GetTurn, params, history).expect("the turn is there, too");
    assert_eq!((&turn["id"], &turn["input"]), (&json!("t"), &params["input"]));
    Ok(Some(said))
}

fn hi(said: Option<u64>, is_begun: bool) -> Json {
    params(&json!([item("Hi")]), said, is_begun)
}

#[test]
fn the_last_message_is_the_turns_own() {
    let history = full(&json!([user("Before"), agent("Yes?"), user("Hi"), agent("Hello"), agent("!")]));
    for params in [hi(Some(1), false), hi(Some(1), true), hi(None, true)] {
        assert_eq!(found(&params, &history).expect("an answer"), Some("Hello!".to_owned()), "{params}");
    }
    let running = full(&json!([user("Before"), agent("Yes?"), user("Hi")]));
    assert_eq!(found(&hi(Some(1), false), &running).expect("an answer"), Some(String::new()));
}

#[test]
fn what_was_never_said_is_not_there() {
    for history in [
        json!([]),
        json!([agent("Hello")]),
        json!([{"role": "system", "content": "Hi"}]),
        json!([user("Hi there"), agent("Hello")]),
        json!([agent("Hi")]),
        json!([null, 5, "Hi", {"role": 5, "content": "Hi"}]),
    ] {
        for params in [hi(Some(0), false), hi(None, true), hi(None, false)] {
            assert_eq!(found(&params, &full(&history)).expect("an answer"), None, "{history}");
        }
    }
}

/// Its reader waits for a turn that has begun: a server may store it only when it has ended.
#[test]
fn a_turn_that_is_waited_for_runs_until_something_of_it_is_there() {
    let mut awaited = hi(Some(1), true);
    awaited["isAwaited"] = json!(true);
    let before = [user("Before"), agent("Yes?")];
    let after = |messages: &[Json]| full(&json!([&before[..], messages].concat()));
    for history in [full(&json!([])), after(&[]), after(&[user("Hi")])] {
        let turn = answer(Call::GetTurn, &awaited, &history).expect("it is waited for");
        assert_eq!(
            (&turn["id"], &turn["state"], &turn["events"]),
            (&json!("t"), &json!({"status": "running"}), &json!([]))
        );
    }
    let turn = answer(Call::GetTurn, &awaited, &after(&[user("Hi"), agent("Hello")])).expect("it is there");
    assert_eq!(turn["state"]["output"]["content"], "Hello");
    // Another one has followed it.
    let followed = after(&[user("Hi"), agent("Hello"), user("Hi"), agent("Again?")]);
    let turn = answer(Call::GetTurn, &awaited, &followed).expect("it is there");
    assert_eq!(turn["state"]["output"]["content"], "Hello");
}

/// The same input was sent before: what follows is the answer to that.
#[test]
fn an_earlier_turn_of_the_same_words_is_another_one() {
    let once = json!([user("Hi"), agent("Hello")]);
    assert_eq!(found(&hi(Some(1), false), &full(&once)).expect("an answer"), None);
    assert_eq!(found(&hi(Some(1), true), &full(&once)).expect("an answer"), None);
    let twice = json!([user("Hi"), agent("Hello"), user("Hi"), agent("Again?")]);
    assert_eq!(found(&hi(Some(1), false), &full(&twice)).expect("an answer"), Some("Again?".to_owned()));
    assert_eq!(found(&hi(Some(2), false), &full(&twice)).expect("an answer"), None);
    assert_eq!(found(&hi(Some(u64::MAX), false), &full(&twice)).expect("an answer"), None);
}

/// Another tab has sent a message since. The turn must not seem lost, or it would be started again.
#[test]
fn a_turn_that_another_one_follows_is_found() {
    let history = json!([
        user("a"),
        agent("b"),
        user("Hi"),
        agent("Hello"),
        user("More"),
        agent("Much"),
        user("Hi"),
        agent("You again")
    ]);
    let params = hi(Some(1), false);
    assert_eq!(found(&params, &full(&history)).expect("an answer"), Some("Hello".to_owned()));
    let turn = answer(Call::GetTurn, &params, &full(&history)).expect("a turn");
    assert_eq!(
        (&turn["state"]["status"], &turn["state"]["output"]["content"]),
        (&json!("done"), &json!("Hello"))
    );
    assert_eq!(found(&hi(Some(2), false), &full(&history)).expect("an answer"), Some("You again".to_owned()));
    // That turn's other questions are no longer pending.
    let history = json!([user("Hi"), agent(json!([call("c", "mine")])), user("More")]);
    let turn = answer(Call::GetTurn, &hi(Some(0), true), &full(&history)).expect("a turn");
    assert_eq!(turn["state"]["required_actions"], json!([]));
    let events = answer(Call::ListTurnEvents, &hi(Some(0), true), &full(&history)).expect("events");
    let kinds: Vec<_> =
        events["items"].as_array().expect("a list").iter().map(|event| event["type"].clone()).collect();
    assert_eq!(kinds, ["model.message"]);
}

/// The two cannot be distinguished, and starting the turn again could send it twice.
#[test]
fn whether_the_same_words_are_this_turns_may_not_be_known() {
    let history = json!([user("Hi"), agent("Hello")]);
    let error = found(&hi(None, false), &full(&history)).expect_err("it cannot be told");
    assert_eq!((error.code, error.status), (ErrorCode::Incomplete, Some(200)));
    assert!(error.message.contains("earlier turn"), "{}", error.message);
    assert_eq!(found(&hi(None, true), &full(&history)).expect("an answer"), Some("Hello".to_owned()));
}

/// Section 6: in a compacted history anything may be missing, so counting proves nothing.
#[test]
fn section_6_a_compacted_history_is_not_counted() {
    let compacted = |messages: Json| json!({"history": {"compacted": messages}});
    let with = |said: Option<u64>, is_begun: bool| {
        let mut params = hi(said, is_begun);
        params["terms"]["history"] = "compacted".into();
        params
    };
    let history = compacted(json!([agent("(They talked.)"), user("Hi"), agent("Hello")]));
    assert_eq!(found(&with(Some(20), true), &history).expect("an answer"), Some("Hello".to_owned()));
    let error = found(&with(Some(20), false), &history).expect_err("it cannot be told");
    assert_eq!(error.code, ErrorCode::Incomplete);
    let forgotten = compacted(json!([agent("(They said hi.)"), agent("Hello")]));
    assert_eq!(found(&with(None, true), &forgotten).expect("an answer"), None);
}

#[test]
fn several_messages_are_found_together() {
    let params = params(&json!([item("a"), item("b")]), Some(1), false);
    let rest = [user("b"), agent("Yes?")];
    for (before, expected) in [
        (json!([user("x"), agent("y"), user("a")]), Some("Yes?".to_owned())),
        (
            json!([user("x"), agent("y"), user("a"), {"role": "system", "content": "-"}]),
            Some("Yes?".to_owned()),
        ),
        (json!([user("x"), user("a")]), Some("Yes?".to_owned())),
        // One of them is missing, or not of the same turn, or of an earlier one.
        (json!([user("x"), agent("y")]), None),
        (json!([user("x"), user("a"), agent("y")]), None),
        (json!([user("a")]), None),
    ] {
        let history: Json = before.as_array().expect("a list").iter().chain(&rest).cloned().collect();
        assert_eq!(found(&params, &full(&history)).expect("an answer"), expected, "{history}");
    }
}

#[test]
fn words_are_the_same_however_they_are_put_into_blocks() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = |url: &str| json!({"type": "image", "url": url});
    let png = "data:image/png;base64,AA==";
    let file = json!({"type": "file", "name": "a.png", "data": png});
    for (said, kept, is_same) in [
        (json!("ab"), json!([text("a"), text("b")]), true),
        (json!([text("a"), text("b")]), json!("ab"), true),
        (json!([text("a"), file]), json!([image(png), text("a")]), true),
        (json!([text("a"), file]), json!("a"), false),
        (json!([text("a"), file]), json!([text("a"), image("data:image/png;base64,BB==")]), false),
        (json!("a"), json!([text("a"), image(png)]), false),
        (json!("a"), json!("A"), false),
        (json!("a"), json!(null), false),
    ] {
        let mut params = params(&json!([item(said.clone())]), Some(0), false);
        params["terms"]["images"] = json!(["data"]);
        let history = full(&json!([user(kept.clone()), agent("Yes?")]));
        let expected = is_same.then(|| "Yes?".to_owned());
        assert_eq!(found(&params, &history).expect("an answer"), expected, "{said} {kept}");
    }
}

fn asking(ids: &[&str]) -> Json {
    agent(ids.iter().map(|id| call(id, "mine")).collect::<Json>())
}

fn answering(ids: &[&str], is_begun: bool) -> Json {
    let items = ids.iter().map(|id| if *id == "granted" { allow(id) } else { respond(id, "1") });
    params(&items.collect(), None, is_begun)
}

#[test]
fn answers_are_found_behind_the_calls() {
    let head = [user("Hi"), asking(&["a", "granted"])];
    for (rest, expected) in [
        (json!([result("a", "1"), result("granted", "2"), agent("Done.")]), Some("1|2|Done.".to_owned())),
        // A granted call may have no result (finding 2).
        (json!([agent("Done.")]), Some("Done.".to_owned())),
        (json!([result("a", "1")]), Some("1".to_owned())),
        (
            json!([result("a", "1"), result("a", "1"), agent("Done."), user("Next"), agent("Yes?")]),
            Some("1|Done.".to_owned()),
        ),
        // Nothing shows that they were answered.
        (json!([]), None),
        (json!([result("other", "1")]), None),
        (json!([user("Next"), agent("Yes?")]), None),
    ] {
        let history: Json = head.iter().chain(rest.as_array().expect("a list")).cloned().collect();
        assert_eq!(
            found(&answering(&["a", "granted"], false), &full(&history)).expect("an answer"),
            expected,
            "{rest}"
        );
    }
    assert_eq!(found(&answering(&["nobody's"], true), &full(&json!(head))).expect("an answer"), None);
}

/// Calls that the server answered itself in the turn before do not belong to this one.
#[test]
fn results_of_other_calls_are_of_the_turn_before() {
    let history = json!([
        user("Hi"),
        asking(&["mine", "trusted"]),
        result("trusted", "0"),
        result("mine", "1"),
        agent("Done.")
    ]);
    assert_eq!(
        found(&answering(&["mine"], false), &full(&history)).expect("an answer"),
        Some("1|Done.".to_owned())
    );
}

#[test]
fn calls_of_several_rounds_can_be_answered_together() {
    let history = json!([
        user("Hi"),
        asking(&["a", "x"]),
        result("x", "0"),
        asking(&["b"]),
        result("a", "1"),
        result("b", "2"),
        agent("Done.")
    ]);
    assert_eq!(
        found(&answering(&["a", "b"], false), &full(&history)).expect("an answer"),
        Some("1|2|Done.".to_owned())
    );
    let before: Json = history.as_array().expect("a list")[..4].iter().cloned().collect();
    assert_eq!(found(&answering(&["a", "b"], false), &full(&before)).expect("an answer"), None);
}

/// Some models reuse call ids in every message. The pending calls may be those that this turn answered, or those that
/// its agent made next.
#[test]
fn whether_calls_of_the_same_id_are_this_turns_may_not_be_known() {
    let history = json!([user("Hi"), asking(&["0"]), result("0", "1"), asking(&["0"])]);
    let error = found(&answering(&["0"], false), &full(&history)).expect_err("it cannot be told");
    assert_eq!((error.code, error.status), (ErrorCode::Incomplete, Some(200)));
    // A turn whose stream had begun was accepted.
    let turn = answer(Call::GetTurn, &answering(&["0"], true), &full(&history)).expect("a turn");
    assert_eq!(turn["state"]["required_actions"][0]["tool_calls"][0]["event_id"], "t:0");
    // With an answer after them, they are the turn's own.
    let history = json!([
        user("Hi"),
        asking(&["0"]),
        result("0", "1"),
        asking(&["0"]),
        result("0", "2"),
        agent("Done.")
    ]);
    assert_eq!(
        found(&answering(&["0"], false), &full(&history)).expect("an answer"),
        Some("2|Done.".to_owned())
    );
}

#[test]
fn a_turn_without_an_input_is_not_looked_for() {
    for input in [json!(null), json!([])] {
        let error = answer(Call::GetTurn, &params(&input, Some(0), true), &full(&json!([user("Hi")])))
            .expect_err("no input");
        assert_eq!(error.code, ErrorCode::InvalidInput);
    }
}
