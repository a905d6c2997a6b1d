//! A relay on a free port, the server behind it, and raw connections on both sides.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::task::JoinSet;
use tokio::time::timeout;
use turnwire_relay::development::{Origins, RelayConfig, SecretHeaders, serve};

/// No test waits longer than this for anything.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that answers what the test writes.
pub(crate) struct Server {
    listener: TcpListener,
    /// Where it listens: `127.0.0.1:40123`.
    pub(crate) address: String,
}

/// One end of a connection.
pub(crate) struct Wire(pub(crate) TcpStream);

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        Self { listener, address }
    }

    /// The next connection, and the head of its first request.
    pub(crate) async fn accept(&self) -> (Wire, String) {
        let stream = within(self.next()).await;
        stream.set_nodelay(true).expect("set");
        let mut wire = Wire(stream);
        let head = wire.read_head().await;
        (wire, head)
    }

    /// Whether no request comes for a while.
    pub(crate) async fn is_left_alone(&self) -> bool {
        timeout(Duration::from_millis(200), self.next()).await.is_err()
    }

    /// The next connection with a request. A pool of connections may also open one that it does not use yet.
    async fn next(&self) -> TcpStream {
        let mut silent = JoinSet::new();
        loop {
            select! {
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted.expect("a connection");
                    silent.spawn(async move { stream.peek(&mut [0]).await.is_ok_and(|length| length > 0).then_some(stream) });
                }
                Some(peeked) = silent.join_next() => {
                    if let Some(stream) = peeked.expect("no panic") {
                        return stream;
                    }
                }
            }
        }
    }
}

impl Wire {
    /// Connects to an address and writes a request.
    pub(crate) async fn open(address: &str, request: &str) -> Self {
        let stream = within(TcpStream::connect(address)).await.expect("a connection");
        stream.set_nodelay(true).expect("set");
        let mut wire = Self(stream);
        wire.write(request).await;
        wire
    }

    pub(crate) async fn write(&mut self, text: &str) {
        within(self.0.write_all(text.as_bytes())).await.expect("written");
    }

    /// The bytes up to the first empty line, which is included.
    pub(crate) async fn read_head(&mut self) -> String {
        self.read_until("\r\n\r\n").await
    }

    /// The bytes up to this text, which is included.
    pub(crate) async fn read_until(&mut self, end: &str) -> String {
        let mut read = Vec::new();
        while !read.ends_with(end.as_bytes()) {
            let byte = within(self.0.read_u8()).await;
            let so_far = String::from_utf8_lossy(&read);
            read.push(byte.unwrap_or_else(|error| panic!("{error} instead of {end:?} after {so_far:?}")));
        }
        String::from_utf8(read).expect("text")
    }

    /// All that still comes, if the other side closes in good order.
    pub(crate) async fn read_to_end(&mut self) -> io::Result<String> {
        let mut text = String::new();
        within(self.0.read_to_string(&mut text)).await?;
        Ok(text)
    }

    /// Resets the connection instead of closing it.
    pub(crate) fn reset(self) {
        self.0.set_zero_linger().expect("set");
    }
}

/// The pages with these origins.
pub(crate) fn named(origins: &[&str]) -> Origins {
    let origins: Vec<String> = origins.iter().map(|&origin| origin.to_owned()).collect();
    Origins::named(&origins).expect("origins")
}

/// Any page may call, one may open WebSockets, and nothing is added.
pub(crate) fn plain(server: &Server) -> RelayConfig {
    RelayConfig {
        upstream: format!("http://{}", server.address).parse().expect("an address"),
        origins: named(&["*", "http://localhost:5173"]),
        secrets: SecretHeaders::default(),
        log: false,
    }
}

/// Starts a relay and returns its address. It ends with the test's runtime.
pub(crate) async fn start(config: RelayConfig) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::spawn(serve(listener, config));
    address
}

/// A relay before a new server.
pub(crate) async fn world() -> (Server, String) {
    let server = Server::start().await;
    let relay = start(plain(&server)).await;
    (server, relay)
}

/// A request without a body, in words of the test's own.
pub(crate) fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")
}

/// A request for a WebSocket.
pub(crate) fn upgrade(headers: &str) -> String {
    let own = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
               Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    get("/", &format!("{own}{headers}"))
}

/// The lines of a head after the first, in lower case and sorted.
pub(crate) fn lines(head: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        head.lines().skip(1).filter(|line| !line.is_empty()).map(str::to_ascii_lowercase).collect();
    lines.sort();
    lines
}

pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("in time")
}
