//! For front ends written in Rust: calls and streams over a WebSocket.
//!
//! [`Client`](super::client::Client) builds on this module and has sessions, turns and snapshots. Used directly, this
//! module is for code that drives turns step by step. The npm package makes its calls in TypeScript, and its modules
//! contain none of this. [`Server::run`] carries out the steps of a [`TurnDriver`]. All calls and streams of a server
//! share one connection, which is opened when needed:
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
//! If a relay holds the socket to the server ([`AnyProtocol::behind_relay`]), a broken connection is replaced, and the
//! calls in flight continue. Without a relay, a turn reads from the server what it missed.
//!
//! A page that returns from the back/forward cache, from being frozen or from being offline does not trust its old
//! connection: its turns continue on another one at once. Attempts without a network do not count.

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

/// The default limit for responses, in bytes: a response may hold a whole turn.
const LARGEST: usize = 64 * 1024 * 1024;
/// The longest delay of a browser's timer, in milliseconds.
const LONGEST_TIMER: u32 = i32::MAX.unsigned_abs();

/// A server, for a front end in Rust.
///
/// A turn continues without its connection. Dropping the server, or [`close`](Self::close), closes the connection. It
/// also closes after a minute without use, and opens again for the next call.
pub struct Server {
    address: String,
    protocol: AnyProtocol,
    connect_timeout: u32,
    idle_timeout: u32,
    largest: usize,
    /// Created by the first call: until then the settings may change.
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

    /// The same server with this token. It becomes part of the URL, since browsers send no headers with a WebSocket.
    /// Only development servers accept it there, and URLs end up in logs. Errors do not contain it.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        let mark = if self.address.contains('?') { "&" } else { "?" };
        let token = String::from(encode_uri_component(token));
        self.address = [&*self.address, mark, "access_token=", &token].concat();
        self
    }

    /// The same server with other time limits, in milliseconds, from 1 up to 2³¹ − 1. `connect` applies to each call
    /// until its response, including the time to open a connection, and to each further response that a stream needs
    /// (30,000 by default). `idle` is the longest silence of a connection with a stream (by default what the protocol's
    /// servers need, 90,000). After half of it, the connection requests a sign of life, so a silent turn does not count
    /// as silence.
    ///
    /// A connection is given up for all its users after that silence, when a response that a stream needs does not
    /// come, and when nothing at all comes while a response is pending. Its streams continue on another one.
    #[must_use]
    pub fn with_timeouts(mut self, connect: u32, idle: u32) -> Self {
        self.connect_timeout = connect.clamp(1, LONGEST_TIMER);
        self.idle_timeout = idle.clamp(1, LONGEST_TIMER);
        self
    }

    /// The same server with this limit for responses to single calls, in bytes (by default 64 MiB: a response may hold
    /// a whole turn). A larger one is an error with code [`FrameTooLarge`](ErrorCode::FrameTooLarge), and does not
    /// affect other calls. Streams are limited by their readers.
    #[must_use]
    pub fn with_largest_response(mut self, bytes: usize) -> Self {
        self.largest = bytes;
        self
    }

    /// The server's protocol.
    pub fn protocol(&self) -> &dyn Protocol {
        self.protocol.protocol()
    }

    /// Carries out a turn's steps up to the last one. Calls `came` whenever something may have arrived. Dropping the
    /// future stops the reading; the turn itself continues.
    ///
    /// Recovers a lost connection as often as the driver allows. If that fails, returns the last error. Errors that
    /// would recur are returned at once: a refusal as [`Rpc`](ErrorCode::Rpc), an input of more than 16 MiB as
    /// [`InvalidInput`](ErrorCode::InvalidInput), a message beyond the reader's limit as
    /// [`FrameTooLarge`](ErrorCode::FrameTooLarge).
    pub async fn run(
        &self,
        driver: &mut TurnDriver,
        first: Step,
        came: &mut dyn FnMut(&mut TurnDriver),
    ) -> Result<()> {
        steps::run(self, &steps::Alone::new(driver, came), first).await
    }

    /// Requests JSON; returns it in turnwire's form. A refusal by the server is an error with code
    /// [`Rpc`](ErrorCode::Rpc). It is unknown whether the call was carried out if this fails as
    /// [`Network`](ErrorCode::Network) (the connection cannot be opened or breaks, or more than 16 MiB would be
    /// buffered), as [`Timeout`](ErrorCode::Timeout) (the response does not come in time), or as
    /// [`FrameTooLarge`](ErrorCode::FrameTooLarge) (the response is larger than
    /// [allowed](Self::with_largest_response)). Nothing is sent if it fails as
    /// [`InvalidInput`](ErrorCode::InvalidInput) (the call alone is larger than 16 MiB), or as
    /// [`Unsupported`](ErrorCode::Unsupported) or [`InvalidOption`](ErrorCode::InvalidOption) (the protocol lacks the
    /// call or an option).
    ///
    /// If the server refuses a call that needs a subscription (a cancellation, a start), it may have unloaded the
    /// session. This then subscribes again and repeats the call once: a refused call was not carried out.
    pub async fn ask(&self, call: Call, params: Object<'_>) -> Result<String> {
        self.answered(call, &params).await.map(|(_, answer)| answer).map_err(|failure| failure.error)
    }

    /// Closes the connection, even while it is being opened. Pending calls on it fail as
    /// [`Network`](ErrorCode::Network); a turn that is being read continues on another connection.
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

/// The pending calls of a running turn. The turn's driver is in use while it runs, so the front end keeps this copy
/// from the last `came` of [`Server::run`], and answers when its user has decided.
#[derive(Debug, Clone)]
pub struct Waiting {
    session_id: String,
    turn_id: String,
    takes_answers: bool,
    pending: Vec<PendingAction>,
}

impl Waiting {
    /// The calls that this turn waits for now.
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

    /// The pending calls.
    #[must_use]
    pub fn pending(&self) -> &[PendingAction] {
        &self.pending
    }

    /// The parameters of [`Call::AnswerTurn`] that answer some or all of the calls. Fails as
    /// [`InvalidInput`](ErrorCode::InvalidInput) if an answer fits no pending call, and as
    /// [`Unsupported`](ErrorCode::Unsupported) if the protocol takes no answers while a turn runs.
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
            // A start with a response too large to read may have begun the turn, so the driver must look for it.
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
                // Messages that have arrived are read first.
                let news = self.pending.news.poll_next_unpin(context).map(Ok);
                if news.is_ready() { news } else { self.page.poll(context).map(Err) }
            });
            match next.await {
                Ok(Some(News::Message(message))) => return Ok(Some(Came::Message(message))),
                Ok(Some(News::Gather)) => return Ok(Some(Came::Gather)),
                Ok(Some(News::End(Some(error)))) => return Err(error.into()),
                Ok(Some(News::End(None)) | None) => return Ok(None),
                Err(Return::Away) => self.pending.handle(Input::Away),
                // Timers may have been delayed.
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
