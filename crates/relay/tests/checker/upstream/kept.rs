//! The turns of an agent that keeps them: they continue by themselves, and a connection only shows one.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep_until, timeout};

use super::{Ending, LONGEST, Protocol, Script, last};
use crate::history::History;
use crate::random::Random;

/// A turn: its frames, and the time of each after its start.
pub(super) struct Kept {
    script: Script,
    frames: Vec<(Duration, String)>,
}

impl Kept {
    /// The same for the same script.
    pub(super) fn new(script: Script) -> Self {
        let mut random = Random::new(script.seed);
        let (count, slowest) = (random.within(1..120), random.of(&[1, 10, 40]));
        let mut at = random.millis(0..150);
        let created = format!("{{\"type\":\"turn.created\",\"turn_id\":\"{}\"}}", script.id());
        let mut frames = vec![(at, format!("data: {created}\n\n"))];
        for _ in 0..count {
            at += random.millis(0..slowest);
            let length = random.of(&[4, 30, 200, 3_000, 40_000]);
            let text: String =
                (0..random.within(0..length)).map(|_| random.of(&["a", "é", "漢", ":", " "])).collect();
            frames
                .push((at, format!("data: {{\"type\":\"model.message.delta\",\"content\":\"{text}\"}}\n\n")));
        }
        frames.push((at, last(Protocol::TrueFoundry).to_owned()));
        Self { script, frames }
    }

    /// The turn starts.
    pub(super) fn begin(&self, history: &History) {
        history.with(&self.script.id(), |turn| {
            turn.starts.push(Instant::now());
            turn.sent = self.frames.iter().map(|(_, frame)| frame.clone()).collect();
            turn.is_done = true;
        });
    }

    /// Sends the frames after this one. The first connections of a turn fail as its script demands. Returns whether the
    /// connection can have another request.
    pub(super) async fn stream(
        &self,
        stream: &mut TcpStream,
        history: &History,
        after: u64,
    ) -> std::io::Result<bool> {
        let (begun, connection) = history.with(&self.script.id(), |turn| {
            turn.streams += 1;
            (turn.starts.first().copied().unwrap_or_else(Instant::now), turn.streams)
        });
        let mut random = Random::new(self.script.seed ^ (connection << 32));
        // A relay detects a silence only after a long time.
        let failing = if self.script.ending == Ending::Stall { 1 } else { 3 };
        let fails_at = (connection <= failing).then(|| after + random.within(0..self.frames.len() as u64));
        stream
            .write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
            )
            .await?;
        // Some servers send more than was requested.
        let from = if random.percent(30) { after.saturating_sub(3) } else { after };
        for (number, (at, frame)) in (1..).zip(&self.frames).filter(|(number, _)| *number > from) {
            sleep_until((begun + *at).into()).await;
            if fails_at.is_some_and(|fails_at| number > fails_at) {
                match self.script.ending {
                    Ending::Reset => {
                        stream.set_zero_linger()?;
                        return Ok(false);
                    }
                    Ending::Closed => {
                        stream.write_all(b"40\r\ndata: {").await?;
                        return Ok(false);
                    }
                    Ending::Stall => {
                        let _ = timeout(LONGEST, stream.read_u8()).await;
                        return Ok(false);
                    }
                    Ending::Eof => break,
                    _ => {}
                }
            }
            let numbered = format!("{}id: {number}\n\n", frame.trim_end_matches('\n').to_owned() + "\n");
            let chunk = format!("{:X}\r\n{numbered}\r\n", numbered.len());
            stream.write_all(chunk.as_bytes()).await?;
        }
        stream.write_all(b"0\r\n\r\n").await?;
        Ok(true)
    }
}
