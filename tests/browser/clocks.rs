//! Responses that a stream needs and does not get: it is recovered on another connection.

use std::pin::pin;

use futures::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use serde_json::json;
use turnwire::turn::TurnDriver;

use super::gateway::{begin, break_next, count, driver, plan, play, play_in, server, session, sockets};
use super::tap::Tap;
use super::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn requests_inside_a_stream_have_a_clock() {
    let plain = play(&server("0.2"), "subagents").await;
    // The silence has a clock, too, but pings are answered.
    let server = server("0.2").with_timeouts(500, 500);
    let session = session(&server).await;
    plan(&session, json!([{"on": "turn-events", "fault": "lost-response", "times": 1}])).await;
    let played = play_in(&server, session, "subagents").await;
    played.demand_whole("the tasks' news");
    assert_eq!(played.conversation(), plain.conversation());
    assert_eq!(sockets(&[&played.session]).await, 2);
}

#[wasm_bindgen_test]
async fn reads_of_a_resumed_stream_have_a_clock() {
    let plain = play(&server("0.2"), "tools").await;
    for skip in [0, 1] {
        let server = server("0.2").with_timeouts(500, 500);
        break_next("reset:15").await;
        let session = session(&server).await;
        // First the items are read, then the timeline.
        let fault = json!({"on": "turn-events", "fault": "lost-response", "times": 1, "skip": skip});
        plan(&session, json!([fault])).await;
        let played = play_in(&server, session, "tools").await;
        played.demand_whole("what was missed");
        assert_eq!(played.conversation(), plain.conversation());
        assert_eq!(count(&played.session, "turn/start").await, 1);
        assert_eq!(sockets(&[&played.session]).await, 3);
    }
}

#[wasm_bindgen_test]
async fn a_slow_response_within_its_time_changes_nothing() {
    let server = server("0.2").with_timeouts(2000, 2000);
    let session = session(&server).await;
    plan(&session, json!([{"on": "turn-events", "fault": "slow-head:300", "times": 1}])).await;
    let played = play_in(&server, session, "subagents").await;
    played.demand_whole("the tasks' news");
    assert_eq!(sockets(&[&played.session]).await, 1);
}

#[wasm_bindgen_test]
async fn a_stream_that_is_left_has_no_clocks() {
    let server = server("1").with_timeouts(500, 5000);
    let (left, other) = (session(&server).await, session(&server).await);
    plan(&left, json!([{"on": "turn-events", "fault": "lost-response", "times": 1}])).await;
    let mut driver = driver(&left, "subagents");
    let first = begin(&mut driver);
    let asks = async {
        while count(&left, "turn/timeline").await == 0 {
            TimeoutFuture::new(10).await;
        }
    };
    let came = &mut |_: &mut TurnDriver| ();
    let run = server.run(&mut driver, first, came);
    assert!(matches!(select(pin!(run), pin!(asks)).await, Either::Right(_)));
    TimeoutFuture::new(700).await;
    play_in(&server, other.clone(), "plain").await.demand_whole("another");
    assert_eq!(sockets(&[&left, &other]).await, 1);
}

#[wasm_bindgen_test]
async fn a_request_that_cannot_be_sent_is_sent_on_another_connection() {
    let tap = Tap::new();
    tap.fill_after(r#""turn/start""#);
    let played = play(&server("0.2"), "subagents").await;
    played.demand_whole("full");
    assert!(played.index().threads().len() > 1);
    assert_eq!(sockets(&[&played.session]).await, 2);
}
