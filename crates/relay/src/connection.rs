//! Connections that can be closed or reset from elsewhere: [`Listener`] accepts them, and a handler gets the
//! [`Connection`] of its request.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
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
use tokio::time::{Instant, Sleep, sleep, timeout};

/// How long idle connections may take to close. They close at once unless the machine is busy.
const CLOSING_LIMIT: Duration = Duration::from_millis(500);

/// How long written bytes have to reach the reader before the connection is reset. A reset discards bytes in flight,
/// and a browser also discards what its page has not read yet.
const GRACE: Duration = Duration::from_millis(30);
/// How long a reader may take until the system has room for the written bytes.
const WRITING_LIMIT: Duration = Duration::from_secs(2);

/// The state of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    /// Serves requests.
    #[default]
    Open,
    /// Closes as soon as no request is active.
    Retired,
    /// Closed; nothing more is written.
    Closed,
    /// Reset; nothing more is written.
    Reset,
}

/// A handle of one connection. The default handle does nothing: its request has no socket, or shares it (HTTP/2).
#[derive(Debug, Clone, Default)]
pub struct Connection(Option<Arc<State>>);

#[derive(Debug, Default)]
struct State {
    mode: Mutex<Mode>,
    /// Requests without a complete response.
    busy: AtomicUsize,
    /// How often everything that the server had written was passed to the system.
    flushes: AtomicU64,
    /// The task of the connection.
    task: AtomicWaker,
}

impl Connection {
    /// The connection of a request.
    pub fn of(request: &Request) -> Self {
        let info = request.extensions().get::<ConnectInfo<Self>>();
        info.map(|info| info.0.clone()).unwrap_or_default()
    }

    /// Closes the connection, even in the middle of a response.
    pub fn close(&self) {
        self.set(Mode::Closed);
    }

    /// Resets the connection, so that the peer can tell it from an orderly close.
    pub fn reset(&self) {
        self.set(Mode::Reset);
    }

    /// Resets the connection once everything that the calling body has produced so far is written. The body must then
    /// fail, which resets its stream if others share the connection.
    pub async fn reset_when_written(&self) {
        if let Some(state) = &self.0 {
            // The server flushes whenever a body makes it wait, as this call does.
            let before = state.flushes.load(Ordering::SeqCst);
            let flushed = async {
                while state.flushes.load(Ordering::SeqCst) == before {
                    sleep(Duration::from_millis(1)).await;
                }
            };
            // After the limit, a slow reader loses the rest.
            let _ = timeout(WRITING_LIMIT, flushed).await;
        }
        sleep(GRACE).await;
        self.reset();
    }

    /// Whether this connection should take no more requests.
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
    /// Makes all later requests use new connections: idle connections close now, the others after their responses.
    /// Returns when the idle ones are closed.
    ///
    /// A browser repeats a request by itself if its connection had served others and breaks without a response. On a
    /// new connection it reports the failure.
    pub async fn retire(&self) {
        let all: Vec<Connection> = lock(&self.0.open).values().cloned().collect();
        all.iter().for_each(Connection::retire);
        let idle_ones_close = async {
            while lock(&self.0.open).values().any(|open| open.is_retired() && open.is_idle()) {
                sleep(Duration::from_millis(1)).await;
            }
        };
        // After the limit the caller continues: a remaining connection only makes the result less exact.
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
    /// Is told why connections cannot be accepted.
    told: Option<fn(&io::Error)>,
    told_at: Option<Instant>,
}

/// The pause after a failure that is the system's, as without room for one more file, and how often it is told.
const AGAIN: Duration = Duration::from_secs(1);
const TOLD: Duration = Duration::from_mins(1);

impl Listener {
    /// Registers all connections that this listener accepts.
    pub fn new(listener: TcpListener, connections: Connections) -> Self {
        Self { inner: listener, connections, patience: None, told: None, told_at: None }
    }

    /// The same, but calls this when no connection can be accepted, at most once a minute.
    #[must_use]
    pub fn telling(self, told: fn(&io::Error)) -> Self {
        Self { told: Some(told), ..self }
    }

    async fn next(&mut self) -> (TcpStream, SocketAddr) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
        loop {
            let error = match self.inner.accept().await {
                Ok(accepted) => return accepted,
                Err(error) => error,
            };
            // A connection that ended before it was accepted.
            if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
                continue;
            }
            if let Some(told) = self.told
                && self.told_at.is_none_or(|at| at.elapsed() >= TOLD)
            {
                self.told_at = Some(Instant::now());
                told(&error);
            }
            sleep(AGAIN).await;
        }
    }

    /// The same, but connections end when the peer has accepted no bytes for this long, or has vanished.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }
}

/// TCP keepalive: the silence before the first probe, the interval between probes, and the number of unanswered probes.
pub(crate) const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);
/// How long sent bytes may stay unacknowledged. Otherwise a vanished peer takes minutes to detect, and a quarter of an
/// hour with bytes in flight.
#[cfg(target_os = "linux")]
pub(crate) const UNANSWERED: Duration = Duration::from_mins(1);

/// Makes the system detect a peer that has vanished without closing, as a phone does that loses its network. A socket
/// that refuses the options still works, but its connection lingers.
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
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Socket, Self::Addr) {
        let (stream, address) = self.next().await;
        // The small writes of an event stream must not wait for each other. Without the option, it only has delays.
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

/// A TCP socket whose handle can end it.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    connection: Connection,
    /// The state of this connection.
    state: Arc<State>,
    number: u64,
    register: Connections,
    patience: Option<Duration>,
    /// Runs while the peer accepts no bytes.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    /// The handle of this connection.
    pub fn handle(&self) -> Connection {
        self.connection.clone()
    }

    /// Waits for the first bytes, and peeks at them. Returns how many fit.
    pub async fn peek(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.peek(bytes).await
    }

    /// Fails if the peer has accepted no bytes for too long.
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

    /// Fails if the connection was closed or reset. Registers the task, so that closing it later wakes the task.
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
            // Without it, the peer sees an orderly close, but still in the middle of a response.
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
            // End of input: the server closes in good order.
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

/// Whether the system is set to detect that this socket's peer has vanished.
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

    /// Only the options are tested: a peer cannot vanish here, as the system answers for every process.
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
