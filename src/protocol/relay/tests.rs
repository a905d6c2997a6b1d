//! The relay's requests and answers, for both protocols.

use serde_json::{Value as Json, json};

use super::Relayable;
use super::gate::{Gate, Passage};
use crate::error::ErrorCode;
use crate::features::Relays;
use crate::json::{Object, Value};
use crate::protocol::{Answer, AnyProtocol, Call, Capability, Method, Protocol, Request, Resume};

fn relayed(name: &str) -> AnyProtocol {
    AnyProtocol::named(name).expect("this build has it").behind_relay().expect("a relay keeps its turns")
}

fn with_params<T>(params: &Json, then: impl FnOnce(&Object<'_>) -> T) -> T {
    let text = params.to_string();
    then(Value::parse(&text).expect("JSON").as_object().expect("an object"))
}

fn request(name: &str, call: Call, params: &Json) -> Request {
    let request = with_params(params, |params| relayed(name).protocol().request(call, params.clone()));
    request.unwrap_or_else(|error| panic!("{name}, {call:?}: {error}"))
}

fn header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let mut values = request.headers.iter().filter(|(known, _)| *known == name);
    let value = values.next().map(|(_, value)| &**value);
    assert!(values.next().is_none(), "{name} is sent once");
    value
}

#[test]
fn every_request_says_that_the_client_knows_the_relay() {
    for name in ["aap", "tirea"] {
        for call in Call::ALL {
            let params = json!({"sessionId": "s", "turnId": "t", "agentName": "a", "input": [], "terms": {}});
            let made = with_params(&params, |params| relayed(name).protocol().request(call, params.clone()));
            if let Ok(request) = made {
                assert_eq!(header(&request, "turnwire-relay"), Some("1"), "{name}, {call:?}");
                let named = (call == Call::CreateTurnStream).then_some("t");
                assert_eq!(header(&request, "turnwire-turn"), named, "{name}, {call:?}");
            }
        }
    }
}

#[test]
fn a_turn_is_attached_to_after_its_last_frame() {
    for name in ["aap", "tirea"] {
        let mut params = json!({"session_id": "s", "turn_id": "a/b", "place": "after=17&log=00ff"});
        let attach = request(name, Call::SubscribeTurn, &params);
        assert_eq!(
            (attach.method, &*attach.path),
            (Method::Get, "_turnwire/v1/turns/a%2Fb/events?after=17&log=00ff")
        );
        params = json!({"session_id": "s", "turn_id": "t", "place": "after=0", "terms": {}, "input": [], "said": 1,
                        "is_begun": true, "is_awaited": true});
        let attach = request(name, Call::SubscribeTurn, &params);
        assert_eq!(&*attach.path, "_turnwire/v1/turns/t/events?after=0");
    }
}

#[test]
fn turns_are_listed_and_stopped_by_the_relay() {
    for name in ["aap", "tirea"] {
        let list = request(name, Call::ListOpenTurns, &json!({"sessionId": "s&1", "terms": {}}));
        assert_eq!(
            (list.method, &*list.path),
            (Method::Get, "_turnwire/v1/turns?state=open&session=s%261"),
            "{name}"
        );
        let params = json!({"sessionId": "s", "turnId": "t", "terms": {}, "input": [], "isBegun": true});
        let stop = request(name, Call::CancelTurn, &params);
        assert_eq!((stop.method, &*stop.path, stop.body), (Method::Delete, "_turnwire/v1/turns/t", None));
    }
}

#[test]
fn its_answers_are_read() {
    for name in ["aap", "tirea"] {
        let known = relayed(name);
        let read = |call, body| {
            let answer = Answer { status: 202, status_text: "", content_type: "application/json", body };
            answer.read(known.protocol(), call, &Object::new())
        };
        let open = r#"{"turns":[{"id":"t"}]}"#;
        assert_eq!(read(Call::ListOpenTurns, open).as_deref(), Ok(open));
        assert_eq!(read(Call::CancelTurn, "").as_deref(), Ok("null"));
    }
}

#[test]
fn a_relay_resumes_what_its_server_does_not() {
    for name in ["aap", "tirea"] {
        let direct = AnyProtocol::named(name).expect("known").protocol().capabilities();
        let behind = relayed(name).protocol().capabilities();
        assert_eq!(behind.resume, Resume::Cursor);
        assert!(behind.is_relayed() && !direct.is_relayed());
        assert!(direct.resume != Resume::Cursor);
        assert!(behind.to_text().starts_with("cursor "));
    }
    // Also in a session whose agent keeps no history.
    let session = relayed("aap").with_terms(r#"{"history":null}"#);
    assert_eq!(session.protocol().capabilities().resume, Resume::Cursor);
    assert!(session.protocol().capabilities().is_relayed());
}

#[test]
fn the_number_of_a_protocol_says_whether_it_is_behind_a_relay() {
    for (number, (name, _)) in AnyProtocol::NAMES.iter().enumerate() {
        let number = u8::try_from(number).expect("few");
        let behind = AnyProtocol::numbered(number | AnyProtocol::RELAYED);
        let Ok(behind) = behind.map_err(|error| assert_eq!(error.code, ErrorCode::Unsupported, "{name}"))
        else {
            assert!(!["aap", "tirea", "turn-rpc", "codex"].contains(name), "{name}");
            continue;
        };
        let capabilities = behind.protocol().capabilities();
        assert_eq!(capabilities.is_relayed(), ["aap", "tirea"].contains(name), "{name}");
        assert_eq!(capabilities.has(Capability::Held), ["turn-rpc", "codex"].contains(name), "{name}");
    }
}

#[test]
fn without_a_relay_nothing_changes() {
    let params = json!({"session_id": "s", "turn_id": "t"});
    let direct = Relayable::direct(crate::protocol::aap::Aap::new());
    let refused = with_params(&params, |params| direct.request(Call::SubscribeTurn, params.clone()));
    assert_eq!(refused.expect_err("no such call").code, ErrorCode::Unsupported);
    let list =
        with_params(&json!({}), |params| direct.request(Call::ListAgents, params.clone())).expect("a call");
    assert_eq!(header(&list, "turnwire-relay"), None);
}

fn gate() -> Gate {
    Gate::new(Relays::when(true).expect("this build has relays"))
}

#[test]
fn a_gate_lets_each_frame_pass_once_and_in_order() {
    let mut gate = gate();
    assert_eq!(gate.take("turnwire.log", None, "L"), Passage::Stays);
    assert_eq!(gate.take("e", Some("1"), "a"), Passage::Passes);
    assert_eq!(gate.take("e", Some("1"), "a"), Passage::Stays);
    assert_eq!(gate.take("e", Some("2"), "b"), Passage::Passes);
    let Passage::Closed(error) = gate.take("e", Some("4"), "d") else { panic!("a frame is missing") };
    assert_eq!(error.message, "a frame of the relay's log is missing");
    assert_eq!(gate.take("e", Some("3"), "c"), Passage::Passes);
    assert_eq!(gate.place(), "after=3&log=L");
    // Only digits and letters get into an address.
    assert_eq!(gate.take("turnwire.log", None, "a&b"), Passage::Stays);
    assert_eq!(gate.place(), "after=3");
    // Numbers of no frame count as old.
    for id in ["0", "", "x", "-1", "1.5", "99999999999999999999999999"] {
        assert_eq!(gate.take("e", Some(id), "z"), Passage::Stays, "{id}");
    }
}

#[test]
fn a_gate_tells_the_same_frames_from_others() {
    for (event, data, is_same) in [
        ("e", "0123456789", true),
        ("f", "0123456789", false),
        ("e", "0123456780", false),
        ("e", "1023456789", false),
        ("e", "0123456789a", false),
        ("", "e0123456789", false),
    ] {
        let mut gate = gate();
        assert_eq!(gate.take("turnwire.log", None, "L"), Passage::Stays);
        assert_eq!(gate.take("e", Some("1"), "0123456789"), Passage::Passes);
        assert!(gate.start_over());
        let again = gate.take(event, Some("1"), data);
        assert_eq!(again == Passage::Stays, is_same, "{event} {data}");
        assert_eq!(matches!(again, Passage::Closed(error) if error.code == ErrorCode::Cut), !is_same);
    }
    assert!(!gate().start_over());
}

#[test]
fn what_a_relay_says_itself() {
    let mut gate = gate();
    // Before its first frame nothing of the turn is known.
    assert!(matches!(gate.take("turnwire.cut", None, r#"{"reason":"stopped"}"#), Passage::Closed(_)));
    assert_eq!(gate.take("e", Some("1"), "a"), Passage::Passes);
    assert_eq!(gate.take("turnwire.cut", None, r#"{"reason":"stopped"}"#), Passage::Stopped);
    for said in ["", "null", "[]", "{}", r#"{"reason":5}"#, r#"{"reason":"drained"}"#] {
        let Passage::Closed(error) = gate.take("turnwire.cut", None, said) else { panic!("{said}") };
        assert_eq!((error.code, error.body.as_deref()), (ErrorCode::Cut, Some(said)));
    }
    let Passage::Closed(error) = gate.take("text_delta", None, "{}") else { panic!("it has no number") };
    assert_eq!(error.code, ErrorCode::UnexpectedResponse);
}
