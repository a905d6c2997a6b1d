//! Each trap of the real server, on request.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{
    Answer, Frame, MODES, deny, fast, grant, outline, paced, read_until, result, text, user,
};
use super::conversation::Outcome;

const STOPS: fn(&Frame) -> bool = |frame| frame.event == "turn_stop";

#[tokio::test]
async fn the_end_may_get_lost() {
    let gateway = fast().await;
    for (script, kept) in [
        ("plain", vec!["turn_start", "text_delta"]),
        ("approval", vec!["turn_start", "text_delta", "tool_call"]),
    ] {
        let session = gateway.session().await;
        let frames = gateway.say_with(&session, "delta", script, "lost-end").await.frames();
        assert_eq!(outline(&frames), kept);
        let frames = gateway.say_with(&session, "message", script, "lost-end").await.frames();
        assert_eq!(outline(&frames), ["turn_start"]);
        assert_eq!(gateway.history(&session).await.len(), 4, "the history has both turns");
        assert!(!gateway.say_with(&session, "none", script, "lost-end").await.text.is_empty());
    }
    let session = gateway.session().await;
    let frames = gateway.say_with(&session, "message", "tools", "lost-end").await.frames();
    let rounds = ["text", "tool_call", "tool_result"];
    assert_eq!(outline(&frames)[1..], rounds.repeat(2), "only the last round is lost");
}

#[tokio::test]
async fn a_stream_may_lack_its_last_event() {
    let gateway = fast().await;
    for mode in ["delta", "message"] {
        let session = gateway.session().await;
        let whole = gateway.say(&session, mode, "plain").await.frames();
        let cut = gateway.say_with(&session, mode, "plain", "no-done").await.frames();
        assert_eq!(cut, whole[..whole.len() - 1]);
    }
}

#[tokio::test]
async fn a_model_may_fail_without_a_handler() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let frames = gateway.say_with(&session, "delta", "plain", "throw:3").await.frames();
    assert_eq!(frames.len(), 6);
    assert_eq!(outline(&frames), ["turn_start", "text_delta", "turn_stop"]);
    let stops: Vec<&Frame> = frames.iter().filter(|frame| STOPS(frame)).collect();
    assert_eq!(stops.len(), 2);
    assert!(stops.iter().all(|frame| frame.data == json!({"stopReason": "error"})));
    let frames = gateway.say_with(&session, "message", "plain", "throw:3").await.frames();
    assert_eq!(outline(&frames), ["turn_start"]);
    let answer = gateway.say_with(&session, "none", "plain", "throw:3").await;
    let said = (answer.status.as_u16(), answer.text.as_str(), answer.content_type());
    assert_eq!(said, (500, "Internal Server Error", "text/plain; charset=UTF-8"));
    assert_eq!(
        gateway.history(&session).await,
        [user("plain"), user("plain"), user("plain")].map(|m| m[0].clone())
    );
}

#[tokio::test]
async fn nothing_may_happen_at_all() {
    let gateway = fast().await;
    let session = gateway.session().await;
    for mode in ["delta", "message"] {
        assert!(gateway.say_with(&session, mode, "plain", "nothing").await.frames().is_empty());
    }
    assert!(gateway.history(&session).await.is_empty());
    assert!(gateway.say_with(&session, "delta", "plain", "eof:0").await.frames().is_empty());
    assert_eq!(gateway.history_of(&session, 2).await.len(), 2, "that one only looks like it");
}

#[tokio::test]
async fn a_grant_may_have_no_result_but_in_the_history() {
    let gateway = fast().await;
    for mode in MODES {
        let session = gateway.session().await;
        let call = gateway.outcome(&session, mode, "approval").await.waiting()[0].clone();
        let answer = gateway.turn_with(&session, mode, json!([grant(&call)]), "silent-grant").await;
        let outcome = Outcome::of(mode, &answer);
        assert_eq!((outcome.stop_reason.as_str(), outcome.messages.len()), ("end_turn", 1), "{mode}");
        let history = gateway.history(&session).await;
        assert_eq!(history[2]["toolCallId"], call["toolCallId"]);
        assert_eq!(history.len(), 4);
    }
}

#[tokio::test]
async fn results_may_be_stored_twice() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let answer = gateway.say_with(&session, "delta", "tools", "twice-stored").await;
    let told = Outcome::of("delta", &answer).messages;
    let history = gateway.history(&session).await;
    assert_eq!(history[2], history[3]);
    assert_eq!(history[5], history[6]);
    let mut once = history;
    once.dedup();
    assert_eq!(once[1..], told);
}

#[tokio::test]
async fn text_may_come_before_the_thinking() {
    let gateway = fast().await;
    for mode in MODES {
        let session = gateway.session().await;
        let answer = gateway.say_with(&session, mode, "reasoning", "text-first").await;
        if mode == "delta" {
            let streamed = answer.frames();
            assert_eq!(outline(&streamed)[1], "thinking_delta", "deltas come as they are made");
        } else {
            let told = Outcome::of(mode, &answer).messages;
            assert_eq!(told[0]["content"][0]["type"], "text");
        }
        let stored = &gateway.history(&session).await[1]["content"];
        assert_eq!((&stored[0]["type"], &stored[1]["type"]), (&json!("text"), &json!("thinking")));
    }
}

#[tokio::test]
async fn denials_may_have_other_words() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let call = gateway.outcome(&session, "delta", "approval").await.waiting()[0].clone();
    let answers = json!([deny(&call, "no")]);
    gateway.turn_with(&session, "delta", answers, "use-denied").await;
    assert_eq!(gateway.history(&session).await[2], result(&call, "Tool use denied: no"));
}

#[tokio::test]
async fn contents_may_have_their_other_form() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let answer = gateway.say_with(&session, "none", "tools", "plain-content+block-results").await;
    let messages = answer.json()["messages"].as_array().expect("messages").clone();
    assert_eq!(messages, gateway.history(&session).await[1..]);
    assert!(messages[0]["content"].is_array(), "a call needs blocks");
    assert_eq!(messages[1]["content"][0]["type"], "text");
    assert!(messages.last().expect("a message")["content"].is_string());
    let frames = gateway.say_with(&session, "delta", "tools", "block-results").await.frames();
    let results: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame.event == "tool_result")
        .map(|frame| &frame.data["content"])
        .collect();
    assert!(results.len() == 2 && results.iter().all(|content| content.is_array()), "{results:?}");
}

#[tokio::test]
async fn later_versions_have_other_words() {
    let gateway = fast().await;
    assert_eq!(gateway.get("/meta?fault=other-version").await.json()["version"], 4);
    assert_eq!(gateway.get("/meta").await.json()["version"], 3);
    let session = gateway.session().await;
    let answer = gateway.say_with(&session, "delta", "plain", "unknown-type+unknown-termination").await;
    let frames = answer.frames();
    assert_eq!(outline(&frames), ["turn_start", "progress", "text_delta", "turn_stop"]);
    assert_eq!(frames.last().expect("a frame").data["stopReason"], "quota_exhausted");
}

#[tokio::test]
async fn an_error_may_be_reported_twice_without_a_broken_model() {
    let gateway = fast().await;
    let session = gateway.session().await;
    for mode in ["delta", "message"] {
        let frames = gateway.say_with(&session, mode, "error", "two-dones").await.frames();
        assert_eq!(frames.iter().filter(|frame| STOPS(frame)).count(), 2, "{mode}");
    }
}

#[tokio::test]
async fn a_plain_text_500_stands_for_any_answer() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let answer = gateway.say_with(&session, "delta", "plain", "text-status:500").await;
    assert_eq!((answer.status.as_u16(), answer.content_type()), (500, "text/plain; charset=utf-8"));
    assert!(gateway.history(&session).await.is_empty(), "nothing was processed");
}

#[tokio::test]
async fn silence_may_be_long_or_endless() {
    let gateway = fast().await;
    let session = gateway.session().await;
    for mode in MODES {
        let started = Instant::now();
        assert_eq!(gateway.say_with(&session, mode, "plain", "silence:300").await.status, 200);
        assert!(started.elapsed() >= Duration::from_millis(300), "{mode}");
    }
    let body = json!({"stream": "delta", "messages": user("plain")});
    let mut response = gateway.open(&format!("{session}/turns?fault=stall:1"), body).await;
    read_until(&mut response, "turn_start").await;
    let silent = tokio::time::timeout(Duration::from_millis(300), response.chunk()).await;
    assert!(silent.is_err(), "{silent:?}");
}

#[tokio::test]
async fn a_turn_goes_on_without_its_reader() {
    let gateway = paced(5).await;
    let whole = |history: &[Value]| text(&history[1]["content"][0]["text"]).ends_with("said twice.");
    for fault in ["none", "eof:3", "reset:3"] {
        let session = gateway.session().await;
        let body = json!({"stream": "delta", "messages": user("plain")});
        let mut response = gateway.open(&format!("{session}/turns?fault={fault}"), body).await;
        read_until(&mut response, "text_delta").await;
        drop(response);
        assert!(whole(&gateway.history_of(&session, 2).await), "{fault}");
    }
    let gateway = paced(20).await;
    for mode in ["message", "none"] {
        let session = gateway.session().await;
        let request = gateway.request(reqwest::Method::POST, &format!("{session}/turns"));
        let body = json!({"stream": mode, "messages": user("plain")});
        let left = async { Answer::read(request.json(&body)).await };
        let left = tokio::time::timeout(Duration::from_millis(300), left).await;
        assert!(left.is_err(), "it takes longer: {left:?}");
        assert_eq!(gateway.history(&session).await.len(), 1, "and is under way");
        assert!(whole(&gateway.history_of(&session, 2).await), "{mode}");
    }
}

#[tokio::test]
async fn an_abandoned_turn_is_dropped() {
    let gateway = paced(20).await;
    let session = gateway.session().await;
    let turns = format!("{session}/turns?fault=abandon");
    let mut response = gateway.open(&turns, json!({"stream": "delta", "messages": user("plain")})).await;
    read_until(&mut response, "text_delta").await;
    drop(response);
    let patience = Duration::from_millis(300);
    let request = gateway.request(reqwest::Method::POST, &turns).timeout(patience);
    assert!(request.json(&json!({"messages": user("plain")})).send().await.is_err(), "it takes longer");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(gateway.history(&session).await, [user("plain")[0].clone(), user("plain")[0].clone()]);
    let whole = gateway.say_with(&session, "delta", "plain", "abandon").await.frames();
    assert!(STOPS(whole.last().expect("a frame")), "who stays gets all of it");
    assert_eq!(gateway.history(&session).await.len(), 4);
}
