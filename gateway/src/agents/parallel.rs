//! `parallel`: three calls in one message; their arguments arrive interleaved.

use serde_json::json;

use super::compose::{Message, Play, call_id, console};
use super::{MAIN, Prompt, Steps};

pub(super) fn play(_: &Prompt) -> Steps {
    let ids = [call_id(), call_id(), call_id()];
    let arguments = ["Lisbon", "Montréal", "Ōsaka"]
        .map(|city| json!({"city": city, "resolution_minutes": 5, "metrics": ["latency", "errors"]}));
    let calls: Vec<_> = ids
        .iter()
        .zip(&arguments)
        .map(|(id, arguments)| (id.as_str(), console("measure_latency"), arguments))
        .collect();
    let message = Message::new(MAIN).text("I will measure from three cities at once.").calls(&calls);
    // The answers come in another order than the questions.
    Play::open()
        .message(message)
        .result(20, &ids[1], json!({"latency_ms": 31, "errors": 0}).to_string())
        .result(6, &ids[0], json!({"latency_ms": 24, "errors": 0}).to_string())
        .result(18, &ids[2], json!({"latency_ms": 212, "errors": 3}).to_string())
        .say(
            "Two cities are fine and one is not:\n\n\
             | City | Latency | Errors |\n|---|---:|---:|\n\
             | Lisbon | 24 ms | 0 |\n| Montréal | 31 ms | 0 |\n| Ōsaka | **212 ms** | 3 |\n\n\
             Ōsaka is served from Europe at the moment. A replica in Tōkyō would bring it below \
             50 ms.",
        )
        .done()
}
