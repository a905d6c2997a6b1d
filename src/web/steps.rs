//! Carries out the steps of a turn, over any transport.

use std::cell::RefCell;
use std::pin::pin;

use futures::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Date, Math};

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::rpc::Messages;
use crate::turn::{Failure, Moment, Outcome, Pause, Plan, Step, TurnDriver, Waiting};

use super::page::{Returns, is_offline};

/// The limit from a request to the head of its response, in milliseconds.
pub(super) const CONNECT_TIMEOUT: u32 = 30_000;

/// A transport to a server.
pub(super) trait Transport {
    /// An open stream. Dropping it closes it.
    type Source: Source;

    /// Requests JSON. Returns it in turnwire's form.
    async fn asked(&self, plan: &Plan) -> Result<String, Failure>;

    /// Opens a stream. Returns once the head of the response has come.
    async fn opened(&self, plan: &Plan) -> Result<Opened<Self::Source>, Failure>;
}

/// The response to a request for a stream.
pub(super) enum Opened<S> {
    /// A stream.
    Stream(S),
    /// A whole answer in its place, as JSON in turnwire's form.
    Answer(String),
}

/// What a stream returns.
pub(super) enum Came {
    /// Bytes.
    Chunk(Vec<u8>),
    /// A whole message.
    Message(String),
    /// It is time to send the follow-up requests.
    Gather,
}

/// An open stream.
pub(super) trait Source {
    /// The next chunk; `None` at the end. Exceeding the allowed silence is an error.
    async fn next(&mut self) -> Result<Option<Came>, Failure>;

    /// Announces follow-up requests; more may come soon. Only for transports that can send them.
    fn follow_up(&mut self) {}

    /// Sends follow-up requests on the stream. The responses become part of it.
    fn say(&mut self, messages: Messages) {
        let _ = messages;
    }
}

/// A turn that is being read.
pub(super) trait Reading {
    /// The next step, after the outcome of the last one.
    fn next(&self, outcome: Outcome<'_>, moment: Moment) -> Step;

    /// Notes that a stream's response has begun, after this event if the stream is resumed.
    fn opened(&self, now: f64, resumes_after: Option<u64>);

    /// Takes a piece of the stream. Returns whether to read on.
    fn take(&self, came: Came) -> bool;

    /// Whether the turn has ended.
    fn is_over(&self) -> bool;

    /// How long to go on reading, in milliseconds since this was 0; 0 for no limit.
    fn grace(&self) -> u32;

    /// Notes that a wait begins.
    fn waits(&self, _wait: Wait<'_>) {}

    /// Whether there are follow-up requests.
    fn has_follow_up_requests(&self) -> bool;

    /// Takes the follow-up requests.
    fn follow_up_requests(&self) -> Option<Messages>;
}

/// The reason for a wait.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait<'p> {
    /// The connection is lost.
    Retry(&'p Pause),
    /// The server has not returned everything yet.
    Poll(Waiting),
}

/// Carries out the steps of a turn, to its end.
pub(super) async fn run(transport: &impl Transport, reading: &impl Reading, first: Step) -> Result<()> {
    let mut step = first;
    // The failure of the last step, and the last failure of any step.
    let (mut failure, mut cause): (Option<Error>, Option<Error>) = (None, None);
    loop {
        let answer: Result<String, Failure>;
        let outcome = match step {
            Step::End(Ok(())) if reading.is_over() => return Ok(()),
            Step::End(Ok(())) => return failure.map_or(Ok(()), Err),
            Step::End(Err(error)) if error.code == ErrorCode::Incomplete => {
                return Err(error.with_source(cause));
            }
            Step::End(Err(error)) => return Err(error),
            Step::Retry(pause) => {
                cause = Some(pause.cause.clone());
                reading.waits(Wait::Retry(&pause));
                waited(&pause).await;
                Outcome::Waited
            }
            Step::Wait(waiting) => {
                reading.waits(Wait::Poll(waiting));
                timer(waiting.delay).await;
                Outcome::Waited
            }
            Step::Ask(plan) => {
                answer = transport.asked(&plan).await;
                match &answer {
                    Ok(json) => {
                        failure = None;
                        Outcome::Answered(json)
                    }
                    Err(why) => failed(why.clone()),
                }
            }
            Step::Open(plan) => match read_stream(transport, &plan, reading).await {
                Ok(None) => {
                    failure = None;
                    Outcome::Ended
                }
                Ok(Some(whole)) => {
                    failure = None;
                    answer = Ok(whole);
                    answer.as_deref().map_or(Outcome::Ended, Outcome::Answered)
                }
                Err(why) => failed(why),
            },
        };
        if let Outcome::Failed(failed) = &outcome {
            failure = Some(failed.error.clone());
            cause.clone_from(&failure);
        }
        step = reading.next(outcome, Moment { now: Date::now(), random: Math::random() });
    }
}

/// A failure in the driver's form.
pub(super) fn failed(failure: Failure) -> Outcome<'static> {
    Outcome::Failed(Failure { is_offline: is_offline(), ..failure }.of_network())
}

/// Waits before a request is repeated. When the page returns, the wait ends as soon as the server allows.
pub(super) async fn waited(pause: &Pause) {
    let until = Date::now() + pause.least;
    if let Either::Right(_) = select(timer(pause.delay), Returns::new().any()).await {
        timer((until - Date::now()).min(pause.least)).await;
    }
}

/// A timer of this many milliseconds. No wait is longer than a few minutes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is short, and a cast saturates"
)]
fn timer(delay: f64) -> TimeoutFuture {
    TimeoutFuture::new(delay as u32)
}

/// Reads a stream to its end. Returns the whole response instead if there is no stream.
async fn read_stream(
    transport: &impl Transport,
    plan: &Plan,
    reading: &impl Reading,
) -> Result<Option<String>, Failure> {
    let mut source = match transport.opened(plan).await? {
        Opened::Stream(source) => source,
        Opened::Answer(json) => return Ok(Some(json)),
    };
    reading.opened(Date::now(), plan.resumes_after);
    let mut read_until = None;
    while let Some(came) = in_grace(reading.grace(), &mut read_until, source.next()).await? {
        if matches!(came, Came::Gather) {
            if let Some(messages) = reading.follow_up_requests() {
                source.say(messages);
            }
            continue;
        }
        let goes_on = reading.take(came);
        if reading.has_follow_up_requests() {
            source.follow_up();
        }
        if !goes_on {
            break;
        }
    }
    Ok(None)
}

/// The next piece of the stream, within the time for reading on after the turn's end.
async fn in_grace(
    grace: u32,
    until: &mut Option<f64>,
    next: impl Future<Output = Result<Option<Came>, Failure>>,
) -> Result<Option<Came>, Failure> {
    if grace == 0 {
        *until = None;
        return next.await;
    }
    let end = until.get_or_insert_with(|| Date::now() + f64::from(grace));
    match select(pin!(next), timer((*end - Date::now()).max(0.0))).await {
        Either::Left((came, _)) => came,
        Either::Right(_) => Ok(None),
    }
}

/// A driver without a session.
pub(super) struct Alone<'d> {
    driver: RefCell<&'d mut TurnDriver>,
    came: RefCell<&'d mut dyn FnMut(&mut TurnDriver)>,
}

impl<'d> Alone<'d> {
    /// Calls `came` whenever something may have arrived.
    pub(super) fn new(driver: &'d mut TurnDriver, came: &'d mut dyn FnMut(&mut TurnDriver)) -> Self {
        Self { driver: RefCell::new(driver), came: RefCell::new(came) }
    }

    fn tell(&self) {
        (self.came.borrow_mut())(&mut self.driver.borrow_mut());
    }
}

impl Reading for Alone<'_> {
    fn next(&self, outcome: Outcome<'_>, moment: Moment) -> Step {
        let step = self.driver.borrow_mut().next(outcome, moment);
        self.tell();
        step
    }

    fn opened(&self, now: f64, _resumes_after: Option<u64>) {
        self.driver.borrow_mut().opened(now);
    }

    fn take(&self, came: Came) -> bool {
        // The driver knows the error.
        let pushed = match came {
            Came::Chunk(chunk) => self.driver.borrow_mut().reader_mut().push(&chunk),
            Came::Message(message) => self.driver.borrow_mut().reader_mut().push_message(&message),
            Came::Gather => Ok(()),
        };
        self.tell();
        pushed.is_ok() && !self.is_over()
    }

    fn is_over(&self) -> bool {
        self.driver.borrow().reader().machine().status().is_terminal()
    }

    fn grace(&self) -> u32 {
        self.driver.borrow().reader().grace()
    }

    fn has_follow_up_requests(&self) -> bool {
        self.driver.borrow().reader().has_follow_up_requests()
    }

    fn follow_up_requests(&self) -> Option<Messages> {
        self.driver.borrow_mut().reader_mut().follow_up_requests()
    }
}

/// The parameters of a plan.
pub(super) fn params(plan: &Plan) -> Result<Object<'_>> {
    match Value::parse(&plan.params) {
        Ok(Value::Object(params)) => Ok(params),
        _ => Err(Error::new(ErrorCode::InvalidOption, "parameters must be an object")),
    }
}

/// The result of `work`, or a timeout after `limit` milliseconds; 0 for no limit.
pub(super) async fn in_time<T, E: From<Error>>(
    limit: u32,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    if limit == 0 {
        return work.await;
    }
    match select(pin!(work), TimeoutFuture::new(limit)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => Err(Error::new(ErrorCode::Timeout, "the server did not respond in time").into()),
    }
}
