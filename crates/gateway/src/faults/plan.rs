//! A session's coming faults, and the journal of its requests.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::grammar::{Faults, Grammar};
use super::request::View;
use super::surface::On;
use crate::lock::lock;

/// How many requests a session's journal remembers.
const JOURNAL_LENGTH: usize = 500;

/// Faults for coming requests, as requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedText {
    on: On,
    fault: String,
    /// For how many requests; 0 for all.
    #[serde(default = "once")]
    times: u64,
    /// How many matching requests pass first.
    #[serde(default)]
    skip: u64,
}

fn once() -> u64 {
    1
}

/// Faults for coming requests.
#[derive(Debug, Clone)]
struct Planned {
    on: On,
    faults: Faults,
    /// `None` for all.
    left: Option<u64>,
    skip: u64,
}

/// One request in the order of arrival.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct JournalEntry {
    method: String,
    path: String,
    on: Option<On>,
    /// `None` until it is answered.
    status: Option<u16>,
    /// The cursor of a subscribe.
    after: Option<u64>,
    fault: Option<String>,
    /// What a client sent in a frame of a WebSocket.
    #[serde(flatten)]
    frame: Option<SentFrame>,
}

impl JournalEntry {
    fn new(view: &View, fault: Option<&str>, frame: Option<SentFrame>) -> Self {
        Self {
            method: view.method.clone(),
            path: view.path.clone(),
            on: view.on,
            status: None,
            after: None,
            fault: fault.map(str::to_owned),
            frame,
        }
    }
}

/// A frame of a WebSocket, as received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SentFrame {
    /// The number of the socket.
    pub(crate) socket: u64,
    pub(crate) frame: Value,
    /// The code of the error that answered it.
    pub(crate) code: Option<i64>,
}

/// The schedules and journals of all sessions.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    sessions: Mutex<HashMap<String, Session>>,
}

#[derive(Debug, Default)]
struct Session {
    planned: Vec<Planned>,
    journal: VecDeque<JournalEntry>,
    /// Entries that the journal has forgotten.
    forgotten: usize,
}

/// Where an entry stands in a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JournalPlace {
    session: String,
    number: usize,
}

impl Plans {
    /// Replaces a session's schedule. The error is a sentence that says what is wrong.
    pub(crate) fn put(&self, grammar: &Grammar, session: &str, texts: &[PlannedText]) -> Result<(), String> {
        let planned = texts.iter().enumerate().map(|(index, text)| {
            let faults = grammar.parse(&text.fault).map_err(|error| format!("Entry {index}: {error}"))?;
            let left = (text.times > 0).then_some(text.times);
            Ok(Planned { on: text.on, faults, left, skip: text.skip })
        });
        let planned = planned.collect::<Result<_, String>>()?;
        self.change(session, |session| session.planned = planned);
        Ok(())
    }

    /// Uses up the first entry of the schedule that matches.
    pub(crate) fn take(&self, view: &View) -> Option<Faults> {
        let mut sessions = lock(&self.sessions);
        let planned = &mut sessions.get_mut(view.session.as_deref()?)?.planned;
        for index in 0..planned.len() {
            let entry = &mut planned[index];
            if !view.fits(entry.on) {
                continue;
            }
            if entry.skip > 0 {
                entry.skip -= 1;
                continue;
            }
            match &mut entry.left {
                Some(1) => return Some(planned.remove(index).faults),
                Some(left) => *left -= 1,
                None => {}
            }
            return Some(entry.faults.clone());
        }
        None
    }

    /// Whether some request may get no answer at all.
    pub(crate) fn leave_no_answer(&self) -> bool {
        let sessions = lock(&self.sessions);
        sessions.values().flat_map(|session| &session.planned).any(|entry| entry.faults.leave_no_answer())
    }

    /// Adds a request to the journal of its session.
    pub(crate) fn note(&self, view: &View, fault: Option<&str>) -> Option<JournalPlace> {
        let after = view.after;
        Some(self.keep(view.session.clone()?, JournalEntry { after, ..JournalEntry::new(view, fault, None) }))
    }

    /// Adds a frame that a client sent to a journal: that of all sockets, or of a session.
    pub(crate) fn note_frame(
        &self,
        session: &str,
        view: &View,
        fault: Option<&str>,
        frame: SentFrame,
    ) -> JournalPlace {
        self.keep(session.to_owned(), JournalEntry::new(view, fault, Some(frame)))
    }

    fn keep(&self, id: String, entry: JournalEntry) -> JournalPlace {
        let number = self.change(&id, |session| {
            session.journal.push_back(entry);
            if session.journal.len() > JOURNAL_LENGTH {
                session.journal.pop_front();
                session.forgotten += 1;
            }
            session.forgotten + session.journal.len() - 1
        });
        JournalPlace { session: id, number }
    }

    /// Records how a request was answered.
    pub(crate) fn answered(&self, place: &JournalPlace, status: StatusCode) {
        self.amend(place, |entry| entry.status = Some(status.as_u16()));
    }

    /// Records that a frame was answered, and the error if there was one.
    pub(crate) fn answered_frame(&self, place: &JournalPlace, error: Option<i64>) {
        let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        self.amend(place, |entry| {
            entry.status = Some(status.as_u16());
            if let Some(frame) = &mut entry.frame {
                frame.code = error;
            }
        });
    }

    fn amend(&self, place: &JournalPlace, change: impl FnOnce(&mut JournalEntry)) {
        self.change(&place.session, |session| {
            let index = place.number.checked_sub(session.forgotten);
            if let Some(entry) = index.and_then(|index| session.journal.get_mut(index)) {
                change(entry);
            }
        });
    }

    /// Whether a session has a schedule or a journal.
    pub(crate) fn knows(&self, session: &str) -> bool {
        lock(&self.sessions).contains_key(session)
    }

    /// The requests of a session so far.
    pub(crate) fn journal(&self, session: &str) -> Vec<JournalEntry> {
        self.change(session, |session| session.journal.iter().cloned().collect())
    }

    fn change<T>(&self, session: &str, change: impl FnOnce(&mut Session) -> T) -> T {
        change(lock(&self.sessions).entry(session.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(on: On, streaming: bool) -> View {
        View {
            method: "POST".to_owned(),
            path: "/x".to_owned(),
            session: Some("s".to_owned()),
            on: Some(on),
            streaming,
            after: None,
        }
    }

    fn plans(json: &str) -> Plans {
        let plans = Plans::default();
        let texts: Vec<PlannedText> = serde_json::from_str(json).expect("a plan");
        plans.put(&Grammar::new([]), "s", &texts).expect("faults");
        plans
    }

    fn take(plans: &Plans, on: On) -> Option<String> {
        plans.take(&view(on, on == On::Subscribe)).map(|faults| faults.text)
    }

    #[test]
    fn the_first_matching_entry_is_used_up() {
        let plans = plans(
            r#"[{"on": "stream", "fault": "eof:1"}, {"on": "subscribe", "fault": "eof:2", "times": 2},
                {"on": "turn", "fault": "lost", "times": 0}]"#,
        );
        assert_eq!(take(&plans, On::Create), None, "not a streaming one");
        let taken: Vec<_> = (0..4).map(|_| take(&plans, On::Subscribe)).collect();
        assert_eq!(taken, [Some("eof:1".to_owned()), Some("eof:2".into()), Some("eof:2".into()), None]);
        assert!((0..9).all(|_| take(&plans, On::Turn).is_some()), "0 times is always");
        let other = View { session: Some("t".to_owned()), ..view(On::Turn, false) };
        assert_eq!(plans.take(&other), None);
    }

    #[test]
    fn skipped_requests_are_left_to_later_entries() {
        let plans = plans(
            r#"[{"on": "any", "fault": "refuse", "skip": 2}, {"on": "any", "fault": "portal", "skip": 1}]"#,
        );
        let taken: Vec<_> = (0..4).map(|_| take(&plans, On::Turn)).collect();
        assert_eq!(taken, [None, Some("portal".to_owned()), Some("refuse".to_owned()), None]);
    }

    #[test]
    fn connections_matter_while_an_answer_may_never_arrive() {
        let plans = plans(r#"[{"on": "turn", "fault": "lost"}]"#);
        assert!(plans.leave_no_answer());
        take(&plans, On::Turn);
        assert!(!plans.leave_no_answer());
    }

    #[test]
    fn a_wrong_entry_is_named_and_changes_nothing() {
        let plans = plans(r#"[{"on": "turn", "fault": "eof:1"}]"#);
        let texts = r#"[{"on": "turn", "fault": "eof:2"}, {"on": "turn", "fault": "eof"}]"#;
        let texts: Vec<PlannedText> = serde_json::from_str(texts).expect("a plan");
        let error = plans.put(&Grammar::new([]), "s", &texts).expect_err("a wrong entry");
        assert_eq!(error, "Entry 1: Fault `eof` lacks N: it is written `eof:N`");
        assert_eq!(take(&plans, On::Turn), Some("eof:1".to_owned()));
    }

    #[test]
    fn the_journal_forgets_the_oldest() {
        let plans = Plans::default();
        let first = plans.note(&view(On::Turn, false), None).expect("a place");
        plans.answered(&first, StatusCode::OK);
        assert_eq!(plans.journal("s")[0].status, Some(200));
        for _ in 0..JOURNAL_LENGTH {
            plans.note(&view(On::Turns, false), Some("lost"));
        }
        plans.answered(&first, StatusCode::BAD_GATEWAY);
        let journal = plans.journal("s");
        assert_eq!(journal.len(), JOURNAL_LENGTH);
        assert!(journal.iter().all(|entry| entry.on == Some(On::Turns) && entry.status.is_none()));
    }
}
