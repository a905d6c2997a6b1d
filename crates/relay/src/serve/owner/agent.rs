//! The agent's side of a turn's owner: requests to the agent, and its responses.

use std::future::pending;
use std::time::Instant;

use axum::http::header;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::super::asking::{self, Asked};
use super::{Asking, Run};
use crate::log::ResponseHead;
use crate::mutant::mutant;
use crate::route::Mark;
use crate::sse::{Cut, Splitter};
use crate::turn::{CutReason, Event, Numbers, Place};

impl Run<'_> {
    /// Asks the agent to end the turn, and returns whether the protocol has such a request.
    pub(super) fn cancel(&self) -> bool {
        if self.upstream.body.is_none() && self.upstream.name.is_none() {
            return false;
        }
        let turn = self.upstream.name.as_deref().unwrap_or(&self.claim.key.turn);
        let request = self.agent.config.protocol.cancel(self.new.session.as_deref(), turn);
        request.map(|request| asking::cancel(self.agent, request)).is_some()
    }

    /// Asks the agent for the rest of the turn.
    pub(super) fn ask(&mut self, after: u64, tried: u32) {
        metrics::counter!("turnwire_relay_asked_again_total").increment(1);
        self.upstream.numbers = Numbers::after(after);
        let (session, name) = (self.new.session.as_deref(), self.upstream.name.as_deref());
        let request = session
            .zip(name)
            .and_then(|(session, name)| self.agent.config.protocol.rest(session, name, after));
        self.upstream.asking = Some(Box::pin(asking::rest(self.agent, request, tried)));
    }

    pub(super) fn asked(&mut self, asked: Asked) {
        let (parts, body) = match asked {
            Asked::Stream(parts, body) => {
                self.upstream.body = Some(body);
                self.upstream.splitter = Splitter::new(self.agent.config.protocol);
                (parts, None)
            }
            Asked::Whole(parts, body) => (parts, Some(body)),
            Asked::NotBegun(_) | Asked::Lost => return self.on(Event::Cut(CutReason::UpstreamLost)),
            Asked::Gone => return self.on(Event::Cut(CutReason::LogLost)),
        };
        let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let response = ResponseHead {
            status: parts.status.as_u16(),
            content_type: content_type.unwrap_or("application/octet-stream").to_owned(),
        };
        self.response = Some(response.clone());
        self.hub.responded(response);
        self.on(Event::Answered);
        if let Some(body) = body {
            let is_last = parts.status.is_success();
            let bytes = body.len() as u64;
            self.held.list.push(body);
            self.on(Event::Frames { count: 1, bytes, is_last, may_be_last: false });
            if !is_last {
                self.on(Event::Refused(parts.status.as_u16()));
            }
        }
    }

    /// Handles a frame of the response's body, or its end.
    pub(super) fn came(&mut self, frame: Option<Result<Bytes, hyper::Error>>) {
        let bytes = match frame {
            Some(Ok(bytes)) => bytes,
            Some(Err(_)) => {
                self.upstream.body = None;
                return self.on(Event::Cut(CutReason::UpstreamLost));
            }
            None => {
                self.upstream.body = None;
                return self.on(Event::Ended);
            }
        };
        let mut cuts = Vec::new();
        let fed = self.upstream.splitter.feed(&bytes, &mut cuts);
        // Anything after a turn's last frame does not belong to the turn.
        if let Some(last) = cuts.iter().position(|cut| cut.mark == Mark::Last) {
            cuts.truncate(last + 1);
        }
        if mutant!("frame_lost") && cuts.len() > 1 {
            cuts.remove(0);
        }
        let is_whole = !self.agent.config.protocol.has_cursor() || self.place(&mut cuts);
        if let Some(mark) = cuts.last().map(|cut| cut.mark) {
            let event = Event::Frames {
                count: cuts.len() as u64,
                bytes: cuts.iter().map(|cut| cut.bytes.len() as u64).sum(),
                is_last: mark == Mark::Last,
                may_be_last: mark == Mark::MayBeLast,
            };
            self.held.since.get_or_insert_with(Instant::now);
            self.held.list.extend(cuts.into_iter().map(|Cut { bytes, .. }| bytes));
            self.on(event);
        }
        if !is_whole {
            self.upstream.body = None;
            self.on(Event::Cut(CutReason::UpstreamLost));
        }
        if fed.is_err() {
            self.on(Event::Cut(CutReason::LogFull));
        }
    }

    /// Keeps of these frames those that are next, each at its own number. Returns whether none are missing so far.
    fn place(&mut self, cuts: &mut Vec<Cut>) -> bool {
        let (mut placed, mut is_whole) = (Vec::with_capacity(cuts.len()), true);
        for cut in cuts.drain(..) {
            match self.upstream.numbers.place(cut.number) {
                Place::Next { hole: count } => {
                    placed.extend(std::iter::repeat_with(hole).take(usize::try_from(count).unwrap_or(0)));
                    if self.upstream.name.is_none() {
                        self.upstream.name = self.agent.config.protocol.turn_named(&cut.bytes);
                        if self.upstream.name.is_some() {
                            self.on(Event::Named);
                        }
                    }
                    placed.push(cut);
                }
                Place::Known => {}
                Place::Astray => {
                    is_whole = false;
                    break;
                }
            }
        }
        *cuts = placed;
        is_whole
    }
}

/// The log gets an empty frame for each number that the agent has skipped.
fn hole() -> Cut {
    Cut { bytes: Bytes::new(), mark: Mark::Middle, number: None }
}

pub(super) async fn answered(asking: &mut Option<Asking<'_>>) -> Asked {
    match asking {
        Some(asking) => asking.await,
        None => pending().await,
    }
}

/// The next data frame of the body; trailers are skipped.
pub(super) async fn next_frame(body: &mut Option<Incoming>) -> Option<Result<Bytes, hyper::Error>> {
    let body = body.as_mut()?;
    loop {
        match body.frame().await? {
            Ok(frame) => {
                if let Ok(bytes) = frame.into_data() {
                    return Some(Ok(bytes));
                }
            }
            Err(error) => return Some(Err(error)),
        }
    }
}
