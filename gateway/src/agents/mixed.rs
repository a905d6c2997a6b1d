//! `mixed`: one message with a call that needs consent, a question, and a call that needs
//! neither. All of them wait until the user has answered.

use serde_json::json;

use super::compose::{Message, Play, call_id, console};
use super::question::ASK;
use super::{Answers, MAIN, Prompt, Step, Steps};

pub(super) fn play(_: &Prompt) -> Steps {
    let (scale, ask, status) = (call_id(), call_id(), call_id());
    let message = Message::new(MAIN)
        .text(
            "Before the sale starts I would like to add capacity, warn your team, and check how \
             things stand.",
        )
        .call(&scale, console("scale_service"), &json!({"service": "shop-web", "instances": 4}))
        .call(
            &ask,
            ASK,
            &json!({
                "question": "Whom shall I warn?",
                "options": ["Everybody", "Only those on call (Recommended)", "Nobody"],
            }),
        )
        .call(&status, console("get_service"), &json!({"service": "shop-web"}));
    Play::open()
        .message(message)
        .step(Step::AwaitResponse { thread: MAIN.to_owned(), calls: vec![ask.clone()] })
        .step(Step::AwaitApproval { thread: MAIN.to_owned(), calls: vec![scale.clone()] })
        .pause(move |answers| go_on(answers, &scale, &ask, &status))
}

fn go_on(answers: &Answers, scale: &str, ask: &str, status: &str) -> Steps {
    let denial = answers.denial(scale);
    let instances = if denial.is_some() { "two" } else { "four" };
    let warned = answers.response(ask);
    let scaled = json!({"service": "shop-web", "instances": 4}).to_string();
    Play::open()
        .result(20, status, json!({"service": "shop-web", "instances": 2, "load": 0.41}).to_string())
        .result(30, scale, denial.unwrap_or(scaled))
        .say(&format!(
            "`shop-web` now has {instances} instances; the load was 41 % before the sale. Your \
             answer about the warning was “{warned}”, and I will act on it."
        ))
        .done()
}
