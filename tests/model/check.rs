//! The checks after each life of a turn, and at the end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use turnwire::json::Object;
use turnwire::protocol::truefoundry::{Dialect, TrueFoundry};
use turnwire::protocol::{Answer, Call};
use turnwire::turn::TurnStatus;
use turnwire::{Error, ErrorCode};

use super::drive::Drive;
use super::page::{Mirror, Uncut};
use super::profile::Profile;

/// How a life ended, in a few words.
pub(crate) fn words(ended: &Result<(), Error>, status: TurnStatus) -> String {
    let status = status.as_str();
    match ended {
        Ok(()) => status.to_owned(),
        Err(error) => format!("{status}, {}", error.code.as_str()),
    }
}

/// After a life of the turn.
pub(crate) fn life(drive: &Drive, uncut: &Uncut, profile: Profile, life: u32, ended: &Result<(), Error>) {
    let server = &drive.network.server;
    let machine = drive.driver.reader().machine();
    assert!(server.starts < 2, "the turn was started {} times", server.starts);
    assert!(!machine.is_streaming());
    match machine.status() {
        TurnStatus::Unstarted => assert_eq!(server.starts, 0, "the turn has begun"),
        TurnStatus::Starting => panic!("it is left starting"),
        status if status.is_terminal() => {
            assert!(server.has_ended(drive.now), "the turn has not ended");
            assert_eq!(server.script.state["status"], status.as_str());
        }
        _ => {}
    }
    if machine.id().is_some() {
        assert_eq!(server.starts, 1);
        assert_eq!(machine.id(), Some(super::script::TURN_ID));
    }
    reason(drive, profile, life, ended);
    delivered(drive, uncut);
    // A turn that has ended is checked at the end.
    if is_exact(drive) && !machine.status().is_terminal() {
        let last = usize::try_from(machine.cursor().last()).expect("a length");
        let uncut = Uncut::of(&server.script.log, last);
        assert_eq!(drive.page.events, uncut.page.events, "the events are a beginning of the log");
        assert_eq!(drive.page.mirror, uncut.page.mirror, "the page shows a beginning of the turn");
    }
}

/// Whether everything came from streams, and with its number.
fn is_exact(drive: &Drive) -> bool {
    let facts = &drive.facts;
    drive.page.listed.is_empty()
        && !drive.page.events.iter().any(|(number, event)| *number == 0 && event["type"] == "unknown")
        && !facts.was_unnumbered
        && !facts.search.was_found_ended
        && drive.driver.reader().gaps().is_empty()
}

/// A life ends well, or for a reported reason.
fn reason(drive: &Drive, profile: Profile, life: u32, ended: &Result<(), Error>) {
    let facts = &drive.facts;
    let machine = drive.driver.reader().machine();
    let (status, begun) = (machine.status(), machine.id().is_some());
    let is_off = drive.reconnect.max_attempts == 0;
    let went = facts.last;
    let Err(error) = ended else {
        // If it has not ended, nothing was sent, or what was sent was refused.
        let is_stopped = drive.abort_at.is_some_and(|at| at <= drive.now);
        let is_known =
            status.is_terminal() || went.is_unsent || is_stopped && status == TurnStatus::Unstarted;
        assert!(is_known, "it ends without an end, and without a reason");
        return;
    };
    if facts.search.is_only_look && status == TurnStatus::Unstarted {
        // The life was to find out that it has not begun.
        return;
    }
    let is_unclear = !begun && is_confusing(drive);
    let may_fail = match profile {
        Profile::Recover | Profile::Expire | Profile::Hole => is_unclear,
        Profile::Unnumbered => is_unclear || error.code == ErrorCode::Aborted,
        // The driver waits for a server that reports a running turn, even if all streams fail.
        Profile::Exhaust if drive.schedule.spares_questions() => is_unclear,
        _ => true,
    };
    assert!(may_fail, "it could have been recovered: {error:?}");
    let is_clean = life > 0 && drive.schedule.is_over() && drive.abort_at.is_none();
    assert!(!is_clean || is_unclear, "nothing happened to it: {error:?}");
    match error.code {
        ErrorCode::Aborted => assert!(drive.abort_at.is_some()),
        ErrorCode::Http => {
            let told = if begun { facts.last_status } else { facts.start_status };
            assert_eq!(error.status, Some(told), "the status that ended it");
            let expected = match (begun, told) {
                (true, _) if is_off => TurnStatus::Running,
                (true, _) => TurnStatus::Incomplete,
                (false, 408 | 500..) if is_off => TurnStatus::Incomplete,
                (false, _) => TurnStatus::Unstarted,
            };
            assert_eq!(status, expected);
        }
        ErrorCode::FrameTooLarge => {
            assert_eq!(status, TurnStatus::Incomplete);
            assert!(facts.record.faults.contains_key("giant"), "nothing was too large");
        }
        // The server runs the turn, even if something else came instead of its stream.
        ErrorCode::UnexpectedResponse if begun => assert!(is_off && status == TurnStatus::Running),
        ErrorCode::Incomplete if status.is_terminal() => {
            assert!(facts.list.was_used || !drive.driver.reader().gaps().is_empty(), "nothing was missing");
        }
        ErrorCode::Incomplete if begun => {
            assert_eq!(status, TurnStatus::Incomplete);
            assert!(is_off || facts.is_exhausted(drive.reconnect), "tries were left");
            assert!(facts.last.has_failed, "the server says that the turn runs");
        }
        // It is unknown whether it began, or known that it did not.
        ErrorCode::Incomplete
        | ErrorCode::Network
        | ErrorCode::Timeout
        | ErrorCode::UnexpectedResponse
        | ErrorCode::TurnNotStarted => {
            assert!(!begun && matches!(status, TurnStatus::Incomplete | TurnStatus::Unstarted), "{error:?}");
        }
        _ => panic!("unexpected: {error:?}"),
    }
}

/// Whether the client may be unable to distinguish the turn from the others that it knows.
fn is_confusing(drive: &Drive) -> bool {
    let server = &drive.network.server;
    server.history.is_confusing(drive.driver.newest(), server.has_begun())
}

/// No event comes twice, and all are in the log. Numbers grow, except for events that come late into a gap.
fn delivered(drive: &Drive, uncut: &Uncut) {
    let gaps = drive.driver.reader().gaps();
    let (mut seen, mut last) = (BTreeSet::new(), 0);
    let (streamed, listed) = (drive.page.events(false), drive.page.events(true));
    for (number, event) in listed.iter().filter(|(number, _)| *number > 0) {
        assert!(seen.insert(*number), "event {number} was listed twice");
        let server = &drive.network.server;
        let is_said = |(last, one): &(u64, Json)| {
            let id = event["raw"]["id"].as_str().or(event["id"].as_str());
            one["id"].as_str() == id && server.list_number(*last, one) == Some(*number)
        };
        assert!(server.script.listed.iter().any(is_said), "no listed event says {number}");
    }
    for (number, event) in streamed.into_iter().filter(|(number, _)| *number > 0) {
        assert!(seen.insert(*number), "event {number} came twice");
        let is_late = gaps.iter().any(|(after, next)| after < number && number < next);
        assert!(*number > last || is_late, "event {number} came after event {last}");
        last = last.max(*number);
        if let Some((_, expected)) =
            usize::try_from(*number - 1).ok().and_then(|at| uncut.page.events.get(at))
        {
            assert_eq!(event, expected, "event {number}");
        } else {
            assert!(drive.network.may_lose, "event {number} is not in the log");
        }
    }
    // Without a number, apart from deltas: by type and id.
    let mut ids = BTreeSet::new();
    for (_, event) in &drive.page.events {
        let id = event["raw"]["id"].as_str().or(event["id"].as_str()).unwrap_or_default();
        let kind = event["type"].as_str().expect("a type");
        if matches!(kind, "model.message" | "model.message.delta") || id.is_empty() {
            continue;
        }
        assert!(ids.insert((kind, id)), "{kind} {id} came twice");
    }
}

/// After the last life. Returns how the turn reached its end.
pub(crate) fn end(drive: &mut Drive, uncut: &mut Uncut) -> &'static str {
    let status = drive.driver.reader().machine().status();
    if !status.is_terminal() {
        let begun = drive.driver.reader().machine().id().is_some();
        assert!(is_confusing(drive) && !begun, "the turn was never brought to its end");
        return "unclear";
    }
    let state = drive.driver.reader_mut().take_state().expect("it has ended");
    let state: Json = serde_json::from_str(&state).expect("JSON");
    let expected = uncut.reader.take_state().expect("it has ended");
    assert_eq!(state, serde_json::from_str::<Json>(&expected).expect("JSON"), "the terminal state");
    let facts = &drive.facts;
    if facts.search.was_found_ended {
        return "found ended";
    }
    if is_exact(drive) {
        assert_eq!(drive.page.events, uncut.page.events, "all events, each once, in order");
        assert_eq!(drive.page.mirror, uncut.page.mirror, "the index");
        return "exact";
    }
    let has_gaps = !drive.driver.reader().gaps().is_empty();
    let was_listed = !drive.page.listed.is_empty();
    let is_whole = facts.list.was_read_whole || !was_listed && !has_gaps;
    let may_be_partial = facts.list.has_failed || drive.reconnect.max_attempts == 0;
    assert!(is_whole || may_be_partial, "the list was not read to its end");
    if was_listed && !facts.was_unnumbered && !has_gaps {
        missed(drive, uncut, is_whole);
    }
    if !is_whole {
        let known = |id: &str| uncut.reader.index().message(id).is_some();
        let messages = drive.driver.reader().index().messages();
        assert!(messages.iter().all(|message| known(&message.id)), "no message is invented");
        return "in part";
    }
    let unfinished = &drive.network.server.script.unfinished;
    let (mut ours, mut theirs) = (view(&drive.page.mirror), view(&uncut.page.mirror));
    if has_gaps {
        // A result that came while its call was missing stays with the thread.
        ours.forget_joins();
        theirs.forget_joins();
    }
    same(&ours, &theirs, unfinished, has_gaps);
    match (has_gaps, facts.was_unnumbered) {
        (true, _) => "gaps",
        (_, true) => "unnumbered",
        _ => "listed",
    }
}

/// Events from the list were not delivered before. Each comes once, in the list's order, and the end last.
fn missed(drive: &Drive, uncut: &Uncut, is_whole: bool) {
    let server = &drive.network.server;
    let script = &server.script;
    let (streamed, taken) = (drive.page.events(false), drive.page.events(true));
    let numbered = streamed.len();
    assert!(streamed.iter().all(|(number, _)| *number > 0), "what was streamed has its number");
    assert!(
        drive.page.listed.iter().all(|at| *at >= numbered),
        "what was missed comes after what was streamed"
    );
    let came = Uncut::of(&script.log, numbered);
    let message =
        |uncut: &Uncut, id: &str| uncut.reader.index().message(id).map(|message| message.to_json(""));
    let is_missed = |event: &Json, number: u64| match event["type"].as_str() {
        Some("model.message") => {
            let id = event["id"].as_str().expect("an id");
            message(&came, id) != message(uncut, id)
        }
        _ => number > numbered as u64,
    };
    let listed = canonical(script.listed.iter().map(|(_, event)| event));
    // An event that has arrived does not share its number with a repeated message.
    let number_of = |last: u64, wire: &Json| {
        server.list_number(last, wire).filter(|number| *number > numbered as u64).unwrap_or(0)
    };
    let expected = listed.into_iter().zip(&script.listed);
    let expected: Vec<(u64, Json)> = expected
        .filter(|(event, (number, _))| is_missed(event, *number))
        .map(|(event, (last, wire))| (number_of(*last, wire), event))
        .collect();
    let (done, missed) = taken.split_last().expect("its end");
    assert_eq!((&done.1["type"], &done.1["state"]["status"]), (&json!("turn.done"), &script.state["status"]));
    assert_eq!(done.0, 0, "what the turn's end is made of has no number");
    let missed: Vec<(u64, Json)> = missed.iter().map(|event| (*event).clone()).collect();
    if is_whole {
        assert_eq!(missed, expected, "what was missed");
    } else {
        assert!(expected.starts_with(&missed), "what was missed, as far as it could be read");
    }
}

/// Events as the list has them, in turnwire's form.
fn canonical<'j>(events: impl Iterator<Item = &'j Json>) -> Vec<Json> {
    let events: Vec<&Json> = events.collect();
    let body = json!({"data": events, "pagination": {"limit": 25}}).to_string();
    let answer = Answer { status: 200, status_text: "", content_type: "application/json", body: &body };
    let json = answer
        .read(&TrueFoundry::new(Dialect::Gateway), Call::ListTurnEvents, &Object::new())
        .expect("a list");
    let page: Json = serde_json::from_str(&json).expect("JSON");
    page["items"].as_array().expect("a list").clone()
}

/// The state that a page shows, without the order in which messages of different threads began.
#[derive(Debug, PartialEq)]
struct View {
    turn: Json,
    threads: BTreeMap<String, Json>,
    /// By id.
    messages: BTreeMap<String, Json>,
    /// The ids of each thread's messages, in their order.
    order: BTreeMap<String, Vec<String>>,
}

fn view(mirror: &Mirror) -> View {
    let text = |json: &Json| json.as_str().expect("a text").to_owned();
    let threads =
        mirror.threads.as_array().expect("a list").iter().map(|thread| (text(&thread["id"]), thread.clone()));
    let (mut messages, mut order) = (BTreeMap::new(), BTreeMap::<String, Vec<String>>::new());
    for message in &mirror.messages {
        let id = text(&message.head["id"]);
        order.entry(text(&message.head["thread_id"])).or_default().push(id.clone());
        let mut shown = message.head.clone();
        shown["content"] = message.content.as_str().into();
        shown["reasoning"] = message.reasoning.as_str().into();
        shown["arguments"] = message.arguments.iter().filter(|text| !text.is_empty()).cloned().collect();
        messages.insert(id, shown);
    }
    View { turn: mirror.turn.clone(), threads: threads.collect(), messages, order }
}

impl View {
    /// Forgets which result and which thread belongs to which call, the order of pending actions, and which of several
    /// calls with one id it is: that was decided while events were missing.
    fn forget_joins(&mut self) {
        for list in ["required_actions", "mcp_servers"] {
            let list = self.turn[list].as_array_mut().expect("a list");
            for action in list.iter_mut() {
                for name in ["arguments", "name", "tool_info"] {
                    action[name] = Json::Null;
                }
            }
            list.sort_by_key(Json::to_string);
        }
        for message in self.messages.values_mut() {
            for call in
                message["tool_calls"].as_array_mut().into_iter().flatten().filter(|call| !call.is_null())
            {
                for name in ["response", "thread_id", "status"] {
                    call[name] = Json::Null;
                }
            }
        }
        for thread in self.threads.values_mut() {
            thread["tool_responses"] = Json::Null;
        }
    }
}

/// A message that was never finished is in no list: its received part stays.
fn same(ours: &View, uncut: &View, unfinished: &[String], has_gaps: bool) {
    assert_eq!(ours.turn, uncut.turn, "what waits, servers, the sandbox");
    assert_eq!(ours.threads, uncut.threads, "threads");
    for (id, message) in &uncut.messages {
        if !unfinished.contains(id) {
            assert_eq!(ours.messages.get(id), Some(message), "message {id}");
        } else if let Some(ours) = ours.messages.get(id).filter(|_| !has_gaps) {
            let (ours, theirs) = (ours["content"].as_str(), message["content"].as_str());
            assert!(theirs.unwrap_or_default().starts_with(ours.unwrap_or_default()), "message {id}");
        }
    }
    assert!(ours.messages.keys().all(|id| uncut.messages.contains_key(id)), "no message is invented");
    if !has_gaps {
        for (thread, ids) in &uncut.order {
            let known = |id: &&String| !unfinished.contains(id);
            let ours = ours.order.get(thread).map_or(&[][..], Vec::as_slice);
            assert!(ours.iter().filter(known).eq(ids.iter().filter(known)), "the order in {thread}");
        }
    }
}
