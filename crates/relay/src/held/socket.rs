//! A held socket: how it handles messages of readers and of the agent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::journal::Journal;
use super::message::{Kind, Message, json_of, text_of};
use super::terms::{Attached, Bounds, EndReason, Place, ReaderKey, Refused, Step};
use super::words::Words;

/// The prefix of request ids towards the agent. With twelve digits they have 21 characters, which some agents require.
const OWN_ID: &str = "turnwire-";
/// How many ids of a reader's requests are remembered, so that a repeated request does not reach the agent twice.
const REMEMBERED: usize = 1024;
/// The longest name of a reader, in bytes.
const LONGEST_NAME: usize = 64;
/// The longest id of a request or of a turn, in bytes of JSON.
const LONGEST_ID: usize = 256;
/// The JSON-RPC codes of the relay's own errors: an unreadable message, a reached limit, and a dropped response.
const UNREADABLE: i32 = -32700;
const TOO_MANY: i32 = -32050;
const FORGOTTEN: i32 = -32051;

/// A held socket.
#[derive(Debug)]
pub struct HeldSocket {
    log: u64,
    words: &'static Words,
    bounds: Bounds,
    journal: Journal,
    readers: BTreeMap<ReaderKey, Reader>,
    next_reader: u64,
    visits: u64,
    /// Readers' requests in flight, by the relay's numbers.
    asked: BTreeMap<u64, Asked>,
    next_request: u64,
    /// Requests of the agent that no reader has answered.
    pending: Vec<Pending>,
    greeting: Greeting,
    /// Whether the notification that follows the greeting was sent. It need not wait for the response.
    is_greeted: bool,
    /// The ids of the running turns, as JSON.
    running: BTreeSet<String>,
    ended: Option<EndReason>,
}

#[derive(Debug)]
struct Reader {
    name: String,
    /// Its connection, if it has one.
    visit: Option<u64>,
    /// When it was last connected, as a count of all visits.
    seen: u64,
    /// It has missed nothing after this number, over all visits since.
    from: u64,
    /// Its last requests.
    requests: VecDeque<Known>,
}

/// A request that a reader has sent.
#[derive(Debug)]
struct Known {
    /// Its id, as JSON.
    id: String,
    /// The number of its response, if there is one.
    answer: Option<u64>,
}

#[derive(Debug)]
struct Asked {
    reader: ReaderKey,
    /// The reader's own id, as JSON.
    id: String,
    is_greeting: bool,
    /// The thread that the reader subscribes to with this request, as JSON.
    subscribes: Option<String>,
}

#[derive(Debug)]
struct Pending {
    /// Its id, as JSON.
    id: String,
    /// The thread that it names, as JSON.
    thread: Option<String>,
    text: Arc<str>,
}

/// The state of the agent's greeting.
#[derive(Debug)]
enum Greeting {
    Unsent,
    /// Sent. These readers also wait for its response, each with the id of its own request.
    Sent(Vec<(ReaderKey, String)>),
    /// The response.
    Known(String),
}

impl HeldSocket {
    /// An open socket. `log` is the random id of its journal.
    #[must_use]
    pub fn new(log: u64, words: &'static Words, bounds: Bounds) -> Self {
        Self {
            log,
            words,
            bounds,
            journal: Journal::new(bounds.journal),
            readers: BTreeMap::new(),
            next_reader: 0,
            visits: 0,
            asked: BTreeMap::new(),
            next_request: 0,
            pending: Vec::new(),
            greeting: Greeting::Unsent,
            is_greeted: false,
            running: BTreeSet::new(),
            ended: None,
        }
    }

    /// The id of its journal.
    #[must_use]
    pub fn log(&self) -> u64 {
        self.log
    }

    /// The approximate size of its journal in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.journal.bytes()
    }

    /// How many readers are connected.
    #[must_use]
    pub fn reader_count(&self) -> usize {
        self.readers.values().filter(|reader| reader.visit.is_some()).count()
    }

    /// How many requests of the agent are pending.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// Whether a turn is running or a response is awaited, so that ending the socket would lose something.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.ended.is_none() && !(self.running.is_empty() && self.asked.is_empty() && self.pending.is_empty())
    }

    /// Why it has ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<EndReason> {
        self.ended
    }

    /// Ends it. Readers get what remains, and are then informed.
    pub fn end(&mut self, reason: EndReason) {
        self.ended.get_or_insert(reason);
    }

    /// Attaches a reader with this name, at the place up to which it has read, if it was here before. It gets
    /// everything after that. A new reader, or one that missed dropped messages, gets new messages and the pending
    /// requests.
    pub fn attach(&mut self, name: &str, place: Option<Place>) -> Result<Attached, Refused> {
        if let Some(reason) = self.ended {
            return Err(Refused::Ended(reason));
        }
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err(Refused::Name);
        }
        let known = self.readers.iter().find(|(_, reader)| reader.name == name);
        let known = known.map(|(key, reader)| (*key, reader.visit.is_some()));
        if !known.is_some_and(|(_, is_there)| is_there) && self.reader_count() >= self.bounds.readers {
            return Err(Refused::Readers);
        }
        self.visits += 1;
        let visit = self.visits;
        let reader = known.map_or_else(|| self.new_reader(name), |(key, _)| key);
        let continued = place
            .filter(|place| known.is_some() && place.log == self.log && self.journal.has_after(place.after));
        let after = continued.map_or(self.journal.last(), |place| place.after);
        if let Some(reader) = self.readers.get_mut(&reader) {
            (reader.visit, reader.seen) = (Some(visit), visit);
            if continued.is_none() {
                reader.from = after;
            }
        }
        if continued.is_some() {
            return Ok(Attached { reader, visit, after, is_whole: true });
        }
        for pending in &self.pending {
            self.journal.append(pending.text.clone(), Some(reader));
        }
        Ok(Attached { reader, visit, after, is_whole: place.is_none() })
    }

    fn new_reader(&mut self, name: &str) -> ReaderKey {
        let away = || self.readers.iter().filter(|(_, reader)| reader.visit.is_none());
        if away().count() >= self.bounds.readers
            && let Some((&oldest, _)) = away().min_by_key(|(_, reader)| reader.seen)
        {
            self.readers.remove(&oldest);
        }
        let key = ReaderKey(self.next_reader);
        self.next_reader += 1;
        let (name, requests) = (name.to_owned(), VecDeque::new());
        let reader = Reader { name, visit: None, seen: self.visits, from: 0, requests };
        self.readers.insert(key, reader);
        key
    }

    /// The reader's connection has ended. Messages for it stay in the journal.
    pub fn detach(&mut self, attached: Attached) {
        if let Some(reader) = self.readers.get_mut(&attached.reader)
            && reader.visit == Some(attached.visit)
        {
            reader.visit = None;
        }
    }

    /// The next step of a reader that has everything up to this number, with at most this many bytes.
    #[must_use]
    pub fn step(&self, attached: Attached, after: u64, most: usize) -> Step {
        let visit = self.readers.get(&attached.reader).and_then(|reader| reader.visit);
        if visit != Some(attached.visit) {
            return Step::Superseded;
        }
        match self.journal.after(after, attached.reader, most) {
            None => Step::FellBehind,
            Some((messages, at)) => match self.ended {
                Some(reason) if messages.is_empty() && at == self.journal.last() => Step::Ended(reason),
                _ => Step::Read(messages, at),
            },
        }
    }

    /// Handles a message of a reader. Returns the message for the agent.
    pub fn said(&mut self, reader: ReaderKey, text: &str) -> Option<String> {
        if self.ended.is_some() || !self.readers.contains_key(&reader) {
            return None;
        }
        let Some(message) = Message::read(text) else {
            self.refuse(
                reader,
                "null",
                UNREADABLE,
                "the message is no object of JSON, or names a member twice",
            );
            return None;
        };
        match message.kind() {
            Kind::Request => self.asks(reader, &message),
            Kind::Notification => self.confirms(&message).then(|| text.to_owned()),
            Kind::Response => self.answers(reader, &message).then(|| text.to_owned()),
            Kind::Other => {
                self.refuse(
                    reader,
                    "null",
                    UNREADABLE,
                    "the message is no request, no notification and no response",
                );
                None
            }
        }
    }

    fn asks(&mut self, key: ReaderKey, message: &Message<'_>) -> Option<String> {
        let id = message.id();
        if id.len() > LONGEST_ID {
            self.refuse(key, "null", UNREADABLE, "an id has at most 256 bytes");
            return None;
        }
        let reader = self.readers.get_mut(&key)?;
        if let Some(known) = reader.requests.iter().find(|known| known.id == id) {
            // The reader has the response or gets it from the journal, unless it was lost in transit.
            if let Some(number) = known.answer.filter(|number| *number <= reader.from) {
                let text = "the agent has answered this request, and the answer is not kept any more";
                let answer = self.journal.at(number).unwrap_or_else(|| refusal(id, FORGOTTEN, text).into());
                self.reply(key, id, answer);
            }
            return None;
        }
        let greeting = if let Greeting::Sent(waiting) = &self.greeting { waiting.len() } else { 0 };
        if self.asked.len() + greeting >= self.bounds.requests {
            self.refuse(key, id, TOO_MANY, "too many requests wait for an answer; this one was not sent");
            return None;
        }
        if reader.requests.len() == REMEMBERED {
            reader.requests.pop_front();
        }
        reader.requests.push_back(Known { id: id.to_owned(), answer: None });
        let method = message.method().unwrap_or_default();
        let is_greeting = !self.words.greeting.is_empty() && method == self.words.greeting;
        if is_greeting {
            match &mut self.greeting {
                Greeting::Unsent => self.greeting = Greeting::Sent(Vec::new()),
                Greeting::Sent(waiting) => {
                    waiting.push((key, id.to_owned()));
                    return None;
                }
                Greeting::Known(answer) => {
                    let answer = answer.clone();
                    self.tell(&answer, key, id);
                    return None;
                }
            }
        }
        let subscribes = (method == self.words.subscribe)
            .then(|| message.parameter(self.words.thread))
            .flatten()
            .filter(|thread| thread.len() <= LONGEST_ID)
            .map(str::to_owned);
        self.next_request += 1;
        let number = self.next_request;
        self.asked.insert(number, Asked { reader: key, id: id.to_owned(), is_greeting, subscribes });
        Some(message.with_id(&json_of(&format!("{OWN_ID}{number:012}"))))
    }

    /// Whether this notification is sent to the agent.
    fn confirms(&mut self, message: &Message<'_>) -> bool {
        let is_greeted =
            !self.words.greeted.is_empty() && message.method().as_deref() == Some(self.words.greeted);
        !is_greeted || !std::mem::replace(&mut self.is_greeted, true)
    }

    /// Handles a reader's answer to a request of the agent. Returns whether it is the first answer.
    fn answers(&mut self, reader: ReaderKey, message: &Message<'_>) -> bool {
        let id = message.id();
        if id.len() > LONGEST_ID {
            self.refuse(reader, "null", UNREADABLE, "an id has at most 256 bytes");
            return false;
        }
        let is_first = self.settle(id);
        let (what, to) = if is_first { ("answered", None) } else { ("late", Some(reader)) };
        self.journal.append(format!(r#"{{"turnwire":"{what}","id":{id}}}"#).into(), to);
        is_first
    }

    /// Settles a request of the agent. Returns whether it was pending.
    fn settle(&mut self, id: &str) -> bool {
        let before = self.pending.len();
        self.pending.retain(|pending| pending.id != id);
        self.pending.len() < before
    }

    /// Handles a message of the agent. Returns the reply to it.
    pub fn heard(&mut self, text: &str) -> Option<String> {
        if self.ended.is_some() {
            return None;
        }
        let Some(message) = Message::read(text) else {
            self.journal.append(text.into(), None);
            return None;
        };
        match message.kind() {
            Kind::Request => return self.asked_by_agent(&message, text),
            Kind::Response if self.answered(&message) => return None,
            Kind::Notification => self.noted(&message),
            Kind::Response | Kind::Other => {}
        }
        self.journal.append(text.into(), None);
        None
    }

    /// Handles a request of the agent. The agent repeats pending requests to new subscribers of a thread; readers have
    /// them.
    fn asked_by_agent(&mut self, message: &Message<'_>, text: &str) -> Option<String> {
        let id = message.id();
        if self.pending.iter().any(|pending| pending.id == id) {
            return None;
        }
        let bytes: usize = self.pending.iter().map(|pending| pending.text.len()).sum();
        if self.pending.len() >= self.bounds.requests || bytes + text.len() > self.bounds.journal {
            return Some(refusal(id, TOO_MANY, "too many requests are pending"));
        }
        let text: Arc<str> = text.into();
        let thread = message.parameter(self.words.thread).map(str::to_owned);
        self.pending.push(Pending { id: id.to_owned(), thread, text: text.clone() });
        self.journal.append(text, None);
        None
    }

    /// Handles a response of the agent. Returns whether it answers a reader.
    fn answered(&mut self, message: &Message<'_>) -> bool {
        let id = text_of(message.id()).unwrap_or_default();
        let number = id.strip_prefix(OWN_ID).and_then(|number| number.parse().ok());
        let Some(asked) = number.and_then(|number| self.asked.remove(&number)) else { return false };
        self.reply(asked.reader, &asked.id, message.with_id(&asked.id).into());
        let is_good = message.get("result").is_some();
        if asked.is_greeting {
            let answer = message.with_id("null");
            let next = if is_good { Greeting::Known(answer.clone()) } else { Greeting::Unsent };
            self.is_greeted &= is_good;
            if let Greeting::Sent(waiting) = std::mem::replace(&mut self.greeting, next) {
                for (reader, id) in waiting {
                    self.tell(&answer, reader, &id);
                }
            }
        }
        if let Some(thread) = asked.subscribes.filter(|_| is_good) {
            for pending in &self.pending {
                if pending.thread.as_ref() == Some(&thread) {
                    self.journal.append(pending.text.clone(), Some(asked.reader));
                }
            }
        }
        true
    }

    fn noted(&mut self, message: &Message<'_>) {
        let Some(method) = message.method() else { return };
        let words = self.words;
        if method == words.settled {
            if let Some(id) = message.parameter(&["requestId"]) {
                self.settle(id);
            }
        } else if method == words.begins || words.ends.contains(&&*method) {
            let turn = message.parameter(&["turn"]).and_then(Message::read);
            let Some(turn) = turn.and_then(|turn| turn.get("id").map(str::to_owned)) else { return };
            if method != words.begins {
                self.running.remove(&turn);
            } else if self.running.len() < self.bounds.requests && turn.len() <= LONGEST_ID {
                self.running.insert(turn);
            }
        }
    }

    /// Sends the response to the greeting to a reader, under the reader's id.
    fn tell(&mut self, answer: &str, reader: ReaderKey, id: &str) {
        if let Some(answer) = Message::read(answer) {
            self.reply(reader, id, answer.with_id(id).into());
        }
    }

    /// Answers a reader's request with this id.
    fn reply(&mut self, key: ReaderKey, id: &str, answer: Arc<str>) {
        self.journal.append(answer, Some(key));
        let number = self.journal.last();
        let requests = self.readers.get_mut(&key).map(|reader| reader.requests.iter_mut());
        if let Some(known) = requests.into_iter().flatten().find(|known| known.id == id) {
            known.answer = Some(number);
        }
    }

    fn refuse(&mut self, reader: ReaderKey, id: &str, code: i32, text: &str) {
        self.journal.append(refusal(id, code, text).into(), Some(reader));
    }
}

fn refusal(id: &str, code: i32, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#, json_of(text))
}
