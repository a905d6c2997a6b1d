//! Inputs that are refused, and that nothing is left of them.

use serde_json::{Value, json};

use crate::client::{Gateway, Numbered, answers, fast, state, text};

/// Sends an input; returns status and message of the refusal.
async fn refused(gateway: &Gateway, session: &str, input: Value) -> (u16, String) {
    let answer = gateway.post(&format!("{session}/turns"), json!({ "input": input })).await;
    (answer.status.as_u16(), answer.error())
}

fn approval(thread: &str, call: &str) -> Value {
    json!({"type": "user.tool_approval", "thread_id": thread, "tool_call_id": call, "approval": {"status": "allow"}})
}

fn response(thread: &str, call: &str) -> Value {
    json!({"type": "user.tool_response", "thread_id": thread, "tool_call_id": call, "content": "yes"})
}

fn message(content: &str) -> Value {
    json!({"type": "user.message", "content": content})
}

/// The call ids of the question and of the approval of the script `mixed`.
fn calls(paused: &[Numbered]) -> (String, String) {
    let actions = &state(paused)["required_actions"];
    let call = |index: usize| text(&actions[index]["tool_calls"][0]["id"]);
    (call(0), call(1))
}

/// Each refusal of a session that waits for an answer and an approval: input, status in the
/// gateway's dialect and in TrueForge's, message.
fn cases(question: &str, consent: &str) -> Vec<(Value, [u16; 2], String)> {
    let missing = |calls: &str| {
        format!(
            "thread main: Send batch must resolve all pending tool calls awaiting user input. \
             Missing: {calls}"
        )
    };
    let unfit = [400, 422];
    let malformed = [400, 400];
    vec![
        (
            json!([message("never mind")]),
            unfit,
            "thread main: user message cannot be sent while approvals or questions are pending".into(),
        ),
        (
            json!([message("yes"), approval("main", consent)]),
            malformed,
            "input must not mix user messages with approval decisions or client-side tool responses".into(),
        ),
        (json!([]), unfit, missing(&format!("{question}, {consent}"))),
        (Value::Null, [400, 400], String::new()),
        (json!([approval("main", consent)]), unfit, missing(question)),
        (json!([response("main", question)]), unfit, missing(consent)),
        (
            json!([approval("main", consent), approval("main", "call_x")]),
            unfit,
            "thread main: messages[1] no pending approval for tool_call_id 'call_x'".into(),
        ),
        (
            json!([approval("main", question)]),
            unfit,
            format!("thread main: messages[0] no pending approval for tool_call_id '{question}'"),
        ),
        (
            json!([response("main", consent)]),
            unfit,
            format!("thread main: messages[0] no open tool call for tool_call_id '{consent}'"),
        ),
        (
            json!([approval("main", consent), approval("main", consent)]),
            unfit,
            format!("thread main: messages[1] no pending approval for tool_call_id '{consent}'"),
        ),
        (json!([approval("nowhere", consent)]), unfit, "unknown thread_id: nowhere".into()),
    ]
}

#[tokio::test]
async fn all_that_is_pending_must_be_answered() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let paused = gateway.say(&session, "mixed").await;
    let (question, consent) = calls(&paused);
    for (input, [status, _], message) in cases(&question, &consent) {
        if input.is_null() {
            continue;
        }
        assert_eq!(refused(&gateway, &session, input).await, (status, message));
    }
    let without_input = gateway.post(&format!("{session}/turns"), json!({})).await;
    assert!(without_input.error().contains("must resolve all pending tool calls"));
    assert_eq!(gateway.get(&format!("{session}/turns")).await.ids().len(), 1, "nothing was kept");
    let body = answers(&paused, &json!({"status": "allow"}), "Nobody");
    assert_eq!(state(&gateway.turn(&session, body).await)["status"], "done");
}

#[tokio::test]
async fn the_sibling_dialect_has_other_statuses() {
    let gateway = Gateway::start(fast()).await;
    let created = gateway.post("/api/v1/sessions", json!({"agent": {"name": "a"}})).await;
    let session = format!("/api/v1/sessions/{}", text(&created.data()["id"]));
    let paused = gateway.say(&session, "mixed").await;
    let (question, consent) = calls(&paused);
    for (input, [_, status], message) in cases(&question, &consent) {
        let message = if input.is_null() { "input must not be null".to_owned() } else { message };
        assert_eq!(refused(&gateway, &session, input).await, (status, message));
    }
    let body = json!({"input": [message("plain")], "previous_turn_id": null});
    let answer = gateway.post(&format!("{session}/turns"), body).await;
    assert_eq!((answer.status.as_u16(), answer.error().as_str()), (400, "previous_turn_id must not be null"));
}

#[tokio::test]
async fn items_must_have_content_and_a_known_form() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let parts = |parts: Value| json!([{"type": "user.message", "content": parts}]);
    for (input, part_of_message) in [
        (json!([message("  ")]), "thread main: messages[0] user message has empty content"),
        (parts(json!([])), "thread main: messages[0] user message has empty content"),
        (json!([message("a"), message("")]), "thread main: messages[1] user message has empty content"),
        (json!([{"type": "user.wave"}]), "user.wave"),
        (json!([{"content": "x"}]), "type"),
        (json!([{"type": "user.message"}]), "content"),
        (parts(json!(5)), "content must be a string or a list of parts"),
        (parts(json!([{"type": "video"}])), "video"),
        (parts(json!([{"type": "file", "name": "a", "data": "zzz"}])), "file 'a' must be a data URI"),
        (json!("hello"), "sequence"),
        (json!([approval("main", "call_x")]), "no pending approval for tool_call_id 'call_x'"),
        (
            json!([{"type": "user.tool_response", "thread_id": "main", "tool_call_id": "c", "content": ""}]),
            "must not be empty",
        ),
        (
            json!([{"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c", "approval": {"status": "maybe"}}]),
            "maybe",
        ),
    ] {
        let (status, error) = refused(&gateway, &session, input).await;
        assert_eq!(status, 400, "{error}");
        assert!(error.contains(part_of_message), "{error}");
    }
    assert!(gateway.get(&format!("{session}/turns")).await.ids().is_empty());
}

#[tokio::test]
async fn a_refused_input_does_not_cancel_what_runs() {
    let gateway = Gateway::start(crate::client::paced(std::time::Duration::from_millis(20))).await;
    let session = gateway.session().await;
    let body = json!({"input": [message("slow")], "stream": false});
    let turn = gateway.post(&format!("{session}/turns"), body).await.data();
    refused(&gateway, &session, json!([message(" ")])).await;
    let path = format!("{session}/turns/{}", text(&turn["id"]));
    assert_eq!(gateway.get(&path).await.data()["state"]["status"], "running");
}

#[tokio::test]
async fn several_messages_make_one_turn() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let body = json!({"input": [message("plain"), message("and more")]});
    let events = gateway.turn(&session, body.clone()).await;
    assert_eq!(events[0].event["input"], body["input"]);
    assert_eq!(state(&events)["status"], "done");
}
