//! What is refused, with which code and words.

use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::client::{Client, THREAD, TURN, WORKSPACE, error_of, fast, paced, turn};

const ID: &str = "rq_______________0009";

async fn raw(client: &mut Client, text: &str) -> (Value, i64, String) {
    client.send_text(text).await;
    let answer = client.next().await;
    let (code, message) = error_of(&answer);
    (answer["id"].clone(), code, message)
}

#[tokio::test]
async fn frames_that_are_no_requests() {
    let gateway = fast().await;
    let mut client = gateway.connect().await;
    let invalid = |problem: &str| format!("invalid JSON-RPC request: {problem}");
    let cases = [
        ("{not json", Value::Null, -32700, "failed to parse JSON-RPC payload".to_owned()),
        (
            r#"{"jsonrpc":"2.0","id":"short","method":"turn/get","params":{}}"#,
            Value::Null,
            -32600,
            invalid("request id must be exactly 21 characters, got 5"),
        ),
        (
            r#"{"jsonrpc":"1.0","id":"rq_______________0009","method":"turn/get","params":{}}"#,
            json!(ID),
            -32600,
            "unsupported jsonrpc version `1.0`".to_owned(),
        ),
        ("[]", Value::Null, -32600, invalid("batches are not supported")),
        (r#"{"jsonrpc":"2.0","method":"x"}"#, Value::Null, -32600, invalid("missing field `id`")),
    ];
    for (frame, id, code, message) in cases {
        assert_eq!(raw(&mut client, frame).await, (id, code, message), "{frame}");
    }
    client.socket.send(Message::binary(vec![1, 2, 3])).await.expect("sent");
    assert_eq!(error_of(&client.next().await).0, -32600);
    // After all that the socket still works, also for a request without parameters.
    client.send_text(&format!(r#"{{"jsonrpc":"2.0","id":"{ID}","method":"workspace/list"}}"#)).await;
    assert_eq!(client.next().await["result"]["workspaces"][0]["id"], WORKSPACE);
}

#[tokio::test]
async fn methods_and_parameters() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let invalid = |method: &str, problem: &str| (-32602, format!("invalid params for `{method}`: {problem}"));
    assert_eq!(
        client.error("turn/steer", json!({})).await,
        (-32601, "method `turn/steer` is not supported".to_owned())
    );
    let missing = |name: &str| format!("missing field `{name}`");
    for (method, params, problem) in [
        ("turn/start", json!({"thread_id": THREAD, "input": []}), missing("turn_id")),
        ("turn/start", json!({"thread_id": "", "turn_id": "t"}), "`thread_id` is required".to_owned()),
        ("turn/cancel", json!({"thread_id": THREAD}), missing("turn_id")),
        ("turn/get", json!({}), missing("thread_id")),
        ("turn/items", json!({"turn_id": TURN}), missing("thread_id")),
        ("turn/timeline", json!({"thread_id": THREAD, "turn_id": TURN}), missing("threadId")),
        ("thread/start", json!({"thread_id": THREAD}), missing("workspace_id")),
        ("thread/get", json!({"thread_id": ""}), "`thread_id` is required".to_owned()),
        ("thread/history", json!({}), missing("thread_id")),
        ("thread/unsubscribe", json!({"thread_id": THREAD}), missing("threadId")),
    ] {
        assert_eq!(client.error(method, params).await, invalid(method, &problem), "{method}");
    }
}

#[tokio::test]
async fn inputs_are_looked_at() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let with = |input: Value| json!({"thread_id": THREAD, "turn_id": TURN, "input": [input]});
    for (params, words) in [
        (with(json!({"type": "hologram", "url": "x"})), "unknown variant `hologram`"),
        (with(json!({"type": "skill", "name": "x", "path": "y"})), "unknown variant `skill`"),
        (with(json!({"type": "text"})), "missing field `text`"),
        (with(json!({"type": "image"})), "missing field `url`"),
        (with(json!({"type": "image", "url": ""})), "`url` is required"),
        (with(json!({"type": "localFile", "url": "x"})), "missing field `path`"),
        (with(json!({"type": "artifact", "artifact_id": "x"})), "missing field `artifactId`"),
        (with(json!({"type": "mention", "name": "x"})), "missing field `path`"),
        (
            with(
                json!({"type": "text", "text": "é", "textElements": [{"byte_range": {"start": 1, "end": 2}}]}),
            ),
            "byte_range 1..2 is no part of its text",
        ),
        (turn(TURN, "x", json!({"mode": "Plan"})), "unknown variant `Plan`"),
        (turn(TURN, "x", json!({"sandbox_policy": {"mode": "ReadOnly"}})), "unknown variant `ReadOnly`"),
        (turn(TURN, "x", json!({"sandbox_policy": {}})), "missing field `mode`"),
        (turn(TURN, "x", json!({"capabilities": [{"id": "c"}]})), "missing field `kind`"),
        (
            turn(
                TURN,
                "x",
                json!({"capabilities": [{"id": "c", "kind": {"type": "mcpServer", "name": "n"}}]}),
            ),
            "missing field `scopeKind`",
        ),
    ] {
        let (code, message) = client.error("turn/start", params.clone()).await;
        assert_eq!(code, -32602, "{params}: {message}");
        assert!(message.contains(words), "{params}: {message}");
    }
    // None of that began a turn.
    assert_eq!(client.play("plain").await.last().expect("an end")["method"], "turn/completed");
}

#[tokio::test]
async fn what_is_not_there_or_not_possible() {
    let gateway = paced(100).await;
    let mut client = gateway.ready("Chat").await;
    let mut other = gateway.connect().await;
    let refused = |message: &str| (-32600, message.to_owned());
    assert_eq!(
        client.error("turn/start", json!({"thread_id": "thr_unknown", "turn_id": "trn_x"})).await,
        refused("failed to start turn: thread `thr_unknown` is not loaded")
    );
    for method in ["turn/get", "turn/items", "turn/cancel"] {
        assert_eq!(
            client.error(method, json!({"thread_id": THREAD, "turn_id": "nope"})).await,
            refused(&format!("turn `nope` in thread `{THREAD}` was not found"))
        );
    }
    assert_eq!(
        client.error("turn/timeline", json!({"threadId": THREAD, "turnId": "nope"})).await,
        refused("turn was not found")
    );
    assert_eq!(
        client.error("thread/get", json!({"thread_id": "nope"})).await,
        refused("thread `nope` was not found")
    );
    let elsewhere = json!({"thread_id": "new", "workspace_id": "ws_other"});
    assert_eq!(client.error("thread/start", elsewhere).await.0, -32600);
    let (code, message) = other.error("turn/start", turn(TURN, "plain", json!({}))).await;
    assert_eq!(code, -32600);
    assert!(message.starts_with("failed to start turn: connection `"), "{message}");
    assert!(message.ends_with(&format!("` is not subscribed to thread `{THREAD}`")), "{message}");
    client.start_turn("slow").await;
    assert_eq!(
        client.error("turn/start", turn("trn_2", "plain", json!({}))).await,
        refused(&format!("failed to start turn: thread `{THREAD}` already has a running turn"))
    );
    let (_, message) = other.error("turn/cancel", json!({"thread_id": THREAD, "turn_id": TURN})).await;
    assert!(message.contains("is not subscribed to thread"), "{message}");
}
