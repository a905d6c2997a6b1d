//! Threads that the server unloads: a client that needs one subscribes again, and no turn is started twice for that.

use std::cell::RefCell;

use futures::future::{join, join_all};
use gloo_timers::future::TimeoutFuture;
use serde_json::{Value as Json, json};
use turnwire::ErrorCode;
use turnwire::protocol::Call;
use turnwire::turn::{TurnDriver, TurnStatus};

use super::gateway::{begin, count, driver, in_time, journal, params, plan, play_in, server, session};
use super::tap::Tap;
use super::wasm_bindgen_test;

/// Unsubscribes the newest socket from this session, as if the server had unloaded the idle session.
async fn unsubscribe(tap: &Tap, session: &str, answer: &str) {
    let (id, method) = ("unsubscribe----------", "thread/unsubscribe");
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"threadId": session}});
    in_time("unsubscribe", tap.say(&request.to_string(), answer)).await;
}

/// The methods of a session's requests, in order.
async fn asked(session: &str) -> Vec<String> {
    let methods = |entry: &Json| entry["frame"]["method"].as_str().map(str::to_owned);
    journal(session).await.iter().filter_map(methods).collect()
}

/// The ids under which turns were started.
async fn starts(session: &str) -> Vec<Json> {
    let entries = journal(session).await;
    let starts = entries.iter().filter(|entry| entry["frame"]["method"] == "turn/start");
    starts.map(|entry| entry["frame"]["params"]["turn_id"].clone()).collect()
}

#[wasm_bindgen_test]
async fn a_thread_that_was_closed_is_subscribed_to_before_the_next_turn() {
    let tap = Tap::new();
    let server = server("0.2");
    let session = session(&server).await;
    play_in(&server, session.clone(), "plain").await.demand_whole("before");
    unsubscribe(&tap, &session, "thread/closed").await;
    play_in(&server, session.clone(), "plain").await.demand_whole("after");
    let expected = ["thread/start", "turn/start", "thread/unsubscribe", "thread/start", "turn/start"];
    assert_eq!(asked(&session).await, expected);
}

#[wasm_bindgen_test]
async fn a_start_that_is_refused_is_sent_once_more_after_a_subscription() {
    let tap = Tap::new();
    tap.hide("thread/closed");
    let server = server("0.2");
    let session = session(&server).await;
    play_in(&server, session.clone(), "plain").await.demand_whole("before");
    unsubscribe(&tap, &session, "thread/closed").await;
    play_in(&server, session.clone(), "plain").await.demand_whole("after");
    let expected = ["turn/start", "thread/start", "turn/start"];
    assert_eq!(asked(&session).await[3..], expected);
    let starts = starts(&session).await;
    assert_eq!(starts[1], starts[2], "the same turn");
}

#[wasm_bindgen_test]
async fn a_turn_is_cancelled_although_the_server_no_longer_sends_its_messages() {
    let tap = Tap::new();
    let server = server("5");
    let session = session(&server).await;
    let turn = RefCell::new(String::new());
    let mut driver = driver(&session, "slow");
    let first = begin(&mut driver);
    let came = &mut |driver: &mut TurnDriver| {
        driver.reader().machine().id().unwrap_or_default().clone_into(&mut turn.borrow_mut());
    };
    let cancel = async {
        while turn.borrow().is_empty() {
            TimeoutFuture::new(5).await;
        }
        unsubscribe(&tap, &session, "unsubscribe----------").await;
        let id = turn.borrow().clone();
        let asked = server.ask(Call::CancelTurn, params([("session_id", &session), ("turn_id", &id)])).await;
        asked.expect("it is cancelled");
    };
    let (ended, ()) = in_time("slow", join(server.run(&mut driver, first, came), cancel)).await;
    assert_eq!((ended, driver.reader().machine().status()), (Ok(()), TurnStatus::Cancelled));
    assert_eq!(asked(&session).await[3..], ["turn/cancel", "thread/start", "turn/cancel"]);
}

#[wasm_bindgen_test]
async fn reads_that_find_nothing_subscribe_to_nothing() {
    let server = server("0.2");
    let session = session(&server).await;
    let look = server.ask(Call::GetTurn, params([("session_id", &session), ("turn_id", "none")])).await;
    assert_eq!(look.expect_err("there is no such turn").code, ErrorCode::Rpc);
    assert_eq!(asked(&session).await, ["thread/start", "turn/get"]);
}

#[wasm_bindgen_test]
async fn no_turn_relies_on_a_subscription_that_another_one_waits_for() {
    let session = session(&server("0.2")).await;
    plan(&session, json!([{"on": "subscribe", "fault": "slow-head:100", "times": 1}])).await;
    // It has another connection, without subscriptions yet.
    let server = server("0.2");
    let cancel = || server.ask(Call::CancelTurn, params([("session_id", &session), ("turn_id", "none")]));
    join_all([cancel(), cancel()]).await;
    assert_eq!(count(&session, "turn/cancel").await, 2);
    assert_eq!(asked(&session).await[1..3], ["thread/start", "thread/start"]);
}
