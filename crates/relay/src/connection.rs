//! Connections that can be closed or reset from elsewhere: [`Listener`] accepts them, and a handler gets
//! the [`Connection`] of its request.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::serve::IncomingStream;
use futures_util::task::AtomicWaker;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep, timeout};

/// How long idle connections may take to close. They close at once unless the machine is busy.
const CLOSING_LIMIT: Duration = Duration::from_millis(500);

/// How long what was written has to reach the reader before the connection is reset: a reset
/// discards what is still in flight, and a browser also what its page has not read yet.
const GRACE: Duration = Duration::from_millis(30);
/// How long a reader may take until the system has room for what was written.
const WRITING_LIMIT: Duration = Duration::from_secs(2);

/// How a connection continues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    /// It serves requests.
    #[default]
    Open,
    /// It closes as soon as no request is active.
    Retired,
    /// It is closed; nothing more is written.
    Closed,
    /// It is reset; nothing more is written.
    Reset,
}

/// A handle of one connection. The default one does nothing: its request has no socket, or shares it with others, as with HTTP/2.
#[derive(Debug, Clone, Default)]
pub struct Connection(Option<Arc<State>>);

#[derive(Debug, Default)]
struct State {
    mode: Mutex<Mode>,
    /// Requests that are not answered to the end.
    busy: AtomicUsize,
    /// How often all that the server wrote was handed over to the system.
    flushes: AtomicU64,
    /// The task of the connection.
    task: AtomicWaker,
}

impl Connection {
    /// The connection on which a request came.
    pub fn of(request: &Request) -> Self {
        let info = request.extensions().get::<ConnectInfo<Self>>();
        info.map(|info| info.0.clone()).unwrap_or_default()
    }

    /// Closes the connection, even in the middle of an answer.
    pub fn close(&self) {
        self.set(Mode::Closed);
    }

    /// Resets the connection: the other side learns that it was not closed in good order.
    pub fn reset(&self) {
        self.set(Mode::Reset);
    }

    /// Resets the connection when the body that calls this has been written out so far. That body then has to fail, which
    /// resets its stream if others share the connection.
    pub async fn reset_when_written(&self) {
        if let Some(state) = &self.0 {
            // The server flushes whenever a body makes it wait, as this one does now.
            let before = state.flushes.load(Ordering::SeqCst);
            let flushed = async {
                while state.flushes.load(Ordering::SeqCst) == before {
                    sleep(Duration::from_millis(1)).await;
                }
            };
            // A reader that takes longer does not get the rest.
            let _ = timeout(WRITING_LIMIT, flushed).await;
        }
        sleep(GRACE).await;
        self.reset();
    }

    /// Whether no more requests are wanted on this connection.
    pub fn is_retired(&self) -> bool {
        self.mode() == Mode::Retired
    }

    /// Marks a request as active until the guard is dropped.
    pub fn begin_request(&self) -> ActiveRequest {
        if let Some(state) = &self.0 {
            state.busy.fetch_add(1, Ordering::SeqCst);
        }
        ActiveRequest(self.clone())
    }

    fn retire(&self) {
        if self.mode() == Mode::Open {
            self.set(Mode::Retired);
        }
    }

    fn set(&self, mode: Mode) {
        if let Some(state) = &self.0 {
            *lock(&state.mode) = mode;
            state.task.wake();
        }
    }

    fn mode(&self) -> Mode {
        self.0.as_ref().map_or(Mode::Open, |state| *lock(&state.mode))
    }

    fn is_idle(&self) -> bool {
        self.0.as_ref().is_none_or(|state| state.busy.load(Ordering::SeqCst) == 0)
    }
}

/// An active request; dropping it marks the request as answered.
#[derive(Debug)]
pub struct ActiveRequest(Connection);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        if let Some(state) = &self.0.0 {
            state.busy.fetch_sub(1, Ordering::SeqCst);
            state.task.wake();
        }
    }
}

/// All open connections of a server.
#[derive(Debug, Clone, Default)]
pub struct Connections(Arc<Register>);

#[derive(Debug, Default)]
struct Register {
    next: AtomicU64,
    open: Mutex<HashMap<u64, Connection>>,
}

impl Connections {
    /// Makes every later request come on a new connection: idle ones are closed, the others when
    /// their answers are complete. Returns when the idle ones are.
    ///
    /// A browser sends a request again by itself if the connection that it went out on had served
    /// others and breaks without an answer. On a new connection it reports the failure.
    pub async fn retire(&self) {
        let all: Vec<Connection> = lock(&self.0.open).values().cloned().collect();
        all.iter().for_each(Connection::retire);
        let idle_ones_close = async {
            while lock(&self.0.open).values().any(|open| open.is_retired() && open.is_idle()) {
                sleep(Duration::from_millis(1)).await;
            }
        };
        // After the limit the caller goes on: a connection that stays is only less exact.
        let _ = timeout(CLOSING_LIMIT, idle_ones_close).await;
    }

    fn open(&self, stream: TcpStream) -> Socket {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let state = Arc::<State>::default();
        let connection = Connection(Some(state.clone()));
        lock(&self.0.open).insert(number, connection.clone());
        Socket { stream, connection, state, number, register: self.clone(), patience: None, stalled: None }
    }
}

/// A listener whose connections are registered.
#[derive(Debug)]
pub struct Listener {
    inner: TcpListener,
    connections: Connections,
    patience: Option<Duration>,
}

impl Listener {
    /// Registers all connections that this listener accepts.
    pub fn new(listener: TcpListener, connections: Connections) -> Self {
        Self { inner: listener, connections, patience: None }
    }

    /// The same, with connections that end when the other side has taken nothing for this long, or has vanished.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }
}

/// Silence after which the other side is asked whether it is there, how often then, and how many times without an answer.
pub(crate) const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);
/// How long what was sent may be without an answer of the other side's system. One that has vanished takes minutes else, and a quarter
/// of an hour if something is on its way to it.
#[cfg(target_os = "linux")]
pub(crate) const UNANSWERED: Duration = Duration::from_mins(1);

/// Has the system notice when the other side has vanished without a word, as a phone does that has lost its network. A socket that
/// refuses the options still works, only longer than it should.
fn watch_peer(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let (time, interval, retries) = KEEPALIVE;
    let keepalive = TcpKeepalive::new().with_time(time).with_interval(interval);
    #[cfg(not(target_os = "windows"))]
    let keepalive = keepalive.with_retries(retries);
    #[cfg(target_os = "windows")]
    let _ = retries;
    let _ = socket.set_tcp_keepalive(&keepalive);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(UNANSWERED));
}

impl axum::serve::Listener for Listener {
    type Io = Socket;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Socket, Self::Addr) {
        let (stream, address) = axum::serve::Listener::accept(&mut self.inner).await;
        // Small writes are the point of an event stream: they must not wait for each other. A
        // socket that refuses the option still works, only later.
        let _ = stream.set_nodelay(true);
        if self.patience.is_some() {
            watch_peer(&stream);
        }
        let mut socket = self.connections.open(stream);
        socket.patience = self.patience;
        (socket, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.inner.local_addr()
    }
}

impl Connected<IncomingStream<'_, Listener>> for Connection {
    fn connect_info(stream: IncomingStream<'_, Listener>) -> Self {
        stream.io().connection.clone()
    }
}

/// A TCP socket that ends as its handle says.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    connection: Connection,
    /// The connection's own.
    state: Arc<State>,
    number: u64,
    register: Connections,
    patience: Option<Duration>,
    /// Runs while the other side takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    /// The handle of this connection.
    pub fn handle(&self) -> Connection {
        self.connection.clone()
    }

    /// Waits for the first bytes, and leaves them to be read. Returns how many fit.
    pub async fn peek(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.peek(bytes).await
    }

    /// Fails if the other side has taken nothing for too long.
    fn watch<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        let Some(patience) = self.patience.filter(|_| written.is_pending()) else {
            self.stalled = None;
            return written;
        };
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.as_mut().poll(context));
        self.connection.reset();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Fails if the connection is broken off. Remembers the task, so that breaking it off later
    /// wakes it.
    fn check(&self, context: &Context<'_>) -> io::Result<Mode> {
        self.state.task.register(context.waker());
        match self.connection.mode() {
            Mode::Closed | Mode::Reset => Err(io::ErrorKind::ConnectionReset.into()),
            mode => Ok(mode),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        lock(&self.register.0.open).remove(&self.number);
        if self.connection.mode() == Mode::Reset {
            // Without it the other side sees an orderly end of the connection, which is still an
            // end in the middle of an answer.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.check(context)? == Mode::Retired && self.connection.is_idle() {
            // The end of the input: the server closes in good order.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.state.flushes.fetch_add(1, Ordering::SeqCst);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Whether the system is to notice that the other side of this socket has vanished.
#[cfg(all(test, target_os = "linux"))]
pub(crate) fn is_watched(stream: &TcpStream) -> bool {
    let socket = SockRef::from(stream);
    let options =
        (socket.tcp_keepalive_time(), socket.tcp_keepalive_interval(), socket.tcp_keepalive_retries());
    socket.keepalive().is_ok_and(|is_on| is_on)
        && matches!(options, (Ok(time), Ok(interval), Ok(retries)) if (time, interval, retries) == KEEPALIVE)
        && socket.tcp_user_timeout().is_ok_and(|time| time == Some(UNANSWERED))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No critical section here can panic halfway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    /// That it does so is the system's affair: a peer that vanishes cannot be had here, as the system answers for every process.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_system_is_to_notice_a_peer_that_vanishes() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let mut listener = Listener::new(listener, Connections::default()).with_patience(UNANSWERED);
        let _client = TcpStream::connect(address).await.expect("a connection");
        let (socket, _) = axum::serve::Listener::accept(&mut listener).await;
        assert!(is_watched(&socket.stream));
    }

    #[tokio::test]
    async fn a_reader_that_takes_nothing_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let patient = Duration::from_millis(100);
        let mut listener = Listener::new(listener, Connections::default()).with_patience(patient);
        let _reader = TcpStream::connect(address).await.expect("a connection");
        let (mut socket, _) = axum::serve::Listener::accept(&mut listener).await;
        let bytes = vec![0; 64 << 20];
        let written = timeout(Duration::from_secs(10), socket.write_all(&bytes)).await.expect("in time");
        assert_eq!(written.expect_err("not all of it").kind(), io::ErrorKind::TimedOut);
    }
}
