//! An agent whose frames contain the time when they were sent. Its paths determine their number and pace.

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{MissedTickBehavior, interval};

/// The origin of all times.
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The name of the field with the time.
pub(crate) const STAMP: &[u8] = b"\"at\":\"";
/// How many digits the time has.
pub(crate) const DIGITS: usize = 16;
/// The size of a frame, in bytes.
const FRAME: usize = 300;

/// How a turn is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) count: u64,
    /// Zero: as fast as the peer reads.
    pub(crate) pause: Duration,
    /// Whether the turn stays open and silent after the last frame. Otherwise it ends.
    pub(crate) stays: bool,
}

impl Pace {
    /// A session whose id encodes the pace.
    pub(crate) fn session(self) -> String {
        format!("{}-{}-{}", self.count, self.pause.as_micros(), u8::from(self.stays))
    }

    fn of(session: &str) -> Option<Self> {
        let mut numbers = session.split('-').map(|text| text.parse::<u64>().ok());
        let (count, pause, stays) = (numbers.next()??, numbers.next()??, numbers.next()??);
        Some(Self { count, pause: Duration::from_micros(pause), stays: stays == 1 })
    }
}

/// Nanoseconds since the start of the program.
pub(crate) fn now() -> u64 {
    u64::try_from(ORIGIN.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) async fn start() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    now();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            // A broken connection ends the measurement.
            tokio::spawn(async move { drop(answer(stream).await) });
        }
    });
    Ok(address)
}

async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let length = head.to_ascii_lowercase();
        let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.and_then(|length| length.trim().parse().ok()).unwrap_or_default()];
        stream.read_exact(&mut body).await?;
        let path = head.split(' ').nth(1).unwrap_or_default();
        let Some(pace) = path.split('/').nth(2).and_then(Pace::of) else { return Ok(()) };
        send(&mut stream, pace).await?;
    }
}

async fn send(stream: &mut TcpStream, pace: Pace) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    if pace.pause.is_zero() {
        // Sixteen frames in one write: as many as arrive at once from a fast model.
        let mut left = pace.count;
        while left > 0 {
            let group = left.min(16);
            let frames: Vec<u8> = (0..group).flat_map(|_| chunk(&frame())).collect();
            stream.write_all(&frames).await?;
            left -= group;
        }
    } else {
        let mut ticks = interval(pace.pause);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for _ in 0..pace.count {
            ticks.tick().await;
            stream.write_all(&chunk(&frame())).await?;
        }
    }
    if pace.stays {
        stream.read_u8().await?;
    }
    let mut end = chunk("event: turn_stop\ndata: {\"stopReason\":\"end_turn\"}\n\n");
    end.extend_from_slice(b"0\r\n\r\n");
    stream.write_all(&end).await
}

fn frame() -> String {
    let mut frame = format!("event: text_delta\ndata: {{\"at\":\"{:0DIGITS$}\",\"delta\":\"", now());
    let rest = FRAME - frame.len() - "\"}\n\n".len();
    frame.extend(std::iter::repeat_n('x', rest));
    frame.push_str("\"}\n\n");
    frame
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:X}\r\n{text}\r\n", text.len()).into_bytes()
}
