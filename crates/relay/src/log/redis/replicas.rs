//! Ends that a replica has. A closing append is first held back in the turn's hash, where no reader sees it. It is shown once a
//! replica has it, so a failover cannot lose an end that a reader has seen. If the turn's owner dies in between, the next one
//! shows it or, if no replica has it, ends the turn itself. A cut is shown at once: if it is lost, the turn is cut again.
//!
//! What replicas have is read from the server (`replica.lua`). `WAIT` cannot tell: on a connection that was made again, perhaps
//! to another server, it does not know what this relay has written. It only makes replicas say at once what they say each second.

use std::time::Duration;

use fred::interfaces::ClientLike;
use fred::types::CustomCommand;
use fred::util::redis_keyslot;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::super::LogError;
use super::scripts::run;
use super::{RedisLog, keys};

/// How long one attempt waits for a replica. The turn's owner tries again.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest pause between two looks at what replicas have.
const PAUSE: Duration = Duration::from_millis(100);
/// How long `WAIT` may hold up the connection, in milliseconds.
const HOLD_UP: i64 = 10;
/// For how long nothing more is asked of replicas that have not answered.
const SILENCE: Duration = Duration::from_secs(1);

/// The replicas that have to have each turn's start and end.
#[derive(Debug, Default)]
pub(super) struct Replicas {
    /// When they did not answer. Locked while they are asked: `WAIT` holds up the commands of all turns.
    silent_since: Mutex<Option<Instant>>,
}

impl Replicas {
    /// Asks the replicas of a turn's server how far they are, and waits a moment for the first answer.
    async fn ask(&self, log: &RedisLog, tag: &str) {
        let Ok(mut silent_since) = self.silent_since.try_lock() else { return };
        if silent_since.is_some_and(|since| since.elapsed() < SILENCE) {
            return;
        }
        let slot = redis_keyslot(keys::turn(tag).as_bytes());
        let wait = CustomCommand::new_static("WAIT", Some(slot), false);
        let answered: Result<i64, _> = log.connections.commands.custom(wait, vec![1, HOLD_UP]).await;
        *silent_since = if answered.is_ok_and(|count| count > 0) { None } else { Some(Instant::now()) };
    }

    /// Waits until one has the turn as it is now.
    pub(super) async fn have(&self, log: &RedisLog, tag: &str) -> Result<(), LogError> {
        let until = Instant::now() + PATIENCE;
        let mut pause = Duration::ZERO;
        while !log.has_replica(tag).await? {
            if Instant::now() > until {
                let text =
                    "Redis: no replica has what was written, as `durability` demands; is one connected?";
                return Err(LogError::Unreachable(text.to_owned()));
            }
            self.ask(log, tag).await;
            sleep(pause).await;
            pause = (pause * 2).clamp(Duration::from_millis(1), PAUSE);
        }
        Ok(())
    }
}

impl RedisLog {
    /// Whether a replica has the turn as it was at the first of these questions.
    pub(super) async fn has_replica(&self, tag: &str) -> Result<bool, LogError> {
        let answer =
            run(&self.connections.commands, &self.scripts.replica, vec![keys::turn(tag)], Vec::new());
        Ok(!answer.await?.is_empty())
    }
}
