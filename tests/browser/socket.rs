//! Turns as a front end written in Rust reads them over a socket, against the development gateway.

use std::cell::{Cell, RefCell};
use std::pin::pin;

use futures::future::{Either, join, join_all, select};
use gloo_timers::future::TimeoutFuture;
use serde_json::{Value as Json, json};
use turnwire::ErrorCode;
use turnwire::protocol::Call;
use turnwire::protocol::turn_rpc::{Dialect, TurnRpc};
use turnwire::turn::{TurnDriver, TurnStatus};
use turnwire::web::socket::Server;

use super::gateway::{
    begin, break_next, count, driver, params, plan, play, play_in, server, session, sockets,
};
use super::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn turns_are_read_to_their_ends() {
    let server = server("0.2");
    for script in ["plain", "reasoning", "tools", "subagents"] {
        let played = play(&server, script).await;
        played.demand_whole(script);
        let said: usize = played.conversation().iter().map(Vec::len).sum();
        assert!(said > 0, "{script}");
        let threads = played.index().threads().len();
        // The events of sub-agents are requested on the stream's own socket.
        assert_eq!(threads > 1, script == "subagents", "{script}");
        assert_eq!(sockets(&[&played.session]).await, 1, "{script}");
    }
}

#[wasm_bindgen_test]
async fn connections_that_break_leave_the_same_conversation() {
    let plain = play(&server("0.2"), "tools").await;
    for fault in ["reset:9", "eof:15", "stall:12", "duplicate:12", "malformed:9:number", "lost-response"] {
        let server = server("0.2").with_timeouts(500, 500);
        break_next(fault).await;
        let broken = play(&server, "tools").await;
        broken.demand_whole(fault);
        assert_eq!(broken.conversation(), plain.conversation(), "{fault}");
        assert_eq!(count(&broken.session, "turn/start").await, 1, "{fault}");
        let is_cut = ["reset", "eof", "stall"].iter().any(|cut| fault.starts_with(cut));
        assert_eq!(sockets(&[&broken.session]).await, if is_cut { 2 } else { 1 }, "{fault}");
    }
}

#[wasm_bindgen_test]
async fn a_start_whose_answer_was_lost_with_its_connection_is_not_sent_again() {
    let server = server("0.2");
    let session = session(&server).await;
    let schedule = json!([{"on": "create", "fault": "lost", "times": 1}, {"on": "turn-events", "fault": "refuse", "times": 1}]);
    plan(&session, schedule).await;
    let played = play_in(&server, session, "plain").await;
    played.demand_whole("lost");
    assert_eq!(played.conversation(), play(&server, "plain").await.conversation());
    assert_eq!(count(&played.session, "turn/start").await, 1);
}

#[wasm_bindgen_test]
async fn many_share_one_connection_and_its_loss() {
    let server = server("1");
    break_next("reset:60").await;
    let ids = join_all((0..4).map(|_| session(&server))).await;
    let played = join_all(ids.into_iter().map(|id| play_in(&server, id, "tools"))).await;
    for one in &played {
        one.demand_whole("one of many");
        assert_eq!(one.conversation(), played[0].conversation());
    }
    let sessions: Vec<&str> = played.iter().map(|one| &*one.session).collect();
    assert_eq!(sockets(&sessions).await, 2);
}

#[wasm_bindgen_test]
async fn a_refusal_of_the_server_is_an_error_with_its_code() {
    let server = server("5");
    let nowhere = server.ask(Call::GetTurn, params([("session_id", "nowhere"), ("turn_id", "none")])).await;
    let error = nowhere.expect_err("there is no such turn");
    assert_eq!((error.code, error.status), (ErrorCode::Rpc, Some(404)));
    assert!(error.body.as_ref().is_some_and(|body| body.contains("-32600")), "{error:?}");

    // A thread has one turn at a time. The first is stopped after the other was refused.
    let session = session(&server).await;
    let turn = RefCell::new(String::new());
    let (mut running, mut refused) = (driver(&session, "slow"), driver(&session, "plain"));
    let (first, second) = (begin(&mut running), begin(&mut refused));
    let came = &mut |driver: &mut TurnDriver| {
        if let Some(id) = driver.reader().machine().id() {
            id.clone_into(&mut turn.borrow_mut());
        }
    };
    let run = server.run(&mut running, first, came);
    let interfere = async {
        while turn.borrow().is_empty() {
            TimeoutFuture::new(5).await;
        }
        let ended = server.run(&mut refused, second, &mut |_| ()).await;
        let id = turn.borrow().clone();
        let cancel = params([("session_id", &session), ("turn_id", &id)]);
        server.ask(Call::CancelTurn, cancel).await.expect("it is cancelled");
        ended
    };
    let (ended, refusal) = join(run, interfere).await;
    assert_eq!(refusal.expect_err("the thread is busy").code, ErrorCode::Rpc);
    assert_eq!(refused.reader().machine().status(), TurnStatus::Unstarted);
    // A missing subscription may be the cause: subscribing is tried once only.
    assert_eq!((count(&session, "turn/start").await, count(&session, "thread/start").await), (3, 2));
    assert_eq!(ended, Ok(()));
    assert_eq!(running.reader().machine().status(), TurnStatus::Cancelled);
}

#[wasm_bindgen_test]
async fn a_reader_that_leaves_does_not_stop_the_turn() {
    let server = server("5");
    let session = session(&server).await;
    let mut driver = driver(&session, "tools");
    let first = begin(&mut driver);
    let came = Cell::new(0);
    let seen = &mut |_: &mut TurnDriver| came.set(came.get() + 1);
    let left = async {
        while came.get() < 3 {
            TimeoutFuture::new(5).await;
        }
    };
    let run = server.run(&mut driver, first, seen);
    assert!(matches!(select(pin!(run), pin!(left)).await, Either::Right(_)));
    let heard = came.get();
    let id = driver.reader().machine().id().expect("it has begun").to_owned();
    let look = || server.ask(Call::GetTurn, params([("session_id", &session), ("turn_id", &id)]));
    loop {
        let turn: Json = serde_json::from_str(&look().await.expect("it is there")).expect("it is JSON");
        if turn["state"]["status"] == "done" {
            break;
        }
        assert_eq!(turn["state"]["status"], "running");
        TimeoutFuture::new(20).await;
    }
    assert_eq!(came.get(), heard, "nothing is handed to who has left");
    assert_eq!(sockets(&[&session]).await, 1);
}

#[wasm_bindgen_test]
async fn a_silent_turn_is_not_a_silent_connection() {
    let server = server("0.2&fault=silence:1500").with_timeouts(500, 500);
    let played = play(&server, "plain").await;
    played.demand_whole("silence");
    assert_eq!(sockets(&[&played.session]).await, 1, "signs of life were asked for");
}

#[wasm_bindgen_test]
async fn a_connection_without_an_answer_in_time_is_replaced() {
    // One opens slowly, one does not respond to the greeting, and one does not respond after it.
    for fault in ["slow-head:1500", "stall:0", "stall:1"] {
        let server = server("0.2").with_timeouts(300, 300);
        break_next(fault).await;
        let look = || server.ask(Call::GetSession, params([("session_id", "nowhere")]));
        assert_eq!(look().await.expect_err("there is no answer").code, ErrorCode::Timeout, "{fault}");
        let mut next = look().await.expect_err("there is no such session").code;
        // Firefox opens one socket to a host at a time: the slow one blocks others until it is open.
        for _ in 0..6 {
            if next == ErrorCode::Timeout && fault.starts_with("slow-head") {
                next = look().await.expect_err("there is no such session").code;
            }
        }
        assert_eq!(next, ErrorCode::Rpc, "{fault}");
    }
}

#[wasm_bindgen_test]
async fn without_a_server_nothing_is_sent_and_no_token_shown() {
    let protocol = TurnRpc::new(Dialect::Gateway);
    let server = Server::new("http://127.0.0.1:1", protocol).with_token("se cret");
    let error =
        server.ask(Call::GetSession, params([("session_id", "s")])).await.expect_err("there is no server");
    assert_eq!(error.code, ErrorCode::Network);
    assert!(!format!("{error:?} {server:?}").contains("cret"));

    let mut driver = driver("s", "plain");
    let first = begin(&mut driver);
    let ended = server.run(&mut driver, first, &mut |_| ()).await;
    assert_eq!(ended.expect_err("there is no server").code, ErrorCode::Network);
    // It can be started again.
    assert_eq!(driver.reader().machine().status(), TurnStatus::Unstarted);
}
