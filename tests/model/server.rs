//! The server: one session, the turn that it creates for the start, and those of other clients. It makes no mistakes:
//! all faults are the network's, except that it keeps a turn's stream only for a time, and may lose events.

use serde_json::{Value as Json, json};

use turnwire::protocol::{Method, Request};

use super::history::{History, message, record};
use super::random::Random;
use super::script::{Script, TURN_ID};
use super::time::Millis;
use super::wire::{ListNumbers, Numbering};

/// The turn that another client starts a moment before.
const AT_ONCE: &str = "turn-at-once";

/// What the server answers.
#[derive(Debug)]
pub(crate) enum Answer {
    Json(u16, Json),
    /// The turn's events after this number, as they come.
    Stream {
        after: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) script: Script,
    pub(crate) history: History,
    /// When the turn was created; `None` before that.
    created: Option<Millis>,
    previous: Option<String>,
    /// The number of starts that were carried out.
    pub(crate) starts: u32,
    /// The number of subscriptions after which the stream is gone.
    pub(crate) expires_after: Option<u32>,
    pub(crate) subscriptions: u32,
    /// Events that are on no stream: the first number, and the one after the last.
    pub(crate) hole: Option<(u64, u64)>,
    /// The number of subscriptions after which they are found again.
    pub(crate) hole_until: u32,
    pub(crate) numbering: Numbering,
    pub(crate) list_numbers: ListNumbers,
    /// The most events of a page.
    page: usize,
    /// The most turns of a page.
    turn_page: usize,
}

impl Server {
    pub(crate) fn new(script: Script, history: History, random: &mut Random) -> Self {
        let (page, turn_page) = (random.pick(&[1, 3, 25]), random.pick(&[1, 3, 10, 25]));
        Self {
            script,
            history,
            created: None,
            previous: None,
            starts: 0,
            expires_after: None,
            subscriptions: 0,
            hole: None,
            hole_until: 0,
            numbering: random.pick(&Numbering::ALL),
            list_numbers: random.pick(&ListNumbers::ALL),
            page,
            turn_page,
        }
    }

    /// When the turn began.
    pub(crate) fn created(&self) -> Millis {
        self.created.expect("the turn has begun")
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.created.is_some()
    }

    /// Whether the turn has ended.
    pub(crate) fn has_ended(&self, now: Millis) -> bool {
        self.created.is_some_and(|created| created + self.script.lasts() <= now)
    }

    /// Whether the stream is gone.
    pub(crate) fn has_expired(&self) -> bool {
        self.expires_after.is_some_and(|count| self.subscriptions >= count)
    }

    /// Whether this event is on no stream.
    pub(crate) fn is_lost(&self, number: u64) -> bool {
        let is_in = |(first, behind)| (first..behind).contains(&number);
        self.hole.is_some_and(is_in) && self.subscriptions < self.hole_until
    }

    /// Carries out a request.
    pub(crate) fn handle(&mut self, request: &Request, now: Millis) -> Answer {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let rest =
            path.strip_prefix("v1/agents/sessions/s/turns").expect("a request for the session's turns");
        let body: Json =
            request.body.as_deref().map_or(Json::Null, |body| serde_json::from_str(body).expect("JSON"));
        // A client that asks for another turn takes it for the one that its own start made.
        let turn = |suffix: &str| format!("/{TURN_ID}{suffix}");
        match (request.method, rest) {
            (Method::Post, "") => self.start(&body, now),
            (Method::Get, "") => self.turns(query, now),
            (Method::Get, rest) if rest == turn("") && self.has_begun() => {
                Answer::Json(200, json!({"data": self.record(now)}))
            }
            (Method::Post, rest) if rest == turn("/subscribe") && self.has_begun() => self.subscribe(&body),
            (Method::Get, rest) if rest == turn("/events") && self.has_begun() => self.events(query, now),
            other => panic!("{other:?} is not asked of this server"),
        }
    }

    fn start(&mut self, body: &Json, now: Millis) -> Answer {
        assert_eq!(body["input"], message(super::history::INPUT));
        self.starts += 1;
        self.created.get_or_insert(now);
        self.previous = self.history.followed(body["previous_turn_id"].as_str());
        if self.history.at_once.is_some() && matches!(body["previous_turn_id"].as_str(), None | Some("auto"))
        {
            self.previous = Some(AT_ONCE.to_owned());
        }
        if body["stream"] == true {
            return Answer::Stream { after: 0 };
        }
        Answer::Json(200, json!({"data": self.record(now)}))
    }

    fn turns(&self, query: &str, now: Millis) -> Answer {
        let limit = parameter(query, "limit").and_then(|limit| limit.parse().ok()).unwrap_or(10);
        let mut turns = self.recent(now);
        let is_afresh = self.history.later.is_some_and(|(_, is_afresh)| is_afresh);
        if self.has_begun() && is_afresh && !self.history.is_oldest_first {
            // The last turn is on a branch of its own.
            turns.truncate(1);
        } else {
            let last = turns.last().and_then(|turn| turn["previous_turn_id"].as_str()).map(str::to_owned);
            let first = if turns.is_empty() { self.history.newest_id() } else { last };
            turns.extend(self.history.listed(first.as_ref()));
        }
        if self.history.is_oldest_first {
            turns.reverse();
        }
        Answer::Json(200, page(&turns, query, self.turn_page.min(limit)))
    }

    /// The turn, and those that another client makes at the same time; the newest first.
    fn recent(&self, now: Millis) -> Vec<Json> {
        let Some(created) = self.created else { return Vec::new() };
        let history = &self.history;
        let running = json!({"status": "running"});
        let mut turns = Vec::new();
        if let Some((said, is_afresh)) = history.later {
            let previous = (!is_afresh).then_some(TURN_ID);
            turns.push(record("turn-later", previous, &message(said), &running, &history.time(created)));
        }
        turns.push(self.record(now));
        // It is on the branch of the turn, or is not listed.
        let is_listed = history.is_oldest_first || self.previous.as_deref() == Some(AT_ONCE);
        if let Some(said) = history.at_once.filter(|_| is_listed) {
            let previous = history.newest_id();
            let created = history.time(created);
            turns.push(record(AT_ONCE, previous.as_deref(), &message(said), &running, &created));
        }
        turns
    }

    fn record(&self, now: Millis) -> Json {
        let state =
            if self.has_ended(now) { self.script.state.clone() } else { json!({"status": "running"}) };
        let created = self.history.time(self.created.expect("it has begun"));
        let mut input = message(super::history::INPUT);
        input[0]["id"] = "item-1".into();
        record(TURN_ID, self.previous.as_deref(), &input, &state, &created)
    }

    fn subscribe(&mut self, body: &Json) -> Answer {
        if self.has_expired() {
            return refusal(412, "Cannot read from stream, stream does not exist anymore");
        }
        self.subscriptions += 1;
        Answer::Stream { after: body["after_sequence_number"].as_u64().unwrap_or_default() }
    }

    fn events(&self, query: &str, now: Millis) -> Answer {
        if !self.has_ended(now) {
            return refusal(409, "the turn is still running");
        }
        assert_eq!(parameter(query, "order"), Some("asc"));
        let listed: Vec<Json> = self.script.listed.iter().map(|listed| self.listed(listed)).collect();
        Answer::Json(200, page(&listed, query, self.page))
    }

    fn listed(&self, (last, event): &(u64, Json)) -> Json {
        let mut event = event.clone();
        if let Some(number) = self.list_number(*last, &event) {
            event["sequence_number"] = number.into();
        }
        event
    }

    /// The number in the list of an event with this last number on the stream.
    pub(crate) fn list_number(&self, last: u64, event: &Json) -> Option<u64> {
        match self.list_numbers {
            ListNumbers::None => None,
            ListNumbers::First => self.script.firsts.get(event["id"].as_str()?).copied(),
            ListNumbers::Last => Some(last),
        }
    }
}

/// A page of a list: the one that the token names, or the first.
fn page(items: &[Json], query: &str, most: usize) -> Json {
    let from = parameter(query, "page_token").map_or(0, |token| token[1..].parse().expect("our token"));
    let end = (from + most).min(items.len());
    let next = (end < items.len()).then(|| format!("p{end}"));
    json!({"data": items[from..end], "pagination": {"limit": most, "next_page_token": next}})
}

pub(crate) fn refusal(status: u16, message: &str) -> Answer {
    Answer::Json(status, json!({"error": {"message": message}}))
}

fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query
        .split('&')
        .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value))
}
