//! Reconciles a snapshot of the messages with the client's own (section 6). Servers send the same message under another
//! id, in another order, without its spaces, or not at all.

use std::borrow::Cow;

use crate::names::Names;

use super::conversation::Message;
use super::parts::text_of;

/// A message of the snapshot, and the index of the same message of the client.
#[derive(Debug)]
pub(super) struct Matched {
    pub(super) message: Message,
    pub(super) ours: Option<usize>,
}

/// Matches a snapshot with the client's messages: results by their calls, others by id, then by role, order and text,
/// and then by their calls. Completes the parts that the snapshot omits.
pub(super) fn matched(ours: &[Message], snapshot: Vec<Message>) -> Vec<Matched> {
    let mut places = Places::of(ours);
    let mut is_taken = vec![false; ours.len()];
    let mut matched: Vec<Matched> = Vec::with_capacity(snapshot.len());
    let mut after = 0;
    // A message found by its id must not also match by its text.
    for message in snapshot {
        let place = places.free(message.role(), identity(&message), &is_taken);
        if let Some(at) = place {
            is_taken[at] = true;
        }
        matched.push(Matched { message, ours: place });
    }
    for Matched { message, ours: place } in &mut matched {
        message.drop_repeated_calls();
        if let Some(at) = *place {
            after = at + 1;
            complete(message, ours.get(at));
            continue;
        }
        let is_equal =
            |at: &usize| !is_taken[*at] && ours.get(*at).is_some_and(|known| is_like(known, message));
        let like = (after..ours.len()).find(is_equal);
        // Only the agent's messages make calls.
        let Some(at) = like.or_else(|| places.by_call(message, &is_taken)) else { continue };
        is_taken[at] = true;
        after = at + 1;
        *place = Some(at);
        if let Some(known) = ours.get(at) {
            complete(message, Some(known));
            message.put("id", known.id());
            if like.is_some() {
                message.text.clone_from(&known.text);
            }
        }
    }
    matched
}

/// The messages after a snapshot: the snapshot's own, and in their places the client's `unfinished` ones and its
/// reasoning, unless the snapshot has reasoning.
pub(super) fn merged(ours: &[Message], matched: &[Matched], unfinished: &[bool]) -> Vec<Message> {
    let has_reasoning = matched.iter().any(|one| one.message.role() == "reasoning");
    let mut after = vec![usize::MAX; ours.len()];
    for (at, place) in matched.iter().enumerate().filter_map(|(at, one)| Some((at, one.ours?))) {
        if let Some(after) = after.get_mut(place) {
            *after = at;
        }
    }
    // For each place in the snapshot, the client's messages before it.
    let mut kept: Vec<Vec<&Message>> = Vec::new();
    kept.resize_with(matched.len() + 1, Vec::new);
    let mut next = matched.len();
    for (place, (known, at)) in ours.iter().zip(&after).enumerate().rev() {
        if *at != usize::MAX {
            next = *at;
        } else if known.role() == "reasoning" && !has_reasoning || unfinished.get(place) == Some(&true) {
            kept[next].insert(0, known);
        }
    }
    let mut messages = Vec::new();
    for (at, before) in kept.into_iter().enumerate() {
        messages.extend(before.into_iter().cloned());
        messages.extend(matched.get(at).map(|one| one.message.clone()));
    }
    messages
}

fn complete(message: &mut Message, known: Option<&Message>) {
    if let Some(known) = known {
        message.complete_from(known);
    }
}

/// Whether both texts are equal, apart from surrounding spaces.
fn is_like(known: &Message, message: &Message) -> bool {
    known.role() == message.role()
        && known.role() != "tool"
        && !said(message).is_empty()
        && said(known) == said(message)
}

/// The text of a message, or of its parts, without surrounding spaces.
fn said(message: &Message) -> Cow<'_, str> {
    match &message.text {
        Some(text) => Cow::Borrowed(text.trim()),
        None => Cow::Owned(text_of(message.get("content")).trim().to_owned()),
    }
}

/// The indexes of messages by what identifies them, in order. Calls of several turns can have the same id.
struct Places {
    /// The ids, the calls that are answered, and the calls that are made, each kind behind its name.
    names: Names,
    /// For each of these, the number of its first free place.
    first: Vec<usize>,
    /// The places, each with the number of the next one of the same.
    list: Vec<(usize, usize)>,
}

/// The kind of the calls that are made. The other kinds are roles.
const CALL: &str = "call";

impl Places {
    fn of(messages: &[Message]) -> Self {
        let mut all = Self { names: Names::default(), first: Vec::new(), list: Vec::new() };
        for (at, message) in messages.iter().enumerate().rev() {
            all.add(message.role(), identity(message), at);
            for call in &message.calls {
                all.add(CALL, call.id(), at);
            }
        }
        all
    }

    fn add(&mut self, kind: &str, id: &str, at: usize) {
        let (number, is_new) = self.names.number(&key(kind, id));
        if is_new {
            self.first.push(usize::MAX);
        }
        if let Some(first) = self.first.get_mut(number as usize) {
            self.list.push((at, std::mem::replace(first, self.list.len())));
        }
    }

    /// The first free place. Messages without ids never match by id.
    fn free(&mut self, kind: &str, id: &str, is_taken: &[bool]) -> Option<usize> {
        let number = self.names.get(&key(kind, id)).filter(|_| !id.is_empty())?;
        let first = self.first.get_mut(number as usize)?;
        loop {
            let (at, next) = self.list.get(*first)?;
            if !*is_taken.get(*at)? {
                return Some(*at);
            }
            *first = *next;
        }
    }

    /// The place of the message that makes the same call.
    fn by_call(&mut self, message: &Message, is_taken: &[bool]) -> Option<usize> {
        message.calls.iter().find_map(|call| self.free(CALL, call.id(), is_taken))
    }
}

/// What distinguishes a message from others of its role: its id, or the call that it answers.
fn identity(message: &Message) -> &str {
    if message.role() == "tool" { message.call_id() } else { message.id() }
}

fn key(kind: &str, id: &str) -> String {
    let mut key = kind.to_owned();
    key.push('\0');
    key.push_str(id);
    key
}
