//! The rules of the event-stream format (WHATWG HTML, 9.2.5 and 9.2.6), one case each, and all
//! examples of the standard. Each case is read whole, byte by byte, and cut once at every place.

use super::{Outcome, Seen, cut, decode};

/// A frame: event, data, id.
type Want = (&'static str, &'static str, Option<&'static str>);

struct Case {
    rule: &'static str,
    stream: &'static [u8],
    frames: &'static [Want],
    last_event_id: Option<&'static str>,
    retry: Option<u64>,
    cut: bool,
}

const NOTHING: Case =
    Case { rule: "an empty stream", stream: b"", frames: &[], last_event_id: None, retry: None, cut: false };

const CASES: &[Case] = &[
    NOTHING,
    // Line ends.
    Case {
        rule: "LF, CR and CRLF end lines, mixed",
        stream: b"data: a\n\ndata: b\r\rdata: c\r\n\r\ndata: d\r\n\ndata: e\n\r\ndata: f\r\n\r",
        frames: &[
            ("", "a", None),
            ("", "b", None),
            ("", "c", None),
            ("", "d", None),
            ("", "e", None),
            ("", "f", None),
        ],
        ..NOTHING
    },
    Case {
        rule: "LF CR is two line ends",
        stream: b"data: a\n\rdata: b\n\r",
        frames: &[("", "a", None), ("", "b", None)],
        ..NOTHING
    },
    Case {
        rule: "other Unicode line ends are text",
        stream: "data: a\u{2028}b\u{85}c\u{b}d\n\n".as_bytes(),
        frames: &[("", "a\u{2028}b\u{85}c\u{b}d", None)],
        ..NOTHING
    },
    // The byte order mark.
    Case {
        rule: "one byte order mark at the start is ignored",
        stream: b"\xEF\xBB\xBFdata: a\n\n",
        frames: &[("", "a", None)],
        ..NOTHING
    },
    Case {
        rule: "a second byte order mark belongs to the field name",
        stream: b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\ndata: b\n\n",
        frames: &[("", "b", None)],
        ..NOTHING
    },
    Case {
        rule: "a byte order mark later on is text",
        stream: b"data: \xEF\xBB\xBFa\n\n\xEF\xBB\xBFdata: b\n\n",
        frames: &[("", "\u{FEFF}a", None)],
        ..NOTHING
    },
    Case {
        rule: "part of a byte order mark is no mark",
        stream: b"\xEF\xBBdata: a\ndata: b\n\n",
        frames: &[("", "b", None)],
        ..NOTHING
    },
    Case {
        rule: "part of a byte order mark alone is an unfinished line",
        stream: b"\xEF\xBB",
        cut: true,
        ..NOTHING
    },
    // Fields.
    Case {
        rule: "comments and unknown fields are ignored, a heartbeat is no frame",
        stream: b":\n: ping\n\n:data: no\nfoo: 1\nDATA: no\ndatas: no\n data: no\ndat\n\n",
        ..NOTHING
    },
    Case {
        rule: "a comment inside a frame changes nothing",
        stream: b"data: a\n: ping\ndata: b\n\n",
        frames: &[("", "a\nb", None)],
        ..NOTHING
    },
    Case {
        rule: "one space after the colon is removed, no tab and no second space",
        stream: b"data:a\n\ndata: a\n\ndata:  a \n\ndata:\ta\n\ndata : no\n\n",
        frames: &[("", "a", None), ("", "a", None), ("", " a ", None), ("", "\ta", None)],
        ..NOTHING
    },
    Case {
        rule: "the first colon ends the name",
        stream: b"data: a: b\n\ndata::c\n\n",
        frames: &[("", "a: b", None), ("", ":c", None)],
        ..NOTHING
    },
    Case {
        rule: "a line without colon is a field with an empty value",
        stream: b"event: x\nid: 1\nevent\nid\ndata\n\n",
        frames: &[("", "", Some(""))],
        last_event_id: Some(""),
        ..NOTHING
    },
    Case {
        rule: "data lines are joined, empty ones too",
        stream: b"data: a\ndata\ndata:\ndata: b\ndata\n\n",
        frames: &[("", "a\n\n\nb\n", None)],
        ..NOTHING
    },
    Case {
        rule: "the last event field counts, and only for its frame",
        stream: b"event: x\nevent: y\ndata: a\n\ndata: b\n\n",
        frames: &[("y", "a", None), ("", "b", None)],
        ..NOTHING
    },
    Case {
        rule: "a frame without data is not dispatched and forgets its event",
        stream: b"event: x\n\ndata: a\n\n",
        frames: &[("", "a", None)],
        ..NOTHING
    },
    // Ids.
    Case {
        rule: "an id may follow the data, and stays for later frames",
        stream: b"data: a\nid: 1\n\ndata: b\n\nid: 2\ndata: c\n\n",
        frames: &[("", "a", Some("1")), ("", "b", Some("1")), ("", "c", Some("2"))],
        last_event_id: Some("2"),
        ..NOTHING
    },
    Case {
        rule: "a frame without data sets its id",
        stream: b"id: 7\n\ndata: a\n\n",
        frames: &[("", "a", Some("7"))],
        last_event_id: Some("7"),
        ..NOTHING
    },
    Case {
        rule: "an id with NULL is ignored",
        stream: b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid: \0\nid: 3\ndata: c\n\n",
        frames: &[("", "a", Some("1")), ("", "b", Some("1")), ("", "c", Some("3"))],
        last_event_id: Some("3"),
        ..NOTHING
    },
    Case {
        rule: "an id takes effect when its frame ends, not before",
        stream: b"id: 1\ndata: a\n\nid: 2\ndata: b\n",
        frames: &[("", "a", Some("1"))],
        last_event_id: Some("1"),
        cut: true,
        ..NOTHING
    },
    // Reconnection times.
    Case {
        rule: "retry is digits only, takes effect at once, and nonsense is ignored",
        stream: b"retry: 2500\nretry: -1\nretry: +1\nretry: 1s\nretry: 1.5\nretry\nretry:  9\n",
        retry: Some(2500),
        ..NOTHING
    },
    Case {
        rule: "retry may have leading zeros and the whole range",
        stream: b"retry: 1\nretry:00018446744073709551615\n\n",
        retry: Some(u64::MAX),
        ..NOTHING
    },
    Case {
        rule: "a retry that overflows is ignored",
        stream: b"retry: 1\nretry: 18446744073709551616\nretry: 99999999999999999999999\n",
        retry: Some(1),
        ..NOTHING
    },
    // Text.
    Case {
        rule: "NULL in data is text",
        stream: b"data: a\0b\n\n",
        frames: &[("", "a\0b", None)],
        ..NOTHING
    },
    Case {
        rule: "text of every length of UTF-8",
        stream: "event: \u{e9}\nid: \u{20ac}\ndata: a\u{e9}\u{20ac}\u{1f600}\n\n".as_bytes(),
        frames: &[("\u{e9}", "a\u{e9}\u{20ac}\u{1f600}", Some("\u{20ac}"))],
        last_event_id: Some("\u{20ac}"),
        ..NOTHING
    },
    Case {
        rule: "invalid UTF-8 is replaced, and a line end inside a sequence still ends the line",
        stream: b"event: \xFF\nid: \xC0\xAF\ndata: \xE2\x82\ndata: \xF0\x9F\x98 \xED\xA0\x80\n\n",
        frames: &[("\u{fffd}", "\u{fffd}\n\u{fffd} \u{fffd}\u{fffd}\u{fffd}", Some("\u{fffd}\u{fffd}"))],
        last_event_id: Some("\u{fffd}\u{fffd}"),
        ..NOTHING
    },
    // The end of the stream.
    Case {
        rule: "a frame without its blank line is discarded",
        stream: b"data: a\n\ndata: b\n",
        frames: &[("", "a", None)],
        cut: true,
        ..NOTHING
    },
    Case {
        rule: "an unfinished line is discarded",
        stream: b"data: a\n\ndata: b",
        frames: &[("", "a", None)],
        cut: true,
        ..NOTHING
    },
    Case {
        rule: "an unfinished comment is not missed",
        stream: b"data: a\n\n: ping\n: pi",
        frames: &[("", "a", None)],
        ..NOTHING
    },
    // The examples of 9.2.1 and 9.2.6.
    Case {
        rule: "example: three messages, the second of two lines",
        stream: b"data: This is the first message.\n\ndata: This is the second message, it\n\
            data: has two lines.\n\ndata: This is the third message.\n\n",
        frames: &[
            ("", "This is the first message.", None),
            ("", "This is the second message, it\nhas two lines.", None),
            ("", "This is the third message.", None),
        ],
        ..NOTHING
    },
    Case {
        rule: "example: event types",
        stream: b"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n\
            event: add\ndata: 113411\n\n",
        frames: &[("add", "73857293", None), ("remove", "2153", None), ("add", "113411", None)],
        ..NOTHING
    },
    Case {
        rule: "example: stock ticker",
        stream: b"data: YHOO\ndata: +2\ndata: 10\n\n",
        frames: &[("", "YHOO\n+2\n10", None)],
        ..NOTHING
    },
    Case {
        rule: "example: four blocks with a comment, an id, its reset, and a leading space",
        stream: b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n\
            data:  third event\n",
        frames: &[("", "first event", Some("1")), ("", "second event", Some(""))],
        last_event_id: Some(""),
        cut: true,
        ..NOTHING
    },
    Case {
        rule: "example: two events, and a block without its blank line",
        stream: b"data\n\ndata\ndata\n\ndata:",
        frames: &[("", "", None), ("", "\n", None)],
        cut: true,
        ..NOTHING
    },
    Case {
        rule: "example: two identical events",
        stream: b"data:test\n\ndata: test\n\n",
        frames: &[("", "test", None), ("", "test", None)],
        ..NOTHING
    },
];

impl Case {
    fn outcome(&self) -> Outcome {
        let frames = self.frames.iter().map(|(event, data, id)| Seen {
            event: (*event).to_owned(),
            data: (*data).to_owned(),
            id: id.map(str::to_owned),
        });
        Outcome {
            frames: frames.collect(),
            last_event_id: self.last_event_id.map(str::to_owned),
            retry: self.retry,
            cut: self.cut,
        }
    }
}

#[test]
fn whole() {
    for case in CASES {
        assert_eq!(decode([case.stream]), case.outcome(), "{}", case.rule);
    }
}

#[test]
fn byte_by_byte() {
    for case in CASES {
        let chunks = cut(case.stream, &[1]);
        assert_eq!(decode(chunks), case.outcome(), "{}", case.rule);
        let chunks = cut(case.stream, &[0, 1]);
        let rule = case.rule;
        assert_eq!(decode(chunks), case.outcome(), "{rule}, with empty chunks");
    }
}

#[test]
fn cut_once_anywhere() {
    for case in CASES {
        for at in 0..=case.stream.len() {
            let (head, tail) = case.stream.split_at(at);
            let rule = case.rule;
            assert_eq!(decode([head, tail]), case.outcome(), "{rule}, cut at {at}");
        }
    }
}

#[test]
fn agrees_with_the_reference() {
    for case in CASES {
        let outcome = super::reference::decode(case.stream);
        assert_eq!(outcome, case.outcome(), "{}", case.rule);
    }
}
