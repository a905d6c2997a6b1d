//! Decides what to do next for a turn: each request, wait and end, and the recovery from each failure. Without any I/O.
//!
//! The caller carries out a [`Step`], reports its [`Outcome`], and gets the next step. The current activity is a
//! [`State`]; `docs/architecture.md` has the table of transitions. The cursor decides which events of a resumed stream
//! are new, so each event is delivered once, however often a connection breaks (protocol note, section 2.4).

mod context;
mod pager;
mod request;
mod retry;
mod states;
#[cfg(test)]
mod tests;

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::features::{ClientConversations, ClientIds, Relays, SeparateAnswers, Sockets, TurnLists};
use crate::json::{Object, Value};
use crate::protocol::Call;

pub use retry::{Awaited, Pause, RetryBudget, Waiting};

use super::{Failure, Newest, Reconnect, StartTrace, StreamEnd, StreamPlan, TurnInput, TurnReader, digits};
use context::{AnswerProgress, Context, incomplete};
use request::TurnRequest;
use states::{
    Listing, Locating, ReadingNewest, State, Then, Transition, Watching, backfill, fill, finish, follow,
    listed, not_begun, repeat, start,
};

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Open a stream, and push what it brings.
    Open(Plan),
    /// Send a request for JSON.
    Ask(Plan),
    /// Wait before the next attempt: the connection is lost.
    Retry(Pause),
    /// Wait before asking the server again: it responds, but has not returned everything yet.
    Wait(Waiting),
    /// Stop, and report this result.
    End(Result<()>),
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The call.
    pub call: Call,
    /// Its parameters: a JSON object.
    pub params: String,
    /// The number of the last event received, if the request resumes a stream.
    pub resumes_after: Option<u64>,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<'a> {
    /// The stream was read to its end, or until [`TurnReader::push`] returned an error.
    Ended,
    /// The response, in turnwire's form.
    Answered(&'a str),
    /// It failed.
    Failed(Failure),
    /// The caller stopped it. The request was sent.
    Aborted,
    /// It was stopped, or failed, before anything was sent.
    Unsent,
    /// The wait is over.
    Waited,
}

/// When an outcome came, and the random number for the decisions that follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// By any monotonic clock, in milliseconds.
    pub now: f64,
    /// From 0 up to 1.
    pub random: f64,
}

/// Moves one turn from step to step.
#[derive(Debug)]
pub struct TurnDriver {
    cx: Context,
    state: State,
    /// Whether the driver waits before the state's request.
    is_backing_off: bool,
}

impl TurnDriver {
    /// Drives the turn that `reader` reads, in this session. `previous_turn_id` is the turn that a new one follows;
    /// if it is empty, the server decides.
    #[must_use]
    pub fn new(reader: TurnReader, session_id: &str, previous_turn_id: &str) -> Self {
        let request = TurnRequest {
            session_id: session_id.to_owned(),
            previous_turn_id: previous_turn_id.to_owned(),
            ..TurnRequest::default()
        };
        let cx = Context {
            request,
            reader,
            retry: RetryBudget::default(),
            answers: AnswerProgress::default(),
            output: String::new(),
            found: String::new(),
            ended: String::new(),
            wants_stream: false,
            opened_at: None,
            is_resuming: false,
            cancels_by_disconnect: false,
        };
        Self { cx, state: State::default(), is_backing_off: false }
    }

    /// The session's id.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.cx.request.session_id
    }

    /// The turn's input.
    #[must_use]
    pub fn input(&self) -> &TurnInput {
        &self.cx.request.input
    }

    /// Sets the turn's input.
    pub fn set_input(&mut self, input: TurnInput) {
        self.cx.request.input = input;
        self.cx.answers.taken = 0;
    }

    /// The turn that a new one follows; empty if the server decides.
    #[must_use]
    pub fn previous_turn_id(&self) -> &str {
        &self.cx.request.previous_turn_id
    }

    /// Sets the agent's name, and the id of a new turn. Protocols with the capability `client_ids` need both.
    pub fn set_start(&mut self, agent_name: &str, turn_id: &str) {
        agent_name.clone_into(&mut self.cx.request.agent_name);
        turn_id.clone_into(&mut self.cx.request.turn_id);
    }

    /// Sets the session's fields of every request (a JSON object). Protocols without turns on the server need them.
    pub fn set_terms(&mut self, terms: &str) {
        terms.clone_into(&mut self.cx.request.terms);
    }

    /// Sets the fields of the start besides the input (a JSON object). Protocols with the capability `socket` take
    /// them.
    pub fn set_options(&mut self, options: &str) {
        options.clone_into(&mut self.cx.request.options);
    }

    /// Sets how many messages the user had sent in the session before this turn, if known. The count distinguishes the
    /// turn from an earlier one with the same input.
    pub fn set_user_message_count(&mut self, count: Option<u64>) {
        self.cx.request.user_message_count = count;
    }

    /// Cancels the turn by leaving its stream, for servers that have no other way.
    pub fn cancel_by_disconnect(&mut self) {
        self.cx.cancels_by_disconnect = true;
    }

    /// The turn's reader.
    #[must_use]
    pub fn reader(&self) -> &TurnReader {
        &self.cx.reader
    }

    /// The turn's reader, mutable.
    pub fn reader_mut(&mut self) -> &mut TurnReader {
        &mut self.cx.reader
    }

    /// Streams the turn: starts it, or subscribes to it after `after`, by default after the last event received.
    /// Returns the first step.
    pub fn stream(&mut self, after: Option<u64>, reconnect: Reconnect, trace: StartTrace) -> Result<Step> {
        let plan = self.cx.reader.machine_mut().stream(after)?;
        Ok(self.begin(plan, true, reconnect, trace))
    }

    /// Starts the turn, without a stream if the protocol supports that. Returns the first step.
    pub fn start(&mut self, reconnect: Reconnect, trace: StartTrace) -> Result<Step> {
        if self.cx.conventions().start_needs_stream() {
            return self.stream(None, reconnect, trace);
        }
        let plan = self.cx.reader.machine_mut().start()?;
        Ok(self.begin(plan, false, reconnect, trace))
    }

    /// Brings the turn to its end, with all its events: streams it or, once it has ended, lists the missing events.
    /// Returns the first step, which is the end if nothing is missing.
    pub fn complete(&mut self, reconnect: Reconnect, trace: StartTrace) -> Result<Step> {
        if !self.cx.machine().status().is_terminal() {
            return self.stream(None, reconnect, trace);
        }
        if self.cx.reader.is_complete() {
            return Ok(Step::End(Ok(())));
        }
        self.prepare(false, reconnect);
        let ended = self.cx.found.clone();
        // A transcript also contains the events.
        let transcript = self.cx.conventions().transcripts().zip(self.cx.turn_reads());
        let first = match transcript {
            Some(by) => Transition::to(State::Watching(Watching::new(by, ended))),
            None => Listing::begin(ended),
        };
        Ok(self.apply(first, 0.0))
    }

    /// Looks whether an uncertain start arrived. If not, does not start the turn. Returns the first step.
    pub fn look(&mut self, reconnect: Reconnect) -> Result<Step> {
        if !self.cx.is_started() {
            self.cx.reader.machine_mut().start()?;
        }
        let step = self.begin(StreamPlan::Look, false, reconnect, StartTrace::default());
        if let State::Locating(state) = &mut self.state {
            state.restarts = false;
        }
        Ok(step)
    }

    /// Applies the state from a record of the turn.
    pub fn take_state(&mut self, state: &Object<'_>) {
        self.cx.take_state(state);
    }

    /// Takes events that the caller has listed: all events of the turn if `is_all`.
    pub fn fill(&mut self, events: &[Value<'_>], is_all: bool) {
        fill(&mut self.cx, events);
        if is_all {
            if self.cx.conventions().sockets().is_some() {
                let ended = self.cx.found.clone();
                finish(&mut self.cx, &ended);
            }
            self.cx.reader.set_missing_events(false);
        }
    }

    /// Whether the driver is looking for the turn among the session's turns.
    #[must_use]
    pub fn is_looking(&self) -> bool {
        self.state.locating().is_some() && listed(&self.cx).is_some()
    }

    /// The session's newest turn before the start, if known. The session's next starts can use it as well.
    #[must_use]
    pub fn newest(&self) -> &Newest {
        &self.cx.request.trace.newest
    }

    /// Sets the ids of the session's turns that are known to be different ones.
    pub fn set_others(&mut self, ids: &[String]) {
        self.cx.request.trace.others = ids.to_vec();
    }

    /// Notes that the head of a stream's response has come.
    pub fn opened(&mut self, now: f64) {
        self.cx.opened_at = Some(now);
    }

    /// Takes the outcome of the last step. Returns the next step.
    pub fn next(&mut self, outcome: Outcome<'_>, moment: Moment) -> Step {
        let (cx, now) = (&mut self.cx, moment.now);
        let transition = match outcome {
            // What looked like a pause may have been the turn's end.
            Outcome::Waited if SeparateAnswers::EXISTS && self.state.was_ended(cx) => backfill(cx),
            Outcome::Waited => Transition::stay(Then::Ask),
            Outcome::Answered(json) => {
                let answer = Value::parse(json).unwrap_or_default();
                self.state.answered(cx, answer.as_object().unwrap_or(const { &Object::new() }), now)
            }
            Outcome::Ended => self.state.ended(cx, None, now),
            // During the grace period nothing is lost if the connection breaks, or is left because the server keeps it
            // open.
            Outcome::Failed(_) if cx.reader.grace() > 0 => self.state.ended(cx, None, now),
            Outcome::Failed(failure) if self.lacks_token(&failure) => Transition::end(StreamEnd::Refused),
            Outcome::Failed(failure) => self.state.failed(&mut self.cx, failure, now),
            Outcome::Aborted => self.stopped(false),
            Outcome::Unsent => self.stopped(true),
        };
        self.apply(transition, moment.random)
    }

    /// Prepares a new run.
    fn prepare(&mut self, wants_stream: bool, reconnect: Reconnect) {
        self.cx.wants_stream = wants_stream;
        self.cx.retry = RetryBudget::new(reconnect);
        self.cx.is_resuming = false;
    }

    fn begin(
        &mut self,
        plan: StreamPlan,
        wants_stream: bool,
        reconnect: Reconnect,
        trace: StartTrace,
    ) -> Step {
        self.prepare(wants_stream, reconnect);
        let cx = &mut self.cx;
        cx.ended.clear();
        let first = match plan {
            StreamPlan::Start => {
                cx.request.trace = trace;
                match lists_newest(cx) {
                    Some(by) => Transition::to(State::ReadingNewest(ReadingNewest::new(by))),
                    None => start(cx),
                }
            }
            StreamPlan::Subscribe => Transition::to(follow(cx, None)),
            // The relay passes the same start to the server only once.
            StreamPlan::Look if wants_stream && cx.reader.is_relayed() => start(cx),
            StreamPlan::Look => {
                let lost = match &self.state {
                    State::Ended(Some(lost)) => lost.clone(),
                    _ => not_begun(),
                };
                match (cx.conventions().repeats(), cx.turn_reads()) {
                    (Some(by), _) => Transition::to(repeat(by, cx)),
                    (None, Some(by)) => Transition::to(State::Locating(Locating::new(by, lost, true, true))),
                    // The protocol refuses this request: the error says that the turn's fate is unknown.
                    (None, None) => Transition::to(State::Streaming),
                }
            }
        };
        self.apply(first, 0.0)
    }

    fn apply(&mut self, transition: Transition, random: f64) -> Step {
        if let Some(state) = transition.to {
            self.state = state;
        }
        let retry = &mut self.cx.retry;
        self.is_backing_off = true;
        match transition.then {
            Then::Retry(failure) if retry.is_exhausted() => {
                let error = too_many(retry.attempts(), &failure.error);
                let transition = self.state.gave_up(&mut self.cx, error);
                self.apply(transition, random)
            }
            Then::Retry(failure) => Step::Retry(retry.pause(failure, self.cx.reader.retry(), random)),
            Then::LocateAgain(left, cause) => Step::Retry(retry.locate_pause(left, cause, random)),
            Then::Wait(awaited) => Step::Wait(retry.wait(awaited)),
            Then::Ask => self.ask(),
            Then::End(end, lost) => {
                self.state = State::Ended(lost);
                Step::End(self.cx.reader.machine_mut().stream_ended(end))
            }
            Then::Report(report) => {
                self.state = State::Ended(None);
                Step::End(report)
            }
        }
    }

    /// The step for the state's request.
    fn ask(&mut self) -> Step {
        self.is_backing_off = false;
        let Self { cx, state, .. } = self;
        if let State::Ended(_) = state {
            return Step::End(Ok(()));
        }
        let mut params = String::new();
        let mut writer = cx.request.params(cx.reader.conventions(), &mut params);
        let call = state.write(cx, &mut writer);
        writer.end();
        let mut plan = Plan { call, params, resumes_after: None };
        if !call.streams() {
            return Step::Ask(plan);
        }
        cx.opened_at = None;
        let is_start = call == Call::CreateTurnStream;
        if is_start && ClientIds::EXISTS {
            cx.reader.begin(&plan.params);
        }
        if !is_start && (Sockets::EXISTS || Relays::EXISTS || ClientConversations::EXISTS) {
            cx.reader.resume(&plan.params);
        }
        // Before the turn has an id, it is looked for once more after any number of attempts.
        cx.reader.connected(is_start && !cx.retry.is_off() || !cx.retry.is_exhausted());
        plan.resumes_after = (!is_start && cx.is_resuming).then(|| cx.machine().cursor().last());
        Step::Open(plan)
    }

    /// Whether nothing was sent that may have changed the turn. Once the turn has begun, that is always so.
    fn is_untouched(&self) -> bool {
        let is_started = self.cx.is_started();
        // If turns cannot be read, a lost start is looked for in a stream.
        let has_only_streams = self.cx.turn_reads().is_none();
        let is_looking = self.state.locating().is_some()
            || has_only_streams && !is_started && matches!(self.state, State::Streaming);
        !is_looking && (!self.cx.has_answered() || is_started)
    }

    /// Whether the run ends because there is no token. Nothing was sent. Only a turn that has begun gets more attempts.
    fn lacks_token(&self, failure: &Failure) -> bool {
        let is_last = !self.cx.is_started() || self.cx.retry.is_off();
        failure.error.code == ErrorCode::Token && self.is_untouched() && is_last
    }

    /// The caller has stopped the run, before anything was sent if `is_unsent`.
    fn stopped(&mut self, is_unsent: bool) -> Transition {
        let is_started = self.cx.is_started();
        let sends_nothing = is_unsent || !is_started && (self.is_backing_off || self.state.sends_nothing());
        // If a start may have arrived, stopping a later step does not undo it.
        if self.is_untouched() && sends_nothing {
            return Transition::end(StreamEnd::Refused);
        }
        let cx = &mut self.cx;
        let end = if cx.cancels_by_disconnect && cx.conventions().transcripts().is_some() {
            cancelled(cx)
        } else if is_started && cx.conventions().requires_attached_reader() && !cx.reader.is_relayed() {
            let problem = "the signal was aborted, and this server stops a turn that has no reader; received events are kept";
            StreamEnd::Lost(Error::new(ErrorCode::Aborted, problem))
        } else {
            StreamEnd::Aborted
        };
        let lost = || self.state.locating().map_or_else(not_begun, |locating| locating.lost.clone());
        Transition::stay(Then::End(end, (!is_started).then(lost)))
    }
}

/// The marker of the session's list of turns, if its newest turn must be read before the start: a lost start would be
/// looked for in the list, and neither the newest turn nor the new turn's place is known.
fn lists_newest(cx: &Context) -> Option<TurnLists> {
    let must_know = cx.request.trace.newest == Newest::Unknown
        && !cx.retry.is_off()
        && matches!(&*cx.request.previous_turn_id, "" | "auto" | "none");
    listed(cx).filter(|_| must_know)
}

/// Ends the turn as cancelled, since its stream was left.
fn cancelled(cx: &mut Context) -> StreamEnd {
    if !cx.is_started() {
        // It may have begun. The history is read before the next turn.
        let mut turn = Object::new();
        turn.set("id", cx.request.turn_id.clone().into());
        cx.reader.found(&turn);
    }
    let mut state = Object::new();
    state.set("status", "cancelled".into());
    state.set("reason", "the stream was left; the server cannot be told".into());
    cx.reader.end_missed(&state);
    StreamEnd::Eof
}

/// The error after too many failures.
fn too_many(attempts: u32, error: &Error) -> Error {
    let before = sentence(&["it failed ", &digits(attempts.into()), " times in a row, at last: "]);
    incomplete(&before, error, "")
}
