//! What a start sends (sections 2, 4 and 11).

use super::*;
use crate::ErrorCode;

fn message(content: Json) -> Json {
    json!([{"type": "user.message", "content": content}])
}

#[test]
fn a_first_run_has_every_list() {
    let expected = json!({
        "threadId": "s",
        "runId": "t",
        "protocolVersion": "1.0",
        "state": {},
        "messages": [{"id": "t:0", "role": "user", "content": "Hi"}],
        "tools": [{"name": "mine", "description": "", "parameters": {}}, {"name": "ours", "description": ""}],
        "context": [],
        "forwardedProps": {},
    });
    assert_eq!(sent(&message("Hi".into()), &json!({})).expect("a request"), expected);
}

/// A message whose run failed without an answer is there already. One whose run ended well is another one, even if that
/// answered without a text.
#[test]
fn a_message_that_is_said_again_is_sent_once() {
    let earlier = json!({"id": "earlier:0", "role": "user", "content": "Hi"});
    let answer = json!({"id": "a", "role": "assistant", "content": "Yes"});
    let failed = json!({"earlier": {"status": "error"}});
    for (before, ends, text, ids) in [
        (json!([earlier]), &failed, "Hi", json!(["t:0"])),
        (json!([earlier]), &failed, "Ho", json!(["earlier:0", "t:0"])),
        (json!([earlier]), &json!({}), "Hi", json!(["earlier:0", "t:0"])),
        (json!([earlier, answer]), &failed, "Hi", json!(["earlier:0", "a", "t:0"])),
        (json!([earlier, answer, earlier]), &failed, "Hi", json!(["earlier:0", "a", "t:0"])),
    ] {
        let body = sent(&message(text.into()), &json!({"conversation": {"messages": before, "ends": ends}}));
        let sent = body.expect("a request")["messages"].as_array().expect("messages").clone();
        assert_eq!(
            sent.iter().map(|message| message["id"].clone()).collect::<Json>(),
            ids,
            "{before} {text}"
        );
    }
}

#[test]
fn a_request_asks_for_a_stream_of_json() {
    let request = with_params(&params(&message("Hi".into()), &json!({})), |params| {
        AgUi::new().request(Call::CreateTurnStream, params.clone()).expect("a request")
    });
    let headers =
        [("accept", "text/event-stream".to_owned()), ("content-type", "application/json".to_owned())];
    assert_eq!(request.headers, headers);
}

#[test]
fn context_and_properties_are_sent_with_each_run() {
    let terms = json!({"context": [{"description": "d", "value": "v"}], "forwardedProps": {"x": 1}});
    let body = sent(
        &message("Hi".into()),
        &json!({"context": terms["context"], "forwarded_props": terms["forwardedProps"]}),
    );
    let body = body.expect("a request");
    assert_eq!((&body["context"], &body["forwardedProps"]), (&terms["context"], &terms["forwardedProps"]));
}

#[test]
fn parts_have_the_kind_of_their_media_type() {
    let file = |data: &str| json!({"type": "file", "name": "a.b", "data": data});
    let part = |kind: &str, value: &str, mime: &str| json!({"type": kind, "source": {"type": "data", "value": value, "mimeType": mime}, "metadata": {"filename": "a.b"}});
    let content = json!([
        {"type": "text", "text": "Look"},
        file("data:image/png;base64,AA=="),
        file("DATA:audio/wav;base64,AB=="),
        file("data:video/mp4;base64,AC=="),
        file("data:application/pdf;base64,AD=="),
        {"type": "image", "url": "https://example.com/a.png"},
        file("https://example.com/a.pdf"),
    ]);
    let expected = json!([
        {"type": "text", "text": "Look"},
        part("image", "AA==", "image/png"),
        part("audio", "AB==", "audio/wav"),
        part("video", "AC==", "video/mp4"),
        part("document", "AD==", "application/pdf"),
        {"type": "image", "source": {"type": "url", "value": "https://example.com/a.png"}},
        {"type": "document", "source": {"type": "url", "value": "https://example.com/a.pdf"}, "metadata": {"filename": "a.b"}},
    ]);
    assert_eq!(sent(&message(content), &json!({})).expect("a request")["messages"][0]["content"], expected);
    let unencoded = json!([file("data:text/plain,unencoded")]);
    assert_eq!(sent(&message(unencoded), &json!({})).expect_err("an error").code, ErrorCode::InvalidInput);
}

#[test]
fn a_turn_needs_an_input() {
    for input in [json!([]), json!(null)] {
        assert_eq!(sent(&input, &json!({})).expect_err("an error").code, ErrorCode::InvalidInput);
    }
    assert_eq!(sent(&json!("text"), &json!({})).expect_err("an error").code, ErrorCode::InvalidOption);
}

#[test]
fn a_message_comes_after_the_conversation_without_calls_that_have_no_result() {
    let turn = run(&[
        calls("a", "f", "{}", "m"),
        calls("b", "f", "{}", "m"),
        vec![result("r", "b", "1")],
        calls("c", "f", "{}", "n"),
    ]
    .concat());
    let next = sent(&message("Next".into()), &json!({"conversation": turn.kept()})).expect("a request");
    let said: Vec<String> = next["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|message| {
            let calls =
                message["toolCalls"].as_array().into_iter().flatten().map(|call| call["id"].to_string());
            format!("{} {}", message["role"], calls.collect::<String>())
        })
        .collect();
    assert_eq!(said, [r#""user" "#, r#""assistant" "b""#, r#""tool" "#, r#""user" "#]);
}

#[test]
fn a_stored_conversation_makes_the_same_request() {
    let turn =
        run(&[says("m", "Yes"), calls("c", "f", "{\"a\": 1}", "m"), vec![result("r", "c", "1")]].concat());
    let stored = turn.kept().to_string();
    let input = message("Next".into());
    let first = sent(&input, &json!({"conversation": turn.kept()})).expect("a request").to_string();
    let again: Json = serde_json::from_str(&stored).expect("JSON");
    assert_eq!(sent(&input, &json!({"conversation": again})).expect("a request").to_string(), first);
}

#[test]
fn stored_messages_keep_what_this_version_does_not_know_and_lose_nulls() {
    let stored = json!([
        {"role": "assistant", "newer": {"x": null}, "id": "m", "content": null, "toolCalls": null, "metadata": {"n": null}},
        {"id": "a", "role": "activity", "activityType": "x", "content": {}},
        {"id": "e", "role": "assistant", "content": "", "toolCalls": [
            {"id": "c", "type": "function", "encryptedValue": null, "function": {"name": "f", "arguments": "{}"}},
        ]},
        {"id": "r", "role": "tool", "toolCallId": "c", "content": [{"type": "text", "text": "x"}], "error": "it broke"},
        {"id": "p", "role": "user", "content": [{"type": "binary", "mimeType": "image/png", "data": "AA=="}]},
    ]);
    let input = json!([response_to_c()]);
    let body = sent(&input, &json!({"conversation": {"messages": stored}})).expect("a request");
    let expected = json!([
        {"role": "assistant", "newer": {"x": null}, "id": "m", "metadata": {"n": null}},
        {"id": "e", "role": "assistant", "content": "", "toolCalls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        ]},
        stored[3],
        stored[4],
        {"id": "t:0", "role": "tool", "toolCallId": "c", "content": "again"},
    ]);
    assert_eq!(body["messages"], expected);
}

fn response_to_c() -> Json {
    json!({"type": "user.tool_response", "thread_id": "main", "tool_call_id": "c", "content": "again"})
}

#[test]
fn a_session_begins_without_a_request() {
    let text = r#"{"id": "s", "agentName": "a"}"#;
    let Ok(Value::Object(params)) = Value::parse(text) else { panic!("an object") };
    let session = AgUi::new().local(Call::CreateSession, &params).expect("a session");
    assert_eq!(session.get("id").and_then(Value::as_str), Some("s"));
    for call in Call::ALL {
        if !matches!(call, Call::CreateTurnStream) {
            let error = AgUi::new().request(call, Object::new()).expect_err("an error");
            assert_eq!(error.code, ErrorCode::Unsupported, "{call:?}");
        }
    }
}
