//! A line: one WebSocket, on which JSON-RPC requests, their responses and the notifications of many threads go by.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::rc::{Rc, Weak};

use futures::channel::{mpsc, oneshot};
use futures::future::{AbortHandle, Abortable, Either, select};
use futures::{SinkExt, StreamExt};
use gloo_net::websocket::futures::WebSocket as Incoming;
use gloo_net::websocket::{Message as Frame, WebSocketError};
use gloo_timers::future::TimeoutFuture;
use js_sys::Date;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::WebSocket;

use crate::error::{Error, ErrorCode, Result};
use crate::rpc::{
    ID_LENGTH, Message, Messages, closed_thread, is_for_all, is_refusal, response_ids, stream_line,
    thread_mark,
};

/// So much may wait to be sent, in bytes: what a socket takes it cannot give back.
const MOST_BUFFERED: u64 = 16 * 1024 * 1024;
/// How long a line that nobody uses stays open, in milliseconds.
const LINGER: u32 = 60_000;
/// How many letters of a request's id are its line's. Eight digits are left to count in.
const MARK_LENGTH: usize = ID_LENGTH - 8;

/// Where a stream's messages go, each as a line; after an error there are no more.
pub(super) type Sender = mpsc::UnboundedSender<Result<String>>;
/// Whence they come. To drop it is to stop listening.
pub(super) type Receiver = mpsc::UnboundedReceiver<Result<String>>;
/// A response to come, as it comes. To drop it is to wait no longer.
pub(super) type Response = oneshot::Receiver<Result<String>>;

/// An open connection. It is closed when nobody has it any more.
pub(super) struct Line {
    socket: WebSocket,
    /// What the server answered to what was said first, as JSON.
    pub(super) connection: OnceCell<String>,
    /// The size of the largest response, in bytes.
    largest: usize,
    /// What the ids of this line's requests begin with, and nobody else's do: a response is known as one also when
    /// nobody waits for it any more.
    mark: String,
    /// How many requests were sent.
    sent: Cell<u32>,
    exchange: RefCell<Exchange>,
    /// When something came last, by the clock on the wall: it goes on while the machine sleeps.
    heard: Cell<f64>,
    /// How many messages have come.
    received: Cell<u64>,
    /// A sign of life was asked for, and nothing has come since.
    is_pinged: Cell<bool>,
    /// Ends what reads the socket.
    reading: AbortHandle,
}

/// Who waits for what.
#[derive(Default)]
struct Exchange {
    /// The threads that the server tells of on this connection.
    threads: BTreeSet<String>,
    /// The requests that have no response yet, by their ids.
    asked: BTreeMap<String, Asked>,
    listeners: Vec<Listener>,
    /// Why nothing more comes, if that is so.
    end: Option<Error>,
}

struct Asked {
    method: &'static str,
    /// The thread that the server tells of from the response on, unless that is a refusal.
    subscribes: Option<String>,
    /// The stream of which the response is a part.
    stream: Option<Sender>,
    answer: oneshot::Sender<Result<String>>,
}

impl Asked {
    /// Whether anybody has a use for the response.
    fn is_wanted(&self) -> bool {
        !self.answer.is_canceled() || self.stream.as_ref().is_some_and(|stream| !stream.is_closed())
    }
}

struct Listener {
    /// What the messages have in them.
    mark: String,
    stream: Sender,
}

impl Line {
    /// Connects to this address. Responses may have `largest` bytes. Errors do not quote the address, since it may hold
    /// a token.
    pub(super) async fn open(address: &str, largest: usize) -> Result<Rc<Self>> {
        let impossible = || network("no connection can be made to this address from here");
        let socket = WebSocket::new(address).map_err(|_| impossible())?;
        let mut incoming = Incoming::try_from(socket.clone()).map_err(|_| impossible())?;
        let is_open = poll_fn(|context| incoming.poll_ready_unpin(context)).await.is_ok();
        if !is_open || socket.ready_state() != WebSocket::OPEN {
            return Err(network("the connection was refused, or did not get through"));
        }
        let (reading, registration) = AbortHandle::new_pair();
        let line = Rc::new(Self {
            socket,
            connection: OnceCell::new(),
            largest,
            mark: letters(MARK_LENGTH),
            sent: Cell::new(0),
            exchange: RefCell::default(),
            heard: Cell::new(Date::now()),
            received: Cell::new(0),
            is_pinged: Cell::new(false),
            reading,
        });
        let read = Abortable::new(read(incoming, Rc::downgrade(&line)), registration);
        spawn_local(async {
            // It ends with the line, and nobody asks how.
            let _ = read.await;
        });
        Ok(line)
    }

    /// Whether something can be said. A server that says goodbye is told nothing more, long before the socket is
    /// closed.
    pub(super) fn is_open(&self) -> bool {
        !self.has_ended() && self.socket.ready_state() == WebSocket::OPEN
    }

    fn has_ended(&self) -> bool {
        self.exchange.borrow().end.is_some()
    }

    /// Whether nobody uses it, and nothing has come for long. A machine that slept wakes up with such a line, which is
    /// dead as far as anybody knows.
    pub(super) fn is_stale(&self) -> bool {
        let exchange = self.exchange.borrow();
        let is_idle = exchange.listeners.iter().all(|listener| listener.stream.is_closed())
            && exchange.asked.values().all(|asked| asked.answer.is_canceled());
        is_idle && self.silence() >= f64::from(LINGER)
    }

    /// How many messages have come.
    pub(super) fn received(&self) -> u64 {
        self.received.get()
    }

    /// How long nothing has come, in milliseconds.
    pub(super) fn silence(&self) -> f64 {
        let now = Date::now();
        // The clock on the wall may be set back.
        self.heard.set(self.heard.get().min(now));
        now - self.heard.get()
    }

    /// The server tells of this thread.
    pub(super) fn hears_of(&self, thread: &str) {
        self.exchange.borrow_mut().threads.insert(thread.to_owned());
    }

    /// The server may tell of this thread no longer.
    pub(super) fn forget(&self, thread: &str) {
        self.exchange.borrow_mut().threads.remove(thread);
    }

    /// Gives the messages of a thread, from now on. Responses are added by [`say`](Self::say).
    pub(super) fn listen(&self, thread: &str) -> (Sender, Receiver) {
        let (stream, heard) = mpsc::unbounded();
        let mut exchange = self.exchange.borrow_mut();
        exchange.listeners.retain(|listener| !listener.stream.is_closed());
        match exchange.end.clone() {
            Some(end) => hand(&stream, Err(end)),
            None => exchange.listeners.push(Listener { mark: thread_mark(thread), stream: stream.clone() }),
        }
        (stream, heard)
    }

    /// Says what a call says. Gives the responses to come, in its order; nothing for what has none. `stream` gets them
    /// as well. If it fails, the last of it was not sent.
    pub(super) fn say(
        &self,
        messages: &Messages,
        stream: Option<&Sender>,
    ) -> Result<impl Iterator<Item = Option<Response>> + use<>> {
        let mut subscribes =
            Some(&*messages.thread).filter(|thread| messages.subscribes && !thread.is_empty());
        let said = messages.list.iter().map(|message| self.send(message, subscribes.take(), stream));
        Ok(said.collect::<Result<Vec<_>>>()?.into_iter())
    }

    /// Whether the server tells of this thread here.
    pub(super) fn hears(&self, thread: &str) -> bool {
        self.exchange.borrow().threads.contains(thread)
    }

    /// Asks for a sign of life, unless that was done since the last one. Much may wait to be sent: what cannot be asked
    /// now is asked the next time.
    pub(super) fn ping(&self, ping: &Messages) {
        if !self.is_pinged.get() {
            self.is_pinged.set(self.say(ping, None).is_ok());
        }
    }

    fn send(
        &self,
        message: &Message,
        subscribes: Option<&str>,
        stream: Option<&Sender>,
    ) -> Result<Option<Response>> {
        let number = self.sent.get().wrapping_add(1);
        self.sent.set(number);
        let id = format!("{}{number:08x}", self.mark);
        self.write(&message.to_wire(&id))?;
        let Message::Request { method, .. } = message else {
            return Ok(None);
        };
        let (answer, response) = oneshot::channel();
        let subscribes = subscribes.map(str::to_owned);
        let mut exchange = self.exchange.borrow_mut();
        // Requests that were given up are not kept, however many.
        exchange.asked.retain(|_, asked| asked.is_wanted());
        exchange.asked.insert(id, Asked { method, subscribes, stream: stream.cloned(), answer });
        Ok(Some(response))
    }

    fn write(&self, text: &str) -> Result<()> {
        if let Some(end) = &self.exchange.borrow().end {
            return Err(end.clone());
        }
        if self.socket.ready_state() != WebSocket::OPEN {
            return Err(network("the connection is closing"));
        }
        let size = text.len() as u64;
        if size > MOST_BUFFERED {
            let problem = "the message is too large: at most 16 MiB can be sent";
            return Err(Error::new(ErrorCode::InvalidInput, problem));
        }
        if u64::from(self.socket.buffered_amount()) + size > MOST_BUFFERED {
            return Err(network("the server takes nothing: more than 16 MiB would wait to be sent"));
        }
        self.socket.send_with_str(text).map_err(|_| network("the connection is closing"))
    }

    /// Ends the connection; whoever waits for something is told why.
    pub(super) fn close(&self, why: &Error) {
        let ended = {
            let mut exchange = self.exchange.borrow_mut();
            if exchange.end.is_some() {
                return;
            }
            std::mem::replace(&mut *exchange, Exchange { end: Some(why.clone()), ..Exchange::default() })
        };
        self.reading.abort();
        // A socket that cannot be closed any more is closed.
        let _ = self.socket.close();
        for asked in ended.asked.into_values() {
            // Nobody may wait for it any more.
            let _ = asked.answer.send(Err(why.clone()));
        }
        for listener in ended.listeners {
            hand(&listener.stream, Err(why.clone()));
        }
    }

    fn take(&self, frame: Frame) {
        self.heard.set(Date::now());
        self.received.set(self.received.get().wrapping_add(1));
        self.is_pinged.set(false);
        // Binary messages are for uploads only, which the server does not send.
        let Frame::Text(text) = frame else { return };
        let mut exchange = self.exchange.borrow_mut();
        if let Some(id) = self.own_id(&text) {
            if let Some(asked) = exchange.asked.remove(id) {
                exchange.answer(asked, text, self.largest);
            }
            return;
        }
        // Whether anybody listens to it now or not: it is subscribed to anew before it is used again.
        if let Some(thread) = closed_thread(&text) {
            exchange.threads.remove(&thread);
        }
        exchange.listeners.retain(|listener| !listener.stream.is_closed());
        let is_for_all = is_for_all(&text);
        let hears = |listener: &&Listener| is_for_all || text.contains(&listener.mark);
        for listener in exchange.listeners.iter().filter(hears) {
            hand(&listener.stream, Ok(stream_line(&text, None)));
        }
    }

    /// The id of the request of this line that a message responds to.
    fn own_id<'m>(&self, message: &'m str) -> Option<&'m str> {
        response_ids(message).find(|id| id.starts_with(&self.mark))
    }
}

impl Exchange {
    /// A request has its response.
    fn answer(&mut self, asked: Asked, response: String, largest: usize) {
        let Asked { method, subscribes, stream, answer } = asked;
        if let Some(thread) = subscribes {
            if is_refusal(&response) {
                self.threads.remove(&thread);
            } else {
                // A goodbye from before is overtaken.
                self.threads.insert(thread);
            }
        }
        if let Some(stream) = &stream {
            hand(stream, Ok(stream_line(&response, Some(method))));
        }
        // What a stream brings is limited by who reads it.
        let is_too_large = stream.is_none() && response.len() > largest;
        // Nobody may wait for it any more.
        let _ = answer.send(if is_too_large { Err(too_large(largest)) } else { Ok(response) });
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // The socket is closed by who reads it.
        self.reading.abort();
    }
}

/// Hands on what comes, until the line ends.
async fn read(mut incoming: Incoming, line: Weak<Line>) {
    let mut lingering = TimeoutFuture::new(LINGER);
    loop {
        let came = select(incoming.next(), &mut lingering).await;
        let Some(line) = line.upgrade() else { return };
        match came {
            Either::Left((Some(Ok(frame)), _)) => line.take(frame),
            Either::Left((Some(Err(WebSocketError::ConnectionClose(close))), _)) => {
                let reason = if close.reason.is_empty() { "" } else { ": " };
                let parts = [
                    "the server closed the connection (",
                    &close.code.to_string(),
                    reason,
                    &close.reason,
                    ")",
                ];
                line.close(&Error::of(ErrorCode::Network, &parts));
            }
            Either::Left(_) => line.close(&network("the connection broke")),
            Either::Right(_) => {
                lingering = TimeoutFuture::new(LINGER);
                if line.is_stale() {
                    line.close(&network("it was not used"));
                }
            }
        }
        if line.has_ended() {
            return;
        }
    }
}

/// Hands something to a stream; who has left it is told nothing.
fn hand(stream: &Sender, heard: Result<String>) {
    let _ = stream.unbounded_send(heard);
}

fn too_large(largest: usize) -> Error {
    let parts = ["a response is larger than ", &largest.to_string(), " bytes"];
    Error::of(ErrorCode::FrameTooLarge, &parts)
}

pub(super) fn network(problem: &str) -> Error {
    Error::new(ErrorCode::Network, problem)
}

#[wasm_bindgen]
extern "C" {
    /// Of pages and of workers, by one name.
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn fill_at_random(bytes: &mut [u8]);
}

/// An id that nobody else makes.
pub(super) fn random_id() -> String {
    letters(ID_LENGTH)
}

/// So many letters that nobody else draws.
fn letters(count: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = vec![0; count];
    fill_at_random(&mut bytes);
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)])).collect()
}
