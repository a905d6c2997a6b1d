//! `page`: calls tools that the page itself runs, two in one message. `page rounds 3` repeats that; `page mixed` also
//! needs consent.

use serde_json::json;

use super::compose::{Message, Play, call_id, console};
use super::{Answers, MAIN, Prompt, Step, Steps, Tool};

const CLOCK: Tool = Tool::System { name: "clock" };
const CALCULATOR: Tool = Tool::System { name: "calculator" };

/// The default number of rounds.
const ROUNDS: usize = 3;
/// More would only take long.
const MOST_ROUNDS: usize = 1000;

pub(super) fn play(prompt: &Prompt) -> Steps {
    let mut words = prompt.text.split_whitespace().skip(1);
    match words.next().map(str::to_lowercase).as_deref() {
        Some("rounds") => {
            let wanted = words.next().and_then(|word| word.parse().ok());
            round(1, wanted.unwrap_or(ROUNDS).clamp(1, MOST_ROUNDS), Vec::new())
        }
        Some("mixed") => mixed(),
        _ => both(),
    }
}

fn both() -> Steps {
    let (clock, sum) = (call_id(), call_id());
    let (zone, expression) = (json!({"zone": "Asia/Tokyo"}), json!({"expression": "6*7"}));
    let message = Message::new(MAIN)
        .text("Your page knows both better than I do. Let me ask it.")
        .calls(&[(&clock, CLOCK, &zone), (&sum, CALCULATOR, &expression)]);
    Play::open().message(message).step(awaited(&[&clock, &sum])).pause(move |answers| {
        Play::open()
            .say(&format!(
                "Your page says that it is {} in Tokyo, and that six times seven is {}.",
                answers.response(&clock),
                answers.response(&sum)
            ))
            .done()
    })
}

/// One round, and all later ones.
fn round(number: usize, rounds: usize, results: Vec<String>) -> Steps {
    let sum = call_id();
    let message = Message::new(MAIN).text(&format!("Round {number} of {rounds}.")).call(
        &sum,
        CALCULATOR,
        &json!({"expression": format!("6*{number}")}),
    );
    Play::open().message(message).step(awaited(&[&sum])).pause(move |answers| {
        let mut results = results.clone();
        results.push(answers.response(&sum).to_owned());
        if number < rounds {
            return round(number + 1, rounds, results);
        }
        Play::open().say(&format!("Your page calculated: {}.", results.join(", "))).done()
    })
}

fn mixed() -> Steps {
    let (clock, restart) = (call_id(), call_id());
    let message = Message::new(MAIN)
        .text("I would restart the billing service now, if it is late enough where you are.")
        .call(&clock, CLOCK, &json!({"zone": "Asia/Tokyo"}))
        .call(
            &restart,
            console("restart_service"),
            &json!({"service": "billing", "reason": "no answer for two minutes"}),
        );
    Play::open()
        .message(message)
        .step(awaited(&[&clock]))
        .step(Step::AwaitApproval { thread: MAIN.to_owned(), calls: vec![restart.clone()] })
        .pause(move |answers| after_both(answers, &clock, &restart))
}

fn after_both(answers: &Answers, clock: &str, restart: &str) -> Steps {
    let denial = answers.denial(restart);
    let outcome = if denial.is_none() { "is running again" } else { "was left alone" };
    let result = json!({"service": "billing", "status": "running", "took_seconds": 9}).to_string();
    Play::open()
        .result(20, restart, denial.unwrap_or(result))
        .say(&format!(
            "It was {} on your page’s clock, and the billing service {outcome}.",
            answers.response(clock)
        ))
        .done()
}

fn awaited(calls: &[&str]) -> Step {
    let calls = calls.iter().map(|call| (*call).to_owned()).collect();
    Step::AwaitResponse { thread: MAIN.to_owned(), calls }
}
