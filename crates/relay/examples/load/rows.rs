//! The measurements.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::time::sleep;
use turnwire_relay::log::{Change, Created, NewTurn, ReplayLog, SqliteLog, TurnKey};
use turnwire_relay::turn::End;

use crate::agent::Pace;
use crate::process::{Relay, Scratch};
use crate::reader::{Over, Reader};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub(crate) turns: usize,
    pub(crate) seconds: u64,
    pub(crate) starts: usize,
    pub(crate) frames: u64,
    pub(crate) readers: usize,
    pub(crate) logs: usize,
    /// Turns that run while a relay is replaced.
    pub(crate) planned: usize,
    /// Turns after which nothing may be left.
    pub(crate) soak: usize,
}

/// The measured relay or agent, and its address.
pub(crate) struct Bench {
    pub(crate) agent: SocketAddr,
    pub(crate) work: Work,
}

/// Times in milliseconds, sorted.
pub(crate) struct Times(Vec<f64>);

impl Times {
    #[expect(clippy::cast_precision_loss, reason = "times far below what a float holds")]
    fn of(nanos: &[u64]) -> Self {
        let mut times: Vec<f64> = nanos.iter().map(|time| *time as f64 / 1e6).collect();
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    /// The time that this many thousandths of all do not exceed.
    pub(crate) fn at(&self, thousandths: usize) -> f64 {
        let place = (self.0.len() * thousandths / 1000).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or(f64::NAN)
    }
}

/// An agent, or a relay in front of it.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    at: SocketAddr,
    path: &'static str,
}

impl Relay {
    pub(crate) fn way(&self) -> Way {
        Way { at: self.address, path: self.path }
    }
}

impl Bench {
    pub(crate) fn direct(&self) -> Way {
        Way { at: self.agent, path: "" }
    }

    /// Each event's latency, and how many were lost: simultaneous turns, 50 events a second each.
    pub(crate) async fn paced(&self, way: Way, name: &str) -> Result<(Times, u64)> {
        let count = self.work.seconds * 50;
        let pace = Pace { count, pause: Duration::from_millis(20), stays: false };
        let turns = (0..self.work.turns).map(|turn| async move {
            // Not all at the same moment.
            sleep(Duration::from_micros(turn as u64 * 400)).await;
            let mut reader =
                Reader::start(way.at, way.path, &pace.session(), &format!("{name}-{turn}")).await?;
            let (times, _) = reader.times(usize::try_from(count).unwrap_or(usize::MAX)).await;
            Ok::<_, std::io::Error>(times)
        });
        let mut all = Vec::new();
        for times in join_all(turns).await {
            all.extend(times?);
        }
        let lost = self.work.turns as u64 * count - all.len() as u64;
        Ok((Times::of(&all), lost))
    }

    /// From the request to the first event, one turn after the other.
    pub(crate) async fn first(&self, way: Way, name: &str) -> Result<Times> {
        let session = Pace { count: 1, pause: Duration::ZERO, stays: false }.session();
        let mut times = Vec::new();
        for turn in 0..self.work.starts {
            let began = Instant::now();
            let mut reader = Reader::start(way.at, way.path, &session, &format!("{name}-{turn}")).await?;
            let (came, over) = reader.times(1).await;
            times.push(u64::try_from(began.elapsed().as_nanos())?);
            if came.is_empty() {
                return Err(format!("{name}: a turn without an event").into());
            }
            if over.is_none() {
                // Its end is on the disk before the next one begins.
                reader.times(usize::MAX).await;
            }
        }
        Ok(Times::of(&times))
    }

    /// From the end of the relay that owns turns until another one has informed each turn's reader.
    pub(crate) async fn owner_lost(&self, owner: Relay, other: &Relay) -> Result<Times> {
        let session = Pace { count: 1, pause: Duration::ZERO, stays: true }.session();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for turn in (0..self.work.turns).map(|turn| format!("orphan-{turn}")) {
            let mut reader = Reader::start(owner.address, owner.path, &session, &turn).await?;
            reader.times(1).await;
            first.push(reader);
            let mut reader = Reader::join(other.address, other.path, &turn, 0).await?;
            if reader.times(1).await.0.is_empty() {
                return Err("the other relay does not have the turn".into());
            }
            second.push(reader);
        }
        let began = Instant::now();
        drop(owner);
        let told = join_all(second.iter_mut().map(async |reader| {
            while reader.read(&mut |_| {}).await.is_ok() {}
            u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
        }));
        Ok(Times::of(&told.await))
    }

    /// A relay is replaced while turns run: the longest that each turn's reader waited for an event. An error if one was lost.
    pub(crate) async fn planned(&self, old: Relay, new: &Relay) -> Result<Times> {
        let pace = Pace { count: 20, pause: Duration::from_millis(400), stays: false };
        let (session, wanted) = (pace.session(), usize::try_from(pace.count)?);
        let read = async |turn: usize| -> Result<u64> {
            // Not all at the same moment.
            sleep(Duration::from_millis(turn as u64 * 2)).await;
            let turn = format!("planned-{turn}");
            let mut reader = Reader::start(old.address, old.path, &session, &turn).await?;
            let mut all = Vec::new();
            loop {
                let (times, over) = reader.times(usize::MAX).await;
                all.extend(times);
                if over != Some(Over::SentAway) {
                    break;
                }
                sleep(Duration::from_millis(50)).await;
                reader = Reader::join(new.address, new.path, &turn, all.len() as u64).await?;
            }
            let whole = all.len() == wanted;
            whole
                .then(|| all.into_iter().max().unwrap_or_default())
                .ok_or_else(|| format!("{turn} was cut").into())
        };
        let ending = async {
            sleep(Duration::from_secs(3)).await;
            old.terminate()
        };
        let (waits, ended) = tokio::join!(join_all((0..self.work.planned).map(read)), ending);
        ended?;
        Ok(Times::of(&waits.into_iter().collect::<Result<Vec<_>>>()?))
    }

    /// Many short turns, each read to its end. Returns how many the relay completed per second.
    pub(crate) async fn soak(&self, relay: &Relay) -> Result<f64> {
        let session = Pace { count: 3, pause: Duration::ZERO, stays: false }.session();
        let began = Instant::now();
        let lanes = (0..32).map(async |lane: usize| -> Result<()> {
            for turn in (lane..self.work.soak).step_by(32) {
                let turn = format!("soak-{turn}");
                let mut reader = Reader::start(relay.address, relay.path, &session, &turn).await?;
                let (times, over) = reader.times(usize::MAX).await;
                if (times.len(), over) != (3, Some(Over::Ended)) {
                    return Err(format!("{turn}: {} events, then {over:?}", times.len()).into());
                }
            }
            Ok(())
        });
        join_all(lanes).await.into_iter().collect::<Result<()>>()?;
        #[expect(clippy::cast_precision_loss, reason = "counts far below what a float holds")]
        Ok(self.work.soak as f64 / began.elapsed().as_secs_f64())
    }

    /// Turns at full speed, one reader each: events per second of the relay's processor time.
    pub(crate) async fn throughput(&self, relay: &Relay) -> Result<f64> {
        let (turns, frames) = (8_u32, self.work.frames);
        let session = Pace { count: frames, pause: Duration::ZERO, stays: false }.session();
        let before = relay.processor()?;
        let readers = (0..turns).map(|turn| self.whole(relay, &session, format!("fast-{turn}")));
        let count: usize = join_all(readers).await.into_iter().sum::<Result<usize>>()?;
        per_second(count, u64::from(turns) * frames, relay.processor()?.saturating_sub(before))
    }

    async fn whole(&self, relay: &Relay, session: &str, turn: String) -> Result<usize> {
        let reader = Reader::start(relay.address, relay.path, session, &turn).await?;
        Ok(reader.with_buffer(256 << 10).times(usize::MAX).await.0.len())
    }

    /// One turn and many readers of it: deliveries per second of the relay's processor time.
    pub(crate) async fn deliveries(&self, relay: &Relay) -> Result<f64> {
        let (readers, count) = (self.work.readers.min(500), self.work.frames / 20);
        let pace = Pace { count, pause: Duration::from_millis(2), stays: false };
        let before = relay.processor()?;
        let mut first = Reader::start(relay.address, relay.path, &pace.session(), "shared").await?;
        first.times(1).await;
        let others = (0..readers).map(|_| async {
            let reader = Reader::join(relay.address, relay.path, "shared", 0).await?;
            let (times, over) = reader.with_buffer(16 << 10).times(usize::MAX).await;
            if over == Some(Over::Ended) { Ok(times.len()) } else { Err("a reader broke off".into()) }
        });
        let (rest, others) = tokio::join!(first.times(usize::MAX), join_all(others));
        drop(rest);
        let came: usize = others.into_iter().sum::<Result<usize>>()?;
        per_second(came, readers as u64 * count, relay.processor()?.saturating_sub(before))
    }

    /// Many readers of one turn: an idle one's memory (KiB), then each event's time to all of them, then all reconnect
    /// at once.
    pub(crate) async fn crowd(&self, relay: &Relay) -> Result<Crowd> {
        let (readers, events) = (self.work.readers, 20_u64);
        // A second for each event; the readers come before the first two thousand are through.
        let pace = Pace { count: 1, pause: Duration::from_secs(1), stays: true };
        let before = relay.memory()?;
        let mut quiet = Reader::start(relay.address, relay.path, &pace.session(), "quiet").await?;
        quiet.times(1).await;
        let idle = self.joined(relay, "quiet", 1, readers).await?;
        sleep(Duration::from_secs(2)).await;
        let memory = relay.memory()?.saturating_sub(before);
        drop((quiet, idle));

        let pace = Pace { count: events, pause: Duration::from_secs(2), stays: true };
        let mut first = Reader::start(relay.address, relay.path, &pace.session(), "crowd").await?;
        first.times(1).await;
        let mut all = self.joined(relay, "crowd", 1, readers).await?;
        // Those that connected while others did may have received frames before.
        let each = usize::try_from(events)? - 1;
        let times = join_all(all.iter_mut().map(async |reader| reader.times(each).await.0)).await;
        let wanted = (readers * each) as u64;
        let came: usize = times.iter().map(Vec::len).sum();
        let lost = wanted.saturating_sub(came as u64);
        // Of the last half, when all readers are connected.
        let half = usize::try_from(events / 2)?;
        let late: Vec<u64> = times.iter().flat_map(|times| times.iter().skip(half)).copied().collect();
        drop((first, all));

        let pace = Pace { count: 2_000, pause: Duration::from_micros(200), stays: true };
        let mut first = Reader::start(relay.address, relay.path, &pace.session(), "storm").await?;
        first.times(2_000).await;
        let began = Instant::now();
        let again = (0..readers).map(|_| async {
            let mut reader = Reader::join(relay.address, relay.path, "storm", 1_900).await?;
            let (times, _) = reader.times(100).await;
            Ok::<_, Box<dyn Error>>(times.len())
        });
        let caught: usize = join_all(again).await.into_iter().sum::<Result<usize>>()?;
        let storm = began.elapsed();
        if caught != readers * 100 {
            return Err(format!("{caught} of {} frames came after the reconnect", readers * 100).into());
        }
        #[expect(clippy::cast_precision_loss, reason = "counts far below what a float holds")]
        let idle = memory as f64 / readers as f64;
        Ok(Crowd { idle, delivery: Times::of(&late), lost, storm })
    }

    async fn joined(&self, relay: &Relay, turn: &str, after: u64, count: usize) -> Result<Vec<Reader>> {
        let mut readers = Vec::with_capacity(count);
        for group in (0..count).collect::<Vec<_>>().chunks(200) {
            let joined =
                join_all(group.iter().map(|_| Reader::join(relay.address, relay.path, turn, after))).await;
            for reader in joined {
                readers.push(reader?);
            }
        }
        Ok(readers)
    }

    /// The start of a relay whose log has many turns, some of them open.
    pub(crate) async fn boot(&self) -> Result<Duration> {
        let scratch = Scratch::new("boot")?;
        let log = SqliteLog::open(&scratch.log(), false)?;
        for number in 0..self.work.logs {
            let key = TurnKey { upstream: "a".into(), subject: "local".into(), turn: format!("t{number}") };
            let new = NewTurn { session: Some("s".into()), request: [0; 32] };
            let Created::New(claim) = log.create(key, new).await? else {
                return Err("a turn is there".into());
            };
            let frames = vec![bytes::Bytes::from_static(b"data: x\n\n"); 20];
            // A hundredth of them ran when the process ended.
            let end = (number % 100 != 0).then_some(End::Done);
            log.append(&claim, 1, frames, Change { response: None, end }).await?;
        }
        drop(log);
        let began = Instant::now();
        let relay = Relay::product(self.agent, &scratch)?;
        let took = began.elapsed();
        drop(relay);
        Ok(took)
    }
}

/// What many readers of one turn show.
pub(crate) struct Crowd {
    /// The memory of an idle reader, in KiB.
    pub(crate) idle: f64,
    pub(crate) delivery: Times,
    pub(crate) lost: u64,
    pub(crate) storm: Duration,
}

/// How many arrived per second, if all did.
#[expect(clippy::cast_precision_loss, reason = "counts far below what a float holds")]
fn per_second(came: usize, wanted: u64, time: Duration) -> Result<f64> {
    if (came as u64) < wanted {
        return Err(format!("{came} of {wanted} events came").into());
    }
    Ok(came as f64 / time.as_secs_f64())
}
