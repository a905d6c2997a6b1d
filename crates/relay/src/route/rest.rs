//! Agents that keep their turns: how the relay asks for the rest of a turn, and by which id the agent knows it.
//!
//! For these protocols the relay's numbers are the agent's own. So a page may read a turn from either, and a relay that
//! has the turn's first frames can ask for the others.

use axum::http::Method;
use serde::Deserialize;
use turnwire::json::Value;
use turnwire::sse::{Frame, FrameDecoder};

use super::path::encoded;
use super::{Action, Protocol, tables};

/// The relay's own request to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path and query, below the agent's address.
    pub(crate) target: String,
    /// The body, in JSON.
    pub(crate) body: Option<String>,
}

/// The body of a request for the rest of a turn.
#[derive(Deserialize)]
struct Cursor {
    after_sequence_number: Option<u64>,
}

/// The name of the last known number in both dialects of `TrueFoundry`.
const AFTER: &str = "after_sequence_number";

impl Protocol {
    /// Whether the agent keeps its turns and can return the rest of one.
    pub(crate) fn has_cursor(self) -> bool {
        matches!(self, Self::TrueFoundry | Self::TrueForge)
    }

    /// The agent's number of a frame: from its `id`, or else from its JSON.
    pub(crate) fn number(self, frame: &Frame<'_>) -> Option<u64> {
        if !self.has_cursor() {
            return None;
        }
        match frame.id.filter(|_| frame.has_own_id) {
            Some(id) => id.parse().ok(),
            None => Value::parse(frame.data).ok()?.get("sequence_number")?.as_u64(),
        }
    }

    /// The agent's id of the turn, if this frame contains it.
    pub(crate) fn turn_named(self, frame: &[u8]) -> Option<String> {
        let mut turn = None;
        let read = &mut |frame: Frame<'_>| {
            if self.has_cursor() && frame.data.contains("turn.created") {
                turn = created(frame.data);
            }
        };
        FrameDecoder::default().feed(frame, read).ok()?;
        turn
    }

    /// The request for what follows the frame `after` of a turn, by the agent's id of the turn.
    pub(crate) fn rest(self, session: &str, turn: &str, after: u64) -> Option<Request> {
        let route = tables::of(self).iter().find(|route| route.action == Action::Attach)?;
        let path = route.pattern.replace("{session}", &encoded(session)).replace("{turn}", &encoded(turn));
        let method = route.method.parse().ok()?;
        Some(if method == Method::GET {
            Request { method, target: format!("/{path}?{AFTER}={after}"), body: None }
        } else {
            Request { method, target: format!("/{path}"), body: Some(format!("{{\"{AFTER}\":{after}}}")) }
        })
    }

    /// The last number that a caller knows who asks for the rest of a turn. `None` if it is invalid.
    pub(crate) fn after(header: Option<&str>, query: &[(String, String)], body: &[u8]) -> Option<u64> {
        let in_body = match body {
            [] => None,
            body => serde_json::from_slice::<Cursor>(body).ok()?.after_sequence_number,
        };
        let in_query = query.iter().find(|(name, _)| name == AFTER).map(|(_, value)| value.as_str());
        match in_body {
            Some(after) => Some(after),
            None => header.or(in_query).map_or(Some(0), |text| text.trim().parse().ok()),
        }
    }
}

fn created(data: &str) -> Option<String> {
    let value = Value::parse(data).ok()?;
    let is_created = value.get("type").and_then(Value::as_str) == Some("turn.created");
    let turn = value.get("turn_id").and_then(Value::as_str).filter(|turn| !turn.is_empty());
    turn.filter(|_| is_created).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Protocol; 2] = [Protocol::TrueFoundry, Protocol::TrueForge];

    #[test]
    fn the_relay_asks_as_pages_do() {
        for protocol in BOTH {
            let request = protocol.rest("s é", "t.1", 7).expect("a request");
            let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
            let matched = protocol.route(&request.method, path).expect("a route");
            assert_eq!(matched.route.action, Action::Attach);
            assert_eq!((matched.session.as_deref(), matched.turn.as_deref()), (Some("s é"), Some("t.1")));
            let query = super::super::query(Some(query)).expect("pairs");
            let body = request.body.unwrap_or_default();
            assert_eq!(Protocol::after(None, &query, body.as_bytes()), Some(7));
            let cancel = protocol.cancel(Some("s é"), "t.1").expect("a request");
            assert_eq!(
                protocol.route(&cancel.method, &cancel.target).expect("a route").session,
                matched.session
            );
        }
        assert_eq!(Protocol::Aap.rest("s", "t", 1), None);
    }

    #[test]
    fn a_caller_says_in_one_of_three_places_what_it_has() {
        let after = |header, query, body: &str| {
            let query = super::super::query(Some(query)).expect("pairs");
            Protocol::after(header, &query, body.as_bytes())
        };
        assert_eq!(after(None, "", ""), Some(0));
        assert_eq!(after(None, "", "{}"), Some(0));
        assert_eq!(after(Some("3"), "after_sequence_number=2", "{}"), Some(3));
        assert_eq!(after(Some("3"), "", "{\"after_sequence_number\":4}"), Some(4));
        assert_eq!(after(None, "after_sequence_number=2", ""), Some(2));
        for wrong in
            [after(Some("x"), "", ""), after(None, "after_sequence_number=-1", ""), after(None, "", "[")]
        {
            assert_eq!(wrong, None);
        }
    }

    #[test]
    fn a_turn_is_named_by_one_frame() {
        let named = |frame: &str| Protocol::TrueFoundry.turn_named(frame.as_bytes());
        assert_eq!(named("data: {\"type\":\"turn.created\",\"turn_id\":\"t\"}\n\n"), Some("t".to_owned()));
        for other in [
            "",
            "{\"data\":{\"id\":\"t\"}}",
            "data: {\"type\":\"turn.created\",\"turn_id\":\"\"}\n\n",
            "data: {\"type\":\"x\",\"turn_id\":\"t\",\"content\":\"turn.created\"}\n\n",
        ] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
