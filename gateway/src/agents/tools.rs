//! `tools`: one tool call, its result, a second call that depends on it, the answer.

use serde_json::json;

use super::compose::{Message, Play, call_id, console};
use super::{MAIN, Prompt, Steps};

pub(super) fn play(_: &Prompt) -> Steps {
    let (find, logs) = (call_id(), call_id());
    let services = json!([
        {"service": "shop-web", "status": "degraded", "restarts_last_hour": 2},
        {"service": "shop-worker", "status": "healthy", "restarts_last_hour": 0},
    ]);
    let lines = "13:58:02 shop-web out of memory: 512 MiB reached\n\
                 13:58:02 shop-web stopped\n\
                 13:58:09 shop-web started";
    Play::open()
        .message(Message::new(MAIN).text("Let me see how your services are doing.").call(
            &find,
            console("list_services"),
            &json!({"account": "tidewater-books"}),
        ))
        .result(25, &find, services.to_string())
        .message(
            Message::new(MAIN)
                .text("`shop-web` was restarted twice. I will read its log to find out why.")
                .call(&logs, console("read_log"), &json!({"service": "shop-web", "lines": 50})),
        )
        .result(40, &logs, lines)
        .say(
            "`shop-web` runs out of memory: it reached its limit of **512 MiB** at 13:58, was \
             stopped, and was back seven seconds later. `shop-worker` is fine.\n\nA limit of \
             768 MiB would give it room. That is one setting, and it needs no redeploy.",
        )
        .done()
}
