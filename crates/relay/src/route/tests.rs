//! Paths, bodies, and the frames that end turns.

use proptest::prelude::*;
use turnwire::protocol::{AnyProtocol, EventSink};
use turnwire::sse::FrameDecoder;

use super::*;

fn get(protocol: Protocol, path: &str) -> Result<Matched, Unmatched> {
    protocol.route(&Method::GET, path)
}

#[test]
fn a_path_is_built_anew_from_what_matched() {
    let found = get(Protocol::Aap, "/sessions/a%20b%C3%A9/history").expect("a route");
    assert_eq!(found.session.as_deref(), Some("a bé"));
    assert_eq!(found.path, "/sessions/a%20b%C3%A9/history");
    let found = get(Protocol::Tirea, "/v1/runs/%61").expect("a route");
    assert_eq!((found.turn.as_deref(), found.path.as_str()), (Some("a"), "/v1/runs/a"));
    let query = query(Some("type=full&a=%2F+x&b")).expect("pairs");
    let found = get(Protocol::Aap, "/sessions/s/history").expect("a route");
    assert_eq!(found.target(&query), "/sessions/s/history?type=full&a=%2F%20x&b=");
    assert_eq!(get(Protocol::TurnRpc, "").expect("a route").target(&[]), "/");
}

/// Every route of every table, with its segments spelled in ways that others may read differently.
#[test]
fn paths_with_two_meanings_match_nothing() {
    let corpus = [
        "..",
        ".",
        "%2e%2e",
        "%2E.",
        ".%2e",
        "a%2fb",
        "a%2Fb",
        "a%5cb",
        "a\\b",
        "a%00b",
        "a%0ab",
        "%",
        "a%2",
        "a%zz",
        "a%252fb",
        "a%25",
        "a;b",
        "a%3bb",
        "a%3fb",
        "a%23b",
        "",
        "%ff",
        "%c0%af",
        "%c0%ae%c0%ae",
        "a%7f",
    ];
    for protocol in Protocol::ALL {
        for route in tables::of(protocol) {
            let method: Method = route.method.parse().expect("a method");
            let with =
                |id: &str| format!("/{}", route.pattern).replace("{session}", id).replace("{turn}", id);
            let plain = with("id-1");
            let found = protocol.route(&method, &plain).expect("a route");
            assert_eq!(found.route.pattern, route.pattern);
            for broken in [
                format!("{plain}/"),
                format!("/{plain}"),
                format!("/..{plain}"),
                format!("{plain}/.."),
                plain[1..].to_owned(),
            ] {
                if broken != "/" && !broken.is_empty() {
                    assert!(protocol.route(&method, &broken).is_err(), "{broken}");
                }
            }
            if route.pattern.contains('{') {
                for id in corpus {
                    assert_eq!(
                        protocol.route(&method, &with(id)).err(),
                        Some(Unmatched::Path),
                        "{id} in {}",
                        route.pattern
                    );
                }
            }
            assert_eq!(protocol.route(&Method::TRACE, &plain).err(), Some(Unmatched::Method));
        }
        for unknown in
            ["/v1/ag-ui/agents/a/runs", "/v1/agents/sandbox/x/file", "/v1/a2a", "/health", "/sessions/a/b/c"]
        {
            assert!(get(protocol, unknown).is_err(), "{unknown}");
        }
    }
}

#[test]
fn a_start_names_its_session_once_and_in_one_spelling() {
    let keys =
        tables::of(Protocol::Tirea).iter().find(|route| route.action == Action::Start).expect("a start").keys;
    let named = |body: &str| StartBody::read(body.as_bytes(), keys).and_then(|body| body.named());
    let both = Named { session: Some("t".to_owned()), parent: Some("r".to_owned()) };
    assert_eq!(
        named(r#"{"agentId":"a","threadId":"t","parentRunId":"r","messages":[{"threadId":"x"}]}"#),
        Ok(both)
    );
    assert_eq!(named(r#"{"threadId":null}"#), Ok(Named::default()));
    for wrong in [
        r#"{"threadId":"t","thread_id":"other"}"#,
        r#"{"threadId":"t","threadId":"other"}"#,
        r#"{"threadId":"t","thread\u0049d":"other"}"#,
        r#"{"threadId":"t","contextId":"other"}"#,
        r#"{"threadId":"t","parentThreadId":"other"}"#,
        r#"{"threadId":["t"]}"#,
        "[]",
        "",
        "{",
    ] {
        assert!(named(wrong).is_err(), "{wrong}");
    }
}

/// Whether the pages' decoder has seen the turn's end.
#[derive(Default)]
struct Done(bool);

impl EventSink for Done {
    fn delta(&mut self, _: u64, _: turnwire::event::TextDelta<'_>) {}

    fn event(&mut self, _: u64, event: turnwire::event::EventRef<'_>) {
        self.0 |= event.fields.text("type") == "turn.done";
    }
}

#[test]
fn the_relay_and_pages_agree_where_a_turn_ends() {
    let start = "data: {\"type\":\"run_start\",\"run_id\":\"r\",\"thread_id\":\"t\"}\n\n";
    let frames = [
        (Protocol::Aap, "event: turn_stop\ndata: {\"stopReason\":\"end_turn\"}\n\n"),
        (Protocol::Aap, "event: turn_stop\ndata: {\"stopReason\":\"tool_use\"}\n\n"),
        (Protocol::Aap, "event: turn_stop\ndata: {\"stopReason\":\"error\"}\n\n"),
        (Protocol::Aap, "event: turn_start\ndata: {}\n\n"),
        (Protocol::Aap, "event: text_delta\ndata: {\"delta\":\"turn_stop\"}\n\n"),
        (
            Protocol::Tirea,
            "data: {\"type\":\"run_finish\",\"run_id\":\"r\",\"thread_id\":\"t\",\"data\":{\"termination\":{\"type\":\"natural_end\"}}}\n\n",
        ),
        (
            Protocol::Tirea,
            "data: {\"type\":\"run_finish\",\"run_id\":\"r\",\"thread_id\":\"t\",\"data\":{\"termination\":{\"type\":\"suspended\"}}}\n\n",
        ),
        (
            Protocol::Tirea,
            "data: {\"type\":\"error\",\"data\":{\"message\":\"no\",\"code\":\"STATE_ERROR\"}}\n\n",
        ),
        (Protocol::Tirea, "data: {\"type\":\"error\",\"message\":\"no\",\"code\":\"RELAY_ERROR\"}\n\n"),
        (Protocol::Tirea, "data: {\"type\":\"text_delta\",\"data\":{\"delta\":\"run_finish error\"}}\n\n"),
        (Protocol::Tirea, "data: {\"type\":\"step_start\",\"data\":{\"message_id\":\"m\"}}\n\n"),
        (
            Protocol::TrueFoundry,
            "id: 2\ndata: {\"type\":\"turn.done\",\"id\":\"e\",\"created_at\":\"2026-11-01T00:00:00Z\",\"thread_id\":null,\"state\":{\"status\":\"done\",\"output\":null,\"required_actions\":[],\"completed_at\":\"2026-11-01T00:00:00Z\"}}\n\n",
        ),
        (
            Protocol::TrueForge,
            "id: 2\ndata: {\"type\":\"turn.done\",\"id\":\"e\",\"created_at\":\"2026-11-01T00:00:00Z\",\"thread_id\":null,\"state\":{\"status\":\"error\",\"message\":\"no\",\"completed_at\":\"2026-11-01T00:00:00Z\"}}\n\n",
        ),
        (
            Protocol::TrueFoundry,
            "id: 2\ndata: {\"type\":\"model.message.delta\",\"id\":\"m\",\"thread_id\":\"main\",\"content\":\"turn.done\"}\n\n",
        ),
    ];
    for (protocol, frame) in frames {
        let name = protocol.to_string();
        let mut decoder = AnyProtocol::named(&name).expect("spoken").protocol().decoder();
        let (mut done, mut mark) = (Done::default(), Mark::Middle);
        let begin = match protocol {
            Protocol::Tirea => start,
            Protocol::Aap => "event: turn_start\ndata: {}\n\n",
            _ => "",
        };
        let stream = format!("{begin}{frame}");
        let mut frames = FrameDecoder::default();
        frames
            .feed(stream.as_bytes(), &mut |frame| {
                decoder.decode(&frame, &mut done);
                mark = protocol.mark(&frame);
            })
            .expect("small");
        assert_eq!(mark == Mark::Last, done.0, "{frame}");
        decoder.end(&mut done);
        assert_eq!(mark != Mark::Middle, done.0, "{frame} and the stream's end");
    }
}

proptest! {
    /// Whatever the path is, the rebuilt path matches the same route again and stays the same.
    #[test]
    fn a_path_that_was_built_is_its_own_meaning(path in "(/([a-z0-9]{1,3}|v1|runs|threads|sessions|turns|agents|%[0-9a-f]{2}|[.%/\\\\;?é ]){0,3}){0,7}") {
        for protocol in Protocol::ALL {
            for method in [Method::GET, Method::POST] {
                let Ok(found) = protocol.route(&method, &path) else { continue };
                let again = protocol.route(&method, &found.path).expect("a route");
                prop_assert_eq!(again.route.pattern, found.route.pattern);
                prop_assert_eq!(again.path, found.path.clone());
                prop_assert_eq!(again.session, found.session);
                let has_two_meanings = found.path.contains("..") && found.path.split('/').any(|part| part == "..");
                prop_assert!(!has_two_meanings && !found.path.contains("//"));
            }
        }
    }
}
