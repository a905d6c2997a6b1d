//! For front ends written in Rust: calls and streams over a WebSocket, for protocols that are spoken over one.
//!
//! The npm package does its calls in TypeScript; none of this is in its modules. As with
//! [`fetch`](super::fetch), [`Server::run`] carries out the steps of a [`TurnDriver`]. All calls and streams of a
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
//! A page that comes back from the back/forward cache, from being frozen or from having no network does not trust the
//! connection from before: its turns go on on another one, at once. Tries without a network do not count.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, Shared, WeakShared};
use js_sys::encode_uri_component;

use crate::error::{Error, ErrorCode, Result};
use crate::index::PendingAction;
use crate::json::{Object, Value};
use crate::protocol::{Call, Protocol};
use crate::rpc::{self, Messages};
use crate::turn::{Failure, Plan, Step, TurnDriver, TurnInput};

use super::expected::Expected;
use super::line::{Line, Receiver, Response, Sender, network, random_id};
use super::listening::Listening;
use super::steps::{self, CONNECT_TIMEOUT, Transport, in_time, params};

/// The size of the largest response by default, in bytes: it may hold all of a turn.
const LARGEST: usize = 64 * 1024 * 1024;
/// The longest time that a timer of the browser takes, in milliseconds.
const LONGEST_TIMER: u32 = i32::MAX.unsigned_abs();

/// A server, as a Rust front end reaches it.
///
/// A turn goes on without its connection; to close that is to drop the server, or [`close`](Self::close). It is also
/// closed when nobody has used it for a minute or two, and made again with the next call.
pub struct Server<P> {
    address: String,
    protocol: Rc<P>,
    connect_timeout: u32,
    idle_timeout: u32,
    largest: usize,
    /// The connection that stands.
    standing: RefCell<Option<Rc<Line>>>,
    /// The one that is being made, for as long as somebody waits for it.
    dialling: RefCell<Option<WeakShared<Dialling>>>,
}

type Dialling = LocalBoxFuture<'static, Result<Rc<Line>>>;

impl<P> std::fmt::Debug for Server<P> {
    /// Without the address, which may hold a token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl<P: Protocol + 'static> Server<P> {
    /// A server at this address, which may begin with `ws:`, `wss:`, `http:` or `https:`. Nothing is sent yet.
    pub fn new(base_url: &str, protocol: P) -> Self {
        let address = match base_url.strip_prefix("http") {
            Some(rest) => ["ws", rest].concat(),
            None => base_url.to_owned(),
        };
        Self {
            address,
            connect_timeout: CONNECT_TIMEOUT,
            idle_timeout: protocol.capabilities().silence,
            largest: LARGEST,
            protocol: Rc::new(protocol),
            standing: RefCell::default(),
            dialling: RefCell::default(),
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

    /// The same server with other clocks, in milliseconds, from 1 up to 2³¹ − 1. `connect` is for the making of a
    /// connection, and again for the response to each request (30,000 by default); `idle` is the longest silence of a
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
    pub fn protocol(&self) -> &P {
        &self.protocol
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
        steps::run(self, driver, first, came).await
    }

    /// Asks for JSON; gives it in turnwire's form. A refusal of the server is an error of code
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
        if let Some(answer) = self.protocol.local(call, &params) {
            return Ok(answer.to_json());
        }
        self.answered(call, &params).await.map_err(|failure| failure.error)
    }

    /// Closes the connection that stands. Whoever waits for something on it is told so, as
    /// [`Network`](ErrorCode::Network); a turn that is read goes on on another one. One that is only being made is not
    /// closed: whoever waits for it gets it.
    pub fn close(&self) {
        if let Some(line) = self.standing.take() {
            line.close(&network("the connection was closed by the front end"));
        }
    }

    async fn answered(&self, call: Call, params: &Object<'_>) -> Result<String, Failure> {
        let line = self.connected().await?;
        let messages = messages(&*self.protocol, call, params, &line)?;
        let asked = async |(), _| {
            let response = line.say(&messages, None).map_err(unsent)?.next().flatten();
            // A response to the server has none of its own.
            let text = match response {
                Some(response) => self.waited(&line, response).await?,
                None => r#"{"result":null}"#.to_owned(),
            };
            Ok(rpc::read(&*self.protocol, call, params, &text)?)
        };
        let read = self.hearing(&line, &messages, || (), asked).await?;
        if messages.subscribes && messages.thread.is_empty() {
            // It is the server that names the thread.
            let session = Value::parse(&read).unwrap_or_default();
            line.hears_of(session.as_object().map_or("", |session| session.text("id")));
        }
        Ok(read)
    }

    /// Carries something out once the connection hears of the thread that it is about. `begun` is called before, and
    /// what it gives is handed to `carried`, with whether the server does tell of the thread.
    async fn hearing<B, T>(
        &self,
        line: &Line,
        messages: &Messages,
        begun: impl Fn() -> B,
        carried: impl AsyncFn(B, bool) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let was_heard = messages.subscribe.is_some() && line.hears(&messages.thread);
        let first = begun();
        let is_heard = self.subscribed(line, messages).await?;
        match carried(first, is_heard).await {
            // The server may have unloaded the thread, and told nobody that this connection hears of it no longer. All
            // refusals have one code, and texts are not to be relied upon: whatever it was, the thread is subscribed to
            // anew, which changes nothing of a thread that is there. What was refused has not been done, so that to say
            // it once more, as it was and once only, starts no second turn. A lost response, or any other error, is no
            // refusal.
            Err(refused) if was_heard && rpc::is_undone(&refused.error) => {
                line.forget(&messages.thread);
                let again = begun();
                if self.subscribed(line, messages).await? { carried(again, true).await } else { Err(refused) }
            }
            done => done,
        }
    }

    /// Has the connection hear of the thread that a call is about. Gives whether the server tells of it. Not in one go
    /// with the call: a server that does several things at once might begin before it tells of it.
    async fn subscribed(&self, line: &Line, messages: &Messages) -> Result<bool, Failure> {
        let Some(subscribe) = messages.subscribe.clone().filter(|_| !line.hears(&messages.thread)) else {
            return Ok(true);
        };
        let (thread, list) = (messages.thread.clone(), vec![subscribe]);
        let said = Messages { thread, subscribes: true, list, ..Messages::default() };
        match line.say(&said, None).map_err(unsent)?.next().flatten() {
            Some(response) => Ok(!rpc::is_refusal(&self.waited(line, response).await?)),
            None => Ok(true),
        }
    }

    /// A response, if it comes in time.
    async fn waited(&self, line: &Line, response: Response) -> Result<String, Failure> {
        let received = line.received();
        let waited = in_time(self.connect_timeout, response_of(response)).await;
        // A request that nothing answers, while nothing else comes either, was said to nobody: the next one is to go
        // out on another connection.
        if let Err(error) = &waited
            && error.code == ErrorCode::Timeout
            && line.received() == received
        {
            line.close(error);
        }
        Ok(waited?)
    }

    /// The connection; it is made if there is none. If that fails, nothing of a call was sent.
    async fn connected(&self) -> Result<Rc<Line>, Failure> {
        let standing = self.standing.borrow().clone();
        if let Some(line) = standing {
            if line.is_open() && !line.is_stale() {
                return Ok(line);
            }
            line.close(&network("the connection is closing"));
        }
        let line = in_time(self.connect_timeout, self.dialling()).await.map_err(unsent)?;
        if !line.is_open() {
            return Err(unsent(network("the connection is closing")));
        }
        *self.standing.borrow_mut() = Some(Rc::clone(&line));
        Ok(line)
    }

    /// The connection that is being made: one for all who want it.
    fn dialling(&self) -> Shared<Dialling> {
        let mut dialling = self.dialling.borrow_mut();
        let begun = dialling.as_ref().and_then(WeakShared::upgrade);
        begun.filter(|begun| begun.peek().is_none()).unwrap_or_else(|| {
            let made =
                greeted(self.address.clone(), self.largest, Rc::clone(&self.protocol)).boxed_local().shared();
            *dialling = made.downgrade();
            made
        })
    }
}

/// What a turn waits for while it runs. Whoever reads the turn has its driver: the front end keeps this, as it was
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

/// An id that nobody else makes, for the sessions and turns of protocols in which the client makes them. It has 21
/// letters, digits, `-` and `_`.
#[must_use]
pub fn new_id() -> String {
    random_id()
}

impl<P: Protocol + 'static> Transport for Server<P> {
    type Source = Listening;

    async fn asked(&self, plan: &Plan) -> Result<String, Failure> {
        let answered = self.answered(plan.call, &params(plan)?).await;
        answered.map_err(|failure| match failure.error.code {
            // A start that was answered, if too wordily to be read, may have begun the turn: it is looked for.
            ErrorCode::FrameTooLarge if plan.call == Call::CreateTurn => {
                Error::new(ErrorCode::UnexpectedResponse, &failure.error.message).into()
            }
            _ => failure,
        })
    }

    async fn opened(&self, plan: &Plan) -> Result<Listening, Failure> {
        let params = params(plan)?;
        let line = self.connected().await?;
        let mut said = messages(&*self.protocol, plan.call, &params, &line)?;
        let ping = messages(&*self.protocol, Call::Ping, &Object::new(), &line)?;
        // What is read before the server tells of the thread would miss what comes in between.
        let later = if said.subscribes { said.list.split_off(1) } else { Vec::new() };
        let later = Messages { list: later, ..Messages::default() };
        // From before the call on: its first news may come before its response.
        let listen = || line.listen(&said.thread);
        let open = async |(stream, mut heard): (Sender, Receiver), is_heard: bool| {
            let mut responses = line.say(&said, Some(&stream)).map_err(unsent)?;
            if let Some(response) = responses.next().flatten() {
                let text = self.waited(&line, response).await?;
                rpc::read(&*self.protocol, plan.call, &params, &text)?;
            }
            let mut expected = Expected::within(self.connect_timeout);
            expected.extend(responses.flatten());
            expected.extend(line.say(&later, Some(&stream))?.flatten());
            if !is_heard {
                // A thread of Codex is there to be subscribed to with its first turn only. That has begun now, and is
                // read.
                heard.close();
            }
            Ok(Listening::new(Rc::clone(&line), (stream, heard), expected, ping.clone(), self.idle_timeout))
        };
        self.hearing(&line, &said, listen, open).await
    }
}

/// A connection on which the first words were exchanged.
async fn greeted(address: String, largest: usize, protocol: Rc<impl Protocol>) -> Result<Rc<Line>> {
    let line = Line::open(&address, largest).await?;
    let hello = protocol.messages(Call::Connect, Object::new())?;
    if let Some(response) = line.say(&hello, None)?.next().flatten() {
        let text = response_of(response).await?;
        let read = rpc::read(&*protocol, Call::Connect, &Object::new(), &text)?;
        // It is the only place where that is set.
        let _ = line.connection.set(read);
    }
    Ok(line)
}

/// What a call says on this line.
fn messages(protocol: &dyn Protocol, call: Call, params: &Object<'_>, line: &Line) -> Result<Messages> {
    let mut params = params.clone();
    let connection = line.connection.get().map_or("null", String::as_str);
    params.insert("connection", Value::parse(connection).unwrap_or_default());
    protocol.messages(call, params)
}

async fn response_of(response: Response) -> Result<String> {
    response.await.unwrap_or_else(|_| Err(network("the connection was closed")))
}

/// There was no way to send what was to be done; or a server that answers refuses what is said first.
fn unsent(error: Error) -> Failure {
    let is_unsent = matches!(error.code, ErrorCode::Network | ErrorCode::Timeout);
    Failure { is_unsent, ..error.into() }
}
