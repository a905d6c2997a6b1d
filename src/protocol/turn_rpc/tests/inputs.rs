//! A turn's input (section 4): what each part becomes, and what is none.

use serde_json::{Value as Json, json};

use super::said;
use crate::error::{Error, ErrorCode};
use crate::json::Value;
use crate::protocol::turn_rpc::{Dialect, TurnRpc, input};
use crate::protocol::{Call, Protocol as _};
use crate::turn::TurnInput;

fn start(dialect: Dialect, input: &Json) -> Result<Json, Error> {
    let mut params = json!({"sessionId": "t", "connection": {"workspace_id": "w"}, "input": input});
    if dialect == Dialect::Gateway {
        params["turnId"] = json!("u");
    }
    Ok(said(dialect, Call::CreateTurnStream, &params)?["messages"][0]["params"]["input"].clone())
}

fn message(parts: &[Json]) -> Json {
    json!([{"type": "user.message", "content": parts}])
}

#[test]
fn files_become_what_they_are() {
    let file = |data: &str| json!({"type": "file", "name": "f", "data": data});
    for (data, kind) in [
        ("data:image/png;base64,AA==", "image"),
        ("data:audio/ogg;base64,AA==", "audio"),
        ("data:video/mp4;base64,AA==", "video"),
        ("data:application/pdf;base64,AA==", "file"),
        ("data:;base64,AA==", "file"),
        ("https://example.com/a.png", "file"),
    ] {
        let parts = start(Dialect::Gateway, &message(&[file(data)])).expect("a part");
        assert_eq!(parts, json!([{"type": kind, "url": data}]));
        let codex = start(Dialect::Codex, &message(&[file(data)]));
        assert_eq!(codex.is_ok(), matches!(kind, "image" | "audio"), "{data}");
    }
}

#[test]
fn native_parts_go_as_they_are() {
    let gateway = [
        json!({"type": "text", "text": "", "textElements": [{"byte_range": {"start": 0, "end": 1}, "placeholder": "x"}]}),
        json!({"type": "image", "url": "https://example.com/a"}),
        json!({"type": "audio", "url": "u"}),
        json!({"type": "video", "url": "u"}),
        json!({"type": "localImage", "path": "/p"}),
        json!({"type": "localFile", "path": "/p"}),
        json!({"type": "localAudio", "path": "/p"}),
        json!({"type": "localVideo", "path": "/p"}),
        json!({"type": "artifact", "artifactId": "a", "versionId": "v"}),
        json!({"type": "artifact", "artifactId": "a"}),
        json!({"type": "mention", "name": "n", "path": "p"}),
    ];
    let codex = [
        json!({"type": "text", "text": "a"}),
        json!({"type": "image", "url": "data:image/png;base64,AA=="}),
        json!({"type": "localImage", "path": "/p"}),
        json!({"type": "skill", "name": "n", "path": "p"}),
        json!({"type": "mention", "name": "n", "path": "p"}),
    ];
    for (dialect, parts) in [(Dialect::Gateway, &gateway[..]), (Dialect::Codex, &codex[..])] {
        assert_eq!(start(dialect, &message(parts)).expect("parts"), json!(parts), "{dialect:?}");
    }
    let two = json!([{"type": "user.message", "content": "a"}, {"type": "user.message", "content": "b"}]);
    assert_eq!(
        start(Dialect::Codex, &two).expect("parts"),
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    );
    assert_eq!(start(Dialect::Codex, &Json::Null).expect("parts"), json!([]));
}

/// What a server keeps of a turn's input can be given again: it does not keep the names of files.
#[test]
fn what_was_said_can_be_said_again() {
    for url in ["data:application/pdf;base64,AA==", "https://a.example/b.pdf"] {
        let kept = json!({"text": "See", "content": [{"type": "file", "url": url}]}).to_string();
        let kept = Value::parse(&kept).expect("JSON");
        let again = input::input_of(kept.as_object().expect("an object"));
        let again = TurnInput::read(again, &TurnRpc::new(Dialect::Gateway).capabilities())
            .unwrap_or_else(|error| panic!("{url}: {error}"));
        let again: Json = serde_json::from_str(again.json().expect("an item")).expect("JSON");
        let parts = start(Dialect::Gateway, &again).expect("parts");
        assert_eq!(parts, json!([{"type": "text", "text": "See"}, {"type": "file", "url": url}]));
    }
}

#[test]
fn what_is_no_part_is_named() {
    let text = json!({"type": "text", "text": "a"});
    for (dialect, input, expected) in [
        (
            Dialect::Gateway,
            message(&[text.clone(), json!({"type": "skill", "name": "n", "path": "p"})]),
            "input[0].content[1]: this server takes no parts of type `skill`",
        ),
        (
            Dialect::Gateway,
            message(&[json!({"type": "localImage"})]),
            "input[0].content[0]: a part of type `localImage` must have a `path`",
        ),
        (
            Dialect::Gateway,
            message(&[json!({"type": "artifact", "artifactId": ""})]),
            "input[0].content[0]: a part of type `artifact` must have a `artifactId`",
        ),
        (
            Dialect::Gateway,
            message(&[json!(1)]),
            "input[0].content[0]: a part must be an object with a `type`",
        ),
        (
            Dialect::Gateway,
            message(&[json!({"type": "text", "text": "a", "text_elements": []})]),
            "input[0].content[0]: `text` takes no `text_elements`: it takes type, text, textElements",
        ),
        (
            Dialect::Codex,
            message(&[json!({"type": "text", "text": "a", "textElements": []})]),
            "input[0].content[0]: `text` takes no `textElements`: it takes type, text, text_elements",
        ),
        (
            Dialect::Gateway,
            message(&[json!({"type": "image", "url": "u", "detail": "low"})]),
            "input[0].content[0]: `image` takes no `detail`: it takes type, url",
        ),
        (
            Dialect::Codex,
            message(&[json!({"type": "skill", "name": "n", "path": "p", "url": "u"})]),
            "input[0].content[0]: `skill` takes no `url`: it takes type, name, path",
        ),
        (
            Dialect::Gateway,
            message(&[json!({"type": "file", "name": "n", "data": "https://a.example/b", "url": "u"})]),
            "input[0].content[0]: `file` takes no `url`: it takes type, name, data",
        ),
        (
            Dialect::Codex,
            message(&[json!({"type": "video", "url": "u"})]),
            "input[0].content[0]: this server takes no parts of type `video`",
        ),
        (
            Dialect::Codex,
            json!([{"type": "user.message", "content": 1}]),
            "input[0]: `content` must be a string or a list of parts",
        ),
        (
            Dialect::Gateway,
            json!([{"type": "user.tool_approval"}]),
            "input[0]: this protocol takes user messages only",
        ),
        (
            Dialect::Codex,
            json!([{"type": "user.tool_approval"}]),
            "input[0]: what waits is answered while the turn runs, by `turn.answer()`",
        ),
    ] {
        let error = start(dialect, &input).expect_err("it is refused");
        assert_eq!((error.code, &*error.message), (ErrorCode::InvalidInput, expected));
    }
}
