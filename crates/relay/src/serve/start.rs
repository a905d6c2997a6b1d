//! Starts of kept turns. The page chooses the turn's id, so a start whose response was lost can be repeated, and runs
//! once.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request as HttpRequest, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::task::JoinError;

use super::access::Session;
use super::hub::{Hub, Known};
use super::owner::{self, First, Owned};
use super::read;
use super::refusal::Refusal;
use super::wanted::{Source, Wanted};
use super::{App, Call};
use crate::edge;
use crate::limits::{Exceeded, InUse, Kind};
use crate::log::{Admission, Claim, Created, Head, LogError, NewTurn, TurnKey};
use crate::mutant::mutant;
use crate::observe::Span;

/// The longest id of a turn.
const LONGEST: usize = 200;

pub(super) async fn start(call: &Call, session: Option<Session>, body: Bytes) -> Result<Response, Refusal> {
    let mut named = call.head.get_all(edge::TURN).iter();
    let turn = match (named.next(), named.next()) {
        (Some(turn), None) => {
            let turn = turn.to_str().ok().filter(|turn| is_id(turn));
            turn.ok_or_else(|| {
                Refusal::bad("`turnwire-turn` must have letters, digits, `-`, `_`, `.` and `:`, at most 200, and not only dots")
            })?
            .to_owned()
        }
        (None, _) => random_id()?,
        _ => return Err(Refusal::bad("there is more than one `turnwire-turn`")),
    };
    let after = read::cursor(&call.head, &call.query)?;
    let key = call.key(&turn);
    let target = call.matched.target(&call.query);
    let head = edge::for_agent(&call.head, false);
    let request: [u8; 32] = {
        let mut digest = Sha256::new();
        digest.update(target.as_bytes());
        digest.update([0]);
        digest.update(&body);
        digest.finalize().into()
    };
    let reading = call.app.usage.take(Kind::Stream, &call.caller.subject)?;
    let sent =
        call.agent().request(call.method.clone(), &target, head, body).ok_or_else(Refusal::not_found)?;
    let wanted = Begin {
        app: call.app.clone(),
        agent: call.agent,
        subject: call.caller.subject.clone(),
        key: key.clone(),
        new: NewTurn { session: session.as_ref().map(|session| session.id().to_owned()), request },
        session,
        sent,
    };
    // In a separate task: if the caller disconnects now, the turn must not stay in the log without reaching the agent.
    let begun = tokio::spawn(wanted.begin()).await;
    let failed = |error: JoinError| {
        // The process ends in this moment, or the task panicked.
        let fault = || Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "fault", "the relay has failed");
        if error.is_cancelled() { draining() } else { fault() }
    };
    let (source, span) = match begun.map_err(failed)?? {
        // The turn's own span covers it.
        Begun::Now(hub) => (Source::Open(hub), Span::default()),
        Begun::Before(source, known) if known == request => {
            let span = call.app.traces.attach(&key.upstream, &call.head, source.hub().map(|hub| &hub.span));
            (source, span)
        }
        Begun::Before(..) => {
            let text = "another request has started a turn of this id: choose a new id for each turn";
            return Err(Refusal::new(StatusCode::CONFLICT, "turn_taken", text));
        }
    };
    read::respond(Wanted {
        app: call.app.clone(),
        key,
        source,
        after,
        is_ours: call.is_ours(),
        connection: call.connection.clone(),
        valid_for: call.caller.valid_for,
        reading,
        span,
    })
    .await
}

/// The refusal of a start while the process ends.
fn draining() -> Refusal {
    let text = "the relay is about to end, and starts no more turns";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "draining", text).again_after(Duration::from_secs(2))
}

/// A start that may be the first of its turn.
struct Begin {
    app: Arc<App>,
    agent: usize,
    subject: Arc<str>,
    key: TurnKey,
    new: NewTurn,
    session: Option<Session>,
    sent: HttpRequest<Body>,
}

/// The result of a start.
enum Begun {
    /// It was the first of its turn.
    Now(Arc<Hub>),
    /// The turn exists: its source, and the digest of the request that started it.
    Before(Source, [u8; 32]),
}

impl Begin {
    async fn begin(mut self) -> Result<Begun, Refusal> {
        let app = self.app.clone();
        let making = app.hubs.making.alone(self.key.clone()).await;
        if let Some(hub) = app.hubs.get(&self.key) {
            let request = hub.request;
            return Ok(Begun::Before(Source::Open(hub), request));
        }
        match app.log.head(self.key.clone()).await {
            Ok(head) if mutant!("begun_again") && head.response.is_none() => {
                let claim = Claim { key: self.key.clone(), log: head.log, epoch: head.epoch };
                app.log.remove(&claim).await?;
            }
            Ok(head) => return Begun::before(&app, self.key, head),
            Err(LogError::Gone) => {}
            Err(error) => return Err(error.into()),
        }
        if app.is_draining() {
            return Err(draining());
        }
        let running = admit(&app, &self.subject, &self.key).await?;
        if let Some(session) = &self.session {
            session.own(&*app.log, &self.key.upstream, &self.key.subject).await?;
        }
        let request = self.new.request;
        let claim = match app.log.create(self.key.clone(), self.new.clone()).await? {
            Created::New(claim) => claim,
            // Another relay has created it meanwhile.
            Created::Exists(head) => return Begun::before(&app, self.key, head),
        };
        let (hub, requests) = app.hubs.open(self.key, claim.log, request, Known::default());
        let upstream = &app.agents[self.agent].config.name;
        let span = app.traces.start(upstream, self.sent.headers_mut());
        span.link(&hub.span);
        drop(making);
        let owned = Owned {
            app: app.clone(),
            agent: self.agent,
            hub: hub.clone(),
            claim,
            new: self.new,
            requests,
            running,
            span,
        };
        owner::begin(owned, First::Start(self.sent));
        Ok(Begun::Now(hub))
    }
}

impl Begun {
    fn before(app: &Arc<App>, key: TurnKey, head: Head) -> Result<Self, Refusal> {
        let (source, request) = Source::of(app, key, head)?;
        Ok(Self::Before(source, request))
    }
}

/// Counts a start and its turn, in this relay and over all relays that share its log.
async fn admit(app: &App, subject: &Arc<str>, key: &TurnKey) -> Result<InUse, Refusal> {
    app.usage.start(subject)?;
    let running = app.usage.take(Kind::Turn, subject)?;
    let limits = &app.config.limits;
    let admission = match app.log.shared() {
        Some(log) => log.admit(key, limits.starts_per_minute, limits.turns_per_subject).await?,
        None => Admission::Granted,
    };
    match admission {
        Admission::Granted => Ok(running),
        Admission::TooManyStarts(after) => Err(Exceeded::starts(after).into()),
        Admission::TooManyTurns => Err(Exceeded::turns().into()),
    }
}

/// Whether a text may be a turn's id.
pub(super) fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    // A URL has no path of dots.
    let is_path = text.bytes().any(|byte| byte != b'.');
    is_path && text.len() <= LONGEST && text.bytes().all(is_plain)
}

/// An id for a turn that the client has not named. It cannot be guessed, so it does not collide.
fn random_id() -> Result<String, Refusal> {
    let failed =
        |_| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "no_random", "the system has no random numbers");
    Ok(format!("relay-{:016x}{:016x}", getrandom::u64().map_err(failed)?, getrandom::u64().map_err(failed)?))
}
