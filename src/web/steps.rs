//! Carries out the steps of a turn, over any transport.

use std::pin::pin;

use futures::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Date, Math};

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
#[cfg(feature = "socket")]
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
    async fn opened(&self, plan: &Plan) -> Result<Self::Source, Failure>;
}

/// What a stream returns.
pub(super) enum Came {
    /// Bytes.
    Chunk(Vec<u8>),
    /// A whole message.
    #[cfg(feature = "socket")]
    Message(String),
    /// It is time to send the follow-up requests.
    #[cfg(feature = "socket")]
    Gather,
}

/// An open stream.
pub(super) trait Source {
    /// The next chunk; `None` at the end. Too long a silence is an error.
    async fn next(&mut self) -> Result<Option<Came>, Failure>;

    /// There are follow-up requests to send, and soon there may be more. Only for transports that can send them.
    #[cfg(feature = "socket")]
    fn follow_up(&mut self) {}

    /// Sends follow-up requests on the stream. The responses become part of it.
    #[cfg(feature = "socket")]
    fn say(&mut self, messages: Messages) {
        let _ = messages;
    }
}

/// Carries out the steps of a turn, to its end. Calls `came` after each that may have brought events.
pub(super) async fn run(
    transport: &impl Transport,
    driver: &mut TurnDriver,
    first: Step,
    came: &mut dyn FnMut(&mut TurnDriver),
) -> Result<()> {
    let mut step = first;
    loop {
        let answer;
        let outcome = match step {
            Step::End(ended) => return ended,
            Step::Retry(pause) => {
                waited(&pause).await;
                Outcome::Waited
            }
            Step::Wait(Waiting { delay, .. }) => {
                timer(delay).await;
                Outcome::Waited
            }
            Step::Ask(plan) => {
                answer = transport.asked(&plan).await;
                match &answer {
                    Ok(json) => Outcome::Answered(json),
                    Err(failure) => failed(failure.clone()),
                }
            }
            Step::Open(plan) => match read_stream(transport, &plan, driver, came).await {
                Ok(()) => Outcome::Ended,
                Err(failure) => failed(failure),
            },
        };
        step = driver.next(outcome, Moment { now: Date::now(), random: Math::random() });
        came(driver);
    }
}

/// A failure in the driver's form.
fn failed(failure: Failure) -> Outcome<'static> {
    Outcome::Failed(Failure { is_offline: is_offline(), ..failure }.of_network())
}

/// Waits. If the page has returned, only as long as the server requires.
async fn waited(pause: &Pause) {
    let until = Date::now() + pause.least;
    if let Either::Right(_) = select(timer(pause.delay), Returns::new().any()).await {
        timer((until - Date::now()).min(pause.least)).await;
    }
}

/// A timer of this many milliseconds. No wait is longer than some minutes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is short, and a cast saturates"
)]
fn timer(delay: f64) -> TimeoutFuture {
    TimeoutFuture::new(delay as u32)
}

async fn read_stream(
    transport: &impl Transport,
    plan: &Plan,
    driver: &mut TurnDriver,
    came: &mut dyn FnMut(&mut TurnDriver),
) -> Result<(), Failure> {
    let mut source = transport.opened(plan).await?;
    driver.opened(Date::now());
    while let Some(news) = source.next().await? {
        // The driver knows the error.
        let pushed = match news {
            Came::Chunk(chunk) => driver.reader_mut().push(&chunk),
            #[cfg(feature = "socket")]
            Came::Message(message) => driver.reader_mut().push_message(&message),
            #[cfg(feature = "socket")]
            Came::Gather => {
                if let Some(messages) = driver.reader_mut().follow_up_requests() {
                    source.say(messages);
                }
                continue;
            }
        };
        #[cfg(feature = "socket")]
        if driver.reader().has_follow_up_requests() {
            source.follow_up();
        }
        came(driver);
        if pushed.is_err() || driver.reader().machine().status().is_terminal() {
            break;
        }
    }
    Ok(())
}

/// The parameters of a plan.
pub(super) fn params(plan: &Plan) -> Result<Object<'_>> {
    match Value::parse(&plan.params) {
        Ok(Value::Object(params)) => Ok(params),
        _ => Err(Error::new(ErrorCode::InvalidOption, "parameters must be an object")),
    }
}

/// The result of `work`, or a timeout after `limit` milliseconds.
pub(super) async fn in_time<T, E: From<Error>>(
    limit: u32,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match select(pin!(work), TimeoutFuture::new(limit)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => Err(Error::new(ErrorCode::Timeout, "the server did not respond in time").into()),
    }
}
