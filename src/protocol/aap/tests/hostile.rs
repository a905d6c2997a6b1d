//! Whatever a server answers, and whatever a caller passes: an answer or an error, and never a panic.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::damage::{any_json, damaged};
use super::{agent, answer, answer_of, call, full, item, read, request, result, user};
use crate::json::MAX_DEPTH;
use crate::protocol::Call;

#[test]
fn documents_that_are_too_deep_are_no_json() {
    let nested =
        |levels: usize| format!(r#"{{"history":{{"full":[{}{}]}}}}"#, "[".repeat(levels), "]".repeat(levels));
    let depth = MAX_DEPTH as usize;
    // Three levels are the answer's own.
    for (levels, is_read) in [(depth - 3, true), (depth - 2, false), (100_000, false)] {
        let body = nested(levels);
        let params = json!({"sessionId": "s"});
        let found = super::with_params(&params, |params| {
            let answer =
                crate::protocol::Answer { status: 200, status_text: "", content_type: "", body: &body };
            answer.read(&super::Aap::new(), Call::ListMessages, params)
        });
        assert_eq!(found.is_ok(), is_read, "{levels}");
    }
    assert!(super::is_unexpected(&answer_of(200, &"[".repeat(100_000), Call::ListAgents, &json!({}))));
}

#[test]
fn long_histories_are_read_to_the_end() {
    let messages: Json = (0..20_000)
        .map(|number| match number % 4 {
            0 => user("Hi"),
            1 => agent(json!([{"type": "text", "text": "a"}, call("c", "mine")])),
            2 => result("c", "1"),
            _ => agent("b"),
        })
        .collect();
    let params = json!({"sessionId": "s"});
    let turns = read(Call::ListTurns, &params, &full(&messages));
    assert_eq!(
        (turns["items"].as_array().map(Vec::len), &turns["user_messages"]),
        (Some(5_000), &json!(5_000))
    );
    let events = read(Call::ListSessionEvents, &params, &full(&messages));
    assert_eq!(events["items"].as_array().map(Vec::len), Some(20_000));
    let params = json!({"sessionId": "s", "turnId": "t", "input": [item("Hi")], "said": 2_500});
    let events = read(Call::ListTurnEvents, &params, &full(&messages));
    assert_eq!(events["items"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_message_of_many_blocks_is_one() {
    let blocks: Json = (0..20_000)
        .map(|number| {
            if number % 2 == 0 {
                call(&number.to_string(), "x")
            } else {
                json!({"type": "text", "text": "a"})
            }
        })
        .collect();
    let events =
        read(Call::ListSessionEvents, &json!({"sessionId": "s"}), &full(&json!([user("Hi"), agent(blocks)])));
    let message = &events["items"][1]["event"];
    assert_eq!(message["tool_calls"].as_array().map(Vec::len), Some(10_000));
    assert_eq!(message["content"].as_str().map(str::len), Some(10_000));
}

/// An answer to each call, all of whose fields are there.
fn answers() -> Vec<(Call, Json)> {
    let session = json!({"sessionId": "s", "agent": {"name": "a", "tools": [], "options": {"x": "y"}}, "tools": [{"name": "t"}]});
    let history = full(&json!([
        {"role": "system", "content": "x"}, user("Hi"), agent("b"), user(json!([{"type": "text", "text": "Hi"}])),
        agent(json!([{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "a"}, call("c", "mine"), call("d", "x")])),
        result("d", "1"), result("d", "1"), result("c", "2"), agent("Done."),
    ]));
    let meta = json!({"version": 3, "agents": [{"name": "a", "capabilities": {"history": {"full": {}}, "stream": {"delta": {}},
        "image": {"data": {}}}}]});
    let mut answers = vec![
        (Call::ListAgents, meta),
        (Call::CreateSession, json!({"sessionId": "s"})),
        (Call::GetSession, session.clone()),
        (Call::ListSessions, json!({"sessions": [session], "next": "x"})),
        (Call::DeleteSession, Json::Null),
    ];
    let reads =
        [Call::ListTurns, Call::GetTurn, Call::ListTurnEvents, Call::ListSessionEvents, Call::ListMessages];
    answers.extend(reads.map(|call| (call, history.clone())));
    answers
}

fn given() -> Json {
    json!({"sessionId": "s", "turnId": "t", "agentName": "a", "agentTools": [], "agentOptions": {"a": "b"}, "messages": [], "tools": [],
        "input": [item("Hi"), item(json!([{"type": "image", "url": "data:image/png;base64,AA=="}])),
            {"type": "user.tool_response", "tool_call_id": "c", "content": "x"},
            {"type": "user.tool_approval", "tool_call_id": "d", "approval": {"status": "deny", "reason": "x"}}],
        "said": 1, "isBegun": true, "order": "desc", "pageToken": "x", "limit": 5, "previousTurnId": "u",
        "terms": {"history": "full", "stream": "delta", "images": ["data"], "tools": ["mine"], "declare": [], "agent": {}}})
}

/// What a call takes of these parameters.
fn taken(call: Call, params: &Json) -> Json {
    let members = params.as_object().into_iter().flatten();
    let is_refused = |name: &str| {
        let error = request(call, &json!({name: true})).err();
        error.is_some_and(|error| error.message.ends_with(" is not an option of this call"))
    };
    let members = members.filter(|(name, _)| !is_refused(name));
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_answer_is_read_or_refused(
        (call, body) in prop::sample::select(answers()).prop_flat_map(|(call, body)| (Just(call), damaged(body))),
        said in prop::option::of(0_u64..4),
        input in prop::sample::select(vec![json!([item("Hi")]), json!([super::respond("c", "2")])]),
    ) {
        let params = json!({"sessionId": "s", "turnId": "t", "input": input, "said": said, "isBegun": true});
        match answer(call, &params, &body) {
            Ok(read) if body["history"]["full"].is_array() && call == Call::ListMessages => {
                // A float is compared as it is read again.
                let kept: Json = serde_json::from_str(&body["history"]["full"].to_string()).expect("JSON");
                prop_assert_eq!(&read["items"], &kept);
            }
            Ok(read) if !matches!(call, Call::DeleteSession) => prop_assert!(read.is_object()),
            Ok(_) => {}
            Err(error) => prop_assert!(!error.message.is_empty()),
        }
    }

    #[test]
    fn any_text_is_an_answer_or_an_error(status in 200_u16..600, body in "\\PC{0,40}") {
        for (call, _) in answers() {
            if let Err(error) = answer_of(status, &body, call, &given()) {
                prop_assert!(!error.message.is_empty());
            }
        }
    }

    #[test]
    fn any_parameters_are_a_request_or_an_error(
        call in prop::sample::select(&Call::ALL[..]),
        params in damaged(given()),
        odd in any_json(),
    ) {
        match request(call, &taken(call, &params)) {
            Ok(request) => {
                prop_assert!(request.path.is_ascii() && !request.path.contains([' ', '\\']));
                if let Some(body) = request.body {
                    serde_json::from_str::<Json>(&body).expect("JSON");
                }
            }
            Err(error) => prop_assert!(!error.message.is_empty()),
        }
        if let Err(error) = request(Call::CreateTurnStream, &json!({"sessionId": "s", "input": odd, "terms": odd})) {
            prop_assert!(!error.message.is_empty());
        }
    }
}
