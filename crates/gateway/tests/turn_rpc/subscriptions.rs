//! Which sockets are notified of what, and how a client recovers a lost socket.

use serde_json::json;

use super::client::{THREAD, TURN, completed, fast, paced, text, turn};

#[tokio::test]
async fn all_subscribers_receive_the_same() {
    let gateway = paced(2).await;
    let mut one = gateway.ready("Chat").await;
    let mut two = gateway.ready("Chat").await;
    let mut stranger = gateway.connect().await;
    one.start_turn("reasoning").await;
    assert_eq!(one.read_turn().await, two.read_turn().await);
    assert!(stranger.is_silent().await);
    one.check();
    two.check();
}

#[tokio::test]
async fn a_thread_without_subscribers_is_unloaded() {
    let gateway = fast().await;
    let mut one = gateway.ready("Chat").await;
    let mut two = gateway.ready("Chat").await;
    let thread = json!({"threadId": THREAD});
    assert_eq!(one.call("thread/unsubscribe", thread.clone()).await["status"], "unsubscribed");
    assert!(one.is_silent().await, "the other one is still there");
    assert_eq!(one.call("thread/unsubscribe", thread.clone()).await["status"], "notSubscribed");
    assert_eq!(two.call("thread/unsubscribe", thread.clone()).await["status"], "unsubscribed");
    let closed = two.next().await;
    assert_eq!(closed["method"], "thread/closed");
    assert_eq!(closed["params"]["threadId"], THREAD);
    assert_eq!(two.call("thread/unsubscribe", thread).await["status"], "notLoaded");
    let (_, message) = two.error("turn/start", turn(TURN, "plain", json!({}))).await;
    assert_eq!(message, format!("failed to start turn: thread `{THREAD}` is not loaded"));
    let got = two.call("thread/get", json!({"thread_id": THREAD})).await;
    assert_eq!(got["thread"]["status"], "Closed");
    two.start_thread(json!({})).await;
    two.play("plain").await;
    two.check();
}

#[tokio::test]
async fn a_turn_goes_on_without_its_socket() {
    let gateway = paced(30).await;
    let mut first = gateway.ready("Chat").await;
    first.start_turn("plain").await;
    let before = first.until(&["item/agent_message/delta"]).await;
    drop(first);
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let mut second = gateway.connect().await;
    let thread = second.start_thread(json!({})).await["thread"].clone();
    assert_eq!(thread["status"], "Active");
    assert_eq!(thread["turns"][0]["status"], "InProgress");
    assert_eq!(second.outcome().await.0, "InProgress");
    let kept = second.items().await;
    let open = kept.last().expect("one")["payload"]["item"].clone();
    assert_eq!((&open["type"], &open["text"]), (&json!("agentMessage"), &json!("")));
    let rest = second.read_turn().await;
    // Deltas of the open item go on, and its whole text comes with its end.
    let whole = completed(&rest).pop().expect("the message");
    assert_eq!(whole["id"], open["id"]);
    let first_delta = text(&before.last().expect("one")["params"]["delta"]);
    assert!(text(&whole["text"]).starts_with(&first_delta));
    assert!(rest.iter().any(|frame| frame["params"]["item_id"] == open["id"]));
    second.check();
}

#[tokio::test]
async fn a_turn_that_ended_meanwhile_says_nothing_more() {
    let gateway = fast().await;
    let mut first = gateway.ready("Chat").await;
    first.send("turn/start", turn(TURN, "plain", json!({}))).await;
    first.until(&["turn/started"]).await;
    drop(first);
    let mut second = gateway.connect().await;
    second.start_thread(json!({})).await;
    while second.outcome().await.0 == "InProgress" {}
    assert_eq!(second.outcome().await.0, "Completed");
    assert!(second.items().await.iter().any(|event| event["payload"]["item"]["type"] == "agentMessage"));
    second.check();
}

#[tokio::test]
async fn a_socket_follows_several_threads() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let other = json!({"thread_id": "thr_other", "workspace_id": super::client::WORKSPACE, "mode": "Agent"});
    client.call("thread/start", other).await;
    let input = json!([{"type": "text", "text": "plain"}]);
    client.call("turn/start", json!({"thread_id": "thr_other", "turn_id": "trn_o", "input": input})).await;
    client.call("turn/start", turn(TURN, "plain", json!({}))).await;
    let mut ended = Vec::new();
    while ended.len() < 2 {
        let last = client.read_turn().await.pop().expect("an end");
        ended.push(text(&last["params"]["turn"]["id"]));
    }
    ended.sort();
    assert_eq!(ended, [TURN, "trn_o"]);
    client.check();
}
