//! Drives the owner of a turn: reads the agent's answer, appends it, and shows readers what the log has.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::response::Parts;
use axum::http::{HeaderMap, Request as HttpRequest, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, interval_at, sleep, sleep_until, timeout};

use super::hub::{Hub, Request};
use super::refusal::Refusal;
use super::{Agent, App};
use crate::limits::InUse;
use crate::log::{
    Answer, Change, Claim, Company, LogError, NewTurn, ReplayLog, ResponseHead, SharedLog, Wishes,
};
use crate::mutant::mutant;
use crate::observe::Span;
use crate::route::Mark;
use crate::sse::{Cut, LARGEST, Splitter};
use crate::turn::{Command, CutReason, End, Event, Owner, Refusal as Refused, UpstreamState};

/// How long an agent may take to end its answer after the turn's last frame, or after it was asked to cancel.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often an owner shows that it lives, in a log that several relays use.
const BEAT: Duration = Duration::from_secs(1);
/// How long such a log may be away before the turn is given up, and how often it is tried meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);
const TRY: Duration = Duration::from_millis(200);
/// How long after a turn's end its owner sees to it that such a log still has the turn, and how often it looks. Where the end is lost,
/// others give the turn up after three seconds at least.
const REPLICA: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_secs(2);

/// The end of a turn whose owner has failed.
pub(super) const FAULT: End = End::Cut { reason: CutReason::LogLost, upstream: UpstreamState::Gone };

/// A turn that this process owns.
pub(super) struct Owned {
    pub(super) app: Arc<App>,
    pub(super) agent: usize,
    pub(super) hub: Arc<Hub>,
    pub(super) claim: Claim,
    pub(super) new: NewTurn,
    pub(super) requests: mpsc::UnboundedReceiver<Request>,
    pub(super) running: InUse,
    /// From the request to the turn's end.
    pub(super) span: Span,
}

/// The beginning of the agent's answer.
enum Asked {
    /// A stream of frames.
    Stream(Parts, Incoming),
    /// Something else, which has come as a whole.
    Whole(Parts, Bytes),
    /// Nothing was sent.
    Unsent,
    /// Nothing came.
    Lost,
}

/// Runs a turn to its end.
pub(super) async fn run(owned: Owned, request: HttpRequest<Body>) {
    let Owned { app, agent, hub, claim, new, requests, running, span } = owned;
    let log = app.log.clone();
    let agent = &app.agents[agent];
    let mut run = Run {
        machine: Owner::default(),
        log: &*log,
        shared: log.shared(),
        hub: &hub,
        claim: &claim,
        new: &new,
        held: Vec::new(),
        in_flight: Vec::new(),
        appending: None,
        begun: Instant::now(),
        away_since: None,
        again: Box::pin(sleep_until(far())),
        is_waiting: false,
        has_left: false,
        response: None,
        body: None,
        splitter: Splitter::new(agent.config.protocol),
    };
    let is_sent = run.drive(&app, agent, request, requests).await;
    if !is_sent {
        // What still waits for the log would keep the removal waiting.
        run.appending = None;
        match log.remove(&claim).await {
            Ok(()) => hub.unsent(),
            // The turn will be ended, as one that has lost its owner; or another has taken it already.
            Err(_) => run.has_left = true,
        }
    }
    // In this order: who finds no hub finds the turn in the log.
    app.hubs.close(&claim.key, &hub);
    if run.has_left {
        hub.send_away();
    }
    let end = hub.watch().borrow().end;
    if let Some(end) = end {
        let reason = if let End::Cut { reason, .. } = end { reason.name() } else { "" };
        let labels = [
            ("upstream", agent.config.name.clone()),
            ("end", end.name().to_owned()),
            ("reason", reason.to_owned()),
        ];
        metrics::counter!("turnwire_relay_turns_ended_total", &labels).increment(1);
        span.end(end);
    } else {
        span.give_up(if is_sent { "left" } else { "unsent" });
    }
    if let Some(mut body) = run.body.take() {
        // The agent may have to clean up after its last frame: it is not hung up on.
        tokio::spawn(timeout(FAREWELL, async move { while let Some(Ok(_)) = body.frame().await {} }));
    }
    drop(running);
    let _ = timeout(REPLICA, run.keep()).await;
}

struct Run<'r> {
    machine: Owner,
    log: &'r dyn ReplayLog,
    /// The same, if other relays use it too.
    shared: Option<&'r dyn SharedLog>,
    hub: &'r Hub,
    claim: &'r Claim,
    new: &'r NewTurn,
    /// Frames that are not sent to the log yet, and those that are.
    held: Vec<Bytes>,
    in_flight: Vec<Bytes>,
    appending: Option<Answer<'r, ()>>,
    begun: Instant,
    /// Since when the log does not answer.
    away_since: Option<Instant>,
    /// When it is tried again, if that is waited for.
    again: std::pin::Pin<Box<tokio::time::Sleep>>,
    is_waiting: bool,
    /// Another one owns the turn.
    has_left: bool,
    response: Option<ResponseHead>,
    body: Option<Incoming>,
    splitter: Splitter,
}

impl<'r> Run<'r> {
    /// Returns whether anything was sent to the agent.
    async fn drive(
        &mut self,
        app: &App,
        agent: &Agent,
        request: HttpRequest<Body>,
        mut requests: mpsc::UnboundedReceiver<Request>,
    ) -> bool {
        let limits = &app.config.limits;
        let mut asking = Some(Box::pin(ask(agent, request)));
        let mut turn_ends = Box::pin(sleep(limits.turn_time));
        let mut silence = Box::pin(sleep(limits.silence));
        let mut stopping = Box::pin(sleep_until(far()));
        let mut looking = interval(Duration::from_secs(1));
        let mut last_reader = Instant::now();
        let mut beating: Option<(u64, Answer<'_, Wishes>)> = None;
        let mut beats = interval(BEAT);
        let mut wishes = Wishes::default();
        while !self.machine.is_over() {
            let is_reading = self.machine.is_reading();
            tokio::select! {
                appended = finished(&mut self.appending) => {
                    self.appending = None;
                    metrics::histogram!("turnwire_relay_append_seconds").record(self.begun.elapsed().as_secs_f64());
                    self.appended(appended);
                }
                () = &mut self.again, if self.is_waiting => {
                    self.is_waiting = false;
                    self.on(Event::Again);
                }
                _ = beats.tick(), if beating.is_none() => {
                    let last = self.hub.watch().borrow().last;
                    beating = self.shared.map(|shared| (last, shared.beat(self.claim, last)));
                }
                (last, beaten) = beaten(&mut beating) => {
                    beating = None;
                    if let Ok(wished) = beaten {
                        if wished.readers != wishes.readers {
                            last_reader = Instant::now();
                        }
                        if wished.is_stopped && !wishes.is_stopped {
                            self.hub.ask(Request::Stop);
                        }
                        wishes = wished;
                    } else {
                        self.beaten(last, beaten);
                    }
                }
                asked = answered(&mut asking) => {
                    asking = None;
                    silence.as_mut().reset(tokio::time::Instant::now() + limits.silence);
                    match asked {
                        Asked::Unsent => return false,
                        asked => self.asked(asked),
                    }
                }
                frame = next_frame(&mut self.body), if is_reading && self.body.is_some() => {
                    silence.as_mut().reset(tokio::time::Instant::now() + limits.silence);
                    self.came(frame);
                }
                request = requests.recv() => match (request, agent.config.protocol.cancel(&self.claim.key.turn)) {
                    (Some(Request::Stop), Some((method, path))) if self.body.is_some() => {
                        cancel(agent, method, &path);
                        // The turn's own last frame says that it was cancelled.
                        stopping.as_mut().reset(tokio::time::Instant::now() + FAREWELL);
                    }
                    (Some(Request::Stop), _) => self.stop(&mut asking),
                    (Some(Request::Drain), _) => self.cut(CutReason::Drained, &mut asking),
                    (None, _) => {}
                },
                () = &mut stopping => {
                    stopping.as_mut().reset(far());
                    self.stop(&mut asking);
                }
                () = &mut turn_ends => {
                    turn_ends.as_mut().reset(far());
                    self.cut(CutReason::TurnLimit, &mut asking);
                }
                () = &mut silence, if is_reading => {
                    silence.as_mut().reset(far());
                    self.cut(CutReason::Silent, &mut asking);
                }
                _ = looking.tick(), if agent.config.on_leave.is_some() => {
                    if self.hub.readers() > 0 {
                        last_reader = Instant::now();
                    } else if agent.config.on_leave.is_some_and(|limit| last_reader.elapsed() >= limit) {
                        self.cut(CutReason::Left, &mut asking);
                    }
                }
            }
        }
        true
    }

    /// Appends the turn again, with its end, whenever the log has lost some of it.
    async fn keep(&mut self) {
        let Some(shared) = self.shared else { return };
        if shared.company().await != Ok(Company::Unknown) {
            // A log on this machine loses nothing by itself.
            return;
        }
        let mut looks = interval_at(tokio::time::Instant::now() + LOOK, LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.machine.is_replica() && !self.hub.is_crowded() {
            looks.tick().await;
            let last = self.hub.watch().borrow().last;
            match shared.beat(self.claim, last).await {
                Ok(_) => self.on(Event::Tail(last)),
                Err(LogError::Tail(last)) => self.on(Event::Tail(last)),
                // It is made again only as a whole.
                Err(LogError::Gone)
                    if self.hub.range(1, usize::try_from(last).unwrap_or(usize::MAX)).is_some() =>
                {
                    self.restore(shared);
                }
                Err(LogError::Closed | LogError::Unreachable(_)) => {}
                Err(_) => return,
            }
            while let Some(appending) = self.appending.take() {
                let appended = appending.await;
                self.appended(appended);
            }
        }
    }

    fn stop<T>(&mut self, asking: &mut Option<T>) {
        *asking = None;
        self.on(Event::Stopped);
    }

    fn cut<T>(&mut self, reason: CutReason, asking: &mut Option<T>) {
        *asking = None;
        self.on(Event::Cut(reason));
    }

    fn on(&mut self, event: Event) {
        for command in self.machine.on(event) {
            match command {
                Command::Append { at, count, end } => {
                    let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.held.len());
                    self.in_flight = self.held.drain(..count).collect();
                    let change = Change { response: self.response.take(), end };
                    self.begun = Instant::now();
                    self.appending = Some(self.log.append(self.claim, at, self.in_flight.clone(), change));
                }
                Command::Deliver { last, end } => {
                    self.hub.deliver(std::mem::take(&mut self.in_flight), last, end);
                }
                Command::Repeat { at, count, end } => self.repeat(at, count, end),
                Command::Wait => {
                    self.is_waiting = true;
                    self.again.as_mut().reset(tokio::time::Instant::now() + TRY);
                }
                Command::Discard => {
                    self.held.clear();
                    self.in_flight.clear();
                }
                Command::Abandon(end) => self.hub.abandon(end),
                Command::Leave => {
                    metrics::counter!("turnwire_relay_fenced_total").increment(1);
                    self.has_left = true;
                }
                Command::HangUp => self.body = None,
            }
        }
    }

    /// The log has answered an append, or not.
    fn appended(&mut self, appended: Result<(), LogError>) {
        if !matches!(appended, Err(LogError::Unreachable(_))) {
            self.away_since = None;
        }
        let event = match (appended, self.shared) {
            (Ok(()), _) => Event::Appended,
            (Err(LogError::Full), _) => Event::NotAppended(Refused::Full),
            (Err(LogError::Fenced | LogError::Closed), _) => Event::Fenced,
            (Err(LogError::Tail(last)), Some(_)) => Event::Tail(last),
            (Err(LogError::Gone), Some(shared)) => return self.restore(shared),
            (Err(LogError::Unreachable(_)), Some(_))
                if self.away_since.get_or_insert_with(Instant::now).elapsed() < PATIENCE =>
            {
                Event::NotAppended(Refused::Away)
            }
            (Err(_), _) => Event::NotAppended(Refused::Lost),
        };
        self.on(event);
    }

    /// A beat has failed, at which the last frame was `last`.
    fn beaten(&mut self, last: u64, beaten: Result<Wishes, LogError>) {
        // What an append has changed meanwhile, or may have, its own answer tells.
        let is_settled =
            self.appending.is_none() && !self.is_waiting && self.hub.watch().borrow().last == last;
        match (beaten, self.shared) {
            (Err(LogError::Fenced), _) => self.on(Event::Fenced),
            (Err(LogError::Closed), _) if is_settled => self.on(Event::Fenced),
            (Err(LogError::Tail(last)), _) if is_settled => self.on(Event::Tail(last)),
            (Err(LogError::Gone), Some(shared)) if is_settled => self.restore(shared),
            _ => {}
        }
    }

    /// The log has lost the turn: it is made again, and then its frames are appended again.
    fn restore(&mut self, shared: &'r dyn SharedLog) {
        let response = self.hub.watch().borrow().response.clone();
        let restored = shared.restore(self.claim, self.new.clone(), response);
        self.appending = Some(Box::pin(async move {
            restored.await?;
            Err(LogError::Tail(0))
        }));
    }

    /// Appends frames once more that the log has lost, and those that are on their way.
    fn repeat(&mut self, at: u64, count: u64, end: Option<End>) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let lost = count.saturating_sub(self.in_flight.len());
        let on_their_way = &self.in_flight[self.in_flight.len().saturating_sub(count)..];
        let Some(mut frames) = self.hub.range(at, lost) else {
            return self.on(Event::NotAppended(Refused::Lost));
        };
        if lost > 0 {
            metrics::counter!("turnwire_relay_repairs_total").increment(1);
        }
        frames.extend_from_slice(on_their_way);
        let change = Change { response: self.hub.watch().borrow().response.clone(), end };
        self.begun = Instant::now();
        self.appending = Some(self.log.append(self.claim, at, frames, change));
    }

    fn asked(&mut self, asked: Asked) {
        let (parts, body) = match asked {
            Asked::Stream(parts, body) => {
                self.body = Some(body);
                (parts, None)
            }
            Asked::Whole(parts, body) => (parts, Some(body)),
            Asked::Unsent | Asked::Lost => return self.on(Event::Cut(CutReason::UpstreamLost)),
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
            self.held.push(body);
            self.on(Event::Frames { count: 1, bytes, is_last, may_be_last: false });
            if !is_last {
                self.on(Event::Refused(parts.status.as_u16()));
            }
        }
    }

    /// Something of the stream came, or its end.
    fn came(&mut self, frame: Option<Result<Bytes, hyper::Error>>) {
        let bytes = match frame {
            Some(Ok(bytes)) => bytes,
            Some(Err(_)) => {
                self.body = None;
                return self.on(Event::Cut(CutReason::UpstreamLost));
            }
            None => {
                self.body = None;
                return self.on(Event::Ended);
            }
        };
        let mut cuts = Vec::new();
        let fed = self.splitter.feed(&bytes, &mut cuts);
        // What follows a turn's last frame does not belong to it.
        if let Some(last) = cuts.iter().position(|cut| cut.mark == Mark::Last) {
            cuts.truncate(last + 1);
        }
        if mutant!("frame_lost") && cuts.len() > 1 {
            cuts.remove(0);
        }
        if let Some(mark) = cuts.last().map(|cut| cut.mark) {
            let event = Event::Frames {
                count: cuts.len() as u64,
                bytes: cuts.iter().map(|cut| cut.bytes.len() as u64).sum(),
                is_last: mark == Mark::Last,
                may_be_last: mark == Mark::MayBeLast,
            };
            self.held.extend(cuts.into_iter().map(|Cut { bytes, .. }| bytes));
            self.on(event);
        }
        if fed.is_err() {
            self.on(Event::Cut(CutReason::LogFull));
        }
    }
}

/// Later than any turn: a timer that has fired must not fire again.
fn far() -> tokio::time::Instant {
    tokio::time::Instant::now() + Duration::from_hours(24 * 365)
}

async fn finished(appending: &mut Option<Answer<'_, ()>>) -> Result<(), LogError> {
    match appending {
        Some(appending) => appending.await,
        None => pending().await,
    }
}

/// What the log says to a beat, and at which last frame it was sent.
async fn beaten(beating: &mut Option<(u64, Answer<'_, Wishes>)>) -> (u64, Result<Wishes, LogError>) {
    match beating {
        Some((last, beating)) => (*last, beating.await),
        None => pending().await,
    }
}

async fn answered<F: Future<Output = Asked> + Unpin>(asking: &mut Option<F>) -> Asked {
    match asking {
        Some(asking) => asking.await,
        None => pending().await,
    }
}

/// The next piece of the answer; what follows a body is skipped.
async fn next_frame(body: &mut Option<Incoming>) -> Option<Result<Bytes, hyper::Error>> {
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

async fn ask(agent: &Agent, request: HttpRequest<Body>) -> Asked {
    let answer = match agent.client.request(request).await {
        Ok(answer) => answer,
        Err(error) if error.is_connect() => return Asked::Unsent,
        Err(_) if mutant!("called_unsent") => return Asked::Unsent,
        Err(_) => return Asked::Lost,
    };
    let (mut parts, body) = answer.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes().to_ascii_lowercase());
    if parts.status.is_success() && kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        return Asked::Stream(parts, body);
    }
    match Limited::new(body, LARGEST).collect().await {
        Ok(_) if parts.status == StatusCode::UNAUTHORIZED => {
            // A page would take it for its own token's fault.
            let (head, text) = Refusal::key().into_parts();
            (parts.status, parts.headers) = (head, HeaderMap::new());
            parts
                .headers
                .insert(header::CONTENT_TYPE, axum::http::HeaderValue::from_static("application/json"));
            Asked::Whole(parts, text)
        }
        Ok(body) => Asked::Whole(parts, body.to_bytes()),
        Err(_) => Asked::Lost,
    }
}

/// Asks the agent to end a turn. What it answers changes nothing: the turn's stream tells.
fn cancel(agent: &Agent, method: axum::http::Method, path: &str) {
    if let Some(request) = agent.request(method, path, HeaderMap::new(), Bytes::new()) {
        tokio::spawn(timeout(FAREWELL, agent.client.request(request)));
    }
}
