//! A stream over a socket: the messages of a thread, and the clocks by which its connection is judged.

use std::rc::Rc;

use futures::future::{Either, Fuse, FusedFuture, select};
use futures::{FutureExt, StreamExt};
use gloo_timers::future::TimeoutFuture;

use crate::error::{Error, ErrorCode, Result};
use crate::rpc::Messages;
use crate::turn::Failure;

use super::expected::Expected;
use super::line::{Line, Receiver, Sender};
use super::steps::{Came, Source};

/// How long what the decoder wants to know is gathered, in milliseconds: news of it often come in swarms.
const ASK_DELAY: u32 = 200;

/// The messages of a thread, from those that answer the call on.
pub(super) struct Listening {
    line: Rc<Line>,
    stream: Sender,
    heard: Receiver,
    /// What the stream does not go on without.
    expected: Expected,
    /// What asks for a sign of life.
    ping: Messages,
    /// The longest silence, in milliseconds.
    idle_timeout: u32,
    /// When the silence is to be looked at.
    clock: TimeoutFuture,
    /// When what is to be asked is asked.
    asking: Fuse<TimeoutFuture>,
}

/// What happens next to a stream.
enum Due {
    /// Something came, or its end.
    Heard(Option<Result<String>>),
    /// A response has not come in time.
    Missed,
    /// It is time to ask what is to be asked.
    Ask,
    /// It is time to look at the silence.
    Look,
}

impl Listening {
    /// A stream that has begun. `ping` asks for a sign of life; nothing may come for `idle_timeout` milliseconds.
    pub(super) fn new(
        line: Rc<Line>,
        (stream, heard): (Sender, Receiver),
        expected: Expected,
        ping: Messages,
        idle_timeout: u32,
    ) -> Self {
        let clock = TimeoutFuture::new(idle_timeout / 2);
        Self { line, stream, heard, expected, ping, idle_timeout, clock, asking: Fuse::terminated() }
    }

    async fn due(&mut self) -> Due {
        let clocks = select(&mut self.asking, &mut self.clock);
        match select(self.heard.next(), select(self.expected.late(), clocks)).await {
            Either::Left((heard, _)) => Due::Heard(heard),
            Either::Right((Either::Left(_), _)) => Due::Missed,
            Either::Right((Either::Right((Either::Left(_), _)), _)) => Due::Ask,
            Either::Right((Either::Right((Either::Right(_), _)), _)) => Due::Look,
        }
    }

    /// Looks at the silence.
    fn look(&mut self) -> Result<()> {
        let (silence, longest) = (self.line.silence(), f64::from(self.idle_timeout));
        if silence >= longest {
            return Err(self.given_up(ErrorCode::Timeout, "nothing came in time"));
        }
        let half = longest / 2.0;
        if silence >= half {
            self.line.ping(&self.ping);
        }
        // It is looked at again in between, since a sign of life cannot be asked for at any time.
        let rest = if silence < half { half - silence } else { (longest - silence).min(half / 2.0) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is short and positive"
        )]
        let rest = rest.ceil() as u32;
        self.clock = TimeoutFuture::new(rest);
        Ok(())
    }

    /// A connection that is given up is dead for all.
    fn given_up(&self, code: ErrorCode, problem: &str) -> Error {
        let error = Error::new(code, problem);
        self.line.close(&error);
        error
    }
}

impl Source for Listening {
    async fn next(&mut self) -> Result<Option<Came>, Failure> {
        loop {
            match self.due().await {
                Due::Heard(heard) => {
                    return Ok(heard.transpose()?.map(|line| Came::Chunk(line.into_bytes())));
                }
                Due::Missed => {
                    let problem = "a request had no response in time";
                    return Err(self.given_up(ErrorCode::Timeout, problem).into());
                }
                Due::Ask => return Ok(Some(Came::Time)),
                Due::Look => self.look()?,
            }
        }
    }

    fn say(&mut self, messages: &Messages) -> Result<(), Failure> {
        match self.line.say(messages, Some(&self.stream)) {
            Ok(responses) => self.expected.extend(responses.flatten()),
            // The turn would wait for the answer for ever. Who comes back on another connection reads all of it.
            Err(error) => return Err(self.given_up(ErrorCode::Network, &error.message).into()),
        }
        Ok(())
    }

    fn ask_soon(&mut self) {
        if self.asking.is_terminated() {
            self.asking = TimeoutFuture::new(ASK_DELAY).fuse();
        }
    }
}
