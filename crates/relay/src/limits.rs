//! The limits of one user, and of all users together.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::config::Limits;

/// How long a refused caller should wait before trying again.
const AGAIN: Duration = Duration::from_secs(5);
const TURNS: &str = "you have too many running turns";

/// A limited resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A running turn.
    Turn,
    /// An open stream.
    Stream,
    /// A held socket.
    Socket,
}

/// A limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exceeded {
    pub(crate) what: &'static str,
    /// When to try again.
    pub(crate) after: Duration,
    /// Whether it is the user's own limit, rather than that of all users.
    pub(crate) is_own: bool,
}

impl Exceeded {
    /// The user has started too many turns, and may start again after this time.
    pub(crate) fn starts(after: Duration) -> Self {
        Self { what: "you start too many turns", after, is_own: true }
    }

    /// Too many turns of the user are running.
    pub(crate) fn turns() -> Self {
        Self { what: TURNS, after: AGAIN, is_own: true }
    }
}

/// Counts what is in use.
#[derive(Debug)]
pub(crate) struct Usage {
    limits: Limits,
    starts: DefaultKeyedRateLimiter<Arc<str>>,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    all: HashMap<Kind, usize>,
    own: HashMap<(Kind, Arc<str>), usize>,
}

/// A resource in use, until dropped.
#[derive(Debug)]
pub(crate) struct InUse {
    counts: Arc<Mutex<Counts>>,
    kind: Kind,
    subject: Arc<str>,
}

impl Usage {
    pub(crate) fn new(limits: &Limits) -> Self {
        let starts = NonZeroU32::new(limits.starts_per_minute).unwrap_or(NonZeroU32::MIN);
        Self {
            limits: limits.clone(),
            starts: RateLimiter::keyed(Quota::per_minute(starts)),
            counts: Arc::default(),
        }
    }

    /// Takes a resource.
    pub(crate) fn take(&self, kind: Kind, subject: &Arc<str>) -> Result<InUse, Exceeded> {
        let (own, all, own_what, all_what) = match kind {
            Kind::Turn => (self.limits.turns_per_subject, self.limits.turns, TURNS, "too many turns run"),
            Kind::Stream => (
                self.limits.streams_per_subject,
                self.limits.streams,
                "you have too many open streams",
                "too many streams are open",
            ),
            Kind::Socket => (
                self.limits.sockets_per_subject,
                self.limits.sockets,
                "you have too many held sockets",
                "too many sockets are held",
            ),
        };
        let counts = lock(&self.counts);
        let after = AGAIN;
        if counts.own.get(&(kind, subject.clone())).is_some_and(|&count| count >= own) {
            return Err(Exceeded { what: own_what, after, is_own: true });
        }
        if counts.all.get(&kind).is_some_and(|&count| count >= all) {
            return Err(Exceeded { what: all_what, after, is_own: false });
        }
        Ok(self.counted(counts, kind, subject))
    }

    /// Takes a resource that is already in use, regardless of the limits.
    pub(crate) fn take_over(&self, kind: Kind, subject: &Arc<str>) -> InUse {
        self.counted(lock(&self.counts), kind, subject)
    }

    fn counted(&self, mut counts: MutexGuard<'_, Counts>, kind: Kind, subject: &Arc<str>) -> InUse {
        *counts.all.entry(kind).or_default() += 1;
        *counts.own.entry((kind, subject.clone())).or_default() += 1;
        InUse { counts: self.counts.clone(), kind, subject: subject.clone() }
    }

    /// Counts a start.
    pub(crate) fn start(&self, subject: &Arc<str>) -> Result<(), Exceeded> {
        self.starts
            .check_key(subject)
            .map_err(|until| Exceeded::starts(until.wait_time_from(DefaultClock::default().now())))
    }

    /// How many are in use.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        lock(&self.counts).all.get(&kind).copied().unwrap_or_default()
    }

    /// Forgets users without recent starts.
    pub(crate) fn sweep(&self) {
        self.starts.retain_recent();
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.all.get_mut(&self.kind) {
            *count -= 1;
        }
        let own = (self.kind, self.subject.clone());
        if let Some(count) = counts.own.get_mut(&own) {
            *count -= 1;
            if *count == 0 {
                counts.own.remove(&own);
            }
        }
    }
}

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn usage(limits: &str) -> Usage {
        let text = format!(
            "listen = \"127.0.0.1:0\"\n[identity.none]\n[upstream.a]\nprotocol = \"aap\"\nurl = \"http://a\"\n[limits]\n{limits}"
        );
        Usage::new(&Config::parse(&text).expect("a config").limits)
    }

    #[test]
    fn one_user_does_not_take_all() {
        let usage = usage("turns_per_subject = 2\nturns = 3");
        let (ann, bob): (Arc<str>, Arc<str>) = ("ann".into(), "bob".into());
        let first = usage.take(Kind::Turn, &ann).expect("free");
        let _second = usage.take(Kind::Turn, &ann).expect("free");
        assert!(usage.take(Kind::Turn, &ann).is_err_and(|exceeded| exceeded.is_own));
        assert!(usage.take(Kind::Stream, &ann).is_ok(), "streams are counted apart");
        let _third = usage.take(Kind::Turn, &bob).expect("free");
        assert!(usage.take(Kind::Turn, &bob).is_err_and(|exceeded| !exceeded.is_own));
        drop(first);
        assert_eq!(usage.count(Kind::Turn), 2);
        assert!(usage.take(Kind::Turn, &bob).is_ok());
    }

    #[test]
    fn starts_have_a_pace() {
        let usage = usage("starts_per_minute = 2");
        let (ann, bob): (Arc<str>, Arc<str>) = ("ann".into(), "bob".into());
        assert!(usage.start(&ann).is_ok() && usage.start(&ann).is_ok());
        let exceeded = usage.start(&ann).expect_err("too many");
        assert!(exceeded.after > Duration::ZERO && exceeded.after <= Duration::from_secs(30), "{exceeded:?}");
        assert!(usage.start(&bob).is_ok());
    }
}
