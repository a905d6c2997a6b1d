//! The sockets to agents that are held for their readers: one for each agent, user and conversation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::{Upgraded, on};
use hyper_util::rt::TokioIo;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::Call;
use super::refusal::Refusal;
use crate::edge;
use crate::held::{Attached, Bounds, EndReason, HeldSocket, Place, ReaderKey, Refused, Words};
use crate::limits::{InUse, Kind};
use crate::log::{LogError, new_log_id};
use crate::tunnel;

/// The largest message of an agent, in bytes.
const LARGEST: usize = 64 << 20;
/// How many messages may wait for an agent. When there are more, its readers wait as well.
const WAITING: usize = 4;
/// How often an agent is pinged, and how long it may be silent.
const BEAT: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_mins(1);
/// How long an agent may take to open its socket.
const OPENING: Duration = Duration::from_secs(10);
/// How long a socket must be quiet before a relay that shuts down closes it: more may be in flight.
const QUIET: Duration = Duration::from_secs(2);
/// How long a closing socket may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// The socket of a client or of an agent.
pub(super) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// All held sockets.
#[derive(Debug, Default)]
pub(super) struct HeldSockets(Mutex<HashMap<Key, Slot>>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    upstream: String,
    subject: Arc<str>,
    conversation: String,
}

/// The slot of a socket. It is locked while the socket is opened, so that it is opened once.
type Slot = Arc<tokio::sync::Mutex<Option<Arc<Held>>>>;

/// Removes an empty slot, even if its caller was cancelled.
struct Tidy<'a>(&'a HeldSockets, &'a Key);

impl Drop for Tidy<'_> {
    fn drop(&mut self) {
        self.0.forget(self.1);
    }
}

/// A socket to an agent.
#[derive(Debug)]
pub(super) struct Held {
    socket: Mutex<HeldSocket>,
    /// When either side last sent a message.
    said_at: Mutex<Instant>,
    /// Notifies of each message in the journal.
    news: watch::Sender<()>,
    /// The messages for the agent.
    to_agent: mpsc::Sender<String>,
    ending: Notify,
}

/// An opened socket: both of its halves, and its guard of the limit.
struct Opened {
    socket: Socket,
    for_agent: mpsc::Receiver<String>,
    in_use: InUse,
}

impl HeldSockets {
    /// The caller's socket of this conversation. Opens it if necessary.
    pub(super) async fn open(
        &self,
        call: &Call,
        conversation: &str,
        words: &'static Words,
    ) -> Result<Arc<Held>, Refusal> {
        let key = Key {
            upstream: call.agent().config.name.clone(),
            subject: call.caller.subject.clone(),
            conversation: conversation.to_owned(),
        };
        let _tidy = Tidy(self, &key);
        let slot = self.all().entry(key.clone()).or_default().clone();
        let opening = async {
            let mut place = slot.lock().await;
            if let Some(held) = place.as_ref().filter(|held| held.socket().ended().is_none()) {
                return Ok((held.clone(), None));
            }
            *place = None;
            let (held, opened) = connect(call, words).await?;
            *place = Some(held.clone());
            Ok((held, Some(opened)))
        };
        // This includes waiting for another caller that opens it.
        let opening: Result<_, Refusal> = timeout(OPENING, opening).await.map_err(|_| Refusal::unopened())?;
        let (held, opened) = opening?;
        let Some(opened) = opened else { return Ok(held) };
        let (app, own, key) = (call.app.clone(), held.clone(), key.clone());
        tokio::spawn(async move {
            own.run(opened, app.config.limits.socket_idle).await;
            app.sockets.forget(&key);
        });
        Ok(held)
    }

    /// Removes a slot that is empty, or whose socket has ended, unless it is about to be filled.
    fn forget(&self, key: &Key) {
        let mut all = self.all();
        // Slots are shared only here, under the lock.
        let is_over = all.get(key).is_some_and(|slot| {
            Arc::strong_count(slot) == 1
                && slot
                    .try_lock()
                    .is_ok_and(|held| held.as_ref().is_none_or(|held| held.socket().ended().is_some()))
        });
        if is_over {
            all.remove(key);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Key, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open ones, with their conversations.
    fn held(&self, is_meant: impl Fn(&Key) -> bool) -> Vec<(String, Arc<Held>)> {
        let held = |(key, slot): (&Key, &Slot)| {
            let held = slot.try_lock().ok()?.clone()?;
            held.socket().ended().is_none().then(|| (key.conversation.clone(), held.clone()))
        };
        self.all().iter().filter(|(key, _)| is_meant(key)).filter_map(held).collect()
    }

    /// Those of a user, with their conversations.
    pub(super) fn of(&self, upstream: &str, subject: &str) -> Vec<(String, Arc<Held>)> {
        let mut own = self.held(|key| key.upstream == upstream && *key.subject == *subject);
        own.sort_by(|(one, _), (other, _)| one.cmp(other));
        own
    }

    /// The approximate size of all journals in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.held(|_| true).iter().map(|(_, held)| held.socket().bytes()).sum()
    }

    /// Ends those on which nothing is awaited. Returns how many are left.
    pub(super) fn end_idle(&self) -> usize {
        let (busy, idle): (Vec<_>, Vec<_>) =
            self.held(|_| true).into_iter().partition(|(_, held)| held.is_busy());
        for (_, held) in idle {
            held.end(EndReason::Drained);
        }
        // The state of a socket that is just being opened is unknown.
        let unknown = self.all().values().filter(|slot| slot.try_lock().is_err()).count();
        busy.len() + unknown
    }

    pub(super) fn end_all(&self) {
        self.held(|_| true).iter().for_each(|(_, held)| held.end(EndReason::Drained));
    }
}

impl Held {
    /// A new open socket, and the receiver of its agent's messages.
    pub(super) fn new(
        words: &'static Words,
        bounds: Bounds,
    ) -> Result<(Self, mpsc::Receiver<String>), LogError> {
        let (to_agent, for_agent) = mpsc::channel(WAITING);
        let held = Self {
            socket: Mutex::new(HeldSocket::new(new_log_id()?, words, bounds)),
            said_at: Mutex::new(Instant::now()),
            news: watch::Sender::new(()),
            to_agent,
            ending: Notify::new(),
        };
        Ok((held, for_agent))
    }

    /// Its rules.
    pub(super) fn socket(&self) -> MutexGuard<'_, HeldSocket> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something is awaited, or may be in flight.
    fn is_busy(&self) -> bool {
        self.socket().is_busy() || self.said_at().elapsed() < QUIET
    }

    fn said_at(&self) -> MutexGuard<'_, Instant> {
        self.said_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies of each message for readers.
    pub(super) fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// Attaches a reader. Its earlier connection is notified.
    pub(super) fn attach(&self, name: &str, place: Option<Place>) -> Result<Attached, Refused> {
        let attached = self.socket().attach(name, place);
        self.news.send_replace(());
        attached
    }

    /// Handles a reader's message. Returns when the agent has room for it.
    pub(super) async fn said(&self, reader: ReaderKey, text: &str) {
        // Room comes first: a message that is recorded as sent must be sent, even if the reader disconnects.
        let Ok(room) = self.to_agent.reserve().await else { return };
        let sent = self.socket().said(reader, text);
        *self.said_at() = Instant::now();
        self.news.send_replace(());
        if let Some(text) = sent {
            room.send(text);
        }
    }

    /// Handles a message of the agent.
    pub(super) async fn heard(&self, text: &str) {
        let sent = self.socket().heard(text);
        *self.said_at() = Instant::now();
        self.news.send_replace(());
        self.send(sent).await;
    }

    async fn send(&self, text: Option<String>) {
        if let Some(text) = text {
            // Without the agent, the socket has ended, and readers are notified.
            let _ = self.to_agent.send(text).await;
        }
    }

    /// Ends it, and notifies its readers.
    pub(super) fn end(&self, reason: EndReason) {
        self.socket().end(reason);
        self.news.send_replace(());
        self.ending.notify_one();
    }

    async fn run(&self, opened: Opened, idle: Duration) {
        let Opened { socket, mut for_agent, in_use } = opened;
        let (mut to, mut from) = socket.split();
        let reading = async {
            while let Ok(Some(Ok(message))) = timeout(SILENCE, from.next()).await {
                match message {
                    Message::Text(text) => self.heard(&text).await,
                    Message::Close(_) => break,
                    // Only a sign of life: these protocols send no binary messages.
                    _ => {}
                }
            }
        };
        let writing = async {
            let mut beat = interval(BEAT);
            beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                let message = tokio::select! {
                    text = for_agent.recv() => match text {
                        Some(text) => Message::text(text),
                        None => return,
                    },
                    _ = beat.tick() => Message::Ping(Bytes::new()),
                };
                // An agent that does not read counts as gone.
                if !matches!(timeout(SILENCE, to.send(message)).await, Ok(Ok(()))) {
                    return;
                }
            }
        };
        let reason = tokio::select! {
            () = reading => EndReason::UpstreamLost,
            () = writing => EndReason::UpstreamLost,
            () = self.left(idle) => EndReason::Idle,
            // `end` was called, with its reason.
            () = self.ending.notified() => EndReason::Stopped,
        };
        self.end(reason);
        drop(in_use);
        let reason = self.socket().ended().unwrap_or(reason);
        metrics::counter!("turnwire_relay_sockets_ended_total", "reason" => reason.name()).increment(1);
        let _ = timeout(FAREWELL, to.close()).await;
    }

    /// Returns when there was no reader for this long.
    async fn left(&self, idle: Duration) {
        let mut looks = interval((idle / 8).clamp(Duration::from_millis(20), Duration::from_secs(5)));
        let mut since = None;
        loop {
            let now = looks.tick().await;
            if self.socket().reader_count() > 0 {
                since = None;
            } else if now.duration_since(*since.get_or_insert(now)) >= idle {
                return;
            }
        }
    }
}

/// Opens a socket to the agent.
async fn connect(call: &Call, words: &'static Words) -> Result<(Arc<Held>, Opened), Refusal> {
    let in_use = call.app.usage.take(Kind::Socket, &call.caller.subject)?;
    let key = generate_key();
    let mut headers = edge::for_agent(&call.head, false);
    tunnel::ask_for(&mut headers);
    headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    headers.insert(header::SEC_WEBSOCKET_KEY, HeaderValue::from_str(&key).map_err(|_| Refusal::unsent())?);
    let agent = call.agent();
    let target = call.matched.target(&call.query);
    let request =
        agent.request(call.method.clone(), &target, headers, Bytes::new()).ok_or_else(Refusal::not_found)?;
    let mut answer = agent.client.request(request).await.map_err(|_| Refusal::unsent())?;
    let accepted = answer.headers().get(header::SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes);
    let is_open = answer.status() == StatusCode::SWITCHING_PROTOCOLS
        && accepted == Some(derive_accept_key(key.as_bytes()).as_bytes());
    if answer.status() == StatusCode::UNAUTHORIZED {
        return Err(Refusal::key());
    }
    if !is_open {
        return Err(Refusal::no_socket());
    }
    let upgraded = on(&mut answer).await.map_err(|_| Refusal::no_socket())?;
    let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
    let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Client, Some(config)).await;
    let limits = &call.app.config.limits;
    let bounds = Bounds {
        journal: limits.socket_journal,
        readers: limits.socket_readers,
        requests: limits.socket_requests,
    };
    let (held, for_agent) = Held::new(words, bounds)?;
    Ok((Arc::new(held), Opened { socket, for_agent, in_use }))
}
