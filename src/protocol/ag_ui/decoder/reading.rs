//! Reads a thread again after its run broke (section 7). The server returns the messages and the state of the thread,
//! not the run. The messages after the turn's input are read as if the run were repeated, so that only new parts are
//! reported. Message ids may differ from the streamed ones.

use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::options::wire;
use crate::text::cut;

use super::super::conversation::{Call, Conversation, Message};
use super::super::reconcile::matched;
use super::super::{Recovery, input};
use super::frames::Kind;
use super::{REASONING, Run, key, with_text};

/// How long after its beginning a run still counts as new, in milliseconds: as long as a page normally waits for it.
const OLD: u64 = 600_000;
/// How often to read the unchanged thread of an older run: for about five minutes. After that, the run has failed or
/// was stopped.
const MOST_SAME: u32 = 150;
/// How many unchanged reads until the server's unanswered calls are taken as not running, so that the run ends with the
/// page's calls beside them.
const SETTLED: u32 = 30;

/// The reading of a thread.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The conversation before the run, and the turn's input.
    known: Vec<Message>,
    /// The messages that the input repeats. Finding them in the thread proves nothing about the input.
    said_before: Vec<Message>,
    told: Vec<Message>,
    state: Option<Value<'static>>,
    /// Whether the run began so long ago that its page has probably waited for it already.
    is_old: bool,
    /// The size of the thread at the last read, and how often in a row it was the same.
    pub(super) seen: (usize, u32),
}

impl Reading {
    /// Begins to read a response that is a thread, not a stream that repeats its runs.
    pub(super) fn begin(params: &Object<'_>, seen: (usize, u32)) -> Option<Self> {
        let params = wire(params);
        let terms = params.object("terms")?;
        if !Recovery::of_terms(terms).tells_threads() {
            return None;
        }
        let mut before = Conversation::of(terms).before(params.text("turn_id"));
        // The same input was sent before.
        let said_before = input::add(&mut before, &params).map(|sent| sent.said_before).unwrap_or_default();
        let begun_at = before.open_run.map_or(u64::MAX, |run| run.begun_at);
        let is_old = input::now(terms).saturating_sub(begun_at) > OLD;
        Some(Self { known: before.messages, said_before, is_old, seen, ..Self::default() })
    }

    /// Counts reads of an unchanged thread. Returns whether its run is given up.
    fn is_in_vain(&mut self) -> bool {
        let size = |message: &Message| 1 + message.calls.len() + message.text.as_ref().map_or(0, String::len);
        let now = self.told.iter().map(size).sum();
        let (before, times) = self.seen;
        // Servers also show nothing of a thread while its run is in progress.
        self.seen = (now, if now > 0 && now == before { times + 1 } else { 1 });
        self.is_old && self.seen.1 > MOST_SAME
    }

    /// The messages of the run so far; `None` if the thread does not have the turn's input, or cannot prove that it
    /// has.
    fn said(&mut self, turn_id: &str) -> Option<Vec<Message>> {
        let is_new = |message: &Message| self.said_before.iter().all(|before| before.id() != message.id());
        self.told.retain(is_new);
        let told = matched(&self.known, std::mem::take(&mut self.told));
        let is_input = |message: &&Message| cut(message.id(), b':').0 == turn_id;
        let inputs = self.known.iter().rev().take_while(is_input).count();
        let is_told = |place: usize| told.iter().any(|one| one.ours == Some(place));
        if !(self.known.len() - inputs..self.known.len()).all(is_told) {
            return None;
        }
        // Results of earlier calls may come before and after the new ones.
        let last = told.iter().rposition(|one| one.ours.is_some() && one.message.role() != "tool")?;
        let after = told.into_iter().skip(last + 1).filter(|one| one.ours.is_none());
        // An earlier message may be the same, without an answer. Another client may have continued.
        let input = self.known.last().map(|message| &message.text);
        let is_again = |message: &Message| message.role() == "user" && input == Some(&message.text);
        let after = after.map(|one| one.message).skip_while(is_again);
        let said: Vec<Message> = after.take_while(|message| message.role() != "user").collect();
        (inputs > 0 || !said.is_empty()).then_some(said)
    }
}

/// The ids of the calls in a thread.
struct Ids {
    all: Vec<String>,
    /// The ids found so far, each with the id under which the call was streamed.
    renamed: Vec<(String, String)>,
}

impl Ids {
    fn of(messages: &[Message]) -> Self {
        let calls = messages.iter().flat_map(|message| &message.calls);
        Self { all: calls.map(|call| call.id().to_owned()).collect(), renamed: Vec::new() }
    }

    /// Whether a call has this id in the thread, or was matched with one there.
    fn has(&self, id: &str) -> bool {
        self.all.iter().any(|one| one == id) || self.renamed.iter().any(|(_, known)| known == id)
    }

    /// The streamed id of a call in the thread.
    fn heard(&self, id: &str) -> Option<&str> {
        self.renamed.iter().find(|(one, _)| one == id).map(|(_, known)| known.as_str())
    }
}

/// The characters of arguments, ignoring spaces, in which servers differ.
fn without_space(arguments: &str) -> impl Iterator<Item = u8> {
    arguments.bytes().filter(|byte| !byte.is_ascii_whitespace())
}

/// The messages of a list.
fn messages(list: Option<&Value<'_>>) -> Vec<Message> {
    let list = list.and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_object).filter_map(Message::read).collect()
}

impl Run {
    /// Takes a frame of a stream that contains a thread.
    pub(super) fn thread_frame(&mut self, kind: Kind, fields: &mut Object<'_>, sink: &mut dyn EventSink) {
        let Some(reading) = self.repeat.reading() else { return };
        match kind {
            Kind::State => reading.state = fields.get("snapshot").cloned().map(Value::into_owned),
            Kind::MessagesSnapshot => reading.told = messages(fields.get("messages")),
            Kind::RunFinished => self.hear_thread(fields, sink),
            _ => {}
        }
    }

    /// Takes a thread from a JSON response.
    pub(super) fn thread(&mut self, body: &Value<'_>, sink: &mut dyn EventSink) {
        if let Some(reading) = self.repeat.reading() {
            reading.told = messages(body.get("messages"));
            reading.state = body.get("state").cloned().map(Value::into_owned);
            self.hear_thread(&mut Object::new(), sink);
        }
    }

    /// Takes the run, if the thread has all of it. Servers also store a running or cancelled run between its steps, and
    /// not always in the order of its messages.
    fn hear_thread(&mut self, end: &mut Object<'_>, sink: &mut dyn EventSink) {
        let Some(reading) = self.repeat.reading() else { return };
        let is_in_vain = reading.is_in_vain();
        let is_settled = reading.seen.1 > SETTLED;
        let said = reading.said(&self.start.turn_id);
        let state = reading.state.take();
        if said.is_none() && !is_in_vain {
            return;
        }
        let said = said.unwrap_or_default();
        self.created(sink);
        self.reopen_run();
        let asks = end.object("outcome").is_some_and(|outcome| outcome.text("type") == "interrupt");
        let has_ended = !said.is_empty() && (asks || self.has_ended(&said, state.as_ref(), is_settled));
        if !has_ended && !is_in_vain {
            return;
        }
        self.runs.count = self.runs.count.max(1);
        let mut ids = Ids::of(&said);
        for message in said {
            self.hear(message, &mut ids, sink);
        }
        let known = self.conversation.state.clone().unwrap_or_else(|| Object::new().into());
        if let Some(state) = state.filter(|state| *state != known) {
            self.tell_state(state, sink);
        }
        if has_ended {
            self.run_finished(end);
        } else {
            let problem = "the run has no end in the server's thread, which does not change any more";
            self.run_error(&with_text("message", problem), sink);
        }
    }

    /// Whether a run ends with these messages: with a text, or with calls whose missing results are all pending here.
    /// Results of other calls may follow. A server's call without a result still runs, unless the thread no longer
    /// changes.
    fn has_ended(&self, said: &[Message], state: Option<&Value<'_>>, is_settled: bool) -> bool {
        let is_answered = |call: &Call| said.iter().any(|message| message.call_id() == call.id());
        let mut newest = said.iter().rev().filter(|message| message.role() != REASONING).peekable();
        let is_text = newest.peek().is_some_and(|last| last.role() == "assistant" && last.calls.is_empty());
        is_text
            || newest.find(|message| message.role() != "tool").is_some_and(|last| {
                let mut open = last.calls.iter().filter(|call| !is_answered(call)).peekable();
                let waits = |call: &Call| self.waits_for(call, state);
                open.peek().is_some() && if is_settled { open.any(waits) } else { open.all(waits) }
            })
    }

    /// Whether a run ends with this call: the page answers it, or the server's state lists it as awaited (ADK).
    fn waits_for(&self, call: &Call, state: Option<&Value<'_>>) -> bool {
        let awaited = state.and_then(|state| state.get("pending_tool_calls")?.as_array()).unwrap_or_default();
        self.start.own_tools.iter().any(|own| own == call.name())
            || awaited.iter().any(|id| id.as_str() == Some(call.id()))
    }

    /// Takes a message as if its frames were repeated. The end of the run finishes it.
    fn hear(&mut self, mut message: Message, ids: &mut Ids, sink: &mut dyn EventSink) {
        let (role, id) = (message.role().to_owned(), self.heard_as(&message));
        if role == "tool" {
            if let Some(call) = ids.heard(message.call_id()) {
                message.set_call_id(call);
            }
            if !self.is_answered(message.call_id()) {
                let content = message.content().unwrap_or_else(|| "".into());
                self.keep_result(message.clone());
                // A content that is neither a text nor a list is ignored.
                let _ = self.respond(&id, message.call_id(), &content, sink);
            }
            return;
        }
        if let Some(text) = message.text.as_deref().filter(|text| !text.is_empty()) {
            let fields = message.to_object();
            let number = self.begin_message(&id, &role, &fields, sink);
            self.piece(number, text, sink);
            if let Some(kept) = self.kept(number) {
                kept.put_texts(&["encryptedValue"], &fields);
            }
        }
        for call in &message.calls {
            let (known, is_whole) =
                self.called_as(call, ids).unwrap_or_else(|| (call.id().to_owned(), false));
            // A call that cannot begin has no arguments.
            if !is_whole && self.begin_call(&known, call.name(), &id, const { &Object::new() }, sink).is_ok()
            {
                self.arguments(&known, &call.arguments, sink);
            }
            ids.renamed.push((call.id().to_owned(), known));
        }
    }

    /// The streamed id of a call, if the thread has another one (ADK), and whether all of the call was streamed: it is
    /// the run's next call with this name and the same beginning.
    fn called_as(&self, call: &Call, ids: &Ids) -> Option<(String, bool)> {
        if self.call(call.id()).is_some() {
            return None;
        }
        self.calls.list.iter().find_map(|known| {
            let place = self.messages.get(known.message).and_then(|message| message.place)?;
            let kept =
                self.conversation.messages.get(place)?.calls.iter().find(|one| one.id() == known.id)?;
            let is_whole = without_space(&kept.arguments).eq(without_space(&call.arguments));
            let is_it = known.is_of_turn()
                && known.name == call.name()
                && !ids.has(&known.id)
                && (is_whole || call.arguments.starts_with(&kept.arguments));
            is_it.then(|| (known.id.clone(), is_whole))
        })
    }

    /// The streamed id of a message: its own, or that of the run's next message with the same beginning.
    fn heard_as(&self, message: &Message) -> String {
        let is_known = self.names.get(&key(message.role(), message.id())).is_some();
        let is_reasoning = message.role() == REASONING;
        let known = self.messages.iter().filter(|_| !is_known).find(|known| {
            let kept = known.place.and_then(|place| self.conversation.messages.get(place));
            let text = kept.and_then(|kept| kept.text.as_deref()).unwrap_or_default();
            let begins = message.text.as_ref().is_some_and(|whole| whole.starts_with(text));
            known.is_of_turn
                && known.is_reasoning() == is_reasoning
                && known.heard == 0
                && !text.is_empty()
                && begins
        });
        let kept = known.and_then(|known| self.conversation.messages.get(known.place?));
        let id = kept.map_or(message.id(), Message::id);
        if id.is_empty() && message.role() != "tool" { self.made_up_id(0) } else { id.to_owned() }
    }
}
