//! The hot path and the general one come to the same.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::super::delta::DeltaReader;
use super::Reading;
use crate::protocol::EventDecoder;

/// A piece as the gateway writes it, with the whole text so far.
fn gateway(text: &str, stream: &str, whole: &str) -> String {
    let [text, whole] = [text, whole].map(|text| serde_json::to_string(text).expect("JSON"));
    format!(
        r#"{{"jsonrpc":"2.0","method":"item/agent_message/delta","params":{{"workspace_id":"w","thread_id":"t","turn_id":"u","item_id":"a","delta":{text},"stream":"{stream}","markdown":{{"blocks":[{{"type":"paragraph","text":{whole},"marks":[]}}]}},"markdown_version":1}}}}"#
    )
}

fn codex(text: &str) -> String {
    let text = serde_json::to_string(text).expect("JSON");
    format!(
        r#"{{"method":"item/agentMessage/delta","params":{{"threadId":"t","turnId":"u","itemId":"a","delta":{text}}},"emittedAtMs":1795257438453}}"#
    )
}

fn events(frame: &str, is_codex: bool) -> Vec<Json> {
    let mut turn = if is_codex { Reading::codex() } else { Reading::gateway() };
    turn.line(frame);
    turn.seen.events
}

/// A frame with a member that the hot path does not know.
fn general(frame: &str) -> String {
    format!("{},\"more\":[]}}", frame.strip_suffix('}').expect("an object"))
}

proptest! {
    #[test]
    fn both_ways_say_the_same(text in ".{0,40}", whole in ".{0,40}", is_reasoning: bool) {
        let stream = if is_reasoning { "generic" } else { "agent_message" };
        for (frame, is_codex) in [(gateway(&text, stream, &whole), false), (codex(&text), true)] {
            prop_assert!(DeltaReader::default().read(&frame).is_some());
            let other = general(&frame);
            prop_assert!(DeltaReader::default().read(&other).is_none());
            prop_assert_eq!(events(&frame, is_codex), events(&other, is_codex));
        }
    }
}

/// A piece of what a command puts out, as the gateway writes it.
fn output(text: &str, payload: &str, whole: &str) -> String {
    gateway(text, "stdout", whole)
        .replace("item/agent_message/delta", "item/command_execution/output_delta")
        .replace(r#""stream":"stdout","#, &format!(r#""stream":"stdout",{payload}"#))
}

const PAYLOADS: [&str; 4] = [
    "",
    r#""payload":null,"#,
    r#""payload":{"kind":"output_chunk","truncated":false},"#,
    r#""payload":{"kind":"progress","stage":"linking","metadata":{"of":{"kind":"number","value":"3"}}},"#,
];

proptest! {
    #[test]
    fn both_ways_say_the_same_of_output(text in ".{0,40}", whole in ".{0,40}", payload in proptest::sample::select(&PAYLOADS)) {
        let frame = output(&text, payload, &whole);
        let other = general(&frame);
        prop_assert!(DeltaReader::default().read(&frame).is_some());
        prop_assert!(DeltaReader::default().read(&other).is_none());
        prop_assert_eq!(events(&frame, false), events(&other, false));
    }
}

#[test]
fn what_stands_behind_the_document_is_read() {
    let late = r#""markdown":{"blocks":[]},"payload":{"kind":"progress","stage":"linking","metadata":{}},"markdown_version""#;
    let frame = output("x", "", "x");
    let from = frame.find(r#""markdown":"#).expect("it has one");
    let to = frame.find(r#""markdown_version""#).expect("it has one");
    let frame = [&frame[..from], late, &frame[to + r#""markdown_version""#.len()..]].concat();
    assert_eq!(events(&frame, false), events(&general(&frame), false));
    assert_eq!(events(&frame, false).last().expect("one")["payload"]["stage"], "linking");
}

#[test]
fn what_is_unusual_is_left_to_the_general_reader() {
    let usual = gateway("x", "agent_message", "x");
    for (from, to) in [
        (r#""item_id":"a""#, r#""item_id":"\u0061""#),
        (r#""item_id":"a""#, r#""item_id":1"#),
        (r#""delta":"x""#, r#""delta":"x","delta":"y""#),
        (r#""delta":"x""#, r#""delta":null"#),
        (r#""delta":"x""#, r#""delta":"x","payload":{},"payload":{}"#),
        (r#""jsonrpc":"2.0""#, r#""id":1"#),
    ] {
        let frame = usual.replace(from, to);
        assert_ne!(frame, usual);
        assert!(DeltaReader::default().read(&frame).is_none(), "{frame}");
    }
}

#[test]
fn pieces_of_others_are_not_taken() {
    for (from, to) in [(r#""thread_id":"t""#, r#""thread_id":"o""#), (r#""turn_id":"u""#, r#""turn_id":"o""#)]
    {
        let frame = gateway("x", "agent_message", "x").replace(from, to);
        assert_eq!(events(&frame, false), [] as [Json; 0]);
        assert_eq!(events(&general(&frame), false), [] as [Json; 0]);
    }
    assert_eq!(events(&gateway("x", "agent_message", "x"), false).len(), 3);
    assert_eq!(json!(events(&gateway("x", "generic", "x"), false)[2])["reasoning_content"], "x");
}

/// Frames whose members are in another order, with a number before the text or none, and with other texts of reasoning
/// and output.
const SHAPES: [(&str, bool); 7] = [
    (
        r#"{"jsonrpc":"2.0","method":"item/agent_message/delta","params":{"workspace_id":"w","thread_id":"t","turn_id":"u","item_id":"a","delta":"TEXT","stream":"agent_message","markdown":REST,"markdown_version":1}}"#,
        false,
    ),
    (
        r#"{"jsonrpc":"2.0","method":"item/agent_message/delta","params":{"stream":"generic","delta":"TEXT","item_id":"é","turn_id":"u","thread_id":"t"}}"#,
        false,
    ),
    (
        r#"{"jsonrpc":"2.0","method":"item/command_execution/output_delta","params":{"thread_id":"t","turn_id":"u","item_id":"a","payload":{"kind":"progress","stage":"s","metadata":{}},"stream":"stderr","delta":"TEXT","markdown":REST,"markdown_version":1}}"#,
        false,
    ),
    (
        r#"{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"a","delta":"TEXT"},"emittedAtMs":NUMBER}"#,
        true,
    ),
    (
        r#"{ "emittedAtMs" : NUMBER, "method":"item/agentMessage/delta",
            "params" : {"delta" : "TEXT", "itemId":"a","turnId":"u","threadId":"t"} }"#,
        true,
    ),
    (
        r#"{"method":"item/reasoning/summaryTextDelta","params":{"threadId":"t","turnId":"u","itemId":"a","summaryIndex":NUMBER,"delta":"TEXT"},"emittedAtMs":1.5}"#,
        true,
    ),
    (
        r#"{"method":"item/commandExecution/outputDelta","params":{"threadId":"t","turnId":"u","itemId":"a","delta":"TEXT"}}"#,
        true,
    ),
];

fn filled(shape: &str, text: &str, number: u64, rest: &str) -> String {
    shape.replace("NUMBER", &number.to_string()).replace("REST", rest).replace("TEXT", text)
}

/// The inside of a JSON string, with this one's escapes, and some that are not needed, or wrong.
fn inside() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        ".{0,8}".prop_map(|text| {
            let json = serde_json::to_string(&text).expect("JSON");
            json[1..json.len() - 1].to_owned()
        }),
        proptest::sample::select(
            &[r"\/", r"\u0041", r"\ud83d\ude00", r"\ud83d", "é", "😀", r#"\""#, r"\\", r"\x", "\u{1}"][..]
        )
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// A template as the decoder describes it.
#[derive(Debug)]
struct Template {
    number: u32,
    /// What stands outside the holes.
    parts: Vec<String>,
    /// The letters of the holes.
    holes: String,
}

impl Template {
    fn of(turn: &mut Reading, message: &str) -> Option<Self> {
        let description = turn.decoder.template(message)?;
        let (number, parts) = description.split_once('\0').expect("a number");
        let (mut holes, mut outside) = (String::new(), Vec::new());
        for (at, part) in parts.split('\0').enumerate() {
            let letter = usize::from(at > 0);
            holes.push_str(&part[..letter]);
            outside.push(part[letter..].to_owned());
        }
        Some(Self { number: number.parse().expect("a number"), parts: outside, holes })
    }

    /// A message with these contents of its holes.
    fn filled(&self, text: &str, number: u64, rest: &str) -> String {
        let mut message = self.parts[0].clone();
        for (hole, part) in self.holes.chars().zip(&self.parts[1..]) {
            match hole {
                't' => message.push_str(text),
                'n' => message.push_str(&number.to_string()),
                'r' => message.push_str(rest),
                other => panic!("a hole {other}"),
            }
            message.push_str(part);
        }
        message
    }
}

proptest! {
    #[test]
    fn a_message_like_an_earlier_one_says_the_same_as_by_itself(
        (shape, is_codex) in proptest::sample::select(&SHAPES),
        first in inside(),
        others in proptest::collection::vec((inside(), any::<u32>(), "[a-z{}:,\"]{0,9}"), 1..5),
    ) {
        let begun = || if is_codex { Reading::codex() } else { Reading::gateway() };
        let (mut one, mut other) = (begun(), begun());
        let earlier = filled(shape, &first, 0, r#"{"blocks":["x"]}"#);
        one.line(&earlier);
        other.line(&earlier);
        let Some(template) = Template::of(&mut one, &earlier) else {
            let is_text = DeltaReader::default().read(&earlier).is_some() && !shape.contains("output");
            prop_assert!(!is_text, "{earlier} is a piece of text, and no template");
            return Ok(());
        };
        let has = |hole| template.holes.matches(hole).count();
        prop_assert_eq!(has('t'), 1);
        prop_assert_eq!(has('r'), usize::from(shape.contains("REST")));
        prop_assert_eq!(has('n'), usize::from(shape.contains("NUMBER")));
        let mut texts = String::new();
        let mut whole = Vec::new();
        for (inside, number, rest) in &others {
            let message = filled(shape, inside, (*number).into(), rest);
            // Nothing but the holes differs.
            prop_assert_eq!(template.filled(inside, (*number).into(), rest), &message[..]);
            texts.push_str(inside);
            texts.push('"');
            whole.push(message);
        }
        let taken = one.decoder.decode_like(template.number, &texts, &mut one.seen);
        // The carrier hands in the others whole, from the first on that was not taken.
        for message in &whole[taken as usize..] {
            one.line(message);
        }
        for message in &whole {
            other.line(message);
        }
        prop_assert_eq!(&one.seen.events, &other.seen.events);
        let readable = whole.iter().take_while(|message| DeltaReader::default().read(message).is_some()).count();
        prop_assert_eq!(taken as usize, readable, "{:?}", whole);
    }
}

#[test]
fn only_pieces_of_this_turn_are_templates() {
    let usual = gateway("x", "agent_message", "x");
    let mut turn = Reading::gateway();
    turn.line(&usual);
    assert!(turn.decoder.template(&usual).is_some());
    for (from, to) in [
        (r#""thread_id":"t""#, r#""thread_id":"o""#),
        (r#""turn_id":"u""#, r#""turn_id":"o""#),
        (r#""stream":"agent_message""#, r#""stream":"part""#),
        ("item/agent_message/delta", "item/started"),
        (r#""delta":"x""#, r#""delta":1"#),
        (r#""stream":"agent_message","#, r#""more":1,"#),
        // What varies comes before its end.
        (r#","markdown_version":1"#, r#","markdown_version":1,"workspace_id":"w""#),
    ] {
        let frame = usual.replacen(from, to, 1);
        assert_ne!(frame, usual);
        turn.line(&frame);
        assert!(turn.decoder.template(&frame).is_none(), "{frame}");
    }
}

#[test]
fn what_is_like_an_earlier_message_goes_to_its_item_while_that_goes_on() {
    let usual = gateway("x", "agent_message", "x");
    let begun = || {
        let mut turn = Reading::gateway();
        turn.line(&usual);
        let number = Template::of(&mut turn, &usual).expect("a template").number;
        (turn, number)
    };
    let take = |turn: &mut Reading, number, texts| turn.decoder.decode_like(number, texts, &mut turn.seen);
    let (mut turn, number) = begun();
    assert_eq!(take(&mut turn, number + 1, "y\""), 0, "it is not known");
    assert_eq!(take(&mut turn, number, "y\"z\""), 2);
    assert_eq!(take(&mut turn, number, "y"), 0, "it is not whole");
    let other = usual.replace(r#""item_id":"a""#, r#""item_id":"b""#);
    turn.line(&other);
    assert_ne!(Template::of(&mut turn, &other).expect("a template").number, number);
    assert_eq!(take(&mut turn, number, "y\""), 1);
    turn.notify("item/completed", json!({"item": {"type": "agentMessage", "id": "a", "text": "xyzy"}}));
    assert_eq!(take(&mut turn, number, "y\""), 0, "its text is known");

    let (mut turn, number) = begun();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    assert_eq!(take(&mut turn, number, "y\""), 0, "the missed part comes first");
    let (mut turn, number) = begun();
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Completed"}}));
    assert_eq!(take(&mut turn, number, "y\""), 0, "the turn is over");
}
