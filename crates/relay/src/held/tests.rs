//! Scenarios of a held socket, and random schedules.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::route::Protocol;

const BOUNDS: Bounds = Bounds { journal: 1 << 20, readers: 4, requests: 8 };
const LOG: u64 = 7;

fn codex(bounds: Bounds) -> HeldSocket {
    HeldSocket::new(LOG, Words::of(Protocol::Codex).expect("its words"), bounds)
}

fn come(socket: &mut HeldSocket, name: &str) -> Attached {
    socket.attach(name, None).expect("room")
}

/// All messages that a reader gets after this number, and the last number.
fn read(socket: &HeldSocket, reader: Attached, mut after: u64) -> (Vec<String>, u64) {
    let mut texts = Vec::new();
    loop {
        match socket.step(reader, after, 64) {
            Step::Read(messages, at) if at > after => {
                texts.extend(messages.into_iter().map(|(_, text)| text.to_string()));
                after = at;
            }
            Step::Read(..) | Step::Ended(_) => return (texts, after),
            other => panic!("{other:?}"),
        }
    }
}

fn all(socket: &HeldSocket, reader: Attached) -> Vec<String> {
    read(socket, reader, reader.after).0
}

#[test]
fn requests_of_several_readers_have_ids_of_their_own_on_the_way() {
    let mut socket = codex(BOUNDS);
    let (ann, bob) = (come(&mut socket, "ann"), come(&mut socket, "bob"));
    let sent = socket.said(ann.reader, r#"{"method":"thread/list","id":1,"params":{"a" : [1, 2]}}"#);
    assert_eq!(
        sent.as_deref(),
        Some(r#"{"method":"thread/list","id":"turnwire-000000000001","params":{"a" : [1, 2]}}"#)
    );
    let sent = socket.said(bob.reader, r#"{"id":1,"method":"model/list"}"#);
    assert_eq!(sent.as_deref(), Some(r#"{"id":"turnwire-000000000002","method":"model/list"}"#));
    assert_eq!(socket.heard(r#"{"id":"turnwire-000000000002","result":"b"}"#), None);
    assert_eq!(socket.heard(r#"{"id":"turnwire-000000000001","result":"a"}"#), None);
    assert_eq!(all(&socket, ann), [r#"{"id":1,"result":"a"}"#]);
    assert_eq!(all(&socket, bob), [r#"{"id":1,"result":"b"}"#]);
}

#[test]
fn a_request_that_is_sent_again_reaches_the_agent_once() {
    let mut socket = codex(BOUNDS);
    let ann = come(&mut socket, "ann");
    let start = r#"{"id":"s","method":"turn/start"}"#;
    assert!(socket.said(ann.reader, start).is_some());
    socket.detach(ann);
    let again = socket.attach("ann", Some(Place { log: LOG, after: 0 })).expect("room");
    assert!(again.is_whole && again.reader == ann.reader);
    assert_eq!(socket.said(again.reader, start), None);
    socket.heard(r#"{"id":"turnwire-000000000001","result":1}"#);
    assert_eq!(socket.said(again.reader, start), None, "it was answered meanwhile");
    assert_eq!(all(&socket, again), [r#"{"id":"s","result":1}"#]);
    assert!(matches!(socket.step(ann, 0, 64), Step::Superseded), "its earlier connection");
}

/// The reader returns to a place that the journal has dropped, so the response is not among the messages it gets.
#[test]
fn a_request_that_is_sent_again_after_its_answer_was_forgotten_is_told_so_once() {
    let mut socket = codex(Bounds { journal: 200, ..BOUNDS });
    let ann = come(&mut socket, "ann");
    let start = r#"{"id":"s","method":"turn/start"}"#;
    assert!(socket.said(ann.reader, start).is_some());
    socket.detach(ann);
    socket.heard(r#"{"id":"turnwire-000000000001","result":1}"#);
    for _ in 0..4 {
        socket.heard(r#"{"method":"noise"}"#);
    }
    let again = socket.attach("ann", Some(Place { log: LOG, after: 0 })).expect("room");
    assert!(!again.is_whole && again.reader == ann.reader);
    assert_eq!(socket.said(again.reader, start), None, "the agent has had it");
    assert_eq!(socket.said(again.reader, start), None, "and is told of it once");
    let told = all(&socket, again);
    assert!(matches!(&told[..], [one] if one.contains(r#""id":"s""#) && one.contains("-32051")), "{told:?}");
}

/// The reader has lost its place, and the journal still has the response.
#[test]
fn a_request_that_is_sent_again_from_a_later_place_is_answered_again() {
    let mut socket = codex(BOUNDS);
    let ann = come(&mut socket, "ann");
    let start = r#"{"id":"s","method":"turn/start"}"#;
    assert!(socket.said(ann.reader, start).is_some());
    socket.heard(r#"{"id":"turnwire-000000000001","result":1}"#);
    let again = come(&mut socket, "ann");
    assert!(all(&socket, again).is_empty());
    assert_eq!(socket.said(again.reader, start), None, "the agent has had it");
    assert_eq!(all(&socket, again), [r#"{"id":"s","result":1}"#]);
}

#[test]
fn the_agent_is_greeted_once() {
    let mut socket = codex(BOUNDS);
    let [ann, bob, cid] = ["ann", "bob", "cid"].map(|name| come(&mut socket, name));
    let greeting = |id| format!(r#"{{"id":{id},"method":"initialize","params":{{}}}}"#);
    let greeted = r#"{"method":"initialized"}"#;
    assert!(socket.said(ann.reader, &greeting(1)).is_some());
    assert!(socket.said(ann.reader, greeted).is_some(), "it need not wait for the answer");
    assert_eq!(socket.said(bob.reader, &greeting(2)), None);
    assert_eq!(socket.said(bob.reader, greeted), None);
    socket.heard(r#"{"id":"turnwire-000000000001","result":{"os":"x"}}"#);
    assert_eq!(socket.said(cid.reader, &greeting(3)), None);
    assert_eq!(socket.said(cid.reader, greeted), None);
    for (reader, id) in [(ann, 1), (bob, 2), (cid, 3)] {
        assert_eq!(all(&socket, reader), [format!(r#"{{"id":{id},"result":{{"os":"x"}}}}"#)]);
    }
    assert!(socket.said(cid.reader, r#"{"method":"other"}"#).is_some());
}

#[test]
fn a_greeting_that_is_refused_can_be_sent_again() {
    let mut socket = codex(BOUNDS);
    let ann = come(&mut socket, "ann");
    assert!(socket.said(ann.reader, r#"{"id":1,"method":"initialize"}"#).is_some());
    assert!(socket.said(ann.reader, r#"{"method":"initialized"}"#).is_some());
    socket.heard(r#"{"id":"turnwire-000000000001","error":{"code":-32600}}"#);
    assert!(socket.said(ann.reader, r#"{"id":2,"method":"initialize"}"#).is_some());
    assert!(socket.said(ann.reader, r#"{"method":"initialized"}"#).is_some());
}

const ASKED: &str = r#"{"method":"item/commandExecution/requestApproval","id":0,"params":{"threadId":"t"}}"#;

#[test]
fn what_the_agent_asks_waits_for_the_first_answer() {
    let mut socket = codex(BOUNDS);
    let ann = come(&mut socket, "ann");
    socket.detach(ann);
    assert_eq!(socket.heard(ASKED), None, "no reader is there");
    assert!(socket.is_busy());
    let bob = come(&mut socket, "bob");
    let ann = socket.attach("ann", Some(Place { log: LOG, after: 0 })).expect("room");
    let yes = r#"{"id":0,"result":{"decision":"accept"}}"#;
    assert_eq!(socket.said(bob.reader, yes).as_deref(), Some(yes));
    assert_eq!(socket.said(ann.reader, yes), None);
    assert!(!socket.is_busy());
    let answered = r#"{"turnwire":"answered","id":0}"#;
    assert_eq!(all(&socket, bob), [ASKED, answered]);
    assert_eq!(all(&socket, ann), [ASKED, answered, r#"{"turnwire":"late","id":0}"#]);
    assert_eq!(all(&socket, ann), read(&socket, ann, 0).0, "it had missed nothing");
    let cid = come(&mut socket, "cid");
    assert!(all(&socket, cid).is_empty(), "it is answered");
}

#[test]
fn a_reader_that_subscribes_to_a_thread_gets_what_is_pending_there() {
    let mut socket = codex(BOUNDS);
    let other = ASKED.replace("\"t\"", "\"u\"").replace("\"id\":0", "\"id\":1");
    socket.heard(ASKED);
    socket.heard(&other);
    let ann = come(&mut socket, "ann");
    assert_eq!(all(&socket, ann), [ASKED, &other]);
    socket.said(ann.reader, r#"{"id":1,"method":"thread/resume","params":{"threadId":"t"}}"#);
    assert_eq!(socket.heard(ASKED), None, "the agent repeats it");
    socket.heard(r#"{"id":"turnwire-000000000001","result":{}}"#);
    assert_eq!(all(&socket, ann)[2..], [r#"{"id":1,"result":{}}"#, ASKED]);
    assert_eq!(socket.pending_count(), 2);
    socket.heard(r#"{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":0}}"#);
    assert_eq!(socket.pending_count(), 1);
}

#[test]
fn a_place_that_is_gone_is_said_to_be() {
    let mut socket = codex(Bounds { journal: 300, ..BOUNDS });
    let ann = come(&mut socket, "ann");
    for number in 0..20 {
        socket.heard(&format!(r#"{{"method":"m","params":{number}}}"#));
    }
    assert!(matches!(socket.step(ann, ann.after, 64), Step::FellBehind));
    let came = |socket: &mut HeldSocket, name, log, after| {
        socket.attach(name, Some(Place { log, after })).expect("room")
    };
    for (name, log, after) in [("ann", LOG, 3), ("ann", 8, 20), ("ann", LOG, 21), ("new", LOG, 20)] {
        let again = came(&mut socket, name, log, after);
        assert!(!again.is_whole && again.after == 20, "{name} {log} {after}");
    }
    let again = came(&mut socket, "ann", LOG, 19);
    assert!(again.is_whole);
    assert_eq!(all(&socket, again), [r#"{"method":"m","params":19}"#]);
    socket.heard(&format!(r#"{{"method":"{}"}}"#, "x".repeat(400)));
    assert_eq!(read(&socket, again, 20).0.len(), 1, "the last one is kept, whatever its size");
}

#[test]
fn limits_are_kept_and_said() {
    let mut socket = codex(Bounds { readers: 2, requests: 2, ..BOUNDS });
    let (ann, bob) = (come(&mut socket, "ann"), come(&mut socket, "bob"));
    assert_eq!(socket.attach("cid", None), Err(Refused::Readers));
    assert!(socket.attach("ann", None).is_ok(), "it takes its own place");
    let long = "x".repeat(65);
    assert_eq!(socket.attach("", None), Err(Refused::Name));
    assert_eq!(socket.attach(&long, None), Err(Refused::Name));
    for id in 1..=2 {
        assert!(socket.said(bob.reader, &format!(r#"{{"id":{id},"method":"m"}}"#)).is_some());
    }
    assert_eq!(socket.said(bob.reader, r#"{"id":3,"method":"m"}"#), None);
    let [refused] = &*all(&socket, bob) else { panic!("one message") };
    assert!(refused.starts_with(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32050,"#), "{refused}");
    for id in 0..3 {
        let answer = socket.heard(&format!(r#"{{"id":{id},"method":"ask"}}"#));
        assert_eq!(answer.is_some(), id == 2);
    }
    for unreadable in
        ["", "7", "[]", "{}", r#"{"id":1}"#, r#"{"id":1,"id":2,"method":"m"}"#, r#"{"method":1}"#]
    {
        assert_eq!(socket.said(bob.reader, unreadable), None, "{unreadable}");
        let last = all(&socket, bob).pop().expect("a refusal");
        assert!(last.contains(r#""id":null,"error":{"code":-32700"#), "{unreadable}: {last}");
    }
    let long = format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(300));
    assert_eq!(socket.said(bob.reader, &long), None);
    assert!(all(&socket, bob).pop().is_some_and(|last| last.contains("256 bytes")));
    let mut greeted = codex(Bounds { requests: 2, ..BOUNDS });
    let ann_there = come(&mut greeted, "ann");
    for id in 1..=3 {
        greeted.said(ann_there.reader, &format!(r#"{{"id":{id},"method":"initialize"}}"#));
    }
    assert_eq!(all(&greeted, ann_there).len(), 1, "greetings that wait are counted too");
    let mut small = codex(Bounds { journal: 100, ..BOUNDS });
    assert!(small.heard(&format!(r#"{{"id":1,"method":"{}"}}"#, "x".repeat(200))).is_some());
    socket.detach(bob);
    assert!(socket.attach("cid", None).is_ok());
    assert!(matches!(socket.step(ann, 0, 64), Step::Superseded));
}

#[test]
fn after_the_end_readers_get_what_there_is() {
    let mut socket = codex(BOUNDS);
    let ann = come(&mut socket, "ann");
    socket.heard(r#"{"method":"turn/started","params":{"turn":{"id":"1"}}}"#);
    assert!(socket.is_busy());
    socket.heard(r#"{"method":"turn/completed","params":{"turn":{"id":"1"}}}"#);
    assert!(!socket.is_busy());
    socket.end(EndReason::UpstreamLost);
    socket.end(EndReason::Drained);
    let (texts, at) = read(&socket, ann, ann.after);
    assert_eq!(texts.len(), 2);
    assert!(matches!(socket.step(ann, at, 64), Step::Ended(EndReason::UpstreamLost)));
    assert_eq!(socket.said(ann.reader, r#"{"id":1,"method":"m"}"#), None);
    assert_eq!(socket.attach("bob", None), Err(Refused::Ended(EndReason::UpstreamLost)));
}

/// A step of a schedule.
#[derive(Debug, Clone)]
enum Happening {
    Come(usize),
    Leave(usize),
    /// A reader takes the available messages, up to this many bytes.
    Take(usize, usize),
    Ask(usize),
    /// A reader repeats its last request.
    AskAgain(usize),
    /// The agent answers the oldest request.
    AnswerOldest,
    Tell,
    AgentAsks,
    /// A reader answers the oldest request of the agent that it knows.
    Answer(usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    let who = 0..3usize;
    prop_oneof![
        who.clone().prop_map(Happening::Come),
        who.clone().prop_map(Happening::Leave),
        (who.clone(), 1..200usize).prop_map(|(who, most)| Happening::Take(who, most)),
        who.clone().prop_map(Happening::Ask),
        who.clone().prop_map(Happening::AskAgain),
        Just(Happening::AnswerOldest),
        Just(Happening::Tell),
        Just(Happening::AgentAsks),
        who.prop_map(Happening::Answer),
    ]
}

/// A page in the model.
#[derive(Debug, Default)]
struct Page {
    attached: Option<Attached>,
    after: Option<u64>,
    /// What it has received over all its connections.
    got: Vec<String>,
    asked: u64,
    /// The agent's requests that it knows.
    questions: Vec<u64>,
}

proptest! {
    /// Only the id changes.
    #[test]
    fn a_message_keeps_all_but_its_id(
        method in ".*", text in ".*", number in any::<f64>(), before in any::<bool>(), id in ".*",
    ) {
        let rest = serde_json::json!({ "a": text, "b": [number, null], "id": "inner" });
        let [id, method] = [id, method].map(|text| serde_json::Value::from(text).to_string());
        let text = if before {
            format!(r#" {{ "id" : {id}, "method":{method},"params":{rest}}} "#)
        } else {
            format!(r#"{{"method":{method},"params": {rest},"id":{id} }}"#)
        };
        let message = Message::read(&text).expect("a message");
        prop_assert_eq!((message.kind(), message.id()), (Kind::Request, &*id));
        let changed = message.with_id("7");
        let changed: serde_json::Value = serde_json::from_str(&changed).expect("JSON");
        let mut expected: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        expected["id"] = 7.into();
        prop_assert_eq!(changed, expected);
    }

    /// No input from either side causes a panic.
    #[test]
    fn no_text_is_a_panic(texts in prop::collection::vec((any::<bool>(), r#"[{}\[\]",:a-d0-9\\ ]{0,40}|\{"(id|method|params|turn)":("x"|7|\{"id":1\})(,"(id|method|result)":("turnwire-000000000001"|1))?\}"#), 0..30)) {
        let mut socket = codex(Bounds { journal: 200, readers: 1, requests: 2 });
        let ann = come(&mut socket, "ann");
        for (is_own, text) in texts {
            if is_own { socket.said(ann.reader, &text) } else { socket.heard(&text) };
        }
        socket.end(EndReason::Idle);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// However connections behave, a page gets each notification once and in order from its first attach on, each of
    /// its own responses once, and none of other pages. The agent gets each request once, and one answer to each.
    #[test]
    fn nothing_is_lost_or_doubled(schedule in prop::collection::vec(happening(), 1..120)) {
        let mut socket = codex(Bounds { requests: 1000, ..BOUNDS });
        let mut pages: Vec<Page> = (0..3).map(|_| Page::default()).collect();
        // The requests that the agent has not answered, and all that it has received.
        let mut waiting: Vec<(String, String)> = Vec::new();
        let mut reached: BTreeMap<String, usize> = BTreeMap::new();
        let (mut told, mut questions) = (0u64, 0u64);
        let mut settled: BTreeSet<u64> = BTreeSet::new();
        // Where each page first attached, as the number of notifications before.
        let mut since: Vec<Option<u64>> = vec![None; 3];
        let mut answers: Vec<Vec<String>> = vec![Vec::new(); 3];
        let drain = Happening::Take;
        let ending = (0..3).flat_map(|who| [Happening::Come(who), drain(who, 1 << 20)]);
        for happening in schedule.into_iter().chain(ending) {
            match happening {
                Happening::Come(who) => {
                    let page = &mut pages[who];
                    let place = page.after.map(|after| Place { log: LOG, after });
                    let attached = socket.attach(&format!("page{who}"), place).expect("room");
                    prop_assert!(attached.is_whole);
                    if let Some(after) = page.after {
                        prop_assert_eq!(attached.after, after);
                    } else {
                        since[who] = Some(told);
                    }
                    page.after = Some(attached.after);
                    page.attached = Some(attached);
                }
                Happening::Leave(who) => {
                    if let Some(attached) = pages[who].attached.take() {
                        socket.detach(attached);
                    }
                }
                Happening::Take(who, most) => {
                    let page = &mut pages[who];
                    let (Some(attached), Some(after)) = (page.attached, page.after) else { continue };
                    let Step::Read(messages, at) = socket.step(attached, after, most) else {
                        return Err(TestCaseError::fail("no step"));
                    };
                    for (number, text) in messages {
                        prop_assert!(number > after && number <= at);
                        if let Some(question) = text.strip_prefix(r#"{"method":"ask","id":"#) {
                            let question = question.trim_end_matches('}').parse().expect("a number");
                            prop_assert!(!page.questions.contains(&question), "asked twice");
                            page.questions.push(question);
                        }
                        page.got.push(text.to_string());
                    }
                    page.after = Some(at);
                }
                Happening::Ask(who) | Happening::AskAgain(who) => {
                    let page = &mut pages[who];
                    let Some(attached) = page.attached else { continue };
                    if matches!(happening, Happening::Ask(_)) {
                        page.asked += 1;
                    } else if page.asked == 0 {
                        continue;
                    }
                    let text = format!(r#"{{"id":{},"method":"of{who}"}}"#, page.asked);
                    if let Some(sent) = socket.said(attached.reader, &text) {
                        let id = Message::read(&sent).expect("a message").id().to_owned();
                        *reached.entry(format!("{who}:{}", page.asked)).or_default() += 1;
                        let answer = format!(r#"{{"id":{},"result":{who}}}"#, page.asked);
                        answers[who].push(answer);
                        waiting.push((id, who.to_string()));
                    }
                }
                Happening::AnswerOldest => {
                    if !waiting.is_empty() {
                        let (id, who) = waiting.remove(0);
                        let answer = format!(r#"{{"id":{id},"result":{who}}}"#);
                        prop_assert_eq!(socket.heard(&answer), None);
                    }
                }
                Happening::Tell => {
                    told += 1;
                    socket.heard(&format!(r#"{{"method":"tell","params":{told}}}"#));
                }
                Happening::AgentAsks => {
                    questions += 1;
                    socket.heard(&format!(r#"{{"method":"ask","id":{questions}}}"#));
                }
                Happening::Answer(who) => {
                    let Some(attached) = pages[who].attached else { continue };
                    let Some(&question) = pages[who].questions.first() else { continue };
                    let sent = socket.said(attached.reader, &format!(r#"{{"id":{question},"result":0}}"#));
                    prop_assert_eq!(sent.is_some(), settled.insert(question), "the first answer, and no other");
                    pages[who].questions.remove(0);
                    // The agent has its answer, and the request is no longer pending.
                    prop_assert!(socket.pending_count() as u64 == questions - settled.len() as u64);
                }
            }
        }
        prop_assert!(reached.values().all(|&count| count == 1), "{:?}", reached);
        for (who, page) in pages.iter().enumerate() {
            let notes: Vec<&String> = page.got.iter().filter(|text| text.contains("\"tell\"")).collect();
            let first = since[who].expect("it came") + 1;
            let expected: Vec<String> =
                (first..=told).map(|number| format!(r#"{{"method":"tell","params":{number}}}"#)).collect();
            prop_assert_eq!(notes, expected.iter().collect::<Vec<_>>());
            let own: Vec<&String> = page.got.iter().filter(|text| text.contains("\"result\"")).collect();
            let unanswered = waiting.iter().filter(|(_, of)| *of == who.to_string()).count();
            let expected = &answers[who][..answers[who].len() - unanswered];
            prop_assert_eq!(own, expected.iter().collect::<Vec<_>>());
        }
    }
}
