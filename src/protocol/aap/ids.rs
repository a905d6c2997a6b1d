//! Ids of a turn's messages, results and questions. The server has none, so they are counted; then a stream and a
//! history with the same content have the same ids.

use crate::error::sentence;
use crate::json::write_u64;

/// The number of the turn's message that makes a call, from 0 on; `None` for a call of an earlier turn.
pub(super) type Maker = Option<u64>;

/// The id of the turn's message with this number.
pub(super) fn message(turn_id: &str, number: u64) -> String {
    numbered(turn_id, ":", number)
}

/// The id of an event that has no other id.
pub(super) fn event(turn_id: &str, number: u64) -> String {
    numbered(turn_id, ":e", number)
}

/// The id of a call's result. It includes the message, since some models number their calls again in every message.
pub(super) fn result(turn_id: &str, maker: Maker, call_id: &str) -> String {
    of_call(turn_id, ":", maker, call_id)
}

/// The id of the question for a waiting call.
pub(super) fn question(turn_id: &str, maker: Maker, call_id: &str) -> String {
    of_call(turn_id, ":asks:", maker, call_id)
}

/// The id of the turn in a history that begins with the user's messages of this number.
pub(super) fn turn(number: u64) -> String {
    numbered("turn", "-", number)
}

fn of_call(turn_id: &str, kind: &str, maker: Maker, call_id: &str) -> String {
    let mut id = match maker {
        Some(number) => numbered(turn_id, kind, number),
        None => sentence(&[turn_id, kind, "in"]),
    };
    id.push(':');
    id.push_str(call_id);
    id
}

fn numbered(turn_id: &str, kind: &str, number: u64) -> String {
    let mut id = sentence(&[turn_id, kind]);
    write_u64(&mut id, number);
    id
}
