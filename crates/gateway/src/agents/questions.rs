//! Scripts that wait for the user: for consent, for an answer, for both.

use serde_json::json;

use super::compose::{Message, Play, call_id, console};
use super::{Answers, MAIN, Prompt, Step, Steps, Tool};

/// `approval`: a call that waits for the user's consent; the script continues after either answer.
pub(super) fn approval(_: &Prompt) -> Steps {
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

/// The tool with which an agent asks its user.
const ASK: Tool = Tool::System { name: "ask_user_question" };

/// `question`: the agent asks the user to choose, and continues with the answer.
pub(super) fn question(_: &Prompt) -> Steps {
    let ask = call_id();
    let message = Message::new(MAIN).text("I can set that up. One thing I need to know first.").call(
        &ask,
        ASK,
        &json!({
            "question": "Where should the new site run?",
            "options": ["Amsterdam (Recommended)", "Virginia", "Singapore"],
        }),
    );
    Play::open()
        .message(message)
        .step(Step::AwaitResponse { thread: MAIN.to_owned(), calls: vec![ask.clone()] })
        .pause(move |answers| {
            let place = answers.response(&ask).replace(" (Recommended)", "");
            Play::open()
                .say(&format!(
                    "**{place}** it is. The site will be ready in about a minute; you can upload \
                     your files as soon as its address answers."
                ))
                .done()
        })
}

/// `mixed`: one message with a call that needs consent, a question, and a call that needs
/// neither. All of them wait until the user has answered.
pub(super) fn mixed(_: &Prompt) -> Steps {
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
        .pause(move |answers| after_answers(answers, &scale, &ask, &status))
}

fn after_answers(answers: &Answers, scale: &str, ask: &str, status: &str) -> Steps {
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
