//! The way to the server and back: the fault of a request, and how its answer arrives.

use turnwire::protocol::{Call, Request};

use super::fault::{Fault, Flow, Numbers};
use super::frames::{Part, Stream, Style};
use super::random::Random;
use super::server::{Answer, Server, refusal};
use super::time::Millis;
use super::wire::Spelling;

/// What happens to a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Nothing was sent.
    NoToken,
    /// It does not arrive, or its answer does not.
    Failed {
        at: Millis,
    },
    Head(Head),
}

/// An answer: when its head comes, and its body.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) at: Millis,
    pub(crate) status: u16,
    pub(crate) retry_after: Millis,
    pub(crate) content_type: &'static str,
    pub(crate) parts: Vec<(Millis, Part)>,
}

#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) server: Server,
    random: Random,
    offline_until: Millis,
    /// Whether the client may be led to believe that the server has lost events.
    pub(crate) may_lose: bool,
    /// Where a client last found that events were missing.
    gap_after: Option<u64>,
    heartbeat: Option<Millis>,
}

impl Network {
    /// `heartbeat` is the time after which the server writes a comment.
    pub(crate) fn new(server: Server, heartbeat: Option<Millis>, random: &mut Random) -> Self {
        Self { server, offline_until: 0, may_lose: false, gap_after: None, heartbeat, random: random.fork() }
    }

    /// Whether there is no network at all.
    pub(crate) fn is_offline(&self, now: Millis) -> bool {
        now < self.offline_until
    }

    /// When there is one again, if it is later than `now`.
    pub(crate) fn online_at(&self) -> Millis {
        self.offline_until
    }

    /// Sends a request; `fault` happens to it.
    pub(crate) fn send(&mut self, call: Call, request: &Request, fault: Fault, now: Millis) -> Reply {
        if let Fault::Offline(lasting) = fault {
            self.offline_until = now + lasting;
        }
        if self.is_offline(now) {
            return Reply::Failed { at: now };
        }
        let arrives = now + self.random.between(1, 50);
        let failed = Reply::Failed { at: arrives };
        let head = |status, retry_after, content_type, body: String| {
            let parts = vec![(arrives, Part::Bytes(body.into_bytes())), (arrives, Part::Eof)];
            Reply::Head(Head { at: arrives, status, retry_after, content_type, parts })
        };
        match fault {
            Fault::Token => Reply::NoToken,
            Fault::Refuse => failed,
            Fault::Lost => {
                self.server.handle(request, now);
                failed
            }
            Fault::Portal => head(200, 0, "text/html", "<!doctype html><p>Sign in</p>".to_owned()),
            Fault::Unauthorized { .. } => self.answer(refusal(401, "no"), Fault::None, arrives),
            Fault::Status { status, retry_after, is_late } => {
                if is_late {
                    self.server.handle(request, now);
                }
                let body = self.random.pick(&["{\"error\":{\"message\":\"no\"}}", "<p>no</p>", ""]);
                head(status, retry_after, "application/json", body.to_owned())
            }
            Fault::Stream(_) if !call.streams() => {
                let answer = self.server.handle(request, now);
                self.answer(answer, Fault::None, arrives)
            }
            _ => {
                let answer = self.server.handle(request, now);
                self.answer(answer, fault, arrives)
            }
        }
    }

    /// The server's answer, with its fault in transit.
    fn answer(&mut self, answer: Answer, fault: Fault, arrives: Millis) -> Reply {
        let at = if let Fault::SlowHead(late) = fault { arrives + late } else { arrives };
        let wrong = fault == Fault::WrongType;
        let (status, content_type, parts) = match answer {
            Answer::Json(status, json) => {
                let mut body = json.to_string().into_bytes();
                let mut end = Part::Eof;
                if let Fault::Half(place) = fault {
                    body.truncate(usize::try_from(place % body.len() as u64).expect("a length"));
                    end = Part::Reset;
                }
                let content_type = if wrong { "text/plain" } else { "application/json; charset=utf-8" };
                (status, content_type, vec![(at, Part::Bytes(body)), (at, end)])
            }
            Answer::Stream { after } => {
                let content_type =
                    if wrong { "application/json" } else { "text/event-stream; charset=utf-8" };
                (200, content_type, self.stream(after, fault, at))
            }
        };
        Reply::Head(Head { at, status, retry_after: 0, content_type, parts })
    }

    fn stream(&mut self, after: u64, fault: Fault, at: Millis) -> Vec<(Millis, Part)> {
        let flow = match fault {
            // Where numbers are missing, a wrong one may be taken for one of those.
            Fault::Stream(Flow::Numbers(_, Numbers::Backwards)) if self.may_lose => None,
            Fault::Stream(flow) => Some(flow),
            // Lost events are found again.
            _ if self.server.hole.is_some() && self.random.percent(30) => Some(Flow::Restart),
            _ => None,
        };
        let style = Style {
            flow,
            spelling: self.random.pick(&Spelling::ALL),
            retry: self.random.percent(10).then(|| self.random.pick(&[0, 1, 3000, 25_000, 40_000])),
            heartbeat: self.heartbeat,
        };
        let mut stream = Stream::of(&self.server, after, at, style, &mut self.random);
        // Two gaps at one place are events that the server has lost.
        let is_again = stream.gap_after.is_some() && stream.gap_after == self.gap_after;
        if is_again && !self.may_lose {
            stream = Stream::of(&self.server, after, at, Style { flow: None, ..style }, &mut self.random);
        }
        if stream.gap_after.is_some() {
            self.gap_after = stream.gap_after;
        }
        stream.parts
    }
}
