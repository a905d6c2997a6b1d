//! An agent that records every frame before it is sent, and fails as its script demands.

mod kept;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::history::History;
use crate::random::Random;

/// The agent's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Aap,
    Tirea,
    /// Its agent keeps the turn, and returns the rest of it on request. Only its connections end early; the turn
    /// continues.
    TrueFoundry,
}

/// How a response ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With the protocol's last frame.
    Done,
    /// With a frame that ends the turn if the stream ends there. AAP has none, and uses `Done`.
    MayBeDone,
    /// In good order, without it.
    Eof,
    /// The connection is reset in the middle of a frame.
    Reset,
    /// It is closed in the middle of a chunk.
    Closed,
    /// It stays open, but silent.
    Stall,
    /// With a frame that is larger than the relay keeps.
    Giant,
    /// The connection is reset before a response.
    Unanswered,
    /// There is no response.
    Silent,
    /// An error, as JSON.
    Failed,
    /// The whole response is one JSON text.
    Whole,
    /// Refused a few times. Then it begins, and ends like `Done`.
    Refused,
}

pub(crate) const ENDINGS: [Ending; 12] = [
    Ending::Done,
    Ending::MayBeDone,
    Ending::Eof,
    Ending::Reset,
    Ending::Closed,
    Ending::Stall,
    Ending::Giant,
    Ending::Unanswered,
    Ending::Silent,
    Ending::Failed,
    Ending::Whole,
    Ending::Refused,
];

/// How many starts an agent refuses.
const REFUSALS: usize = 3;

/// The script of a turn. It is part of the turn's id, so that the agent needs no other channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Script {
    pub(crate) protocol: Protocol,
    pub(crate) ending: Ending,
    pub(crate) seed: u64,
}

impl Script {
    /// The turn's id: also that of its session, which AAP's paths name.
    pub(crate) fn id(self) -> String {
        let ending = ENDINGS.iter().position(|ending| *ending == self.ending).unwrap_or_default();
        format!("{:?}-{ending}-{}-{:?}", self.protocol, self.seed, self.ending)
    }

    fn of(id: &str) -> Option<Self> {
        let mut parts = id.split('-');
        let protocol = match parts.next()? {
            "Tirea" => Protocol::Tirea,
            "TrueFoundry" => Protocol::TrueFoundry,
            _ => Protocol::Aap,
        };
        let ending = *ENDINGS.get(parts.next()?.parse::<usize>().ok()?)?;
        Some(Self { protocol, ending, seed: parts.next()?.parse().ok()? })
    }
}

/// How long a silent agent waits until the peer has left. The relay leaves earlier.
const LONGEST: Duration = Duration::from_secs(30);

pub(crate) async fn start(history: Arc<History>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let history = history.clone();
            // Errors here are caused by the relay or the schedule.
            tokio::spawn(async move { answer(stream, &history).await });
        }
    });
    address
}

/// Answers requests until the connection has ended.
async fn answer(mut stream: TcpStream, history: &History) -> std::io::Result<()> {
    loop {
        let (path, body) = request(&mut stream).await?;
        if path.ends_with("/cancel") {
            stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").await?;
            continue;
        }
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        if path.starts_with("/v1/agents/") {
            let id = path.split('/').nth(4).unwrap_or_default().to_owned();
            let Some(script) = Script::of(&id) else { return Ok(()) };
            let kept = kept::Kept::new(script);
            if !path.ends_with("/subscribe") {
                kept.begin(history);
            }
            let after = body["after_sequence_number"].as_u64().unwrap_or(0);
            if !kept.stream(&mut stream, history, after).await? {
                return Ok(());
            }
            continue;
        }
        // tirea's bodies name the turn; of AAP, the session in the path has its name: /sessions/ID/turns.
        let id = body["runId"].as_str().or_else(|| path.split('/').nth(2)).unwrap_or_default().to_owned();
        let Some(script) = Script::of(&id) else { return Ok(()) };
        let refuses = history.with(&id, |turn| {
            let refuses = script.ending == Ending::Refused && turn.refused < REFUSALS;
            if refuses {
                turn.refused += 1;
            } else {
                turn.starts.push(Instant::now());
            }
            refuses
        });
        if refuses {
            stream.write_all(whole("503 Service Unavailable", "{\"error\":\"busy\"}").as_bytes()).await?;
            continue;
        }
        let mut play =
            Play { stream, history, id, random: Random::new(script.seed), count: 0, held: Vec::new() };
        if !play.run(script).await? {
            return Ok(());
        }
        stream = play.stream;
    }
}

async fn request(stream: &mut TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let small = head.to_ascii_lowercase();
    let length = small.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.and_then(|length| length.trim().parse().ok()).unwrap_or_default()];
    stream.read_exact(&mut body).await?;
    Ok((head.split(' ').nth(1).unwrap_or_default().to_owned(), body))
}

struct Play<'h> {
    stream: TcpStream,
    history: &'h History,
    id: String,
    random: Random,
    /// How many frames it has had.
    count: usize,
    /// The next bytes to write.
    held: Vec<u8>,
}

impl Play<'_> {
    /// Plays a script. Returns whether the connection can have another request.
    async fn run(&mut self, script: Script) -> std::io::Result<bool> {
        match script.ending {
            Ending::Unanswered => {
                let pause = self.random.millis(0..300);
                sleep(pause).await;
                self.stream.set_zero_linger()?;
                return Ok(false);
            }
            Ending::Silent => {
                self.wait_for_leave().await;
                return Ok(false);
            }
            Ending::Failed => {
                return self.whole("500 Internal Server Error", "{\"error\":\"no\"}", false).await;
            }
            Ending::Whole => return self.whole("200 OK", "{\"stopReason\":\"end_turn\"}", true).await,
            _ => {}
        }
        let pause = self.random.millis(0..150);
        sleep(pause).await;
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        self.stream.write_all(head.as_bytes()).await?;
        let (groups, slowest) = (self.random.within(1..50), self.random.of(&[1, 20, 60]));
        for _ in 0..groups {
            for _ in 0..self.random.within(1..5) {
                let frame = self.delta(script.protocol);
                self.hold(&frame, false);
            }
            self.write().await?;
            let pause = self.random.millis(0..slowest);
            sleep(pause).await;
        }
        self.end(script).await
    }

    async fn end(&mut self, script: Script) -> std::io::Result<bool> {
        match (script.ending, script.protocol) {
            (Ending::Done | Ending::Refused, protocol) => self.hold(last(protocol), true),
            (Ending::MayBeDone, Protocol::Aap) => self.hold(last(Protocol::Aap), true),
            (Ending::MayBeDone, _) => {
                self.hold("data: {\"type\":\"error\",\"message\":\"no\"}\n\n", true);
            }
            (Ending::Giant, _) => {
                self.held.extend_from_slice(b"data: ");
                self.held.resize(9 << 20, b'x');
                self.write().await?;
                self.wait_for_leave().await;
                return Ok(false);
            }
            (Ending::Stall, _) => {
                self.wait_for_leave().await;
                return Ok(false);
            }
            (Ending::Reset, _) => {
                self.held.extend_from_slice(b"event: text_de");
                self.write().await?;
                self.stream.set_zero_linger()?;
                return Ok(false);
            }
            (Ending::Closed, _) => {
                self.stream.write_all(b"40\r\nevent: te").await?;
                return Ok(false);
            }
            _ => {}
        }
        self.write().await?;
        self.stream.write_all(b"0\r\n\r\n").await?;
        Ok(true)
    }

    async fn whole(&mut self, status: &str, body: &str, is_done: bool) -> std::io::Result<bool> {
        self.record(body, is_done);
        self.stream.write_all(whole(status, body).as_bytes()).await?;
        Ok(true)
    }

    /// A frame with random bytes, in the form in which the relay keeps it.
    fn delta(&mut self, protocol: Protocol) -> String {
        let length = self.random.of(&[4, 30, 200, 3_000, 40_000]);
        let length = self.random.within(0..length);
        let signs = ["a", "Z", "0", " ", "é", "漢", "\u{2028}", "🙂", "\\n", "\\\"", ":"];
        let text: String = (0..length).map(|_| self.random.of(&signs)).collect();
        match protocol {
            Protocol::Aap if self.random.percent(20) => {
                format!("event: text_delta\ndata: {{\"delta\":\ndata: \"{text}\"}}\n\n")
            }
            Protocol::Aap => format!("event: text_delta\ndata: {{\"delta\":\"{text}\"}}\n\n"),
            _ => format!("data: {{\"type\":\"text_delta\",\"delta\":\"{text}\"}}\n\n"),
        }
    }

    /// Records a frame, unless an earlier play of the script had it.
    fn record(&mut self, frame: &str, is_done: bool) {
        self.count += 1;
        self.history.with(&self.id, |turn| {
            if turn.sent.len() < self.count {
                turn.sent.push(frame.to_owned());
                turn.is_done = is_done;
            }
        });
    }

    /// Records a frame, and queues it in one of its possible spellings.
    fn hold(&mut self, frame: &str, is_done: bool) {
        self.record(frame, is_done);
        let end = self.random.of(&["\n", "\r\n", "\r"]);
        if self.random.percent(10) {
            self.held.extend_from_slice(format!(": a comment{end}{end}").as_bytes());
        }
        for line in frame.trim_end_matches('\n').split('\n') {
            if self.random.percent(10) {
                let other = self.random.of(&["id: 7", "id", ":", "retry: 5"]);
                self.held.extend_from_slice(format!("{other}{end}").as_bytes());
            }
            self.held.extend_from_slice(format!("{line}{end}").as_bytes());
        }
        self.held.extend_from_slice(end.as_bytes());
    }

    /// Writes the queue, in chunks that are cut anywhere.
    async fn write(&mut self) -> std::io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_slice();
        while !rest.is_empty() {
            let longest = self.random.of(&[9, 400, 70_000, 1 << 20]);
            let (chunk, tail) = rest.split_at(self.random.index(longest).clamp(1, rest.len()));
            rest = tail;
            let chunk = [format!("{:X}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat();
            self.stream.write_all(&chunk).await?;
        }
        Ok(())
    }

    async fn wait_for_leave(&mut self) {
        let _ = timeout(LONGEST, self.stream.read_u8()).await;
    }
}

/// A response that is one JSON text.
fn whole(status: &str, body: &str) -> String {
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json");
    format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn last(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Aap => "event: turn_stop\ndata: {\"stopReason\":\"end_turn\"}\n\n",
        Protocol::Tirea => "data: {\"type\":\"run_finish\",\"result\":null}\n\n",
        Protocol::TrueFoundry => "data: {\"type\":\"turn.done\"}\n\n",
    }
}

/// Whether a frame is the last of its turn.
pub(crate) fn is_last(frame: &str) -> bool {
    [Protocol::Aap, Protocol::Tirea, Protocol::TrueFoundry]
        .into_iter()
        .any(|protocol| frame == last(protocol))
}
