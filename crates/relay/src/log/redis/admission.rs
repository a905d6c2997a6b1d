//! Limits on users' starts and turns, counted over all relays.

use std::time::Duration;

use fred::interfaces::SortedSetsInterface;

use super::super::{Admission, LogError, TurnKey};
use super::rows::{millis, value};
use super::scripts::{number, run};
use super::{RedisLog, keys};

/// How long a turn counts that is being created. If its relay dies first, it never will be.
const PROVISIONAL: Duration = Duration::from_mins(1);

impl RedisLog {
    /// Counts a start and a running turn, unless its user has too many.
    pub(super) async fn count(
        &self,
        key: &TurnKey,
        starts_per_minute: u32,
        turns: usize,
    ) -> Result<Admission, LogError> {
        let names = vec![keys::starts(&key.subject), keys::running(&key.subject)];
        let arguments = vec![
            value(keys::tag(key)),
            value(starts_per_minute.max(1).to_string()),
            value(turns.to_string()),
            millis(PROVISIONAL),
        ];
        let answer = run(&self.connections.commands, &self.scripts.admit, names, arguments).await?;
        Ok(match answer.first().map(AsRef::as_ref) {
            None => Admission::Granted,
            Some(b"starts") => {
                let wait = answer.get(1).and_then(|text| number(text)).unwrap_or(0);
                Admission::TooManyStarts(Duration::from_millis(wait))
            }
            Some(_) => Admission::TooManyTurns,
        })
    }

    /// Extends the count of a created turn to its longest lifetime. If that fails, its count expires too early.
    pub(super) async fn keep_counted(&self, key: &TurnKey) {
        let arguments = vec![value(keys::tag(key)), millis(self.lifetimes.while_running())];
        let names = vec![keys::running(&key.subject)];
        let _ = run(&self.connections.commands, &self.scripts.keep, names, arguments).await;
    }

    /// Stops counting a turn. Returns whether that succeeded: a turn that still counts must stay on the list of running
    /// turns, where the next look of any relay finds that it has ended.
    pub(super) async fn uncount(&self, key: &TurnKey) -> bool {
        let commands = &self.connections.commands;
        let removed: Result<(), _> = commands.zrem(keys::running(&key.subject), keys::tag(key)).await;
        removed.is_ok()
    }
}
