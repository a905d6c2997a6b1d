//! The rules, as tables: facts, and what follows from each.

mod answers;
mod boundary;
mod messages;
mod pages;
mod queue;
mod saved;

use super::*;

/// All that a protocol can.
fn all() -> Options {
    Options {
        has_session: true,
        fork: true,
        live_answers: true,
        steer: true,
        discard_pending: true,
        history: true,
        ..Options::default()
    }
}

/// A protocol that can nothing but turns one after the other.
fn linear() -> Options {
    Options { has_session: true, history: true, ..Options::default() }
}

fn send(text: &str) -> Fact {
    Fact::Send { input: text.to_owned(), when_busy: None, discard: false }
}

fn busy(text: &str, when_busy: WhenBusy) -> Fact {
    Fact::Send { input: text.to_owned(), when_busy: Some(when_busy), discard: false }
}

fn named(turn: u32, id: &str) -> Fact {
    Fact::Named { turn: Key(turn), id: id.to_owned(), previous: None }
}

fn ended(turn: u32, calls: &[(&str, Who)]) -> Fact {
    Fact::Ended { turn: Key(turn), end: End::Done, calls: waiting(calls) }
}

fn waiting(calls: &[(&str, Who)]) -> Vec<Waiting> {
    calls.iter().map(|(id, who)| Waiting { id: (*id).to_owned(), who: *who }).collect()
}

fn answer(turn: u32, call: &str, answer: &str) -> Fact {
    Fact::Answer { turn: Key(turn), call: call.to_owned(), answer: Some(answer.to_owned()) }
}

/// An ended turn in a list: its id, the one before it, its message.
fn listed(id: &str, previous: &str, input: &str) -> Listed {
    Listed {
        id: id.to_owned(),
        previous: previous.to_owned(),
        input: input.to_owned(),
        state: ListedState::Ended(End::Done),
        ..Listed::default()
    }
}

fn page(turns: Vec<Listed>, has_earlier: bool) -> Fact {
    Fact::Page(Page { turns, has_earlier })
}

/// What follows from a fact, but for what is stored and published.
fn take(plan: &mut Plan, fact: Fact) -> String {
    let taken = match plan.take(fact) {
        Ok(taken) => taken,
        Err(refusal) => return format!("refused: {refusal:?}"),
    };
    let words: Vec<String> = taken.effects.iter().filter_map(word).collect();
    words.join("; ")
}

fn word(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::CreateSession => "create".to_owned(),
        Effect::Start { turn, after, input, discard } => {
            let after = match after {
                After::Newest => "newest",
                After::Nothing => "nothing",
                After::Turn(id) => id,
            };
            let input = match input {
                StartInput::Message(text) => text.clone(),
                StartInput::Answers(_, answers) => answers
                    .iter()
                    .map(|(call, answer)| format!("{call}={answer}"))
                    .collect::<Vec<_>>()
                    .join(","),
                StartInput::Nothing => "-".to_owned(),
            };
            format!("start {} after {after}: {input}{}", turn.0, if *discard { ", discards" } else { "" })
        }
        Effect::Steer { turn, key, input } => format!("steer {} into {}: {input}", key.0, turn.0),
        Effect::Cancel { turn } => format!("cancel {}", turn.0),
        Effect::Answer { turn, call, answer } => format!("answer {}: {call}={answer}", turn.0),
        Effect::RunTool { call, .. } => format!("run {call}"),
        Effect::StopTools => "stop tools".to_owned(),
        Effect::Watch { turn } => format!("watch {}", turn.0),
        Effect::Leave { turn } => format!("leave {}", turn.0),
        Effect::Load { before: None } => "load".to_owned(),
        Effect::Load { before: Some(key) } => format!("load before {}", key.0),
        Effect::GiveBack { key, input } => format!("give back {}: {input}", key.0),
        Effect::Store { .. } | Effect::Publish => return None,
    })
}

/// Plays facts, and compares what follows from each.
fn play(name: &str, options: Options, steps: Vec<(Fact, &str)>) -> Plan {
    let mut plan = Plan::new(options);
    for (at, (fact, expected)) in steps.into_iter().enumerate() {
        let told = format!("{fact:?}");
        assert_eq!(take(&mut plan, fact), expected, "{name}, step {at}: {told}");
    }
    plan
}

/// The ids or texts of the shown turns.
fn path(plan: &Plan) -> String {
    let turns: Vec<&str> =
        plan.path().iter().map(|turn| if turn.id.is_empty() { turn.input } else { turn.id }).collect();
    turns.join(" ")
}

fn states(plan: &Plan) -> Vec<(&str, QueuedState)> {
    plan.queue().iter().map(|item| (item.input.as_str(), item.state.clone())).collect()
}
