//! What to do next for a turn: requests, waits, and how each failure is recovered from. Without any I/O.
//!
//! ```text
//!            ┌────────── wait ◀──────────┐
//!            ▼                           │ it failed, or ended before `turn.done`
//! begin ─▶ start ─▶ stream ──────────────┤
//!            │        ▲                  ▼
//!            │ lost   │ it runs    read the turn (its stream is gone, or brings nothing)
//!            ▼        │                  │ it has ended
//!       look for it ──┘                  ▼
//!                                  list its events ─▶ end
//! ```
//!
//! Whoever does the I/O carries out a [`Step`], tells the [`Outcome`], and gets the next step. The cursor
//! decides what of a resumed stream is new, so that however often a connection breaks, each event is
//! delivered once (protocol note, section 2.4).

use crate::error::{Error, ErrorCode, Result};
use crate::event::{EventKind, EventRef};
use crate::json::{Object, ObjectWriter, Value, write_u64};
use crate::protocol::Call;

use super::lost_start::Finding;
use super::policy::{Failure, Reconnect, Remedy};
use super::{StartTrace, StreamEnd, StreamPlan, TurnInput, TurnReader};

/// Turns and events of a page: the most that servers give (sections 1.2, #5 and #9).
const PAGE: u64 = 25;
/// Pages of a turn's events: whoever gives more goes round in them.
const MOST_PAGES: u32 = 4000;
/// A connection that stood this long has done its work, even if it brought no event, in milliseconds.
const LONG_CONNECTION: f64 = 30_000.0;
/// How often a turn is looked for whose start may still have been on its way.
const LOOKS: u32 = 3;
/// So many accepted streams in a row that end by themselves and bring nothing have nothing to bring.
const EMPTIES: u32 = 4;
/// A stream that is gone so often in a row does not come back, although its turn runs.
const MOST_GONE: u32 = 2;
/// Pages of a session's turns that are read to look for one.
const MOST_TURN_PAGES: u32 = 40;
/// How often a list of events is read that does not have all of a turn that is done.
const LISTS: u32 = 3;
/// Between two questions how a turn stands that cannot be streamed any further, in milliseconds.
const POLL_DELAY: f64 = 2000.0;
/// The longest wait that a stream can ask for (`retry:`), in milliseconds: as long as the vendor's own clients heed.
const LONGEST_RETRY: u32 = 30_000;

/// What is to be done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Ask for a stream, and push what it brings.
    Open(Plan),
    /// Ask for JSON.
    Ask(Plan),
    /// Wait.
    Wait(Pause),
    /// Nothing: it is over, and this is what is to be reported.
    End(Result<()>),
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The call.
    pub call: Call,
    /// Its parameters: a JSON object.
    pub params: String,
    /// Where a stream that is resumed goes on.
    pub resumes_after: Option<u64>,
}

/// A wait before the next try.
#[derive(Debug, Clone, PartialEq)]
pub struct Pause {
    /// How long, in milliseconds.
    pub delay: f64,
    /// As long as the server asks for at least, in milliseconds; beyond that the wait may be cut short.
    pub least: f64,
    /// The number of the try, from 1 on.
    pub attempt: u32,
    /// What failed before.
    pub cause: Error,
}

/// How a step went.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<'a> {
    /// The stream was read to its end, or as far as [`TurnReader::push`] wanted.
    Ended,
    /// The answer, in turnwire's form.
    Answered(&'a str),
    /// It failed.
    Failed(Failure),
    /// The caller stopped it. What was sent is with the server.
    Aborted,
    /// It was stopped, or failed, before anything was sent.
    Unsent,
    /// The wait is over.
    Waited,
}

/// When an outcome came, and the chance in what follows from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// By any clock that does not go back, in milliseconds.
    pub now: f64,
    /// From 0 up to 1.
    pub random: f64,
}

/// Moves one turn from step to step.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct TurnDriver {
    reader: TurnReader,
    session_id: String,
    input: TurnInput,
    /// Empty if the server is to decide.
    previous_turn_id: String,
    reconnect: Reconnect,
    trace: StartTrace,
    /// What is being done, or will be after the wait.
    call: Call,
    is_waiting: bool,
    wants_stream: bool,
    /// Tries in a row that brought nothing new.
    attempts: u32,
    /// Whether the stream was interrupted, so that the next one resumes it.
    was_interrupted: bool,
    /// How a start failed of which it is not known whether it arrived.
    lost: Option<Failure>,
    /// How often the turn is looked for.
    looks: u32,
    /// The session's turns, as far as they were read to look for this one.
    turns: Vec<Value<'static>>,
    /// How often the list of events is read.
    lists: u32,
    /// Whether a turn that is not there is started after all.
    restarts: bool,
    opened_at: Option<f64>,
    /// The cursor as it was when the connection was asked for.
    position: u64,
    /// How often in a row a stream ended by itself and brought nothing.
    empties: u32,
    /// How often in a row the stream was gone: its events have to come from the list, once the turn has ended.
    gone: u32,
    /// Why there are no more tries, while it is asked whether the turn has ended.
    given_up: Option<Error>,
    /// How the turn ended, as the server says, while its last events are still to be had.
    ended: String,
    page_token: String,
    /// Pages that were taken.
    pages: u32,
}

impl TurnDriver {
    /// Drives the turn that `reader` reads, in this session.
    #[must_use]
    pub fn new(reader: TurnReader, session_id: &str, previous_turn_id: &str) -> Self {
        Self {
            reader,
            session_id: session_id.to_owned(),
            input: TurnInput::default(),
            previous_turn_id: previous_turn_id.to_owned(),
            reconnect: Reconnect::default(),
            trace: StartTrace::default(),
            call: Call::CreateTurn,
            is_waiting: false,
            wants_stream: false,
            attempts: 0,
            was_interrupted: false,
            lost: None,
            looks: 0,
            turns: Vec::new(),
            lists: 0,
            restarts: false,
            opened_at: None,
            position: 0,
            empties: 0,
            gone: 0,
            given_up: None,
            ended: String::new(),
            page_token: String::new(),
            pages: 0,
        }
    }

    /// What the turn is given.
    #[must_use]
    pub fn input(&self) -> &TurnInput {
        &self.input
    }

    /// Gives the turn its input.
    pub fn set_input(&mut self, input: TurnInput) {
        self.input = input;
    }

    /// The turn that a new one is to follow; empty if the server is to decide.
    #[must_use]
    pub fn previous_turn_id(&self) -> &str {
        &self.previous_turn_id
    }

    /// What was read.
    #[must_use]
    pub fn reader(&self) -> &TurnReader {
        &self.reader
    }

    /// What was read, to be moved on.
    pub fn reader_mut(&mut self) -> &mut TurnReader {
        &mut self.reader
    }

    /// Begins to stream the turn: starts it, or subscribes to it after `after`, by default after the last
    /// event that came.
    pub fn stream(&mut self, after: Option<u64>, reconnect: Reconnect, trace: StartTrace) -> Result<Step> {
        let plan = self.reader.machine_mut().stream(after)?;
        Ok(self.begin(plan, true, reconnect, trace))
    }

    /// Begins to start the turn without a stream.
    pub fn start(&mut self, reconnect: Reconnect, trace: StartTrace) -> Result<Step> {
        let plan = self.reader.machine_mut().start()?;
        Ok(self.begin(plan, false, reconnect, trace))
    }

    /// Begins to look whether a start arrived of which that is not known. The turn is not started if not.
    pub fn look(&mut self, reconnect: Reconnect) -> Result<Step> {
        let machine = self.reader.machine_mut();
        if machine.id().is_none() {
            machine.start()?;
        }
        let step = self.begin(StreamPlan::Look, false, reconnect, StartTrace::default());
        self.restarts = false;
        Ok(step)
    }

    fn begin(
        &mut self,
        plan: StreamPlan,
        wants_stream: bool,
        reconnect: Reconnect,
        trace: StartTrace,
    ) -> Step {
        self.reconnect = reconnect;
        self.wants_stream = wants_stream;
        self.attempts = 0;
        self.looks = 0;
        self.turns.clear();
        self.lists = LISTS;
        self.was_interrupted = false;
        self.empties = 0;
        self.gone = 0;
        self.ended.clear();
        self.page_token.clear();
        match plan {
            StreamPlan::Start => {
                self.trace = trace;
                self.lost = None;
                self.issue(self.start_call())
            }
            // Its stream would bring again what was taken from the list, or came without a number.
            StreamPlan::Subscribe if self.pages > 0 || self.reader.machine().cursor().is_unsure() => {
                self.gone = MOST_GONE;
                self.issue(Call::GetTurn)
            }
            StreamPlan::Subscribe => self.issue(Call::SubscribeTurn),
            StreamPlan::Look => {
                let lost = self.lost.get_or_insert_with(not_begun);
                self.looks = if lost.may_yet_begin() { LOOKS } else { 1 };
                self.restarts = true;
                self.issue(Call::ListTurns)
            }
        }
    }

    /// Whether the turn is being looked for.
    #[must_use]
    pub fn is_looking(&self) -> bool {
        self.call == Call::ListTurns
    }

    /// The session has turns of these ids that are known to be others.
    pub fn set_others(&mut self, ids: &[String]) {
        self.trace.others = ids.to_vec();
    }

    /// The head of a stream's answer has come.
    pub fn opened(&mut self, now: f64) {
        self.opened_at = Some(now);
    }

    /// Takes how the last step went; gives the next one.
    pub fn next(&mut self, outcome: Outcome<'_>, moment: Moment) -> Step {
        match outcome {
            Outcome::Waited => self.issue(self.call),
            Outcome::Answered(json) => {
                let answer = Value::parse(json).unwrap_or_default();
                self.answered(answer.as_object().unwrap_or(const { &Object::new() }), moment)
            }
            // A start that may have arrived is not taken back by what comes after it.
            Outcome::Unsent if self.lost.is_none() => self.end(StreamEnd::Refused),
            Outcome::Aborted if self.is_waiting && self.lost.is_none() => {
                // A start that is to be sent again was refused before.
                let is_started = self.reader.machine().id().is_some();
                self.end(if is_started { StreamEnd::Aborted } else { StreamEnd::Refused })
            }
            Outcome::Unsent | Outcome::Aborted => {
                if self.reader.machine().id().is_none() {
                    self.lost.get_or_insert_with(not_begun);
                }
                self.end(StreamEnd::Aborted)
            }
            Outcome::Failed(failure) if self.is_tokenless(&failure) => self.end(StreamEnd::Refused),
            Outcome::Ended => self.interrupted(None, moment),
            Outcome::Failed(failure) if self.call.streams() => self.interrupted(Some(failure), moment),
            Outcome::Failed(failure) => self.refused(failure, moment),
        }
    }

    /// Whether it ends for lack of a token: nothing was sent. Only a turn that has begun is worth more tries.
    fn is_tokenless(&self, failure: &Failure) -> bool {
        let is_started = self.reader.machine().id().is_some();
        let is_last = !is_started || self.reconnect.max_attempts == 0;
        failure.error.code == ErrorCode::Token && self.lost.is_none() && is_last
    }

    /// A stream has ended.
    fn interrupted(&mut self, failure: Option<Failure>, moment: Moment) -> Step {
        let machine = self.reader.machine();
        if machine.status().is_terminal() {
            return self.mend();
        }
        let is_started = machine.id().is_some();
        let is_new = machine.cursor().last() != self.position || machine.cursor().is_unsure();
        let was_long = self.opened_at.is_some_and(|opened_at| moment.now - opened_at >= LONG_CONNECTION);
        if is_new {
            self.attempts = 0;
            // A stream that brings something is better than the list.
            self.ended.clear();
        } else if was_long {
            self.attempts = self.attempts.min(1);
        }
        // What could not be read explains why the reading was stopped.
        let failure = self.reader.take_failure().map(Failure::from).or(failure);
        let was_closed = failure.is_none();
        if self.reconnect.max_attempts == 0 {
            return self.end(failure.map_or(StreamEnd::Eof, |failure| self.end_of(failure.error)));
        }
        let failure = failure.unwrap_or_else(|| {
            let before = if is_started { "turn.done" } else { "turn.created" };
            let parts = ["the stream ended before `", before, "`"];
            Error::of(ErrorCode::Incomplete, &parts).into()
        });
        if !is_started {
            return self.start_failed(failure, moment);
        }
        self.was_interrupted = true;
        // A stream that is done with brings `turn.done`. One that ended by itself, or was long silent, and
        // brought nothing may have nothing to bring: the turn itself says so.
        let is_empty = (was_closed || was_long) && !is_new && self.attempts > 0;
        self.empties = if is_empty { self.empties + 1 } else { 0 };
        if self.empties >= EMPTIES && !self.ended.is_empty() {
            return self.issue(Call::ListTurnEvents);
        }
        let remedy = failure.remedy();
        self.gone = match remedy {
            Remedy::Read => self.gone + 1,
            // Nothing tells a repeat from an event without a number: the turn's list of events does.
            _ if self.reader.machine().cursor().is_unsure() => MOST_GONE,
            _ => 0,
        };
        match remedy {
            Remedy::None => self.give_up(failure.error),
            // The server is there, and says what is to be done.
            Remedy::Read => self.issue(Call::GetTurn),
            _ if self.gone > 0 || (is_empty && self.ended.is_empty()) => {
                self.retry(Call::GetTurn, failure, moment)
            }
            _ => self.retry(Call::SubscribeTurn, failure, moment),
        }
    }

    /// A request for JSON has failed.
    fn refused(&mut self, failure: Failure, moment: Moment) -> Step {
        let call = self.call;
        if call == Call::CreateTurn {
            return self.start_failed(failure, moment);
        }
        if let Some(error) = self.given_up.take() {
            return self.end(self.end_of(error));
        }
        if matches!(failure.remedy(), Remedy::Retry | Remedy::Later) {
            return self.retry(call, failure, moment);
        }
        self.give_up(failure.error)
    }

    /// A start has failed, and the turn has no id yet.
    fn start_failed(&mut self, failure: Failure, moment: Moment) -> Step {
        if self.reconnect.max_attempts == 0 || failure.error.code == ErrorCode::FrameTooLarge {
            return self.end(self.end_of(failure.error));
        }
        if failure.may_have_begun() {
            let remedy = failure.remedy();
            self.restarts = remedy == Remedy::Later && !self.is_exhausted();
            self.looks = if failure.may_yet_begin() && remedy != Remedy::None { LOOKS } else { 1 };
            self.lost = Some(failure.clone());
            // The server may ask for a longer wait than anybody waits.
            if remedy == Remedy::None || self.is_exhausted() {
                return self.issue(Call::ListTurns);
            }
            return self.retry(Call::ListTurns, failure, moment);
        }
        if failure.remedy() == Remedy::Later && !self.is_exhausted() {
            return self.retry(self.call, failure, moment);
        }
        self.end(StreamEnd::NotBegun(failure.error))
    }

    /// Whether there were too many tries.
    fn is_exhausted(&self) -> bool {
        self.attempts >= self.reconnect.max_attempts
    }

    /// Waits before the next try, unless there were too many.
    fn retry(&mut self, call: Call, failure: Failure, moment: Moment) -> Step {
        let Failure { error, retry_after, is_offline } = failure;
        if self.is_exhausted() {
            let parts = ["it failed ", &digits(self.attempts), " times in a row, at last: ", &error.message];
            return self.give_up(Error::of(ErrorCode::Incomplete, &parts).with_status(error.status));
        }
        self.call = call;
        self.is_waiting = true;
        self.attempts += u32::from(!is_offline);
        let attempt = self.attempts.max(1);
        let asked = u32::try_from(self.reader.retry()).unwrap_or(u32::MAX).min(LONGEST_RETRY);
        let least = f64::from(retry_after.max(asked));
        let backoff = if is_offline {
            // Whoever waits is woken when there is a network again.
            f64::from(self.reconnect.max_delay) * moment.random
        } else {
            self.reconnect.delay(attempt, moment.random)
        };
        Step::Wait(Pause { delay: least + backoff, least, attempt, cause: error })
    }

    /// Nothing more can be done about what is being done.
    fn give_up(&mut self, error: Error) -> Step {
        match self.call {
            Call::ListTurnEvents => {
                self.finish();
                // It has ended, so that this gives no error of its own.
                self.end(StreamEnd::Eof);
                let parts = [
                    "the turn has ended, and the events that were missed could not be read: ",
                    &error.message,
                    "; `listEvents()` may give them later",
                ];
                Step::End(Err(Error::of(ErrorCode::Incomplete, &parts).with_status(error.status)))
            }
            Call::ListTurns => self.unclear(&error),
            // The last thing that can be tried: if the turn has ended, its events are listed.
            Call::SubscribeTurn if self.is_exhausted() => {
                self.given_up = Some(error);
                self.issue(Call::GetTurn)
            }
            _ => self.end(self.end_of(error)),
        }
    }

    /// What a failure that is not recovered from means for the turn.
    fn end_of(&self, error: Error) -> StreamEnd {
        match error.code {
            // To go on after too large an event would be to meet it again.
            ErrorCode::FrameTooLarge => StreamEnd::Lost(error),
            ErrorCode::Http | ErrorCode::UnexpectedResponse if self.was_interrupted => StreamEnd::Lost(error),
            ErrorCode::Http | ErrorCode::UnexpectedResponse => StreamEnd::Rejected(error),
            _ => StreamEnd::Failed(error),
        }
    }

    fn answered(&mut self, answer: &Object<'_>, moment: Moment) -> Step {
        match self.call {
            Call::ListTurns => self.looked(answer, moment),
            Call::GetTurn => self.read(answer),
            Call::ListTurnEvents => self.listed(answer, moment),
            _ => self.started(answer),
        }
    }

    /// The session's turns say whether the turn began.
    fn looked(&mut self, page: &Object<'_>, moment: Moment) -> Step {
        self.turns.extend(page.array("items").iter().map(|turn| turn.clone().into_owned()));
        let token = page.text("next");
        if !token.is_empty() && token != self.page_token && !self.trace.is_past(&self.turns) {
            self.pages += 1;
            if self.pages == MOST_TURN_PAGES {
                return self.unclear(&Error::new(ErrorCode::Incomplete, "the session has too many turns"));
            }
            token.clone_into(&mut self.page_token);
            return self.issue(Call::ListTurns);
        }
        self.pages = 0;
        self.page_token.clear();
        let turns = std::mem::take(&mut self.turns);
        let input = Value::parse(self.input.json().unwrap_or("[]")).unwrap_or_default();
        match self.trace.find(&turns, &input, &self.previous_turn_id) {
            Finding::Begun(turn) => {
                self.attempts = 0;
                self.started(turn)
            }
            Finding::Unclear => {
                let problem = "the session has a turn of the same input, or another branch of turns";
                self.unclear(&Error::new(ErrorCode::Incomplete, problem))
            }
            Finding::Absent => self.not_found(moment),
        }
    }

    /// Nothing says whether the turn began.
    fn unclear(&mut self, error: &Error) -> Step {
        let parts =
            ["whether the turn began is not known: ", &error.message, "; `stream()` looks for it again"];
        let error = Error::of(ErrorCode::Incomplete, &parts).with_status(error.status);
        self.end(StreamEnd::Failed(error))
    }

    /// The server has no such turn.
    fn not_found(&mut self, moment: Moment) -> Step {
        let Some(failure) = self.lost.clone() else {
            return self.end(StreamEnd::Refused);
        };
        let cursor = self.reader.machine().cursor();
        if cursor.last() > 0 || cursor.is_unsure() {
            return self.unclear(&failure.error);
        }
        self.looks = self.looks.saturating_sub(1);
        if self.looks > 0 && self.reconnect.max_attempts > 0 {
            // It may be on its way. These waits have a floor: looking thrice at once would be looking once.
            self.call = Call::ListTurns;
            self.is_waiting = true;
            self.attempts += 1;
            let longest = self.reconnect.delay(2 + LOOKS - self.looks, 1.0);
            let delay = longest * (0.5 + 0.5 * moment.random);
            return Step::Wait(Pause { delay, least: delay, attempt: self.attempts, cause: failure.error });
        }
        self.lost = None;
        if self.restarts {
            return self.issue(self.start_call());
        }
        self.end(StreamEnd::NotBegun(failure.error))
    }

    /// The turn has begun: this is what the server keeps of it.
    fn started(&mut self, turn: &Object<'_>) -> Step {
        self.lost = None;
        self.reader.found(turn);
        if self.wants_stream {
            return self.issue(Call::SubscribeTurn);
        }
        self.reader.apply_state(turn.object("state").unwrap_or(const { &Object::new() }));
        Step::End(Ok(()))
    }

    fn start_call(&self) -> Call {
        if self.wants_stream { Call::CreateTurnStream } else { Call::CreateTurn }
    }

    /// The turn itself says how it stands.
    fn read(&mut self, turn: &Object<'_>) -> Step {
        let state = turn.object("state").unwrap_or(const { &Object::new() });
        if matches!(state.text("status"), "done" | "cancelled" | "error") {
            self.ended = state.to_json();
            if self.gone > 0 || self.given_up.take().is_some() {
                return self.issue(Call::ListTurnEvents);
            }
        }
        if let Some(error) = self.given_up.take() {
            return self.end(self.end_of(error));
        }
        if self.gone >= MOST_GONE {
            self.attempts = 0;
            let problem = "the stream cannot be read any further: the turn's end is waited for";
            let cause = Error::new(ErrorCode::Incomplete, problem);
            return Step::Wait(Pause { delay: POLL_DELAY, least: POLL_DELAY, attempt: 1, cause });
        }
        self.issue(Call::SubscribeTurn)
    }

    /// A page of the turn's events.
    fn listed(&mut self, page: &Object<'_>, moment: Moment) -> Step {
        for event in page.array("items").iter().filter_map(Value::as_object) {
            self.reader.apply_missed(EventRef::of(event));
        }
        self.pages += 1;
        let token = page.text("next");
        if !token.is_empty() && token != self.page_token && self.pages < MOST_PAGES {
            token.clone_into(&mut self.page_token);
            self.attempts = 0;
            return self.issue(Call::ListTurnEvents);
        }
        if !self.is_whole() {
            self.page_token.clear();
            self.pages = 0;
            self.lists -= 1;
            let problem = "the server's list does not have the whole of a message";
            let failure = Failure::from(Error::new(ErrorCode::Incomplete, problem));
            return if self.lists > 0 {
                self.retry(Call::ListTurnEvents, failure, moment)
            } else {
                self.give_up(failure.error)
            };
        }
        self.finish();
        self.end(StreamEnd::Eof)
    }

    /// Whether nothing is missing of a turn that is done. Its last message is said once more with its state.
    fn is_whole(&mut self) -> bool {
        let state = Value::parse(&self.ended).unwrap_or_default();
        let Some(state) = state.as_object().filter(|state| state.text("status") == "done") else {
            return true;
        };
        if let Some(fields) = state.object("output") {
            self.reader.apply_missed(EventRef { kind: EventKind::ModelMessage, fields });
        }
        !self.reader.is_ragged()
    }

    /// The turn ends as the server said when it was read.
    fn finish(&mut self) {
        let state = std::mem::take(&mut self.ended);
        if let Ok(Value::Object(state)) = Value::parse(&state) {
            self.reader.end_missed(&state);
        }
    }

    /// The turn has ended. Where events were lost on the way, its list of events makes its messages whole.
    fn mend(&mut self) -> Step {
        let has_id = self.reader.machine().id().is_some();
        if self.reader.gaps().is_empty() || self.reconnect.max_attempts == 0 || !has_id {
            return self.end(StreamEnd::Eof);
        }
        self.attempts = 0;
        self.ended.clear();
        self.issue(Call::ListTurnEvents)
    }

    fn end(&mut self, end: StreamEnd) -> Step {
        Step::End(self.reader.machine_mut().stream_ended(end))
    }

    fn issue(&mut self, call: Call) -> Step {
        self.call = call;
        self.is_waiting = false;
        self.opened_at = None;
        let mut plan = Plan { call, params: self.params(call), resumes_after: None };
        if !call.streams() {
            return Step::Ask(plan);
        }
        let after = self.reader.machine().cursor().last();
        self.position = after;
        // Before the turn has an id it is looked for once more, whatever the number of tries.
        let is_start = call == Call::CreateTurnStream && self.reconnect.max_attempts > 0;
        self.reader.connected(is_start || !self.is_exhausted());
        plan.resumes_after = (call == Call::SubscribeTurn && self.was_interrupted).then_some(after);
        Step::Open(plan)
    }

    /// A call's parameters.
    fn params(&self, call: Call) -> String {
        let mut json = String::new();
        let mut params = ObjectWriter::new(&mut json);
        params.str("session_id", &self.session_id);
        if matches!(call, Call::CreateTurn | Call::CreateTurnStream) {
            if let Some(input) = self.input.json() {
                params.raw("input", input);
            }
            if !self.previous_turn_id.is_empty() {
                params.str("previous_turn_id", &self.previous_turn_id);
            }
        } else if call == Call::ListTurns {
            params.u64("limit", PAGE);
            if !self.page_token.is_empty() {
                params.str("page_token", &self.page_token);
            }
        } else {
            let machine = self.reader.machine();
            params.str("turn_id", machine.id().unwrap_or_default());
            let after = machine.cursor().last();
            if call == Call::SubscribeTurn && after > 0 {
                params.u64("after_sequence_number", after);
            }
            if call == Call::ListTurnEvents {
                params.u64("limit", PAGE).str("order", "asc");
                if !self.page_token.is_empty() {
                    params.str("page_token", &self.page_token);
                }
            }
        }
        params.end();
        json
    }
}

/// Why a turn that was looked for is not there.
fn not_begun() -> Failure {
    Error::new(ErrorCode::TurnNotStarted, "the turn has not begun").into()
}

fn digits(number: u32) -> String {
    let mut digits = String::new();
    write_u64(&mut digits, u64::from(number));
    digits
}
