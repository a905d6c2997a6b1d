//! The index of turns: one stream for each day, in which each turn is listed before it is created. Each relay keeps a
//! copy in memory, about two hundred bytes for a turn. The turns' own streams are authoritative.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::super::{LogError, NewTurn, Sign, TurnKey};
use super::flight::Flight;
use super::names::{self, digest, tag};
use super::server::{BEGINNING, Posted, Server};

const DAY: Duration = Duration::from_hours(24);
/// How long a turn must be missing before it is forgotten: a turn is listed before it is created.
const FORGOTTEN: Duration = Duration::from_mins(1);

/// A line of the index.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// A turn is about to be created. All names are digests.
    Turn { tag: String, upstream: String, subject: String, session: Option<String> },
    /// Its frames are gone.
    Expired(String),
    /// All of it was removed. It is checked once more, as another turn with its id may exist by now.
    Gone(String),
}

/// A turn in the index.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) tag: String,
    upstream: String,
    subject: String,
    session: Option<String>,
    pub(super) stage: Stage,
    /// The day whose stream lists it.
    day: u64,
}

/// What this relay knows of a turn.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    /// It is running, or nothing is known yet.
    Running(Option<Seen>),
    /// It has been missing since this time.
    Missing(Instant),
    /// Its end was noticed at this time.
    Ended(Instant),
    /// Its frames are gone.
    Expired,
}

/// What the last look at a running turn found.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) key: TurnKey,
    /// Where its stream ended.
    pub(super) tail: String,
    pub(super) sign: Sign,
    /// How many looks in a row have found no change.
    pub(super) silent: u32,
}

/// A selection of turns.
#[derive(Debug)]
pub(super) enum Which {
    All,
    Subject(String),
    Session { upstream: String, session: String },
    User { upstream: String, subject: String, session: Option<String> },
}

impl Which {
    fn has(&self, turn: &Listed) -> bool {
        let is = |name: &str, text: &str| name == digest(&[text]);
        let is_in = |session: &str| turn.session.as_deref().is_some_and(|name| is(name, session));
        match self {
            Self::All => true,
            Self::Subject(subject) => is(&turn.subject, subject),
            Self::Session { upstream, session } => is(&turn.upstream, upstream) && is_in(session),
            Self::User { upstream, subject, session } => {
                is(&turn.upstream, upstream)
                    && is(&turn.subject, subject)
                    && session.as_deref().is_none_or(is_in)
            }
        }
    }
}

/// The index, as far as it was read.
#[derive(Debug)]
pub(super) struct Index {
    /// How many days ago a turn may have begun.
    back: u64,
    days: tokio::sync::Mutex<Days>,
    turns: Mutex<Turns>,
}

#[derive(Debug, Default)]
struct Days {
    /// For each day, how far it is read, and the beginning of an incomplete line.
    places: HashMap<u64, (String, Vec<u8>)>,
    /// When they were read last.
    read: Option<Flight>,
}

#[derive(Debug, Default)]
struct Turns {
    /// In the order of the index.
    listed: BTreeMap<u64, Listed>,
    numbers: HashMap<String, u64>,
    next: u64,
}

impl Turns {
    fn take(&mut self, line: Line, day: u64) {
        match line {
            Line::Turn { tag, upstream, subject, session } => {
                if !self.numbers.contains_key(&tag) {
                    self.next += 1;
                    self.numbers.insert(tag.clone(), self.next);
                    let stage = Stage::Running(None);
                    self.listed.insert(self.next, Listed { tag, upstream, subject, session, stage, day });
                }
            }
            Line::Expired(tag) => self.set(&tag, Stage::Expired),
            Line::Gone(tag) => self.set(&tag, Stage::Missing(Instant::now())),
        }
    }

    fn set(&mut self, tag: &str, stage: Stage) {
        if let Some(turn) = self.numbers.get(tag).and_then(|number| self.listed.get_mut(number)) {
            // A turn that has ended is not looked at again, and keeps its time.
            if !matches!((&turn.stage, &stage), (Stage::Ended(_), Stage::Ended(_))) {
                turn.stage = stage;
            }
        }
    }

    /// Forgets days before this one: none of their data is kept any more.
    fn forget_before(&mut self, day: u64) {
        self.listed.retain(|_, turn| turn.day >= day);
        if self.numbers.len() > self.listed.len() {
            self.numbers.retain(|_, number| self.listed.contains_key(number));
        }
    }

    fn forget(&mut self, tag: &str) {
        if let Some(number) = self.numbers.remove(tag) {
            self.listed.remove(&number);
        }
    }
}

impl Index {
    /// An index of turns that are remembered for this long.
    pub(super) fn new(known: Duration) -> Self {
        let back = known.as_secs().div_ceil(DAY.as_secs());
        Self { back, days: tokio::sync::Mutex::default(), turns: Mutex::default() }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        // No critical section here panics halfway.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a turn that is about to be created.
    pub(super) async fn list(&self, server: &Server, key: &TurnKey, new: &NewTurn) -> Result<(), LogError> {
        let line = Line::Turn {
            tag: tag(key),
            upstream: digest(&[&key.upstream]),
            subject: digest(&[&key.subject]),
            session: new.session.as_deref().map(|session| digest(&[session])),
        };
        self.write(server, &line).await
    }

    /// Records that a turn's frames are gone.
    pub(super) async fn expired(&self, server: &Server, tag: &str) -> Result<(), LogError> {
        self.turns().set(tag, Stage::Expired);
        self.write(server, &Line::Expired(tag.to_owned())).await
    }

    /// Records that a turn is gone.
    pub(super) async fn gone(&self, server: &Server, tag: &str) -> Result<(), LogError> {
        self.write(server, &Line::Gone(tag.to_owned())).await
    }

    async fn write(&self, server: &Server, line: &Line) -> Result<(), LogError> {
        let mut line = serde_json::to_vec(line).map_err(|error| LogError::Unreachable(error.to_string()))?;
        line.push(b'\n');
        let (path, line) = (names::day(today()), Bytes::from(line));
        if server.post(&path, None, false, line.clone()).await? == Posted::Gone {
            let days = u32::try_from(self.back + 2).unwrap_or(u32::MAX);
            server.make(&path, Some(DAY.saturating_mul(days)), Bytes::new()).await?;
            if server.post(&path, None, false, line).await? != Posted::New {
                return Err(LogError::Unreachable(
                    "the streams' server: its index cannot be written".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Reads new lines of the index.
    pub(super) async fn refresh(&self, server: &Server) -> Result<(), LogError> {
        let came = Instant::now();
        let mut days = self.days.lock().await;
        if let Some(read) = days.read.as_ref().and_then(|read| read.since(came)) {
            return read;
        }
        let begun = Instant::now();
        let read = self.read(server, &mut days.places).await;
        days.read = Some(Flight::over(begun, &read));
        read
    }

    /// The clocks of two relays may differ by a day.
    async fn read(
        &self,
        server: &Server,
        days: &mut HashMap<u64, (String, Vec<u8>)>,
    ) -> Result<(), LogError> {
        let today = today();
        let wanted = today.saturating_sub(self.back + 1)..=today + 1;
        days.retain(|day, _| wanted.contains(day));
        self.turns().forget_before(*wanted.start());
        for day in wanted {
            let (next, begun) = days.entry(day).or_insert_with(|| (BEGINNING.to_owned(), Vec::new()));
            let mut read = server.rest(&names::day(day), next).await?;
            if next != BEGINNING && read.as_ref().is_none_or(|(_, end)| *end < *next) {
                // The server has lost the day's stream, and lists turns from the beginning.
                (*next, *begun) = (BEGINNING.to_owned(), Vec::new());
                read = server.rest(&names::day(day), next).await?;
            }
            let Some((pieces, end)) = read else { continue };
            *next = end;
            begun.extend_from_slice(&pieces.concat());
            let whole = begun.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
            let mut turns = self.turns();
            for line in begun.drain(..whole).as_slice().split(|&byte| byte == b'\n') {
                // Unreadable lines are not those of a relay.
                if let Ok(line) = serde_json::from_slice(line) {
                    turns.take(line, day);
                }
            }
        }
        Ok(())
    }

    /// The selected turns, newest first.
    pub(super) fn of(&self, which: &Which) -> Vec<Listed> {
        self.turns().listed.values().rev().filter(|turn| which.has(turn)).cloned().collect()
    }

    /// Up to `most` turns at such a stage, oldest first.
    pub(super) fn at(&self, is_meant: impl Fn(&Stage) -> bool, most: usize) -> Vec<Listed> {
        self.turns().listed.values().filter(|turn| is_meant(&turn.stage)).take(most).cloned().collect()
    }

    /// Records the result of a look at a turn.
    pub(super) fn found(&self, tag: &str, stage: Stage) {
        let mut turns = self.turns();
        match stage {
            Stage::Missing(since) if since.elapsed() > FORGOTTEN => turns.forget(tag),
            stage => turns.set(tag, stage),
        }
    }

    /// Forgets a turn.
    pub(super) fn forget(&self, tag: &str) {
        self.turns().forget(tag);
    }
}

/// Today's number.
fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / DAY.as_secs())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::Router;
    use axum::http::StatusCode;
    use futures_util::future::join_all;
    use tokio::net::TcpListener;

    use super::*;

    /// An index for which four days are read, and where its server listens.
    async fn beginning() -> (Index, Server, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let server = Server::new(&address.parse().expect("an address"), Vec::new());
        (Index::new(Duration::from_hours(1)), server, listener)
    }

    #[tokio::test]
    async fn those_who_wait_for_the_index_share_one_failure() {
        let (index, server, listener) = beginning().await;
        let asked = async {
            let (first, _) = listener.accept().await.expect("a connection");
            // All of them wait by then.
            drop(first);
            drop(listener.accept().await.expect("a connection"));
        };
        tokio::select! {
            () = asked => panic!("it is asked again"),
            failed = join_all((0..8).map(|_| index.refresh(&server))) => {
                assert!(failed.iter().all(Result::is_err), "{failed:?}");
            }
        }
    }

    #[tokio::test]
    async fn those_who_wait_for_the_index_share_what_was_read_since_they_came() {
        let (index, server, listener) = beginning().await;
        let asked = Arc::<AtomicUsize>::default();
        let count = asked.clone();
        let answer = async move || {
            count.fetch_add(1, Ordering::Relaxed);
            StatusCode::NOT_FOUND
        };
        tokio::spawn(axum::serve(listener, Router::new().fallback(answer)).into_future());
        let read = join_all((0..8).map(|_| index.refresh(&server))).await;
        assert_eq!(read, vec![Ok(()); 8]);
        // The first of them, and one for all who came after that had begun.
        assert_eq!(asked.load(Ordering::Relaxed), 2 * 4);
        index.refresh(&server).await.expect("read");
        assert_eq!(asked.load(Ordering::Relaxed), 3 * 4, "a later one reads what is new");
    }

    #[test]
    fn a_day_that_is_over_takes_its_turns_along() {
        let mut turns = Turns::default();
        for (day, tag) in [(7, "a"), (7, "b"), (8, "c")] {
            let [upstream, subject] = ["u", "s"].map(str::to_owned);
            turns.take(Line::Turn { tag: tag.to_owned(), upstream, subject, session: None }, day);
        }
        turns.take(Line::Expired("a".to_owned()), 8);
        turns.forget_before(8);
        assert!(turns.listed.values().map(|turn| &turn.tag).eq(["c"]));
        assert!(turns.numbers.keys().eq(["c"]));
    }
}
