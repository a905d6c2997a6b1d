//! The rows of the table.

use serde_json::{Value as Json, json};

use crate::error::ErrorCode;
use crate::turn::Reconnect;
use crate::turn::tests::play::Act::{self, Aborted, Answers, Breaks, Brings, Fails, Stands, Unsent, Waited};
use crate::turn::tests::play::{
    Play, asking_for_call, calling, frames, http, listed, network, of_code, page, paused, record, started,
    unnumbered,
};
use crate::turn::tests::relayed;
use crate::turn::tests::runs::{self, answering, forsaken, kept, live, payloads, recorded, wrapped};
use crate::turn::tests::unnamed;

/// The kinds of outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum On {
    Begins,
    Ended,
    Answered,
    Failed,
    Aborted,
    Unsent,
    Waited,
}

impl On {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Begins => "a call",
            Self::Ended => "the stream's end",
            Self::Answered => "an answer",
            Self::Failed => "a failure",
            Self::Aborted => "an abort",
            Self::Unsent => "an abort before it was sent",
            Self::Waited => "the wait",
        }
    }
}

/// The transition after an outcome.
pub(super) struct Row {
    pub(super) from: &'static str,
    pub(super) on: On,
    pub(super) when: &'static str,
    pub(super) to: &'static str,
    /// A turn in that state.
    pub(super) play: Play,
    pub(super) act: Box<dyn FnOnce(&mut Play) -> String>,
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = begins();
    for of in [
        before_the_start,
        starting,
        locating,
        answering_calls,
        streaming,
        replaying,
        checking,
        polling,
        abandoned,
        watching,
        listing,
        waiting,
    ] {
        rows.extend(of());
    }
    rows
}

/// The row of an outcome, after these acts.
fn row(from: &'static str, play: Play, act: Act, when: &'static str, to: &'static str) -> Row {
    let on = match act {
        Brings(_) | Stands(..) => On::Ended,
        Answers(_) => On::Answered,
        Fails(_) | Breaks(..) => On::Failed,
        Aborted => On::Aborted,
        Unsent => On::Unsent,
        Waited => On::Waited,
    };
    Row { from, on, when, to, play, act: Box::new(move |play| play.next(act)) }
}

fn begin(
    play: Play,
    act: impl FnOnce(&mut Play) -> String + 'static,
    when: &'static str,
    to: &'static str,
) -> Row {
    Row { from: "Ended", on: On::Begins, when, to, play, act: Box::new(act) }
}

/// A play after these acts.
fn after(mut play: Play, acts: impl IntoIterator<Item = Act>) -> Play {
    for act in acts {
        play.next(act);
    }
    play
}

fn streamed(mut play: Play) -> Play {
    play.stream(Reconnect::default());
    play
}

fn nothing() -> Act {
    Brings(String::new())
}

fn lost() -> Act {
    Fails(network())
}

fn all(events: &[Json]) -> Act {
    Answers(page(events, None))
}

fn begins() -> Vec<Row> {
    let stream = |play: &mut Play| play.stream(Reconnect::default());
    let complete = |play: &mut Play| play.complete();
    let left = || after(started(1..=3), [Aborted]);
    let ended = || {
        let mut play = Play::new();
        play.found(&paused());
        play
    };
    let transcribed = || {
        let mut play = after(unnamed::starting(), [Breaks(unnamed::part(), network()), Aborted]);
        play.found(&unnamed::record("done"));
        play
    };
    let after_unnumbered = || after(started(1..=2), [Breaks(unnumbered(3..=3), network()), Aborted]);
    let unclear = || after(streamed(Play::new()), [lost(), Aborted]);
    vec![
        begin(
            Play::new(),
            stream,
            "a new turn; the newest turn before it is known, or not needed",
            "Starting",
        ),
        begin(Play::new(), Play::start, "the same, without a stream", "Starting"),
        begin(
            Play::new(),
            Play::stream_unknown,
            "a new turn; the newest turn before it must be known",
            "ReadingNewest",
        ),
        begin(answering(&["a"], "t"), stream, "answers that are sent one by one", "Answering"),
        begin(answering(&["a"], ""), stream, "the same; which turn they answer is not known", "Ended"),
        begin(left(), stream, "a turn that has begun", "Streaming"),
        begin(after_unnumbered(), stream, "the same; its last events had no number", "Polling"),
        begin(
            after(streamed(recorded()), [Breaks(live(&payloads(1..=3)), network()), Aborted]),
            stream,
            "the same; its stream does not resume after a number, but was recorded",
            "Replaying",
        ),
        begin(
            after(streamed(forsaken()), [Breaks(wrapped(&payloads(1..=3)), network()), Aborted]),
            stream,
            "the same; it stops without a reader",
            "Abandoned",
        ),
        begin(
            after(unnamed::starting(), [Breaks(unnamed::part(), network()), Aborted]),
            stream,
            "the same; only a transcript tells of it",
            "Watching",
        ),
        begin(unclear(), stream, "a start that may have arrived", "Locating"),
        begin(unclear(), Play::look, "the same; it is only looked for", "Locating"),
        begin(ended(), complete, "a turn that has ended, with events missing", "Listing"),
        begin(transcribed(), complete, "the same; only a transcript tells of it", "Watching"),
        begin(after(streamed(Play::new()), [Brings(frames(1..=6))]), complete, "nothing is missing", "Ended"),
    ]
}

fn before_the_start() -> Vec<Row> {
    let reading = || {
        let mut play = Play::new();
        play.stream_unknown();
        play
    };
    let row = |act, when, to| row("ReadingNewest", reading(), act, when, to);
    let older = |id: &str, at: &str| {
        let mut turn = record("done");
        turn["id"] = id.into();
        turn["created_at"] = at.into();
        turn
    };
    let oldest_first = [older("a", "2026-07-01T09:00:00Z"), older("b", "2026-07-01T09:01:00Z")];
    vec![
        row(all(&[record("done")]), "it tells the newest turn", "Starting"),
        row(Answers(page(&oldest_first, Some("p"))), "the oldest turns come first", "ReadingNewest"),
        row(lost(), "whatever it is", "Starting"),
        row(Fails(of_code(ErrorCode::Token)), "there is no token", "Ended: unstarted"),
        row(Aborted, "", "Ended: unstarted"),
        row(Unsent, "", "Ended: unstarted"),
    ]
}

fn starting() -> Vec<Row> {
    let stream = || streamed(Play::new());
    let bare = || {
        let mut play = Play::new();
        play.start();
        play
    };
    let gap = || {
        let mut play = started(1..=2);
        play.driver.reader_mut().connected(false);
        play
    };
    let whole = json!({"stopReason": "end_turn", "messages": [{"role": "assistant", "content": "ab"}]});
    let unkept = || unnamed::turn_with(r#"{"history":null}"#);
    let row = |play, act, when, to| row("Starting", play, act, when, to);
    vec![
        row(stream(), Brings(frames(1..=6)), "`turn.done` came", "Ended: done"),
        row(gap(), Brings(frames(4..=6)), "`turn.done` came; events were lost before it", "Listing"),
        row(stream(), nothing(), "before `turn.created`", "BackingOff → Locating"),
        row(stream(), Brings(frames(1..=2)), "after `turn.created`", "BackingOff → Streaming"),
        row(
            streamed(recorded()),
            Brings(live(&payloads(1..=3))),
            "the same; the stream does not resume after a number, but was recorded",
            "BackingOff → Replaying",
        ),
        row(
            streamed(forsaken()),
            Brings(wrapped(&payloads(1..=3))),
            "the same; the turn stops without a reader",
            "Abandoned",
        ),
        row(unnamed::starting(), Brings(unnamed::part()), "the same; only a transcript tells", "Watching"),
        row(
            unkept(),
            Brings(unnamed::part()),
            "the same; the server keeps nothing",
            "Ended: incomplete: incomplete",
        ),
        row(bare(), Answers(record("running")), "without a stream", "Ended: running"),
        row(
            unnamed::turn_with(r#"{"stream":"none"}"#),
            Answers(whole),
            "it is the whole turn",
            "Ended: done",
        ),
        row(stream(), Fails(http(400)), "the server refuses it", "Ended: unstarted: http 400"),
        row(
            stream(),
            Fails(http(429)),
            "the server did nothing, and may do it later",
            "BackingOff → Starting",
        ),
        row(stream(), lost(), "it may have arrived", "BackingOff → Locating"),
        row(
            relayed::aap(),
            lost(),
            "it may have arrived, and a relay keeps the turn",
            "BackingOff → Starting",
        ),
        row(stream(), Fails(http(501)), "it may have arrived, and would fail again", "Locating"),
        row(
            unkept(),
            lost(),
            "it may have arrived, and the server keeps nothing",
            "Ended: incomplete: incomplete",
        ),
        row(stream(), Aborted, "", "Ended: incomplete: aborted (the start may have arrived)"),
        row(stream(), Unsent, "", "Ended: unstarted"),
    ]
}

fn locating() -> Vec<Row> {
    let listed = |fails: Act| after(streamed(Play::new()), [fails, Waited]);
    let by_id = || after(streamed(forsaken()), [lost(), Waited]);
    let last = |fails: Act| after(listed(fails), [all(&[]), Waited, all(&[]), Waited]);
    let unsettled = || {
        let mut twin = record("running");
        twin["id"] = "u".into();
        all(&[record("running"), twin])
    };
    let row = |play, act, when, to| row("Locating", play, act, when, to);
    let unclear = "Ended: incomplete: incomplete (the start may have arrived)";
    let aborted = "Ended: incomplete: aborted (the start may have arrived)";
    let bare = || {
        let mut play = Play::new();
        play.start();
        after(play, [lost(), Waited])
    };
    vec![
        row(listed(lost()), all(&[record("running")]), "one turn can be it", "Streaming"),
        row(bare(), all(&[record("running")]), "the same, without a stream", "Ended: running"),
        row(by_id(), Answers(runs::running()), "the same, by its id; it stops without a reader", "Abandoned"),
        row(listed(lost()), unsettled(), "more than one can be it", unclear),
        row(listed(lost()), Answers(page(&[], Some("p"))), "the list goes on", "Locating"),
        row(listed(lost()), all(&[]), "it is not there, and may be on its way", "BackingOff → Locating"),
        row(last(lost()), all(&[]), "it is not there, three times", "Ended: unstarted: network"),
        row(last(Fails(http(503))), all(&[]), "the same; the server asked to come again", "Starting"),
        row(by_id(), Fails(http(404)), "it is not there, and may be on its way", "BackingOff → Locating"),
        row(listed(lost()), lost(), "it may pass", "BackingOff → Locating"),
        row(
            listed(lost()),
            Fails(http(403)),
            "it stays",
            "Ended: incomplete: incomplete 403 (the start may have arrived)",
        ),
        row(listed(lost()), Aborted, "", aborted),
        row(listed(lost()), Unsent, "", aborted),
    ]
}

fn answering_calls() -> Vec<Row> {
    let inspecting = || streamed(answering(&["a"], "t"));
    let waits = || Answers(runs::paused(&["a"], "1"));
    let skimming = || after(inspecting(), [waits()]);
    let said = || Answers(kept(&payloads(1..=2), None, "c2"));
    let sending = || after(skimming(), [said()]);
    let two = || after(streamed(answering(&["a", "b"], "t")), [waits(), said(), Answers(Json::Null)]);
    let row = |play, act, when, to| row("Answering", play, act, when, to);
    vec![
        row(inspecting(), waits(), "the turn waits", "Answering"),
        row(
            inspecting(),
            Answers(runs::running()),
            "the turn does not wait",
            "Ended: unstarted: turn_not_running",
        ),
        row(skimming(), said(), "what the turn said before it paused", "Answering"),
        row(sending(), Answers(Json::Null), "the last answer is taken", "Streaming"),
        row(
            inspecting(),
            Fails(http(500)),
            "before an answer was sent; it may pass",
            "BackingOff → Answering",
        ),
        row(
            inspecting(),
            Fails(http(404)),
            "before an answer was sent; it stays",
            "Ended: unstarted: http 404",
        ),
        row(skimming(), Fails(http(404)), "the server recorded no stream", "Answering"),
        row(
            sending(),
            Fails(http(429)),
            "the server did not take the answer, and may do it later",
            "BackingOff → Answering",
        ),
        row(sending(), lost(), "the answer may have arrived", "BackingOff → Locating"),
        row(sending(), Fails(http(400)), "the server refuses the answer", "Ended: unstarted: http 400"),
        row(
            two(),
            Fails(http(400)),
            "the same; it has taken others",
            "Ended: incomplete: incomplete 400 (the start may have arrived)",
        ),
        row(inspecting(), Aborted, "before an answer was sent", "Ended: unstarted"),
        row(
            sending(),
            Aborted,
            "an answer is on its way",
            "Ended: incomplete: aborted (the start may have arrived)",
        ),
        row(sending(), Unsent, "no answer was taken", "Ended: unstarted"),
        row(two(), Unsent, "others were taken", "Ended: incomplete: aborted (the start may have arrived)"),
    ]
}

fn streaming() -> Vec<Row> {
    let resumed = || after(started(1..=3), [lost(), Waited]);
    let empty = || after(started(1..=3), [nothing(), Waited]);
    let ended = || after(empty(), [nothing(), Waited, Answers(record("done"))]);
    let exhausted = || after(started(1..=3), (0..10).flat_map(|_| [lost(), Waited]));
    let expired = || after(resumed(), [Fails(http(412)), Answers(record("running"))]);
    let placed = || {
        let replayed = Answers(kept(&payloads(1..=4), None, "c4"));
        after(streamed(recorded()), [Breaks(live(&payloads(1..=3)), network()), Waited, replayed])
    };
    let off = || {
        let mut play = after(started(1..=3), [Aborted]);
        play.stream(Reconnect::OFF);
        play
    };
    let row = |play, act, when, to| row("Streaming", play, act, when, to);
    vec![
        row(resumed(), Brings(frames(4..=6)), "`turn.done` came", "Ended: done"),
        row(resumed(), Brings(frames(4..=4)), "something new came", "BackingOff → Streaming"),
        row(resumed(), Brings(unnumbered(4..=4)), "its last event had no number", "BackingOff → Polling"),
        row(empty(), nothing(), "nothing came, again", "BackingOff → Checking"),
        row(
            after(ended(), [nothing(), Waited, nothing(), Waited]),
            nothing(),
            "nothing came, four times, and the turn has ended",
            "Listing",
        ),
        row(off(), nothing(), "nothing is retried", "Ended: incomplete: incomplete"),
        row(
            relayed::attached(),
            Brings(relayed::cut("upstream_lost")),
            "a relay does not have the rest; only a transcript tells",
            "BackingOff → Watching",
        ),
        row(resumed(), lost(), "it may pass", "BackingOff → Streaming"),
        row(relayed::attached(), Fails(http(412)), "a relay may have another log", "Streaming"),
        row(
            relayed::attached(),
            Fails(http(404)),
            "a relay does not have it; only a transcript tells",
            "Watching",
        ),
        row(
            placed(),
            Fails(http(410)),
            "its place in a recorded stream is unknown",
            "BackingOff → Replaying",
        ),
        row(placed(), Fails(http(404)), "the server has no record of the stream any more", "Polling"),
        row(resumed(), Fails(http(412)), "the stream has expired", "Checking"),
        row(expired(), Fails(http(412)), "the stream has expired, again", "Polling"),
        row(exhausted(), lost(), "no attempts are left", "LastResort"),
        row(resumed(), Fails(http(404)), "it stays", "Ended: incomplete: http 404"),
        row(resumed(), Aborted, "", "Ended: running: aborted"),
        row(resumed(), Unsent, "", "Ended: running"),
    ]
}

fn replaying() -> Vec<Row> {
    let broken = || after(streamed(recorded()), [Breaks(live(&payloads(1..=3)), network()), Waited]);
    let mut other = payloads(1..=7);
    other[2]["delta"] = json!("A");
    let row = |play, act, when, to| row("Replaying", play, act, when, to);
    vec![
        row(broken(), Answers(kept(&payloads(1..=2), Some("c2"), "c2")), "the record goes on", "Replaying"),
        row(
            broken(),
            Answers(kept(&payloads(1..=4), None, "c4")),
            "it tells where the stream resumes",
            "Streaming",
        ),
        row(broken(), Answers(kept(&payloads(1..=7), None, "c7")), "`turn.done` came", "Ended: done"),
        row(broken(), Answers(kept(&[], None, "")), "there is no record yet", "BackingOff → Checking"),
        row(
            after(broken(), [Answers(kept(&[], None, "")), Waited, Answers(runs::done())]),
            Answers(kept(&[], None, "")),
            "there is no record, and the turn has ended",
            "Polling",
        ),
        row(broken(), Answers(kept(&other, None, "c7")), "it differs from the stream", "Polling"),
        row(broken(), Fails(http(404)), "there is no record", "Polling"),
        row(broken(), Fails(http(500)), "it may pass", "BackingOff → Replaying"),
        row(
            after(broken(), (0..9).flat_map(|_| [Fails(http(500)), Waited])),
            Fails(http(500)),
            "no attempts are left",
            "LastResort",
        ),
        row(broken(), Fails(http(403)), "it stays", "Ended: incomplete: http 403"),
        row(broken(), Aborted, "", "Ended: running: aborted"),
        row(broken(), Unsent, "", "Ended: running"),
    ]
}

fn checking() -> Vec<Row> {
    let empty = || after(started(1..=3), [nothing(), Waited, nothing(), Waited]);
    let expired = || after(started(1..=3), [Fails(http(412))]);
    let row = |play, act, when, to| row("Checking", play, act, when, to);
    vec![
        row(empty(), Answers(record("running")), "the turn runs", "Streaming"),
        row(
            empty(),
            Answers(record("done")),
            "the turn has ended; its stream may bring the rest",
            "Streaming",
        ),
        row(expired(), Answers(record("done")), "the turn has ended; its stream has expired", "Listing"),
        row(empty(), lost(), "it may pass", "BackingOff → Checking"),
        row(empty(), Fails(http(404)), "it stays", "Ended: incomplete: http 404"),
        row(empty(), Aborted, "", "Ended: running: aborted"),
        row(empty(), Unsent, "", "Ended: running"),
    ]
}

fn polling() -> Vec<Row> {
    let polling = || after(started(1..=2), [Breaks(unnumbered(3..=3), network()), Waited]);
    let last = || after(started(1..=3), (0..10).flat_map(|_| [lost(), Waited]).chain([lost()]));
    let recorded = || {
        let broken = Breaks(live(&payloads(1..=3)), network());
        after(streamed(recorded()), [broken, Waited, Fails(http(404))])
    };
    let silent = || {
        Answers(runs::record(&json!({"status": "done", "output": null, "required_actions": [],
                                     "termination": {"type": "suspended"}})))
    };
    let session = || after(recorded(), [silent()]);
    let waiting = || Answers(json!({"id": "s", "required_actions": [runs::question("c")]}));
    let mut rows: Vec<Row> = Vec::new();
    for (act, when, to) in [
        (Answers(record("running")), "the turn runs", "BackingOff → Polling"),
        (Answers(record("done")), "the turn has ended", "Listing"),
        (lost(), "it may pass", "BackingOff → Polling"),
        (Fails(http(404)), "it stays", "Ended: incomplete: http 404"),
        (Aborted, "", "Ended: running: aborted"),
        (Unsent, "", "Ended: running"),
    ] {
        rows.push(row("Polling", polling(), act, when, to));
    }
    let when = "the turn has paused, and does not say for what";
    rows.push(row("Polling", recorded(), silent(), when, "ReadingSession"));
    for (act, when, to) in [
        (Answers(record("running")), "the turn runs", "BackingOff → Polling"),
        (Answers(record("done")), "the turn has ended", "Listing"),
        (lost(), "whatever it is", "Ended: incomplete: incomplete"),
        (Aborted, "", "Ended: running: aborted"),
        (Unsent, "", "Ended: running"),
    ] {
        rows.push(row("LastResort", last(), act, when, to));
    }
    for (act, when, to) in [
        (waiting(), "", "Listing"),
        (Fails(http(500)), "it may pass", "BackingOff → ReadingSession"),
        (Fails(http(404)), "it stays", "Ended: incomplete: http 404"),
        (Aborted, "", "Ended: running: aborted"),
        (Unsent, "", "Ended: running"),
    ] {
        rows.push(row("ReadingSession", session(), act, when, to));
    }
    rows
}

fn abandoned() -> Vec<Row> {
    let abandoned = || after(streamed(forsaken()), [Breaks(wrapped(&payloads(1..=3)), network())]);
    let runs = || Answers(runs::running());
    let row = |play, act, when, to| row("Abandoned", play, act, when, to);
    vec![
        row(abandoned(), runs(), "the turn is said to run", "BackingOff → Abandoned"),
        row(
            after(abandoned(), [runs(), Waited, runs(), Waited]),
            runs(),
            "the same, three times",
            "Ended: incomplete: incomplete",
        ),
        row(abandoned(), Answers(runs::done()), "the turn has ended", "Listing"),
        row(abandoned(), Fails(http(503)), "it may pass", "BackingOff → Abandoned"),
        row(abandoned(), Fails(http(404)), "it stays", "Ended: incomplete: http 404"),
        row(abandoned(), Aborted, "", "Ended: incomplete: aborted"),
        row(abandoned(), Unsent, "", "Ended: running"),
    ]
}

fn watching() -> Vec<Row> {
    let watching = || after(unnamed::starting(), [Breaks(unnamed::part(), network())]);
    let unchanged = || {
        let same = (0..300).flat_map(|_| [Answers(unnamed::record("running")), Waited]);
        after(watching(), same)
    };
    let row = |play, act, when, to| row("Watching", play, act, when, to);
    vec![
        row(
            watching(),
            Answers(unnamed::record("running")),
            "it does not have the end",
            "BackingOff → Watching",
        ),
        row(
            unchanged(),
            Answers(unnamed::record("running")),
            "the same, for 10 minutes",
            "Ended: incomplete: incomplete",
        ),
        row(watching(), Answers(unnamed::record("done")), "it has all of the turn", "Ended: done"),
        row(watching(), Fails(http(502)), "it may pass", "BackingOff → Watching"),
        row(watching(), Fails(http(404)), "it stays", "Ended: incomplete: http 404"),
        row(watching(), Aborted, "", "Ended: running: aborted"),
        row(watching(), Unsent, "", "Ended: running"),
    ]
}

#[allow(clippy::useless_vec, reason = "an array of these is too large for the stack")]
fn listing() -> Vec<Row> {
    let expired = || after(started(1..=3), [Fails(http(412)), Answers(record("done"))]);
    let found = || {
        let mut play = Play::new();
        play.found(&paused());
        play.complete();
        play
    };
    let lacks = || after(expired(), [all(&[]), Waited, all(&[]), Waited]);
    let explaining = || after(found(), [all(&[])]);
    let item = |event: Json| json!({"turn_id": "t0", "event": event});
    let mut rows: Vec<Row> = Vec::new();
    for (play, act, when, to) in vec![
        (expired(), all(&[listed()]), "it has all of the turn", "Ended: done"),
        (expired(), Answers(page(&[listed()], Some("p2"))), "the list goes on", "Listing"),
        (expired(), all(&[]), "it lacks part of the turn", "BackingOff → Listing"),
        (lacks(), all(&[]), "the same, three times", "Ended: done: incomplete"),
        (found(), all(&[listed()]), "it lacks a call that waits", "Explaining"),
        (expired(), lost(), "it may pass", "BackingOff → Listing"),
        (expired(), Fails(http(403)), "it stays", "Ended: done: incomplete 403"),
        (expired(), Aborted, "", "Ended: running: aborted"),
        (found(), Aborted, "the end is known", "Ended: done"),
        (expired(), Unsent, "", "Ended: running"),
    ] {
        rows.push(row("Listing", play, act, when, to));
    }
    for (act, when, to) in [
        (all(&[item(calling())]), "it has the call", "Ended: done"),
        (Answers(page(&[item(asking_for_call())], Some("p2"))), "the list goes on", "Explaining"),
        (all(&[]), "no turn made the call", "Ended: done: incomplete"),
        (lost(), "it may pass", "BackingOff → Explaining"),
        (Fails(http(404)), "it stays", "Ended: done: incomplete 404"),
        (Aborted, "", "Ended: done"),
        (Unsent, "", "Ended: done"),
    ] {
        rows.push(row("Explaining", explaining(), act, when, to));
    }
    rows
}

fn waiting() -> Vec<Row> {
    let row = |play, act, when, to| row("BackingOff", play, act, when, to);
    let to_start = || after(streamed(Play::new()), [Fails(http(429))]);
    let to_locate = || after(streamed(Play::new()), [lost()]);
    let to_stream = || after(started(1..=3), [lost()]);
    vec![
        row(to_stream(), Waited, "", "Streaming"),
        row(to_start(), Aborted, "before a start", "Ended: unstarted"),
        row(
            to_locate(),
            Aborted,
            "before a turn is looked for",
            "Ended: incomplete: aborted (the start may have arrived)",
        ),
        row(to_stream(), Aborted, "else", "Ended: running: aborted"),
    ]
}
