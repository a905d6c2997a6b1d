//! What a plan was told and what followed, as lines: any other carrier or plan can be held to it.

use turnwire::conversation::{
    Activity, Delivery, End, Fact, ListedState, Options, Page, Refusal, Taken, Waiting, WhenBusy, Who,
    write_effects,
};

/// The life of one plan: its options as bits and what happens while a turn runs, then each fact and what followed.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Replay {
    options: (u32, u32),
    steps: Vec<Step>,
}

/// A fact (kind, key, number, lines), and what followed: the lines of the effects, or the number of the refusal.
#[derive(Debug, Clone, serde::Serialize)]
struct Step {
    fact: (u32, u32, u32, String),
    effects: Option<String>,
    refusal: u32,
}

impl Replay {
    pub(crate) fn new(options: Options) -> Self {
        let bits = [
            options.has_session,
            options.fork,
            options.live_answers,
            options.steer,
            options.discard_pending,
            options.history,
            options.leaves_unseen,
        ];
        let bits = bits.iter().rev().fold(0, |sum, bit| sum * 2 + u32::from(*bit));
        Self { options: (bits, busy(Some(options.when_busy))), steps: vec![] }
    }

    pub(crate) fn add(&mut self, fact: &Fact, taken: &Result<Taken, Refusal>) {
        let refusal = taken.as_ref().err().map_or(0, |refusal| *refusal as u32 + 1);
        self.steps.push(Step { fact: lines(fact), effects: taken.as_ref().ok().map(write_effects), refusal });
    }
}

fn busy(when_busy: Option<WhenBusy>) -> u32 {
    match when_busy {
        None => 0,
        Some(WhenBusy::Queue) => 1,
        Some(WhenBusy::Steer) => 2,
        Some(WhenBusy::Interrupt) => 3,
        Some(WhenBusy::Reject) => 4,
    }
}

/// The fact as `read_fact` reads it.
pub(crate) fn lines(fact: &Fact) -> (u32, u32, u32, String) {
    let one = |text: &str| format!("{text}\n");
    let on = |on: bool| u32::from(on);
    match fact {
        Fact::Send { input, when_busy, discard } => (0, 0, busy(*when_busy) + 8 * on(*discard), one(input)),
        Fact::Stop => (1, 0, 0, String::new()),
        Fact::Answer { turn, call, answer } => {
            (2, turn.0, on(answer.is_some()), two(call, answer.as_deref()))
        }
        Fact::Proceed => (3, 0, 0, String::new()),
        Fact::Retry { turn, input } => (4, turn.0, 0, one(input)),
        Fact::Regenerate { turn, input } => (5, turn.0, 0, one(input)),
        Fact::Edit { turn, input } => (6, turn.0, 0, one(input)),
        Fact::Show { turn } => (7, turn.0, 0, String::new()),
        Fact::Dismiss { turn } => (8, turn.0, 0, String::new()),
        Fact::Draft { text } => (9, 0, 0, one(text)),
        Fact::EditQueued { key, input } => (10, key.0, 0, one(input)),
        Fact::RemoveQueued { key } => (11, key.0, 0, String::new()),
        Fact::MoveQueued { key, to } => (12, key.0, *to, String::new()),
        Fact::SendNow { key } => (13, key.0, 0, String::new()),
        Fact::SteerQueued { key } => (14, key.0, 0, String::new()),
        Fact::Hold { on: is_on } => (15, 0, on(*is_on), String::new()),
        Fact::Attach => (16, 0, 0, String::new()),
        Fact::Detach => (17, 0, 0, String::new()),
        Fact::LoadEarlier => (18, 0, 0, String::new()),
        Fact::CatchUp => (19, 0, 0, String::new()),
        Fact::SessionReady => (20, 0, 0, String::new()),
        Fact::SessionFailed => (21, 0, 0, String::new()),
        Fact::Page(page) => (22, 0, on(page.has_earlier), page_lines(page)),
        Fact::PageFailed => (23, 0, 0, String::new()),
        Fact::Named { turn, id, previous } => {
            (24, turn.0, on(previous.is_some()), two(id, previous.as_deref()))
        }
        Fact::Active { turn, activity } => {
            let all = [Activity::Thinking, Activity::Answering, Activity::Working, Activity::Reconnecting];
            (25, turn.0, place(&all, activity), String::new())
        }
        Fact::Waits { turn, calls } => (26, turn.0, 0, call_lines(calls)),
        Fact::Ended { turn, end, calls } => {
            (27, turn.0, place(&[End::Done, End::Failed, End::Cancelled], end), call_lines(calls))
        }
        Fact::Incomplete { turn } => (28, turn.0, 0, String::new()),
        Fact::Refused { turn } => (29, turn.0, 0, String::new()),
        Fact::Lost { turn } => (30, turn.0, 0, String::new()),
        Fact::CancelFailed { turn } => (31, turn.0, 0, String::new()),
        Fact::Answered { turn, call, delivery } => (32, turn.0, delivered(*delivery), one(call)),
        Fact::ToolEnded { turn, call, result } => {
            (33, turn.0, on(result.is_some()), two(call, result.as_deref()))
        }
        Fact::Steered { key, delivery } => (34, key.0, delivered(*delivery), String::new()),
        Fact::Said { turn, input } => (35, turn.0, 0, one(input)),
        Fact::Restored { text } => (36, 0, 0, text.clone()),
        Fact::Leading { on: is_on } => (37, 0, on(*is_on), String::new()),
    }
}

fn place<T: PartialEq>(all: &[T], of: &T) -> u32 {
    u32::try_from(all.iter().position(|known| known == of).expect("one of them")).expect("few")
}

fn delivered(delivery: Delivery) -> u32 {
    place(&[Delivery::Taken, Delivery::Refused, Delivery::Lost], &delivery)
}

fn two(first: &str, second: Option<&str>) -> String {
    second.map_or_else(|| format!("{first}\n"), |second| format!("{first}\n{second}\n"))
}

fn call_lines(calls: &[Waiting]) -> String {
    let line = |call: &Waiting| {
        format!("{}\n{}\n", call.id, place(&[Who::Person, Who::Tool, Who::SignIn], &call.who))
    };
    calls.iter().map(line).collect::<String>() + "\n"
}

fn page_lines(page: &Page) -> String {
    let mut lines = Vec::new();
    for turn in &page.turns {
        let state = match turn.state {
            ListedState::Ended(end) => place(&[End::Done, End::Failed, End::Cancelled], &end),
            ListedState::Running => 3,
        };
        let said = turn.said.iter().map(String::as_str).chain([""]).collect::<Vec<_>>().join("\n");
        let calls = call_lines(&turn.calls);
        let (id, previous, created, input) = (&turn.id, &turn.previous, &turn.created_at, &turn.input);
        lines.push(format!("{id}\n{previous}\n{created}\n{input}\n{state}\n{calls}{said}\n"));
    }
    lines.concat()
}
