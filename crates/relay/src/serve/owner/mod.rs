//! Drives the owner of a turn: reads the agent's response, appends it, and shows readers what the log has.

mod agent;

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request as HttpRequest;
use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, Sleep, interval, interval_at, sleep, sleep_until, timeout};

use self::agent::{answered, next_frame};
use super::asking::{self, Asked, FAREWELL, NotBegun};
use super::hub::{Hub, Request};
use super::{Agent, App};
use crate::limits::InUse;
use crate::log::{
    Answer, Change, Claim, Company, LogError, NewTurn, ReplayLog, ResponseHead, SharedLog, Wishes,
};
use crate::mutant::mutant;
use crate::observe::Span;
use crate::sse::Splitter;
use crate::trace;
use crate::turn::{Command, CutReason, End, Event, Numbers, Owner, Refusal as Refused, UpstreamState};

/// How often an owner shows that it is alive, in a log that several relays use.
const BEAT: Duration = Duration::from_secs(1);
/// How long such a log may be unavailable before the turn is given up, and how often it is tried meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);
const TRY: Duration = Duration::from_millis(200);
/// How long after a turn's end its owner checks that such a log still has the turn, and how often. Where the end is
/// lost, other relays give the turn up after the shortest `takeover` at the earliest.
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

/// How an owner begins.
pub(super) enum First {
    /// With the turn's start.
    Start(HttpRequest<Body>),
    /// With the rest of a turn that had another owner.
    Rest {
        /// The agent's id of the turn.
        name: String,
        /// The last frame in the log.
        last: u64,
        /// The size of all frames so far.
        bytes: u64,
    },
}

/// A request to the agent.
type Asking<'r> = std::pin::Pin<Box<dyn Future<Output = Asked> + Send + 'r>>;

/// Runs a turn to its end, in a separate task.
pub(super) fn begin(owned: Owned, first: First) {
    let (app, hub, key) = (owned.app.clone(), owned.hub.clone(), owned.claim.key.clone());
    tokio::spawn(async move {
        if tokio::spawn(run(owned, first)).await.is_err() {
            // If the task panics, readers must not be left waiting.
            hub.abandon(FAULT);
            app.hubs.close(&key, &hub);
        }
    });
}

async fn run(owned: Owned, first: First) {
    let Owned { app, agent, hub, claim, new, requests, running, span } = owned;
    let log = app.log.clone();
    let agent = &app.agents[agent];
    let mut run = Run {
        machine: Owner::default(),
        agent,
        log: &*log,
        shared: log.shared(),
        hub: &hub,
        claim: &claim,
        new: &new,
        upstream: Upstream {
            asking: None,
            body: None,
            splitter: Splitter::new(agent.config.protocol),
            name: None,
            numbers: Numbers::default(),
        },
        response: None,
        held: Frames::default(),
        in_flight: Frames::default(),
        appending: None,
        outage: Outage { since: None, again: Box::pin(sleep_until(far())), is_waiting: false },
        has_left: false,
    };
    run.begin(first);
    let not_begun = run.drive(&app, requests).await;
    if let Some(why) = &not_begun {
        // A pending append would block the removal.
        run.appending = None;
        // If this fails, the turn has lost its owner and will be ended as such, or another owner has taken it already.
        let is_removed = log.remove(&claim).await.is_ok();
        if is_removed || why.end().is_some() {
            hub.not_begun(why.clone());
        } else {
            run.has_left = true;
        }
    }
    // In this order: a reader that finds no hub finds the turn in the log.
    app.hubs.close(&claim.key, &hub);
    if run.has_left {
        hub.send_away();
    }
    let end = hub.watch().borrow().end.or(not_begun.as_ref().and_then(NotBegun::end));
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
        span.give_up(if not_begun.is_some() { "unsent" } else { "left" });
    }
    if let Some(mut body) = run.upstream.body.take() {
        // The agent may still clean up after its last frame, so its connection stays open for a while.
        tokio::spawn(timeout(FAREWELL, async move { while let Some(Ok(_)) = body.frame().await {} }));
    }
    drop(running);
    let _ = timeout(REPLICA, run.keep()).await;
}

struct Run<'r> {
    machine: Owner,
    agent: &'r Agent,
    log: &'r dyn ReplayLog,
    /// The same log, if other relays use it too.
    shared: Option<&'r dyn SharedLog>,
    hub: &'r Hub,
    claim: &'r Claim,
    new: &'r NewTurn,
    upstream: Upstream<'r>,
    /// The head of the agent's response, until it is sent to the log.
    response: Option<ResponseHead>,
    /// Frames that were not sent to the log yet, and those that were.
    held: Frames,
    in_flight: Frames,
    appending: Option<Append<'r>>,
    outage: Outage,
    /// Another owner has the turn.
    has_left: bool,
}

/// What the agent was asked for, and what it sends.
struct Upstream<'r> {
    asking: Option<Asking<'r>>,
    body: Option<Incoming>,
    splitter: Splitter,
    /// The agent's id of the turn, with which the rest can be asked for.
    name: Option<String>,
    numbers: Numbers,
}

/// Frames in order.
#[derive(Default)]
struct Frames {
    list: Vec<Bytes>,
    /// When the first of them arrived from the agent.
    since: Option<Instant>,
}

/// A change that was sent to the log.
struct Append<'r> {
    response: Answer<'r, ()>,
    begun: Instant,
}

impl<'r> Append<'r> {
    fn new(response: Answer<'r, ()>) -> Self {
        Self { response, begun: Instant::now() }
    }
}

/// What is known of a log that does not answer.
struct Outage {
    since: Option<Instant>,
    /// When to try again, while waiting for that.
    again: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl<'r> Run<'r> {
    fn begin(&mut self, first: First) {
        match first {
            First::Start(request) => {
                self.upstream.asking = Some(Box::pin(asking::start(self.agent, request)));
            }
            First::Rest { name, last, bytes } => {
                self.upstream.name = Some(name);
                let (machine, commands) = Owner::next_after(last, bytes);
                self.machine = machine;
                self.follow(commands);
            }
        }
    }

    /// Runs the turn to its end. If the agent has not begun it, returns why.
    async fn drive(&mut self, app: &App, mut requests: mpsc::UnboundedReceiver<Request>) -> Option<NotBegun> {
        let (limits, agent) = (&app.config.limits, self.agent);
        let mut turn_ends = Box::pin(sleep(limits.turn_time));
        let mut silence = Box::pin(sleep(limits.silence));
        let mut stopping = Box::pin(sleep_until(far()));
        let mut looking = interval(Duration::from_secs(1));
        let mut last_reader = Instant::now();
        let mut beating: Option<(u64, Answer<'_, Wishes>)> = None;
        let mut beats = interval(BEAT);
        let mut wishes = Wishes::default();
        let mut was_reading = true;
        while !self.machine.is_over() {
            let is_reading = self.machine.is_reading();
            // While the log is slow, the agent waits: it is silent only when it is listened to.
            if is_reading && !was_reading {
                silence.as_mut().reset(tokio::time::Instant::now() + limits.silence);
            }
            was_reading = is_reading;
            tokio::select! {
                (appended, begun) = finished(&mut self.appending) => {
                    self.appending = None;
                    metrics::histogram!("turnwire_relay_append_seconds").record(begun.elapsed().as_secs_f64());
                    self.appended(appended);
                }
                () = &mut self.outage.again, if self.outage.is_waiting => {
                    self.outage.is_waiting = false;
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
                asked = answered(&mut self.upstream.asking) => {
                    self.upstream.asking = None;
                    silence.as_mut().reset(tokio::time::Instant::now() + limits.silence);
                    match asked {
                        Asked::NotBegun(why) => return Some(why),
                        asked => self.asked(asked),
                    }
                }
                frame = next_frame(&mut self.upstream.body), if is_reading && self.upstream.body.is_some() => {
                    silence.as_mut().reset(tokio::time::Instant::now() + limits.silence);
                    self.came(frame);
                }
                request = requests.recv() => match request {
                    // The turn's own last frame will say that it was cancelled.
                    Some(Request::Stop) if self.cancel() => {
                        stopping.as_mut().reset(tokio::time::Instant::now() + FAREWELL);
                    }
                    Some(Request::Stop) => self.on(Event::Stopped),
                    // The next owner can ask the agent for the rest.
                    Some(Request::Drain) if self.upstream.name.is_some() => self.on(Event::Left),
                    Some(Request::Drain) => self.on(Event::Cut(CutReason::Drained)),
                    None => {}
                },
                () = &mut stopping => {
                    stopping.as_mut().reset(far());
                    self.on(Event::Stopped);
                }
                () = &mut turn_ends => {
                    turn_ends.as_mut().reset(far());
                    self.on(Event::Cut(CutReason::TurnLimit));
                }
                () = &mut silence, if is_reading => {
                    silence.as_mut().reset(tokio::time::Instant::now() + limits.silence);
                    // A process that was held up may find both: the agent's bytes, and that the time is over.
                    let came = match self.upstream.body {
                        Some(_) => next_frame(&mut self.upstream.body).now_or_never(),
                        None => None,
                    };
                    match came {
                        Some(frame) => self.came(frame),
                        None => self.on(Event::Cut(CutReason::Silent)),
                    }
                }
                _ = looking.tick(), if agent.config.on_leave.is_some() => {
                    if self.hub.readers() > 0 {
                        last_reader = Instant::now();
                    } else if agent.config.on_leave.is_some_and(|limit| last_reader.elapsed() >= limit) {
                        self.on(Event::Cut(CutReason::Left));
                    }
                }
            }
        }
        None
    }

    /// Appends the turn again, with its end, whenever the log has lost some of it.
    async fn keep(&mut self) {
        let Some(shared) = self.shared else { return };
        if shared.company().await != Ok(Company::Unknown) {
            // A log on this machine does not lose data by itself.
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
                // It is restored only completely.
                Err(LogError::Gone)
                    if self.hub.range(1, usize::try_from(last).unwrap_or(usize::MAX)).is_some() =>
                {
                    self.restore(shared);
                }
                Err(LogError::Closed | LogError::Unreachable(_)) => {}
                Err(_) => return,
            }
            while let Some(appending) = self.appending.take() {
                let appended = appending.response.await;
                self.appended(appended);
            }
        }
    }

    fn on(&mut self, event: Event) {
        let commands = self.machine.on(event);
        self.follow(commands);
    }

    fn follow(&mut self, commands: Vec<Command>) {
        for command in commands {
            match command {
                Command::Append { at, count, end } => {
                    let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.held.list.len());
                    let list = self.held.list.drain(..count).collect();
                    self.in_flight = Frames { list, since: self.held.since.take() };
                    let change = Change { response: self.response.take(), end };
                    let frames = self.in_flight.list.clone();
                    self.appending = Some(Append::new(self.log.append(self.claim, at, frames, change)));
                }
                Command::Deliver { last, end } => {
                    let Frames { list, since } = std::mem::take(&mut self.in_flight);
                    trace::acknowledged(self.claim, last + 1 - list.len() as u64, list.len(), end);
                    self.hub.came(last, since);
                    self.hub.deliver(list, last, end);
                }
                Command::Repeat { at, count, end } => self.repeat(at, count, end),
                Command::Wait => {
                    self.outage.is_waiting = true;
                    self.outage.again.as_mut().reset(tokio::time::Instant::now() + TRY);
                }
                Command::Discard => {
                    self.held.list.clear();
                    self.in_flight.list.clear();
                }
                Command::Abandon(end) => self.hub.abandon(end),
                Command::Leave => self.has_left = true,
                Command::Ask { after, tried } => self.ask(after, tried),
                Command::HangUp => {
                    self.upstream.asking = None;
                    self.upstream.body = None;
                }
            }
        }
    }

    /// Handles the log's response to an append.
    fn appended(&mut self, appended: Result<(), LogError>) {
        if !matches!(appended, Err(LogError::Unreachable(_))) {
            self.outage.since = None;
        }
        let event = match (appended, self.shared) {
            (Ok(()), _) => Event::Appended,
            (Err(LogError::Full), _) => Event::NotAppended(Refused::Full),
            (Err(LogError::Fenced | LogError::Closed), _) => return self.fenced(),
            (Err(LogError::Tail(last)), Some(_)) => Event::Tail(last),
            (Err(LogError::Gone), Some(shared)) => return self.restore(shared),
            // In the memory of this process nothing is lost.
            (Err(LogError::Removed), _) | (Err(LogError::Gone), None) => Event::Removed,
            (Err(LogError::Unreachable(_)), Some(_))
                if self.outage.since.get_or_insert_with(Instant::now).elapsed() < PATIENCE =>
            {
                Event::NotAppended(Refused::Away)
            }
            (Err(_), _) => Event::NotAppended(Refused::Lost),
        };
        self.on(event);
    }

    /// Handles a failed beat. It was sent when `last` was the last frame.
    fn beaten(&mut self, last: u64, beaten: Result<Wishes, LogError>) {
        // If an append has changed this meanwhile, or may have, its own response decides.
        let is_settled =
            self.appending.is_none() && !self.outage.is_waiting && self.hub.watch().borrow().last == last;
        match (beaten, self.shared) {
            (Err(LogError::Fenced), _) => self.fenced(),
            (Err(LogError::Closed), _) if is_settled => self.fenced(),
            (Err(LogError::Tail(last)), _) if is_settled => self.on(Event::Tail(last)),
            (Err(LogError::Gone), Some(shared)) if is_settled => self.restore(shared),
            _ => {}
        }
    }

    /// Another owner has the turn.
    fn fenced(&mut self) {
        metrics::counter!("turnwire_relay_fenced_total").increment(1);
        self.on(Event::Fenced);
    }

    /// Restores a turn that the log has lost, and then appends its frames again.
    fn restore(&mut self, shared: &'r dyn SharedLog) {
        if mutant!("never_restored") {
            return self.on(Event::Removed);
        }
        let response = self.hub.watch().borrow().response.as_deref().cloned();
        let restored = shared.restore(self.claim, self.new.clone(), response);
        self.appending = Some(Append::new(Box::pin(async move {
            restored.await?;
            Err(LogError::Tail(0))
        })));
    }

    /// Repeats frames that the log has lost, and those in flight.
    fn repeat(&mut self, at: u64, count: u64, end: Option<End>) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let in_flight = &self.in_flight.list;
        let lost = count.saturating_sub(in_flight.len());
        let on_their_way = &in_flight[in_flight.len().saturating_sub(count)..];
        let in_memory = if lost > 0 { self.hub.range(at, lost) } else { Some(Vec::new()) };
        let Some(mut frames) = in_memory else { return self.on(Event::Forgotten(at - 1)) };
        if lost > 0 {
            metrics::counter!("turnwire_relay_repairs_total").increment(1);
        }
        frames.extend_from_slice(on_their_way);
        let change = Change { response: self.hub.watch().borrow().response.as_deref().cloned(), end };
        self.appending = Some(Append::new(self.log.append(self.claim, at, frames, change)));
    }
}

/// Later than any turn: a timer that has fired must not fire again.
fn far() -> tokio::time::Instant {
    tokio::time::Instant::now() + Duration::from_hours(24 * 365)
}

/// The log's response to a change, and when the change was sent.
async fn finished(appending: &mut Option<Append<'_>>) -> (Result<(), LogError>, Instant) {
    match appending {
        Some(Append { response, begun }) => (response.await, *begun),
        None => pending().await,
    }
}

/// The log's response to a beat, and the last frame when it was sent.
async fn beaten(beating: &mut Option<(u64, Answer<'_, Wishes>)>) -> (u64, Result<Wishes, LogError>) {
    match beating {
        Some((last, beating)) => (*last, beating.await),
        None => pending().await,
    }
}
