//! A turn's life: started with and without a stream, chained, cancelled, outlasted.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Gateway, Numbered, events, fast, of_type, paced, said, state, text};

fn message(text: &str) -> Value {
    json!({"input": [{"type": "user.message", "content": text}]})
}

fn turn_id(events: &[Numbered]) -> String {
    text(&events[0].event["turn_id"])
}

#[tokio::test]
async fn a_turn_without_a_stream_runs_by_itself() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let mut body = message("plain");
    body["stream"] = json!(false);
    let answer = gateway.post(&format!("{session}/turns"), body).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/json");
    let turn = answer.data();
    assert_eq!(turn["state"], json!({"status": "running"}));
    assert_eq!(turn["previous_turn_id"], Value::Null);
    assert_eq!(turn["input"], json!([{"type": "user.message", "content": "plain"}]));
    assert_eq!(turn["created_by_subject"]["subject_id"], "developer");
    let path = format!("{session}/turns/{}", text(&turn["id"]));
    let state = loop {
        let turn = gateway.get(&path).await.data();
        if turn["state"]["status"] != "running" {
            break turn["state"].clone();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(state["status"], "done");
    assert_eq!(state["required_actions"], json!([]));
    assert!(text(&state["output"]["content"]).starts_with("Here is a plain answer"));
}

#[tokio::test]
async fn ids_have_the_form_of_the_gateway() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let events = gateway.say(&session, "plain").await;
    let id = turn_id(&events);
    let parts: Vec<&str> = id.split('.').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    assert_eq!((parts[1], lengths), ("g", vec![26, 1, 6]));
    let ids: Vec<String> = events.iter().map(|event| text(&event.event["id"])).collect();
    assert!(ids.is_sorted(), "ids sort by creation");
}

#[tokio::test]
async fn events_carry_their_required_fields() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let events = gateway.say(&session, "plain").await;
    let created = &events[0].event;
    assert_eq!(created["state"], json!({"status": "running"}));
    assert_eq!(created["created_by"]["subject_slug"], "developer@example.com");
    assert_eq!(created["previous_turn_id"], Value::Null);
    assert_eq!(created["thread_id"], Value::Null);
    assert_eq!(created["input"][0]["content"], "plain");
    let base = of_type(&events, "model.message")[0].as_object().expect("an object");
    let fields: Vec<&str> = base.keys().map(String::as_str).collect();
    assert_eq!(fields, ["created_at", "id", "thread_id", "type"], "the base is empty");
    let deltas = of_type(&events, "model.message.delta");
    let stamped = deltas.iter().filter(|delta| delta.get("created_at").is_some()).count();
    assert_eq!(stamped, 1, "only the first delta has a time");
    let last = deltas.last().expect("a delta");
    assert_eq!(last["finish_reason"], "stop");
    assert!(last["usage"]["input_tokens_breakdown"]["messages"].is_u64());
    let state = state(&events);
    let metrics = &state["metrics"];
    assert_eq!(metrics["total_input_tokens"], last["usage"]["input_tokens"]);
    assert!(metrics["total_tokens"].as_u64() > metrics["total_output_tokens"].as_u64());
    assert_eq!(state["output"]["content"], said(&events).as_str());
}

#[tokio::test]
async fn turns_are_chained() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let first = turn_id(&gateway.say(&session, "plain").await);
    let second = gateway.say(&session, "plain").await;
    assert_eq!(second[0].event["previous_turn_id"], first.as_str());
    let chained = async |previous: Value| {
        let mut body = message("plain");
        body["previous_turn_id"] = previous;
        gateway.turn(&session, body).await[0].event["previous_turn_id"].clone()
    };
    assert_eq!(chained(json!(first)).await, first.as_str());
    assert_eq!(chained(json!("none")).await, Value::Null);
    let last = gateway.get(&format!("{session}/turns")).await.ids()[0].clone();
    assert_eq!(chained(json!("auto")).await, last.as_str());
    let last = gateway.get(&format!("{session}/turns")).await.ids()[0].clone();
    assert_eq!(chained(Value::Null).await, last.as_str());
    let mut unknown = message("plain");
    unknown["previous_turn_id"] = json!("nobody");
    let refused = gateway.post(&format!("{session}/turns"), unknown).await;
    assert_eq!((refused.status.as_u16(), refused.error().as_str()), (404, "Turn not found: nobody"));
}

#[tokio::test]
async fn lists_of_turns_follow_the_last_branch() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let mut all = Vec::new();
    for _ in 0..12 {
        all.insert(0, turn_id(&gateway.say(&session, "plain").await));
    }
    let turns = format!("{session}/turns");
    let page = gateway.get(&turns).await;
    assert_eq!(page.ids(), all[..10]);
    let next = text(&page.json()["pagination"]["next_page_token"]);
    // A fork from the first turn hides the others, but not from who is paging through them.
    let mut fork = message("plain");
    fork["previous_turn_id"] = json!(all[11]);
    let fork = turn_id(&gateway.turn(&session, fork).await);
    assert_eq!(gateway.get(&turns).await.ids(), [fork, all[11].clone()]);
    let rest = gateway.get(&format!("{turns}?page_token={next}")).await;
    assert_eq!(rest.ids(), all[10..]);
    assert_eq!(gateway.get(&format!("{turns}?limit=26")).await.status, 400);
    assert_eq!(gateway.get(&format!("{turns}?page_token=x")).await.status, 400);
    let empty = gateway.session().await;
    assert!(gateway.get(&format!("{empty}/turns")).await.ids().is_empty());
}

#[tokio::test]
async fn cancel_ends_a_turn_and_may_be_repeated() {
    let gateway = Gateway::start(paced(Duration::from_millis(40))).await;
    let session = gateway.session().await;
    let cancel = format!("{session}/cancel");
    let nothing = gateway.post(&cancel, json!({})).await;
    assert_eq!((nothing.status.as_u16(), nothing.text.as_str()), (200, "{}"));
    let mut stream = gateway.open(&format!("{session}/turns"), message("slow")).await;
    let mut text = String::new();
    while !text.contains("id: 5\n") {
        let bytes = stream.chunk().await.expect("bytes").expect("more");
        text += std::str::from_utf8(&bytes).expect("whole frames");
    }
    assert_eq!(gateway.post(&cancel, json!({})).await.text, "{}");
    assert_eq!(gateway.post(&cancel, json!({})).await.text, "{}");
    text += &stream.text().await.expect("the rest");
    let events = events(&text);
    assert!(events.iter().zip(1..).all(|(event, number)| event.number == number));
    assert_eq!(state(&events)["status"], "cancelled");
    assert_eq!(state(&events)["reason"], "client-cancelled");
    assert!(events.len() < 15, "{} events", events.len());
    let turn = format!("{session}/turns/{}", turn_id(&events));
    let kept = gateway.get(&format!("{turn}/events")).await.data();
    let kept: Vec<_> = kept.as_array().expect("a list").iter().map(|event| event["type"].clone()).collect();
    assert_eq!(kept, ["mcp.initialize"], "the partial message is not kept");
    gateway.post(&cancel, json!({})).await;
    assert_eq!(gateway.get(&turn).await.data()["state"], *state(&events));
    let next = gateway.say(&session, "long 3").await;
    assert_eq!(next[0].event["previous_turn_id"], turn_id(&events).as_str());
}

#[tokio::test]
async fn a_new_turn_cancels_the_running_one() {
    let gateway = Gateway::start(paced(Duration::from_millis(40))).await;
    let session = gateway.session().await;
    let stream = gateway.open(&format!("{session}/turns"), message("slow")).await;
    let second = gateway.say(&session, "long 3").await;
    let first = events(&stream.text().await.expect("a stream"));
    assert_eq!(state(&first)["reason"], "cancelled-for-next-turn");
    assert_eq!(second[0].event["previous_turn_id"], turn_id(&first).as_str());
    assert_eq!(state(&second)["status"], "done");
}

#[tokio::test]
async fn a_turn_runs_on_without_its_client() {
    let gateway = Gateway::start(paced(Duration::from_millis(20))).await;
    let session = gateway.session().await;
    let mut stream = gateway.open(&format!("{session}/turns"), message("long 30")).await;
    let first = stream.chunk().await.expect("bytes").expect("a frame");
    let first = events(std::str::from_utf8(&first).expect("whole frames"));
    drop(stream);
    let turn = format!("{session}/turns/{}", turn_id(&first));
    assert_eq!(gateway.get(&turn).await.data()["state"]["status"], "running");
    let rest = gateway.post(&format!("{turn}/subscribe"), json!({})).await.events();
    assert_eq!(rest.len(), 35);
    assert_eq!(state(&rest)["status"], "done");
}

#[tokio::test]
async fn a_turn_may_not_take_for_ever() {
    let mut config = paced(Duration::from_millis(20));
    config.turn_limit = Duration::from_millis(150);
    let gateway = Gateway::start(config).await;
    let session = gateway.session().await;
    let events = gateway.say(&session, "slow").await;
    assert_eq!(state(&events)["status"], "cancelled");
    assert_eq!(state(&events)["reason"], "server-execution-timeout");
}
