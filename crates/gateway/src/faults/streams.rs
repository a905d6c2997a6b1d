//! The event streams and WebSockets that are open now, so that they can be counted and cut off.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;
use turnwire_relay::connection::Connection;

use super::fault::Ending;
use crate::lock::lock;

/// How long a stream may take to follow an order.
const ORDER_LIMIT: Duration = Duration::from_millis(200);

/// All open streams of a gateway.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenStreams(Arc<Mutex<Register>>);

#[derive(Debug, Default)]
struct Register {
    next: u64,
    open: HashMap<u64, Line>,
}

/// How one stream is reached.
#[derive(Debug)]
struct Line {
    /// A WebSocket may serve several.
    sessions: Vec<String>,
    order: watch::Sender<Option<Ending>>,
    connection: Connection,
}

/// One open stream; dropping it takes it out of the register.
#[derive(Debug)]
pub(crate) struct OpenStream {
    number: u64,
    order: watch::Receiver<Option<Ending>>,
    pub(crate) connection: Connection,
    register: OpenStreams,
}

impl OpenStreams {
    pub(crate) fn open(&self, session: String, connection: Connection) -> OpenStream {
        let (sender, order) = watch::channel(None);
        let mut register = lock(&self.0);
        register.next += 1;
        let number = register.next;
        let line = Line { sessions: vec![session], order: sender, connection: connection.clone() };
        register.open.insert(number, line);
        OpenStream { number, order, connection, register: self.clone() }
    }

    pub(crate) fn count(&self) -> usize {
        lock(&self.0).open.len()
    }

    /// Ends the streams of a session this way. Returns their number.
    pub(crate) fn cut(&self, session: &str, how: Ending) -> usize {
        let register = lock(&self.0);
        let mut cut = 0;
        for (number, line) in
            register.open.iter().filter(|(_, line)| line.sessions.iter().any(|id| id == session))
        {
            line.order.send_replace(Some(how));
            if how == Ending::Reset {
                tokio::spawn(self.clone().reset(*number));
            }
            cut += 1;
        }
        cut
    }

    /// Resets the connection of a stream that cannot follow an order because its client reads nothing.
    async fn reset(self, number: u64) {
        sleep(ORDER_LIMIT).await;
        if let Some(line) = lock(&self.0).open.get(&number) {
            line.connection.reset();
        }
    }
}

impl OpenStream {
    /// Also serves this session.
    pub(crate) fn join(&self, session: &str) {
        self.change(|sessions| sessions.push(session.to_owned()));
    }

    /// No longer serves this session.
    pub(crate) fn leave(&self, session: &str) {
        self.change(|sessions| sessions.retain(|id| id != session));
    }

    fn change(&self, change: impl FnOnce(&mut Vec<String>)) {
        if let Some(line) = lock(&self.register.0).open.get_mut(&self.number) {
            change(&mut line.sessions);
        }
    }

    /// Waits for an order to end.
    pub(crate) async fn order(&mut self) -> Ending {
        // The register holds the other side as long as this stream is open.
        while self.order.changed().await.is_ok() {
            if let Some(ending) = *self.order.borrow_and_update() {
                return ending;
            }
        }
        std::future::pending().await
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        lock(&self.register.0).open.remove(&self.number);
    }
}
