//! Subscriptions to the channels of turns, on one connection. They follow what readers want. When a subscription fails,
//! readers find new frames a little later by themselves.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use fred::interfaces::{EventInterface, PubsubInterface};
use fred::prelude::Client;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use super::super::Hint;
use crate::mutant::mutant;

/// How many hints may wait for a reader. One that misses some reads the log.
const WAITING: usize = 256;
/// How often the wanted channels are compared with the subscriptions even if nothing has changed.
const LOOK: Duration = Duration::from_secs(1);
/// A channel without messages. Subscribing to it repeatedly shows whether the connection is alive; listening would not.
const ALIVE: &str = "tw:alive";

/// The receivers of hints, by channel.
#[derive(Debug, Default)]
struct Wanted {
    senders: Mutex<HashMap<String, mpsc::Sender<Hint>>>,
    changed: Notify,
}

/// The subscriptions. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Hints {
    wanted: Arc<Wanted>,
    tasks: [tokio::task::JoinHandle<()>; 2],
}

impl Hints {
    pub(super) fn start(client: &Client, is_sharded: bool) -> Self {
        let wanted = Arc::<Wanted>::default();
        let subscribing = tokio::spawn(subscribe(client.clone(), wanted.clone(), is_sharded));
        let passing = tokio::spawn(pass(client.clone(), wanted.clone()));
        Self { wanted, tasks: [subscribing, passing] }
    }

    /// Hints of a channel until the receiver is dropped. A later receiver of the same channel replaces it.
    pub(super) fn watch(&self, channel: String) -> mpsc::Receiver<Hint> {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.wanted.senders().insert(channel, sender);
        self.wanted.changed.notify_one();
        receiver
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

impl Wanted {
    fn senders(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<Hint>>> {
        // No critical section here panics halfway.
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The channels whose receivers still exist.
    fn channels(&self) -> HashSet<String> {
        let mut senders = self.senders();
        senders.retain(|_, sender| !sender.is_closed());
        senders.keys().cloned().collect()
    }

    fn tell(&self, channel: &str, hint: Hint) {
        if let Some(sender) = self.senders().get(channel) {
            // A reader with a full queue reads soon, and then reads the log.
            let _ = sender.try_send(hint);
        }
    }

    /// Tells a channel's reader that hints may have been lost.
    fn look(&self, channel: &str) {
        if !mutant!("hint_relied_on") {
            self.tell(channel, Hint::Look);
        }
    }

    fn tell_all(&self) {
        for channel in self.channels() {
            self.look(&channel);
        }
    }
}

/// Keeps the subscriptions equal to the wanted channels.
async fn subscribe(client: Client, wanted: Arc<Wanted>, is_sharded: bool) {
    let mut reconnected = client.reconnect_rx();
    let mut have: HashSet<String> = HashSet::new();
    loop {
        let channels = wanted.channels();
        metrics::gauge!("turnwire_relay_subscriptions")
            .set(u32::try_from(channels.len()).unwrap_or(u32::MAX));
        for channel in channels.symmetric_difference(&have.clone()) {
            let is_wanted = channels.contains(channel);
            let done = match (is_wanted, is_sharded) {
                (true, false) => client.subscribe(channel.as_str()).await,
                (true, true) => client.ssubscribe(channel.as_str()).await,
                (false, false) => client.unsubscribe(channel.as_str()).await,
                (false, true) => client.sunsubscribe(channel.as_str()).await,
            };
            match done {
                Ok(()) if is_wanted => {
                    have.insert(channel.clone());
                    // Hints from before the subscription were missed.
                    wanted.look(channel);
                }
                Ok(()) => drop(have.remove(channel)),
                // The next round tries again.
                Err(_) => break,
            }
        }
        // If it fails, the client makes a new connection.
        let _ = if is_sharded { client.ssubscribe(ALIVE).await } else { client.subscribe(ALIVE).await };
        tokio::select! {
            _ = timeout(LOOK, wanted.changed.notified()) => {}
            again = reconnected.recv() => {
                if let Err(RecvError::Closed) = again {
                    return;
                }
                // A new connection has no subscriptions.
                have.clear();
                wanted.tell_all();
            }
        }
    }
}

/// Delivers hints.
async fn pass(client: Client, wanted: Arc<Wanted>) {
    let mut messages = client.message_rx();
    loop {
        match messages.recv().await {
            Ok(message) => {
                let hint = message.value.into_bytes().and_then(|bytes| hint(&bytes)).unwrap_or(Hint::Look);
                wanted.tell(&message.channel, hint);
            }
            Err(RecvError::Lagged(_)) => wanted.tell_all(),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Reads a hint as `append.lua` writes it: the log, the first offset and the lengths of the frames; then the frames.
fn hint(message: &Bytes) -> Option<Hint> {
    let line = message.iter().position(|byte| *byte == b'\n')?;
    let mut words = std::str::from_utf8(&message[..line]).ok()?.split_ascii_whitespace();
    let log = u64::from_str_radix(words.next()?, 16).ok()?;
    let first = words.next()?.parse().ok()?;
    let mut rest = message.slice(line + 1..);
    let frame = |length: &str| {
        let length: usize = length.parse().ok()?;
        (length <= rest.len()).then(|| rest.split_to(length))
    };
    let frames = words.map(frame).collect::<Option<Vec<Bytes>>>()?;
    rest.is_empty().then_some(Hint::Frames { log, first, frames })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_that_cannot_be_read_are_none() {
        let good = Hint::Frames { log: 255, first: 3, frames: vec![Bytes::from("ab"), Bytes::from("\n")] };
        assert_eq!(hint(&Bytes::from("00ff 3 2 1\nab\n")), Some(good));
        for bad in [
            "",
            "\n",
            "x 1 1\na",
            "1 x 1\na",
            "1 1 2\na",
            "1 1 1\nab",
            "1 1 99999999999999999999\na",
            "1 1 -1\n",
        ] {
            assert_eq!(hint(&Bytes::from(bad)), None, "{bad:?}");
        }
    }
}
