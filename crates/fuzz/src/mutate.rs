//! Random changes of inputs, for machines without libFuzzer: blind, but many.

use crate::input::Plan;

/// Pieces that streams and documents are made of, and broken by.
const PIECES: [&[u8]; 41] = [
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b":",
    b": ",
    b"\0",
    b"\xEF\xBB\xBF",
    b"data: ",
    b"event: ",
    b"id: ",
    b"retry: ",
    b"\xC3\xA9",
    b"\xE2\x82",
    b"\xF0\x9F\x98\x80",
    b"\xFF",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d",
    b"\\ude00",
    b"null",
    b"true",
    b"-",
    b"0",
    b"1e5",
    b"\"id\":",
    b"\"type\":",
    b"\"thread_id\":\"main\",",
    b"\"sequence_number\":7,",
    b"\"content\":\"a\"",
    b"\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"a\"}}]",
    b"\"finish_reason\":\"stop\"",
    b"\"state\":{\"status\":\"done\"}",
    b"\"model.message.delta\"",
    b"\"turn.done\"",
];

/// Changes `input` in a few places; parts of `other` may come into it.
pub fn mutate(plan: &mut Plan, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut changed = input.to_vec();
    for _ in 0..=plan.below(6) {
        let at = plan.below(changed.len() + 1);
        let longest = 1 << plan.below(8);
        let end = (at + 1 + plan.below(longest)).min(changed.len());
        match plan.below(6) {
            0 => {
                if let Some(byte) = changed.get_mut(at) {
                    *byte ^= 1 << plan.below(8);
                }
            }
            1 => {
                changed.splice(at..end, []);
            }
            2 => {
                changed.splice(at..at, PIECES[plan.below(PIECES.len())].iter().copied());
            }
            3 => {
                changed.splice(at..end, PIECES[plan.below(PIECES.len())].iter().copied());
            }
            4 => {
                let repeated = changed[at..end].to_vec();
                changed.splice(at..at, repeated);
            }
            _ => {
                let from = plan.below(other.len() + 1);
                let to = (from + plan.below(256)).min(other.len());
                changed.splice(at..end, other[from..to].iter().copied());
            }
        }
    }
    changed
}
