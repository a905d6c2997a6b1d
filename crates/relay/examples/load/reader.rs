//! A reader with little cost: it searches the stream only for times.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::agent::{DIGITS, STAMP, now};

/// The longest that a measurement waits for a frame.
const PATIENCE: Duration = Duration::from_secs(30);

/// A stream that is read.
pub(crate) struct Reader {
    stream: TcpStream,
    /// Possibly the beginning of a time.
    rest: Vec<u8>,
    buffer: Vec<u8>,
}

/// Why there is nothing more to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Ended,
    /// The relay shuts down: the reader must reconnect to another one.
    SentAway,
    Broken,
}

impl Reader {
    /// Starts a turn. `path` is that of the agent's own API, below which the session is.
    pub(crate) async fn start(
        at: SocketAddr,
        path: &str,
        session: &str,
        turn: &str,
    ) -> std::io::Result<Self> {
        let body = "{\"stream\":\"delta\",\"messages\":[]}";
        Self::ask(at, &format!(
            "POST {path}/sessions/{session}/turns HTTP/1.1\r\nHost: localhost\r\nturnwire-relay: 1\r\nturnwire-turn: {turn}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await
    }

    /// Joins a turn after a frame.
    pub(crate) async fn join(at: SocketAddr, path: &str, turn: &str, after: u64) -> std::io::Result<Self> {
        Self::ask(at, &format!(
            "GET {path}/_turnwire/v1/turns/{turn}/events HTTP/1.1\r\nHost: localhost\r\nturnwire-relay: 1\r\n\
             Last-Event-ID: {after}\r\n\r\n"
        ))
        .await
    }

    async fn ask(at: SocketAddr, request: &str) -> std::io::Result<Self> {
        let mut stream = TcpStream::connect(at).await?;
        stream.set_nodelay(true)?;
        stream.write_all(request.as_bytes()).await?;
        Ok(Self { stream, rest: Vec::new(), buffer: Vec::new() })
    }

    /// With its own buffer, which makes large pages cheap.
    pub(crate) fn with_buffer(self, size: usize) -> Self {
        Self { buffer: vec![0; size], ..self }
    }

    /// Reads the available frames, and reports each one's latency in nanoseconds.
    pub(crate) async fn read(&mut self, each: &mut impl FnMut(u64)) -> Result<(), Over> {
        let mut small = [0; 4096];
        let buffer = if self.buffer.is_empty() { &mut small[..] } else { &mut self.buffer[..] };
        let read = timeout(PATIENCE, self.stream.read(buffer)).await.map_err(|_| Over::Broken)?;
        let read = read.map_err(|_| Over::Broken)?;
        if read == 0 {
            return Err(Over::Broken);
        }
        self.rest.extend_from_slice(&buffer[..read]);
        let arrived = now();
        let mut from = 0;
        while let Some(at) = found(&self.rest[from..], STAMP) {
            let digits = from + at + STAMP.len();
            let Some(text) = self.rest.get(digits..digits + DIGITS) else { break };
            let sent: u64 =
                std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(arrived);
            each(arrived.saturating_sub(sent));
            from = digits + DIGITS;
        }
        let ends: [&[u8]; 2] = [b"event: turn_stop", b"event: turnwire.cut"];
        let has_ended = ends.iter().any(|end| found(&self.rest[from..], end).is_some());
        let is_sent_away = found(&self.rest[from..], b"retry: 50").is_some();
        // The rest may be the beginning of a time, or of the last frame.
        let keep = self.rest.len().saturating_sub(STAMP.len() + DIGITS).max(from);
        self.rest.drain(..keep);
        if self.rest.is_empty() {
            // An idle reader holds no buffer: the memory that the process uses for readers is measured.
            self.rest = Vec::new();
        }
        match (has_ended, is_sent_away) {
            (true, _) => Err(Over::Ended),
            (_, true) => Err(Over::SentAway),
            _ => Ok(()),
        }
    }

    /// Reads until this many frames have arrived, or the end. Returns their times.
    pub(crate) async fn times(&mut self, count: usize) -> (Vec<u64>, Option<Over>) {
        let mut times = Vec::new();
        while times.len() < count {
            if let Err(over) = self.read(&mut |time| times.push(time)).await {
                return (times, Some(over));
            }
        }
        (times, None)
    }
}

fn found(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted[0];
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|byte| *byte == first) {
        if text[from + at..].starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}
