//! For front ends written in Rust: calls and streams over a WebSocket, for protocols that are spoken over one.
//!
//! [`Client`](super::client::Client) stands on this; it has sessions, turns and snapshots. By itself this is for code that
//! drives turns step by step. The npm package does its calls in TypeScript; none of this is in its modules.
//! [`Server::run`] carries out the steps of a [`TurnDriver`]. All calls and streams of a
//! server share one connection, which is made when it is needed:
//!
//! ```ignore
//! let server = Server::new("ws://localhost:17878", TurnRpc::new(Dialect::Gateway));
//! let session_id = new_id();
//! let mut session = Object::new();
//! session.insert("id", session_id.clone());
//! session.insert("agent_name", "Chat");
//! server.ask(Call::CreateSession, session).await?;
//!
//! let reader = TurnReader::new(server.protocol(), TurnMachine::unstarted(), DEFAULT_LIMIT);
//! let mut driver = TurnDriver::new(reader, &session_id, "");
//! driver.set_start("Chat", &new_id());
//! driver.set_input(TurnInput::read("Hello".into(), &driver.reader().capabilities())?);
//! let first = driver.stream(None, Reconnect::default(), StartTrace::default())?;
//! server.run(&mut driver, first, &mut |driver| render(driver.reader().index())).await?;
//! ```
//!
//! Where a relay holds the socket to the server ([`AnyProtocol::behind_relay`]), a connection that breaks is made again, and what
//! is on its way goes on; without one, a turn reads from the server what it has missed.
//!
//! A page that comes back from the back/forward cache, from being frozen or from having no network does not trust the
//! connection from before: its turns go on on another one, at once. Tries without a network do not count.

use std::cell::RefCell;
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::{mpsc, oneshot};
use js_sys::encode_uri_component;

use crate::error::{Error, ErrorCode, Result};
use crate::index::PendingAction;
use crate::json::{Object, Value};
use crate::protocol::{AnyProtocol, Call, Protocol};
use crate::rpc::{Input, Limits, Messages};
use crate::turn::{Failure, Plan, Step, TurnDriver, TurnInput};

use super::carrier::{Carrier, News, Pending};
use super::page::{Return, Returns};
use super::random;
use super::steps::{self, CONNECT_TIMEOUT, Came, Opened, Source, Transport, params};

/// The size of the largest response by default, in bytes: it may hold all of a turn.
const LARGEST: usize = 64 * 1024 * 1024;
/// The longest time that a timer of the browser takes, in milliseconds.
const LONGEST_TIMER: u32 = i32::MAX.unsigned_abs();

/// A server, as a Rust front end reaches it.
///
/// A turn goes on without its connection; to close that is to drop the server, or [`close`](Self::close). It is also
/// closed when it was not used for a minute, and made again with the next call.
pub struct Server {
    address: String,
    protocol: AnyProtocol,
    connect_timeout: u32,
    idle_timeout: u32,
    largest: usize,
    /// Made with the first call: until then the settings may change.
    carrier: RefCell<Option<Rc<Carrier>>>,
}

impl std::fmt::Debug for Server {
    /// Without the address, which may hold a token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl Server {
    /// A server at this address, which may begin with `ws:`, `wss:`, `http:` or `https:`. Nothing is sent yet.
    pub fn new(base_url: &str, protocol: impl Into<AnyProtocol>) -> Self {
        let protocol = protocol.into();
        let address = match base_url.strip_prefix("http") {
            Some(rest) => ["ws", rest].concat(),
            None => base_url.to_owned(),
        };
        Self {
            address,
            connect_timeout: CONNECT_TIMEOUT,
            idle_timeout: protocol.protocol().capabilities().silence,
            largest: LARGEST,
            protocol,
            carrier: RefCell::default(),
        }
    }

    /// The same server, told this token. It goes into the address, since browsers send no headers with a WebSocket:
    /// what servers for development take, and what ends up in logs. It is kept out of errors.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        let mark = if self.address.contains('?') { "&" } else { "?" };
        let token = String::from(encode_uri_component(token));
        self.address = [&*self.address, mark, "access_token=", &token].concat();
        self
    }

    /// The same server with other clocks, in milliseconds, from 1 up to 2³¹ − 1. `connect` is for each call until it is
    /// answered, a connection that is made for it included, and for each response that a stream needs besides (30,000 by
    /// default); `idle` is the longest silence of a
    /// connection on which a stream comes (by default what the protocol's servers need, 90,000). After half of it a
    /// sign of life is asked for, so that a silent turn is no silence.
    ///
    /// A connection is given up, for all who use it, after that silence; when a stream cannot go on without a response
    /// that does not come; and when nothing at all comes while a response is waited for. Streams go on on another one.
    #[must_use]
    pub fn with_timeouts(mut self, connect: u32, idle: u32) -> Self {
        self.connect_timeout = connect.clamp(1, LONGEST_TIMER);
        self.idle_timeout = idle.clamp(1, LONGEST_TIMER);
        self
    }

    /// The same server, whose responses to single calls may have so many bytes (by default 64 MiB: one may hold all of a
    /// turn). Larger ones are errors of code [`FrameTooLarge`](ErrorCode::FrameTooLarge), and cost the others nothing.
    /// What streams bring is limited by their readers.
    #[must_use]
    pub fn with_largest_response(mut self, bytes: usize) -> Self {
        self.largest = bytes;
        self
    }

    /// What the server speaks.
    pub fn protocol(&self) -> &dyn Protocol {
        self.protocol.protocol()
    }

    /// Carries out a turn's steps until there is none. Calls `came` whenever something may have come. To drop
    /// the future is to stop listening; the turn itself goes on.
    ///
    /// A lost connection is recovered as persistently as the driver was told. Fails with the last error if that does
    /// not succeed, and with what would fail each time: a refusal as [`Rpc`](ErrorCode::Rpc), an input of more than
    /// 16 MiB as [`InvalidInput`](ErrorCode::InvalidInput), a message beyond the reader's limit as
    /// [`FrameTooLarge`](ErrorCode::FrameTooLarge).
    pub async fn run(
        &self,
        driver: &mut TurnDriver,
        first: Step,
        came: &mut dyn FnMut(&mut TurnDriver),
    ) -> Result<()> {
        steps::run(self, &steps::Alone::new(driver, came), first).await
    }

    /// Asks for JSON; returns it in turnwire's form. A refusal of the server is an error of code
    /// [`Rpc`](ErrorCode::Rpc). Fails as [`Network`](ErrorCode::Network) when the connection cannot be made or
    /// breaks, and when with this more than 16 MiB would wait to be sent; as [`Timeout`](ErrorCode::Timeout) when the
    /// response does not come in time; as [`FrameTooLarge`](ErrorCode::FrameTooLarge) when it is larger than
    /// [allowed](Self::with_largest_response). Whether it was carried out then is not known. What is larger than 16 MiB
    /// by itself is refused as [`InvalidInput`](ErrorCode::InvalidInput), and what the protocol has no word for as
    /// [`Unsupported`](ErrorCode::Unsupported) or [`InvalidOption`](ErrorCode::InvalidOption); nothing is sent then.
    ///
    /// Where the server refuses what it carries out for subscribers only (a cancellation, a start), it may have unloaded
    /// the session: it is subscribed to anew, and asked once more. What it refuses it has not done.
    pub async fn ask(&self, call: Call, params: Object<'_>) -> Result<String> {
        self.answered(call, &params).await.map(|(_, answer)| answer).map_err(|failure| failure.error)
    }

    /// Closes the connection, also one that is being made. Whatever waits for something on it fails as
    /// [`Network`](ErrorCode::Network); a turn that is read goes on on another one.
    pub fn close(&self) {
        if let Some(carrier) = &*self.carrier.borrow() {
            carrier.handle(Input::Close);
        }
    }

    async fn answered(&self, call: Call, params: &Object<'_>) -> Result<(Pending, String), Failure> {
        let carrier = Rc::clone(self.carrier.borrow_mut().get_or_insert_with(|| {
            let limits =
                Limits { connect_timeout: self.connect_timeout.into(), largest_response: self.largest };
            Carrier::new(self.address.clone(), self.protocol, limits)
        }));
        let (answer, answered) = oneshot::channel();
        let (news, heard) = mpsc::unbounded();
        let params = params.to_json();
        let clocks = (self.connect_timeout.into(), self.idle_timeout.into());
        let pending = carrier.ask(call, &params, clocks, (answer, news), heard);
        let answer = answered
            .await
            .unwrap_or_else(|_| Err(Error::new(ErrorCode::Network, "the connection was closed").into()))?;
        Ok((pending, answer))
    }
}

/// What a turn waits for while it runs. The turn's reader has its driver: the front end keeps this, as it was
/// when [`Server::run`] last called, and answers when its user has decided.
#[derive(Debug, Clone)]
pub struct Waiting {
    session_id: String,
    turn_id: String,
    takes_answers: bool,
    pending: Vec<PendingAction>,
}

impl Waiting {
    /// What this turn waits for now.
    #[must_use]
    pub fn of(driver: &TurnDriver) -> Self {
        let reader = driver.reader();
        Self {
            session_id: driver.session_id().to_owned(),
            turn_id: reader.machine().id().unwrap_or_default().to_owned(),
            takes_answers: reader.capabilities().has_live_answers(),
            pending: reader.index().pending().to_vec(),
        }
    }

    /// The calls that wait.
    #[must_use]
    pub fn pending(&self) -> &[PendingAction] {
        &self.pending
    }

    /// The parameters of [`Call::AnswerTurn`] that answer some of the calls or all. Fails as
    /// [`InvalidInput`](ErrorCode::InvalidInput) if an answer fits nothing that waits, and as
    /// [`Unsupported`](ErrorCode::Unsupported) if the protocol takes none while a turn runs.
    pub fn answers(&self, input: &TurnInput) -> Result<Object<'static>> {
        if !self.takes_answers {
            let problem = "this protocol takes no answers while a turn runs";
            return Err(Error::new(ErrorCode::Unsupported, problem));
        }
        input.check_answers(&self.pending)?;
        let items = input.with_suspensions(&self.pending);
        let mut params = Object::new();
        params.insert("session_id", self.session_id.clone());
        params.insert("turn_id", self.turn_id.clone());
        params.insert("input", Value::parse(&items).unwrap_or_default().into_owned());
        Ok(params)
    }
}

/// A new random id, for the sessions and turns of protocols in which the client makes them. It has 21 letters, digits,
/// `-` and `_`.
#[must_use]
pub fn new_id() -> String {
    random::new_id()
}

impl Transport for Server {
    type Source = Listening;

    async fn asked(&self, plan: &Plan) -> Result<String, Failure> {
        let answered = self.answered(plan.call, &params(plan)?).await;
        answered.map(|(_, answer)| answer).map_err(|failure| match failure.error.code {
            // A start that was answered, if too wordily to be read, may have begun the turn: it is looked for.
            ErrorCode::FrameTooLarge if plan.call == Call::CreateTurn => {
                Error::new(ErrorCode::UnexpectedResponse, &failure.error.message).into()
            }
            _ => failure,
        })
    }

    async fn opened(&self, plan: &Plan) -> Result<Opened<Listening>, Failure> {
        let (pending, _) = self.answered(plan.call, &params(plan)?).await?;
        pending.handle(Input::Read(pending.id));
        Ok(Opened::Stream(Listening { pending, page: Returns::new() }))
    }
}

/// The messages of a thread.
pub(super) struct Listening {
    pending: Pending,
    page: Returns,
}

impl Source for Listening {
    async fn next(&mut self) -> Result<Option<Came>, Failure> {
        loop {
            let next = std::future::poll_fn(|context| {
                // What has come is read first.
                let news = self.pending.news.poll_next_unpin(context).map(Ok);
                if news.is_ready() { news } else { self.page.poll(context).map(Err) }
            });
            match next.await {
                Ok(Some(News::Message(message))) => return Ok(Some(Came::Message(message))),
                Ok(Some(News::Gather)) => return Ok(Some(Came::Gather)),
                Ok(Some(News::End(Some(error)))) => return Err(error.into()),
                Ok(Some(News::End(None)) | None) => return Ok(None),
                Err(Return::Away) => self.pending.handle(Input::Away),
                // Timers may have been held back.
                Err(Return::Shown) => self.pending.handle(Input::Tick),
            }
        }
    }

    fn follow_up(&mut self) {
        self.pending.handle(Input::FollowUp(self.pending.id));
    }

    fn say(&mut self, messages: Messages) {
        self.pending.handle(Input::Say(self.pending.id, messages));
    }
}
