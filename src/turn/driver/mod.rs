//! What to do next for a turn: requests, waits, and how each failure is recovered from. Without any I/O.
//!
//! ```text
//!            ┌───────── retry ◀──────────┐
//!            ▼                           │ it failed, or ended before `turn.done`
//! begin ─▶ start ─▶ stream ──────────────┤
//!            │        ▲                  ▼
//!            │ lost   │ it runs    read the turn (its stream is gone, or brings nothing) ◀─┐
//!            ▼        │                  │ it has ended              it runs, unstreamed ──▶ wait
//!       look for it ──┘                  ▼
//!                                  list its events ─▶ end
//! ```
//!
//! Whoever does the I/O carries out a [`Step`], tells the [`Outcome`], and gets the next step. The cursor
//! decides what of a resumed stream is new, so that however often a connection breaks, each event is
//! delivered once (protocol note, section 2.4).

mod answers;
mod found;
mod listing;
mod lost;
mod plan;
mod recover;
mod replay;
mod waiting;

use crate::error::{Error, ErrorCode, Result};
use crate::event::{EventKind, EventRef};
use crate::json::{Object, ObjectWriter, Value, write_u64};
use crate::protocol::{Call, Capabilities, HAS_LOOKS, HAS_OTHERS, HAS_UNCURSORED};

pub use waiting::{Awaited, Waiting};

use super::lost_start::{Finding, Sent};
use super::policy::{Failure, Reconnect, Remedy};
use super::{Newest, StartTrace, StreamEnd, StreamPlan, TurnInput, TurnReader};

/// Turns and events of a page: the most that servers give (sections 1.2, #5 and #9).
const PAGE: u64 = 25;
/// Events of a session of a page (section 1.2, #10).
const SESSION_PAGE: u64 = 100;
/// So many turns show in which order they are listed.
const FIRST_TURNS: u64 = 2;
/// Frames of a page: the most that servers give (`AgentEvent`, section 5).
const FRAMES: u64 = 200;
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
/// A turn that is read so often waiting for what was answered does wait.
const MOST_PAUSES: u32 = 15;
/// The longest wait that a stream can ask for (`retry:`), in milliseconds: as long as the vendor's own clients heed.
const LONGEST_RETRY: u32 = 30_000;

/// What is to be done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Ask for a stream, and push what it brings.
    Open(Plan),
    /// Ask for JSON.
    Ask(Plan),
    /// Wait before the next try: the connection is lost.
    Retry(Pause),
    /// Wait before the next look: the server is there, and has not said the rest yet.
    Wait(Waiting),
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

/// A wait before the next try to reach the server.
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
    capabilities: Capabilities,
    input: TurnInput,
    /// Empty if the server is to decide.
    previous_turn_id: String,
    /// The agent, where every turn names it.
    agent_name: String,
    /// The id that a new turn is given, where the client makes it; of a turn that only answers, the id under
    /// which it goes on.
    turn_id: String,
    reconnect: Reconnect,
    trace: StartTrace,
    /// What is being done, or will be after the wait.
    call: Call,
    is_waiting: bool,
    wants_stream: bool,
    /// Tries in a row that brought nothing new.
    attempts: u32,
    /// Looks in a row at what the server had not said yet, and that were the same.
    waits: u32,
    /// The size of what the history had of the turn, in bytes.
    #[cfg(feature = "aap")]
    told: usize,
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
    /// The last answer that was listed.
    output: String,
    /// How the turn ended, as the server says, while its last events are still to be had.
    ended: String,
    /// How it ended by its record, if that said so first.
    found: String,
    page_token: String,
    /// Pages that were taken.
    pages: u32,
    /// Why the stream was lost of a turn that cannot be resumed.
    cause: Option<Error>,
    /// Whether the server keeps nothing of what a stream brought.
    is_frameless: bool,
    /// How many answers were taken, each by itself.
    answered: usize,
    /// How many events the turn had brought when it paused.
    skimmed: u64,
    /// How often it was read waiting for what was answered.
    pauses: u32,
    /// When the turn that is answered had paused, as the server says.
    paused_at: String,
    /// What every call is told of the session (a JSON object); empty if nothing is.
    terms: String,
    /// What its start is told besides (a JSON object); empty if nothing is.
    options: String,
    /// How many messages the user had said in the session before this turn, if that is known.
    said: Option<u64>,
    /// Whether to leave the turn's stream is to cancel the turn.
    hangs_up: bool,
}

impl TurnDriver {
    /// Drives the turn that `reader` reads, in this session.
    #[must_use]
    pub fn new(reader: TurnReader, session_id: &str, previous_turn_id: &str) -> Self {
        Self {
            capabilities: reader.capabilities(),
            session_id: session_id.to_owned(),
            input: TurnInput::default(),
            previous_turn_id: previous_turn_id.to_owned(),
            agent_name: String::new(),
            turn_id: String::new(),
            reconnect: Reconnect::default(),
            trace: StartTrace::default(),
            call: Call::CreateTurn,
            is_waiting: false,
            wants_stream: false,
            attempts: 0,
            waits: 0,
            #[cfg(feature = "aap")]
            told: 0,
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
            output: String::new(),
            ended: String::new(),
            found: String::new(),
            page_token: String::new(),
            pages: 0,
            cause: None,
            is_frameless: reader.capabilities().is_unnamed(),
            reader,
            answered: 0,
            skimmed: 0,
            pauses: 0,
            paused_at: String::new(),
            terms: String::new(),
            options: String::new(),
            said: None,
            hangs_up: false,
        }
    }

    /// The session's id.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// What the turn is given.
    #[must_use]
    pub fn input(&self) -> &TurnInput {
        &self.input
    }

    /// Gives the turn its input.
    pub fn set_input(&mut self, input: TurnInput) {
        self.input = input;
        self.answered = 0;
    }

    /// The turn that a new one is to follow; empty if the server is to decide.
    #[must_use]
    pub fn previous_turn_id(&self) -> &str {
        &self.previous_turn_id
    }

    /// Names the agent, and the id of the turn if it is to be a new one: what protocols need whose
    /// capabilities have `client_ids`.
    pub fn set_start(&mut self, agent_name: &str, turn_id: &str) {
        agent_name.clone_into(&mut self.agent_name);
        turn_id.clone_into(&mut self.turn_id);
    }

    /// Tells what every call is told of the session (a JSON object): what protocols need whose servers know no
    /// turns.
    pub fn set_terms(&mut self, terms: &str) {
        terms.clone_into(&mut self.terms);
    }

    /// Gives what the turn is started with besides its input (a JSON object): what protocols take whose capabilities
    /// have a `socket`.
    pub fn set_options(&mut self, options: &str) {
        options.clone_into(&mut self.options);
    }

    /// Tells how many messages the user has said in the session before this turn, if that is known. By that it is
    /// told from an earlier one that said the same.
    pub fn set_said(&mut self, said: Option<u64>) {
        self.said = said;
    }

    /// To leave the stream is to cancel the turn: where a server cannot be told.
    pub fn hang_up(&mut self) {
        self.hangs_up = true;
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

    /// Begins to start the turn without a stream, where the protocol can; otherwise with one.
    pub fn start(&mut self, reconnect: Reconnect, trace: StartTrace) -> Result<Step> {
        if self.capabilities.must_be_read() {
            return self.stream(None, reconnect, trace);
        }
        let plan = self.reader.machine_mut().start()?;
        Ok(self.begin(plan, false, reconnect, trace))
    }

    /// Begins to bring the turn to its end, with all that it says: streams it, or, once it has ended, lists what did not
    /// come. Nothing is left to do if everything came.
    pub fn complete(&mut self, reconnect: Reconnect, trace: StartTrace) -> Result<Step> {
        if !self.reader.machine().status().is_terminal() {
            return self.stream(None, reconnect, trace);
        }
        if self.reader.is_complete() {
            return Ok(Step::End(Ok(())));
        }
        self.prepare(false, reconnect);
        self.ended.clone_from(&self.found);
        // Where servers know no turns, what is read of one has its events.
        let is_told = self.capabilities.is_unnamed();
        Ok(self.issue(if is_told { Call::GetTurn } else { Call::ListTurnEvents }))
    }

    /// Takes how the server says that the turn stands.
    pub fn take_state(&mut self, state: &Object<'_>) {
        if self.reader.apply_state(state) {
            self.found = state.to_json();
        }
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

    fn prepare(&mut self, wants_stream: bool, reconnect: Reconnect) {
        self.reconnect = reconnect;
        self.wants_stream = wants_stream;
        self.attempts = 0;
        self.waits = 0;
        self.looks = 0;
        self.turns.clear();
        self.lists = LISTS;
        self.was_interrupted = false;
        self.empties = 0;
        self.gone = 0;
        self.ended.clear();
        self.page_token.clear();
        self.given_up = None;
        self.cause = None;
    }

    fn begin(
        &mut self,
        plan: StreamPlan,
        wants_stream: bool,
        reconnect: Reconnect,
        trace: StartTrace,
    ) -> Step {
        self.prepare(wants_stream, reconnect);
        match plan {
            StreamPlan::Start => {
                self.trace = trace;
                self.lost = None;
                self.pages = 0;
                if self.must_know_newest() { self.issue(Call::ListNewestTurns) } else { self.start_over() }
            }
            StreamPlan::Subscribe => self.reattach(),
            StreamPlan::Look => {
                self.pages = 0;
                let lost = self.lost.get_or_insert_with(not_begun);
                self.looks = if lost.may_yet_begin() { LOOKS } else { 1 };
                self.restarts = true;
                self.issue(self.look_call())
            }
        }
    }

    /// Whether the turn is being looked for.
    #[must_use]
    pub fn is_looking(&self) -> bool {
        self.call == Call::ListTurns
    }

    /// The session's newest turn before the start, as far as it is known. What was read of it serves the session's next
    /// starts as well.
    #[must_use]
    pub fn newest(&self) -> &Newest {
        &self.trace.newest
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
            Outcome::Unsent if self.is_untouched() => self.end(StreamEnd::Refused),
            Outcome::Aborted if self.is_unsent() && self.is_untouched() => {
                // A start that is to be sent again was refused before.
                let is_started = self.reader.machine().id().is_some();
                if is_started { self.aborted() } else { self.end(StreamEnd::Refused) }
            }
            Outcome::Unsent | Outcome::Aborted => {
                if self.reader.machine().id().is_none() {
                    self.lost.get_or_insert_with(not_begun);
                }
                self.aborted()
            }
            Outcome::Failed(failure) if self.is_tokenless(&failure) => self.end(StreamEnd::Refused),
            Outcome::Ended => self.interrupted(None, moment),
            Outcome::Failed(failure) if self.call.streams() => self.interrupted(Some(failure), moment),
            Outcome::Failed(failure) => self.refused(failure, moment),
        }
    }

    /// The caller reads no more.
    fn aborted(&mut self) -> Step {
        let is_started = self.reader.machine().id().is_some();
        if HAS_OTHERS && self.hangs_up {
            return self.hung_up();
        }
        if !is_started || !self.is_forsaken_unread() {
            return self.end(StreamEnd::Aborted);
        }
        let problem =
            "the signal was aborted, and this server finishes no turn that nobody reads; what came is kept";
        self.end(StreamEnd::Lost(Error::new(ErrorCode::Aborted, problem)))
    }

    /// Whether what is being done sends no start, nor any answer.
    fn is_unsent(&self) -> bool {
        self.is_waiting || self.is_preparing() || self.call == Call::ListNewestTurns
    }

    /// Whether it ends for lack of a token: nothing was sent. Only a turn that has begun is worth more tries.
    fn is_tokenless(&self, failure: &Failure) -> bool {
        let is_started = self.reader.machine().id().is_some();
        let is_last = !is_started || self.reconnect.max_attempts == 0;
        failure.error.code == ErrorCode::Token && self.is_untouched() && is_last
    }

    /// Whether nothing was sent that may have changed anything, unless the turn has begun.
    fn is_untouched(&self) -> bool {
        self.lost.is_none() && (self.answered == 0 || self.reader.machine().id().is_some())
    }

    fn answered(&mut self, answer: &Object<'_>, moment: Moment) -> Step {
        match self.call {
            Call::ListTurns if HAS_LOOKS => self.looked(answer, moment),
            Call::ListNewestTurns if HAS_LOOKS => self.newest_listed(answer),
            Call::GetTurn if self.is_preparing() => self.paused(answer, moment),
            Call::ListTurnFrames | Call::ListTurnEvents if self.is_preparing() => self.skimmed(answer),
            Call::GetTurn if self.lost.is_some() => {
                self.attempts = 0;
                self.started(answer)
            }
            Call::GetTurn => self.read(answer),
            Call::GetSession if !self.capabilities.has_cursor() => self.waiting(answer),
            Call::AnswerTurn if self.capabilities.has_answers_apart() => self.accepted(),
            Call::ListTurnFrames if self.capabilities.has_history_only() => self.replayed(answer, moment),
            Call::ListTurnEvents => self.listed(answer),
            Call::ListSessionEvents => self.explained(answer),
            Call::CreateTurnStream if self.capabilities.is_unnamed() => {
                self.reader.push_body(answer);
                self.interrupted(None, moment)
            }
            _ => self.started(answer),
        }
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
