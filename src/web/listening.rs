//! A stream over a socket: the messages of a thread, and the clocks by which its connection is judged.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::future::{Fuse, FusedFuture};
use futures::{FutureExt, StreamExt};
use gloo_timers::future::TimeoutFuture;

use crate::error::{Error, ErrorCode, Result};
use crate::rpc::Messages;
use crate::turn::Failure;

use super::expected::Expected;
use super::line::{Line, Receiver, Sender, network};
use super::page::{Return, Returns, was_away};
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
    page: Returns,
}

/// What happens next to a stream.
enum Due {
    /// Something came, or its end.
    Heard(Option<Result<String>>),
    /// A response has not come in time.
    Missed,
    /// The page was away.
    Leave,
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
        let (asking, page) = (Fuse::terminated(), Returns::new());
        Self { line, stream, heard, expected, ping, idle_timeout, clock, asking, page }
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<Due> {
        // What has come is read first: it may be what is waited for.
        if let Poll::Ready(heard) = self.heard.poll_next_unpin(context) {
            return Poll::Ready(Due::Heard(heard));
        }
        if self.expected.poll_late(context).is_ready() {
            return Poll::Ready(Due::Missed);
        }
        match self.page.poll(context) {
            Poll::Ready(Return::Away) => return Poll::Ready(Due::Leave),
            Poll::Ready(Return::Shown) => return Poll::Ready(Due::Look),
            Poll::Pending => {}
        }
        if self.asking.poll_unpin(context).is_ready() {
            return Poll::Ready(Due::Ask);
        }
        self.clock.poll_unpin(context).map(|()| Due::Look)
    }

    /// Looks at the silence.
    fn look(&mut self) -> Result<()> {
        let (silence, longest) = (self.line.silence(), f64::from(self.idle_timeout));
        if silence >= longest {
            return Err(self.given_up(overdue("nothing came in time")));
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
    fn given_up(&self, error: Error) -> Error {
        self.line.close(&error);
        error
    }
}

fn overdue(problem: &str) -> Error {
    Error::new(ErrorCode::Timeout, problem)
}

impl Source for Listening {
    async fn next(&mut self) -> Result<Option<Came>, Failure> {
        loop {
            match poll_fn(|context| self.poll_due(context)).await {
                Due::Heard(heard) => {
                    return Ok(heard.transpose()?.map(|line| Came::Chunk(line.into_bytes())));
                }
                Due::Missed => {
                    return Err(self.given_up(overdue("a request had no response in time")).into());
                }
                Due::Leave => return Err(self.given_up(was_away()).into()),
                Due::Ask => return Ok(Some(Came::Time)),
                Due::Look => self.look()?,
            }
        }
    }

    fn say(&mut self, messages: &Messages) -> Result<(), Failure> {
        match self.line.say(messages, Some(&self.stream)) {
            Ok(responses) => self.expected.extend(responses.flatten()),
            // The turn would wait for the answer for ever. Who comes back on another connection reads all of it.
            Err(error) => return Err(self.given_up(network(&error.message)).into()),
        }
        Ok(())
    }

    fn ask_soon(&mut self) {
        if self.asking.is_terminated() {
            self.asking = TimeoutFuture::new(ASK_DELAY).fuse();
        }
    }
}
