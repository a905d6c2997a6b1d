//! `approval`: a call that waits for the user's consent; both answers lead on.

use serde_json::json;

use super::compose::{Message, Play, call_id, console};
use super::{MAIN, Prompt, Step, Steps};

pub(super) fn play(_: &Prompt) -> Steps {
    let restart = call_id();
    let message = Message::new(MAIN)
        .text(
            "The billing service has not answered for two minutes. Restarting it should help, \
             and takes about ten seconds. May I?",
        )
        .call(
            &restart,
            console("restart_service"),
            &json!({"service": "billing", "reason": "no answer for two minutes"}),
        );
    Play::open()
        .message(message)
        .step(Step::AwaitApproval { thread: MAIN.to_owned(), calls: vec![restart.clone()] })
        .pause(move |answers| match answers.denial(&restart) {
            None => allowed(&restart),
            Some(denial) => denied(&restart, &denial),
        })
}

fn allowed(restart: &str) -> Steps {
    let result = json!({"service": "billing", "status": "running", "took_seconds": 9});
    Play::open()
        .result(60, restart, result.to_string())
        .say(
            "Done. `billing` is running again; it was back after **nine seconds**, and the first \
             three payments have gone through.",
        )
        .done()
}

fn denied(restart: &str, denial: &str) -> Steps {
    let why = denial.split_once("Reason: ").map(|(_, reason)| reason);
    let reply = match why {
        Some(reason) => format!(
            "All right, I have left it alone. You wrote: “{reason}”. I can watch the service and \
             tell you when it answers again."
        ),
        None => "All right, I have left it alone. I can watch the service and tell you when it \
                 answers again."
            .to_owned(),
    };
    Play::open().result(0, restart, denial).say(&reply).done()
}
