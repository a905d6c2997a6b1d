//! How sockets end, and what keeps them open.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Error, Message};
use turnwire_gateway::{Chaos, Config};

use super::client::{Gateway, THREAD, TURN, completed, fast, joined, paced, turn};

#[tokio::test]
async fn pings_are_answered() {
    let gateway = fast().await;
    let mut client = gateway.connect().await;
    client.socket.send(Message::Ping("hello".into())).await.expect("sent");
    assert_eq!(client.message().await, Message::Pong("hello".into()));
}

#[tokio::test]
async fn a_message_may_be_large_but_not_too_large() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let words = format!("plain {}", "x".repeat(8 * 1024 * 1024));
    client.play(&words).await;
    let mut client = gateway.connect().await;
    client.socket.feed(Message::text("x".repeat(17 * 1024 * 1024))).await.expect("written");
    // The server may close before everything is written.
    let _ = client.socket.flush().await;
    match client.end().await {
        Some(Ok(Message::Close(Some(frame)))) => assert_eq!(u16::from(frame.code), 1009),
        Some(Err(_)) | None => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_socket_ends_after_so_many_frames() {
    let gateway = fast().await;
    // The first two answer thread/start, the third turn/start.
    for (fault, is_orderly) in [("eof:6", true), ("reset:6", false)] {
        let mut client = gateway.ready_with("Chat", fault).await;
        let id = format!("trn_{fault}");
        client.send("turn/start", turn(&id, "plain", json!({}))).await;
        let end = client.end().await;
        assert_eq!(matches!(end, Some(Ok(Message::Close(_)))), is_orderly, "{fault}: {end:?}");
        let came = client.record.iter().filter(|line| line["dir"] == "S->C").count();
        assert_eq!(came, 6, "{fault}");
        // The turn goes on.
        let mut second = gateway.connect().await;
        second.start_thread(json!({})).await;
        let get = json!({"thread_id": THREAD, "turn_id": id});
        while second.call("turn/get", get.clone()).await["turn"]["status"] == "InProgress" {}
        assert_eq!(second.call("turn/get", get).await["turn"]["status"], "Completed");
    }
}

#[tokio::test]
async fn a_planned_end_counts_from_the_response() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    gateway.plan(THREAD, json!([{"on": "create", "fault": "reset:2"}])).await;
    client.send("turn/start", turn(TURN, "plain", json!({}))).await;
    let end = client.end().await;
    assert!(matches!(end, Some(Err(_))), "{end:?}");
    let last = client.record.last().expect("a frame");
    assert_eq!(last["frame"]["method"], "turn/started");
}

#[tokio::test]
async fn the_response_and_the_socket_get_lost() {
    let gateway = fast().await;
    for (fault, runs) in [("lost", true), ("refuse", false)] {
        let mut client = gateway.ready("Chat").await;
        gateway.plan(THREAD, json!([{"on": "create", "fault": fault}])).await;
        let id = format!("trn_{fault}");
        client.send("turn/start", turn(&id, "plain", json!({}))).await;
        assert!(matches!(client.end().await, Some(Err(_))), "{fault}");
        let mut second = gateway.connect().await;
        second.start_thread(json!({})).await;
        let answer = second.request("turn/get", json!({"thread_id": THREAD, "turn_id": id})).await;
        assert_eq!(answer.get("result").is_some(), runs, "{fault}: {answer}");
    }
}

#[tokio::test]
async fn a_silent_socket_answers_no_pings() {
    let gateway = fast().await;
    let mut client = gateway.ready_with("Chat", "stall:4").await;
    client.send("turn/start", turn(TURN, "plain", json!({}))).await;
    client.until(&["turn/started"]).await;
    client.socket.send(Message::Ping("hello".into())).await.expect("sent");
    assert!(timeout(Duration::from_millis(200), client.socket.next()).await.is_err());
    let cut = gateway.control(Method::POST, &format!("/sessions/{THREAD}/cut"), Value::Null).await;
    assert_eq!(cut["cut"], 1);
    assert!(matches!(client.end().await, Some(Err(_))));
}

#[tokio::test]
async fn malformed_frames_come_between() {
    let gateway = fast().await;
    let kinds = ["json", "number", "batch", "no-version", "no-params", "binary", "empty"];
    for kind in kinds {
        let mut client = gateway.ready_with("Chat", &format!("malformed:3:{kind}")).await;
        client.send("turn/start", turn(&format!("trn_{kind}"), "plain", json!({}))).await;
        let mut odd = 0;
        loop {
            match client.message().await {
                Message::Binary(_) => odd += 1,
                Message::Text(text) => {
                    let frame: Value = serde_json::from_str(&text).unwrap_or_default();
                    let fits = frame["jsonrpc"] == "2.0"
                        && (frame.get("result").is_some() || frame["params"].is_object());
                    odd += usize::from(!fits);
                    if frame["method"] == "turn/completed" {
                        break;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(odd, 1, "{kind}");
    }
}

#[tokio::test]
async fn sockets_are_cut_from_outside() {
    let gateway = paced(100).await;
    let mut one = gateway.ready("Chat").await;
    let mut two = gateway.ready("Chat").await;
    let mut stranger = gateway.connect().await;
    one.start_turn("slow").await;
    let cut = async |session: &str, how: &str| {
        let path = format!("/sessions/{session}/cut?how={how}");
        gateway.control(Method::POST, &path, Value::Null).await["cut"].clone()
    };
    assert_eq!(cut(THREAD, "reset").await, 2);
    assert!(matches!(one.end().await, Some(Err(Error::Io(_) | Error::Protocol(_)))));
    assert!(matches!(two.end().await, Some(Err(_))));
    stranger.call("workspace/default", json!({})).await;
    stranger.start_thread(json!({})).await;
    assert_eq!(stranger.outcome().await.0, "InProgress");
    assert_eq!(cut("turn-rpc", "eof").await, 1);
    assert!(matches!(stranger.end().await, Some(Ok(Message::Close(_)))));
    let streams = gateway.control(Method::GET, "/streams", Value::Null).await;
    assert!(streams["open"].as_u64().is_some_and(|open| open <= 1), "{streams}");
}

#[tokio::test]
async fn unsubscribed_sockets_are_not_cut() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    client.call("thread/unsubscribe", json!({"threadId": THREAD})).await;
    let path = format!("/sessions/{THREAD}/cut");
    assert_eq!(gateway.control(Method::POST, &path, Value::Null).await["cut"], 0);
    client.call("workspace/default", json!({})).await;
}

#[tokio::test]
async fn planning_faults_leaves_open_sockets_alone() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    // Such a plan makes idle connections of HTTP close.
    gateway.plan("turn-rpc", json!([{"on": "connect", "fault": "refuse"}])).await;
    client.play("plain").await;
    assert!(gateway.open("", &[]).await.is_err());
    // While another one is planned, a socket can be opened all the same.
    gateway.plan("turn-rpc", json!([{"on": "connect", "fault": "refuse", "skip": 1}])).await;
    gateway.connect().await.call("workspace/default", json!({})).await;
}

#[tokio::test]
async fn tens_of_thousands_of_deltas_arrive() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let frames = client.play("long 20000").await;
    let deltas = frames.iter().filter(|frame| frame["params"].get("delta").is_some()).count();
    assert_eq!(deltas, 20_000);
    let message = completed(&frames).pop().expect("a message");
    assert_eq!(joined(&frames, &message["id"]), message["text"]);
}

#[tokio::test]
async fn chaos_can_be_recovered_from() {
    let chaos = Some(Chaos { seed: 7, rate: 0.6 });
    let delay = Some(Duration::ZERO);
    let delivery = turnwire_gateway::Delivery { delay, ..Default::default() };
    let gateway = Gateway::start(Config { chaos, delivery, ..Config::default() }).await;
    for number in 0..6 {
        let id = format!("trn_{number}");
        let get = json!({"thread_id": THREAD, "turn_id": id});
        let mut attempts = 0;
        loop {
            attempts += 1;
            assert!(attempts < 100, "{id} never comes to its end");
            let Ok((mut client, _)) = gateway.open("", &[]).await else { continue };
            // Whatever comes, or does not: only what is kept counts.
            client
                .send("thread/start", json!({"thread_id": THREAD, "workspace_id": super::client::WORKSPACE}))
                .await;
            let started = turn(&id, "plain", json!({}));
            for (method, params) in [("turn/start", started), ("turn/get", get.clone())] {
                let frame = json!({"jsonrpc": "2.0", "id": format!("rq_{method:_<18}"), "method": method, "params": params});
                let _ = client.socket.send(Message::text(frame.to_string())).await;
            }
            let mut completed = false;
            while let Ok(Some(Ok(Message::Text(text)))) =
                timeout(Duration::from_millis(300), client.socket.next()).await
            {
                completed |= text.contains("\"Completed\"") && text.contains(&id);
                if completed {
                    break;
                }
            }
            if completed {
                break;
            }
        }
    }
}
