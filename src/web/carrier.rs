//! Carries out what a [`Connection`] decides: with a WebSocket, a timer, and the waiting callers.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::{Rc, Weak};

use futures::channel::{mpsc, oneshot};
use futures::future::{AbortHandle, Abortable};
use futures::{SinkExt, StreamExt};
use gloo_net::websocket::futures::WebSocket as Incoming;
use gloo_net::websocket::{Message as Frame, State as Ready, WebSocketError};
use gloo_timers::callback::Timeout;
use js_sys::Date;
use wasm_bindgen_futures::spawn_local;
use web_sys::WebSocket;

use crate::error::{Error, ErrorCode, Result};
use crate::protocol::{AnyProtocol, Call};
use crate::rpc::{Connection, ID_PREFIX_LENGTH, Input, Limits, Output, SUBPROTOCOL, Speaker};
use crate::turn::Failure;

use super::random::random_letters;

/// What a stream receives.
pub(super) enum News {
    /// A message of the thread.
    Message(String),
    /// A request for the follow-up requests.
    Gather,
    /// The end, with its error if there is one.
    End(Option<Error>),
}

type Answer = oneshot::Sender<Result<String, Failure>>;
type Teller = mpsc::UnboundedSender<News>;

/// A client: one connection at a time, for all calls.
pub(super) struct Carrier {
    /// It may hold a token, so errors do not quote it.
    address: String,
    /// Whether a relay holds the socket to the server.
    is_held: bool,
    state: RefCell<State>,
}

struct State {
    connection: Connection<AnyProtocol>,
    socket: Option<Socket>,
    /// The callers that wait.
    callers: Vec<Caller>,
    call_count: u32,
    wake: Option<Timeout>,
}

struct Caller {
    id: u32,
    answer: Option<Answer>,
    news: Teller,
}

/// A socket that is open, or is being opened. Dropping it closes it.
struct Socket {
    socket: WebSocket,
    reading: AbortHandle,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.reading.abort();
        // A socket that cannot be closed any more is already closed.
        let _ = self.socket.close();
    }
}

/// A call that was made. Dropping it stops the wait.
pub(super) struct Pending {
    carrier: Rc<Carrier>,
    pub(super) id: u32,
    pub(super) news: mpsc::UnboundedReceiver<News>,
}

impl Pending {
    pub(super) fn handle(&self, input: Input<'_, Call>) {
        self.carrier.handle(input);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let id = self.id;
        self.carrier.state.borrow_mut().callers.retain(|caller| caller.id != id);
        self.carrier.handle(Input::Forget { id, is_overdue: false });
    }
}

impl Carrier {
    pub(super) fn new(address: String, protocol: AnyProtocol, limits: Limits) -> Rc<Self> {
        let connection = Connection::new(protocol, limits, random_letters(ID_PREFIX_LENGTH));
        let state = State { connection, socket: None, callers: Vec::new(), call_count: 0, wake: None };
        Rc::new(Self { address, is_held: protocol.is_held(), state: RefCell::new(state) })
    }

    /// Makes a call. `clocks` are its time limit and the longest silence of its stream.
    pub(super) fn ask(
        self: Rc<Self>,
        call: Call,
        params: &str,
        (timeout, idle_timeout): (u64, u64),
        (answer, news): (Answer, Teller),
        heard: mpsc::UnboundedReceiver<News>,
    ) -> Pending {
        let id = {
            let mut state = self.state.borrow_mut();
            state.call_count = state.call_count.wrapping_add(1);
            let id = state.call_count;
            state.callers.push(Caller { id, answer: Some(answer), news });
            id
        };
        let pending = Pending { carrier: self, id, news: heard };
        pending.handle(Input::Ask { id, call, params, timeout, idle_timeout });
        pending
    }

    /// Takes an event, and carries out what follows from it.
    pub(super) fn handle(self: &Rc<Self>, input: Input<'_, Call>) {
        let message = if let Input::Message(message) = input { message } else { "" };
        self.state.borrow_mut().connection.handle_input(input, now());
        while let Some(output) = self.next_output() {
            self.carry_out(output, message);
        }
    }

    fn next_output(&self) -> Option<Output> {
        let mut state = self.state.borrow_mut();
        let socket = state.socket.as_ref().map(|socket| &socket.socket);
        let open = socket.filter(|socket| socket.ready_state() == WebSocket::OPEN);
        let buffered = open.map(|socket| u64::from(socket.buffered_amount()));
        state.connection.poll_output(buffered)
    }

    fn carry_out(self: &Rc<Self>, output: Output, message: &str) {
        let mut state = self.state.borrow_mut();
        match output {
            Output::Connect => {
                drop(state);
                self.connect();
            }
            Output::Send(text) => {
                if let Some(Socket { socket, .. }) = &state.socket {
                    // Unsendable messages were refused before. If the socket still fails, it is closed, and its `close`
                    // event follows.
                    let _ = socket.send_with_str(&text);
                }
            }
            Output::Deliver(id, messages) if messages.is_empty() => {
                state.tell(id, News::Message(message.to_owned()));
            }
            Output::Deliver(id, messages) => {
                for message in messages {
                    state.tell(id, News::Message(message));
                }
            }
            Output::Respond { id, answer, is_unsent } => {
                let caller = state.callers.iter_mut().find(|caller| caller.id == id);
                if let Some(answered) = caller.and_then(|caller| caller.answer.take()) {
                    // The caller may have stopped waiting.
                    let _ = answered.send(answer.map_err(|error| Failure { is_unsent, ..error.into() }));
                }
            }
            Output::End { id, error, .. } => state.tell(id, News::End(error)),
            Output::Gather(id) => state.tell(id, News::Gather),
            Output::WakeIn(delay) => {
                let delay = u32::try_from(delay).unwrap_or(u32::MAX).min(i32::MAX.unsigned_abs());
                let carrier = Rc::downgrade(self);
                state.wake = Some(Timeout::new(delay, move || {
                    if let Some(carrier) = carrier.upgrade() {
                        carrier.handle(Input::Tick);
                    }
                }));
            }
            Output::Close => state.socket = None,
        }
    }

    fn connect(self: &Rc<Self>) {
        let impossible = || network("no connection can be made to this address from here");
        let made = if self.is_held {
            WebSocket::new_with_str(&self.address, SUBPROTOCOL)
        } else {
            WebSocket::new(&self.address)
        };
        let made = made.map_err(|_| impossible()).and_then(|socket| {
            let incoming = Incoming::try_from(socket.clone()).map_err(|_| impossible())?;
            Ok((socket, incoming))
        });
        match made {
            Ok((socket, incoming)) => {
                let (reading, registration) = AbortHandle::new_pair();
                let read = Abortable::new(read(incoming, Rc::downgrade(self)), registration);
                self.state.borrow_mut().socket = Some(Socket { socket, reading });
                spawn_local(async {
                    // It ends with the socket.
                    let _ = read.await;
                });
            }
            Err(error) => self.state.borrow_mut().connection.handle_input(Input::Failed(error), now()),
        }
    }
}

impl State {
    fn tell(&self, id: u32, news: News) {
        if let Some(caller) = self.callers.iter().find(|caller| caller.id == id) {
            // The reader may have left the stream.
            let _ = caller.news.unbounded_send(news);
        }
    }
}

/// Passes in a socket's events, from its opening to its end.
async fn read(mut incoming: Incoming, carrier: Weak<Carrier>) {
    let handle = |input: Input<'_, Call>| {
        if let Some(carrier) = carrier.upgrade() {
            carrier.handle(input);
        }
    };
    let opened = poll_fn(|context| incoming.poll_ready_unpin(context)).await;
    if opened.is_err() || !matches!(incoming.state(), Ready::Open) {
        return handle(Input::Broken);
    }
    handle(Input::Opened);
    while let Some(came) = incoming.next().await {
        match came {
            Ok(Frame::Text(text)) => handle(Input::Message(&text)),
            Ok(Frame::Bytes(_)) => handle(Input::Binary),
            Err(WebSocketError::ConnectionClose(close)) => {
                return handle(Input::Closed(close.code, &close.reason));
            }
            Err(_) => return handle(Input::Broken),
        }
    }
    handle(Input::Broken);
}

/// The wall clock's time, in milliseconds.
fn now() -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    let now = Date::now() as u64;
    now
}

fn network(problem: &str) -> Error {
    Error::new(ErrorCode::Network, problem)
}
