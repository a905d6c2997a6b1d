//! Turns over a socket: lost starts and broken connections.

use serde_json::{Value as Json, json};

use super::play::{Act, Play, network, page, trace};
use crate::error::{Error, ErrorCode};
use crate::json::Value;
use crate::protocol::turn_rpc::{Dialect, TurnRpc};
use crate::turn::{Failure, Reconnect};

/// A turn `u` of the gateway, with an id made by the client.
fn gateway() -> Play {
    let mut play = Play::of(Box::new(TurnRpc::new(Dialect::Gateway)), Value::from("hi"), "");
    play.driver.set_start("Chat", "u");
    play
}

fn codex() -> Play {
    Play::of(Box::new(TurnRpc::new(Dialect::Codex)), Value::from("hi"), "")
}

/// The server's refusal of an unknown turn.
fn not_found() -> Failure {
    Error::new(ErrorCode::Rpc, "turn `u` was not found").with_status(Some(404)).into()
}

fn lines(messages: &[Json]) -> String {
    messages.iter().map(line).collect::<Vec<_>>().concat()
}

/// In a response, the id comes first.
fn line(message: &Json) -> String {
    let mut rest = message.clone();
    match rest.as_object_mut().expect("an object").remove("response_to") {
        Some(method) => format!("{{\"response_to\":{method},{}\n", &rest.to_string()[1..]),
        None => format!("{rest}\n"),
    }
}

fn delta(text: &str) -> Json {
    let params =
        json!({"thread_id": "s", "turn_id": "u", "item_id": "m", "delta": text, "stream": "agent_message"});
    json!({"method": "item/agent_message/delta", "params": params})
}

fn snapshot(status: &str) -> [Json; 3] {
    let item = json!({"type": "itemCompleted", "item": {"type": "agentMessage", "id": "m", "text": "ab"}});
    [
        json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": status}}}),
        json!({"response_to": "turn/items", "result": {"events": [{"sequence": 1, "payload": item}]}}),
        json!({"response_to": "turn/timeline", "result": {"items": []}}),
    ]
}

fn done() -> Json {
    json!({"method": "turn/completed", "params": {"thread_id": "s", "turn": {"id": "u", "status": "Completed"}}})
}

#[test]
fn a_broken_connection_is_resumed_and_reads_what_it_missed() {
    let mut play = gateway();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    let begun = lines(&[json!({"response_to": "turn/start", "result": {"turn": {"id": "u"}}}), delta("a")]);
    let rest = [&snapshot("InProgress")[..], &[done()]].concat();
    play.plays(
        "resumed",
        &[
            (Act::Breaks(begun, network()), "wait 250 #1 network"),
            // `turn.created`, the message and its piece.
            (Act::Waited, "again after 3"),
            (Act::Brings(lines(&rest)), "end done"),
        ],
    );
    assert_eq!(play.content(), "ab");
}

#[test]
fn a_lost_start_of_the_gateway_is_read_by_its_own_id() {
    let record = json!({"id": "u", "input": [], "state": {"status": "running"}});
    let mut play = gateway();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play.plays(
        "begun",
        &[
            (Act::Fails(network()), "wait 250 #1 network"),
            (Act::Waited, "read"),
            (Act::Answers(record), "subscribe after 0"),
            (Act::Brings(lines(&snapshot("Completed"))), "end done"),
        ],
    );
    assert_eq!(play.content(), "ab");
    let mut play = gateway();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play.plays("absent", &[(Act::Fails(network()), "wait 250 #1 network"), (Act::Waited, "read")]);
    assert!(play.next(Act::Fails(not_found())).starts_with("wait "), "it may be on its way");
}

#[test]
fn a_lost_start_of_codex_is_looked_for_by_its_input() {
    let turn = |content: Json| {
        let item = json!({"type": "user.message", "content": content});
        json!({"id": "u", "previous_turn_id": null, "input": [item], "state": {"status": "running"},
            "created_at": "2026-07-01T10:00:30.000Z"})
    };
    for content in [json!("hi"), json!([{"type": "text", "text": "hi"}])] {
        let mut play = codex();
        assert_eq!(play.stream_traced(trace()), "post stream");
        play.plays(
            "begun",
            &[
                (Act::Fails(network()), "wait 250 #1 network"),
                (Act::Waited, "look"),
                (Act::Answers(page(&[turn(content)], None)), "subscribe after 0"),
            ],
        );
    }
}

#[test]
fn a_start_without_a_connection_is_sent_again_and_no_more_often_than_told() {
    let unsent = || Failure { is_unsent: true, ..network() };
    for mut play in [gateway(), codex()] {
        let reconnect = Reconnect { max_attempts: 2, ..Reconnect::default() };
        assert_eq!(play.stream(reconnect), "post stream");
        play.plays(
            "unsent",
            &[
                (Act::Fails(unsent()), "wait 250 #1 network"),
                (Act::Waited, "post stream"),
                (Act::Fails(unsent()), "wait 500 #2 network"),
                (Act::Waited, "post stream"),
                (Act::Fails(unsent()), "end unstarted: network"),
            ],
        );
    }
}

#[test]
fn a_refused_start_has_begun_nothing() {
    let refused = || Failure::from(Error::new(ErrorCode::Rpc, "a turn runs"));
    for mut play in [gateway(), codex()] {
        assert_eq!(play.stream(Reconnect::default()), "post stream");
        assert_eq!(play.next(Act::Fails(refused())), "end unstarted: rpc");
    }
}

#[test]
fn every_request_says_where_the_session_is() {
    let place = r#"{"workspace_id":"w"}"#;
    let mut play = gateway();
    play.driver.set_terms(place);
    play.stream(Reconnect::default());
    assert_eq!(play.params()["terms"], json!({"workspace_id": "w"}));
    play.next(Act::Breaks(lines(&[delta("a")]), network()));
    play.next(Act::Waited);
    assert_eq!(play.params()["terms"], json!({"workspace_id": "w"}));
}
