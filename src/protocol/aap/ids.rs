//! Ids of a turn's messages, results and questions. The server names none of them, so that a stream and a history
//! that tell the same come to the same names by counting.

use crate::error::sentence;
use crate::json::write_u64;

/// Which message of the turn makes a call, counted from 0 on; nothing for one of an earlier turn.
pub(super) type Maker = Option<u64>;

/// The id of a turn's message of this number.
pub(super) fn message(turn_id: &str, number: u64) -> String {
    numbered(turn_id, ":", number)
}

/// The id of an event that has nothing else to be named by.
pub(super) fn event(turn_id: &str, number: u64) -> String {
    numbered(turn_id, ":e", number)
}

/// The id of a call's result. Some models number their calls anew in every message.
pub(super) fn result(turn_id: &str, maker: Maker, call_id: &str) -> String {
    of_call(turn_id, ":", maker, call_id)
}

/// The id of the question that a call waits for an answer to.
pub(super) fn question(turn_id: &str, maker: Maker, call_id: &str) -> String {
    of_call(turn_id, ":asks:", maker, call_id)
}

/// The turn of a history that begins with its user's messages of this number.
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
