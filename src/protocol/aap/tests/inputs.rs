//! A turn's input as messages (sections 3, 5 and 8).

use serde_json::{Value as Json, json};

use super::{Aap, allow, body, item, request, respond};
use crate::error::ErrorCode;
use crate::json::Value;
use crate::protocol::{Call, Protocol as _};
use crate::turn::TurnInput;

const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";
const WEB: &str = "https://a.example/b.png?c#d";

fn params(input: &Json, images: &[&str]) -> Json {
    json!({"sessionId": "s", "turnId": "t", "input": input, "terms": {"images": images}})
}

fn sent(input: &Json) -> Json {
    body(Call::CreateTurnStream, &params(input, &["data", "http"]))["messages"].clone()
}

fn refused(input: &Json, images: &[&str]) -> (ErrorCode, String) {
    let error = request(Call::CreateTurnStream, &params(input, images)).expect_err("a refusal");
    (error.code, error.message.clone())
}

fn text(text: &str) -> Json {
    json!({"type": "text", "text": text})
}

fn image(url: &str) -> Json {
    json!({"type": "image", "url": url})
}

#[test]
fn section_3_messages_of_the_user() {
    for (content, expected) in [
        (json!("Hi"), json!("Hi")),
        (json!(""), json!("")),
        // A text alone is a plain one.
        (json!([text("Hi")]), json!("Hi")),
        (json!([text("a"), text("b")]), json!([text("a"), text("b")])),
        (json!([]), json!([])),
        (json!([image(PNG)]), json!([image(PNG)])),
        (json!([text("See"), image(WEB), text("!")]), json!([text("See"), image(WEB), text("!")])),
        (json!([text("a"), text("\u{0}é")]), json!([text("a"), text("\u{0}é")])),
    ] {
        assert_eq!(
            sent(&json!([item(content.clone())])),
            json!([{"role": "user", "content": expected}]),
            "{content}"
        );
    }
    let two = sent(&json!([item("a"), item(json!([text("b")]))]));
    assert_eq!(two, json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]));
}

/// Section 5: all answers go in one request.
#[test]
fn section_5_answers_to_calls() {
    let deny = |approval: Json| json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c", "approval": approval});
    let permission =
        |id: &str, granted: bool| json!({"role": "tool_permission", "toolCallId": id, "granted": granted});
    let input = json!([respond("a", "18°C"), allow("b"), deny(json!({"status": "deny"}))]);
    let tool = json!({"role": "tool", "toolCallId": "a", "content": "18°C"});
    assert_eq!(sent(&input), json!([tool, permission("b", true), permission("c", false)]));
    let mut with_reason = permission("c", false);
    with_reason["reason"] = "User declined".into();
    assert_eq!(
        sent(&json!([deny(json!({"status": "deny", "reason": "User declined", "remember": true}))])),
        json!([with_reason])
    );
    assert_eq!(
        sent(&json!([deny(json!({"status": "deny", "reason": ""}))])),
        json!([permission("c", false)])
    );
    // A result is sent as it is: an empty one, and one that is JSON.
    for content in ["", "\"x\"", "{\"a\":1}"] {
        assert_eq!(sent(&json!([respond("a", content)]))[0]["content"], content);
    }
}

/// Section 8: as the agent declares to take them.
#[test]
fn section_8_images() {
    let file = |data: &str| json!({"type": "file", "name": "a.png", "data": data});
    for (part, url) in [
        (image(PNG), PNG),
        (image("DATA:Image/PNG;base64,AA=="), "DATA:Image/PNG;base64,AA=="),
        (image(WEB), WEB),
        (image("HTTPS://a.example"), "HTTPS://a.example"),
        (file(PNG), PNG),
    ] {
        assert_eq!(sent(&json!([item(json!([part]))]))[0]["content"], json!([image(url)]), "{part}");
    }
    let no_data = "this agent takes no images as data URIs";
    let no_web = "this agent takes no images by address";
    for (part, images, problem) in [
        (image(PNG), &["http"][..], no_data),
        (file(PNG), &["http"], no_data),
        (image(PNG), &[], no_data),
        (image(WEB), &["data"], no_web),
        (image(WEB), &[], no_web),
    ] {
        let (code, message) = refused(&json!([item(json!([text("a"), part]))]), images);
        assert_eq!((code, &*message), (ErrorCode::InvalidInput, problem), "{part}");
    }
    // Nothing is known of an agent without terms.
    let params = json!({"sessionId": "s", "turnId": "t", "input": [item(json!([image(PNG)]))]});
    assert_eq!(request(Call::CreateTurnStream, &params).expect_err("a refusal").message, no_data);
}

#[test]
fn section_8_what_is_no_image_is_refused() {
    let neither = "an image must be a data URI (`data:image/…`) or an `https:` address";
    for url in [
        json!(""),
        json!("http://a.example/b.png"),
        json!("data:"),
        json!("data:text/html;base64,AA=="),
        json!("data:image"),
        json!("blob:https://a.example"),
        json!("https"),
        json!("file:///b.png"),
        json!("javascript:1"),
        json!(" https://a"),
        json!("dåta:image/"),
        json!(5),
        json!(null),
        json!([PNG]),
    ] {
        let (code, message) =
            refused(&json!([item(json!([{"type": "image", "url": url}]))]), &["data", "http"]);
        assert_eq!((code, &*message), (ErrorCode::InvalidInput, neither), "{url}");
    }
    for data in [json!("data:application/pdf;base64,AA=="), json!(WEB), json!(""), json!(null), json!(5)] {
        let part = json!({"type": "file", "name": "a", "data": data});
        let (code, message) = refused(&json!([item(json!([part]))]), &["data", "http"]);
        assert_eq!(
            (code, &*message),
            (ErrorCode::InvalidInput, "of files, this protocol takes images only: `data:image/…`")
        );
    }
}

#[test]
fn an_input_that_is_none_is_refused() {
    let nothing = "a turn needs a message, or answers to the calls that wait";
    let approval =
        |approval: Json| json!([{"type": "user.tool_approval", "tool_call_id": "c", "approval": approval}]);
    let verdict = "`approval.status` must be `allow` or `deny`";
    let kind = "`type` must be `user.message`, `user.tool_approval` or `user.tool_response`";
    let content = "`content` must be a string or a list of parts";
    let result = "`content` of a tool response must be a text";
    let part = |part: Json| json!([item(json!([text("a"), part]))]);
    for (input, problem) in [
        (json!(null), nothing),
        (json!([]), nothing),
        (json!(["Hi"]), "an item must be an object with a `type`"),
        (json!([null]), "an item must be an object with a `type`"),
        (json!([{}]), kind),
        (json!([item("Hi"), {"type": "user.wish"}]), kind),
        (json!([{"type": "user.message"}]), content),
        (json!([item(5)]), content),
        (json!([item(json!({"type": "text", "text": "a"}))]), content),
        (part(json!("a")), "a part must be an object with a `type`"),
        (part(json!({"type": "text"})), "a text part must have a `text`"),
        (part(json!({"type": "text", "text": ["a"]})), "a text part must have a `text`"),
        (part(json!({"type": "audio", "url": WEB})), "this protocol takes texts and images only"),
        (part(json!({})), "this protocol takes texts and images only"),
        (approval(json!({})), verdict),
        (approval(json!("allow")), verdict),
        (approval(json!({"status": "maybe"})), verdict),
        (json!([allow("")]), "`tool_call_id` must name a pending call"),
        (json!([respond("", "x")]), "`tool_call_id` must name a pending call"),
        (json!([{"type": "user.tool_response", "content": "x"}]), "`tool_call_id` must name a pending call"),
        (json!([{"type": "user.tool_response", "tool_call_id": "c"}]), result),
        (json!([{"type": "user.tool_response", "tool_call_id": "c", "content": [text("a")]}]), result),
    ] {
        assert_eq!(
            refused(&input, &["data", "http"]),
            (ErrorCode::InvalidInput, problem.to_owned()),
            "{input}"
        );
    }
    for input in [json!("Hi"), item("Hi"), json!(5)] {
        assert_eq!(
            refused(&input, &[]),
            (ErrorCode::InvalidOption, "`input` must be a list of items".to_owned())
        );
    }
}

/// What an agent declares of addresses concerns addresses only.
#[test]
fn an_image_as_a_data_uri_is_no_image_by_address() {
    for (part, is_by_address) in [(image(PNG), false), (image(WEB), true), (text("data:"), false)] {
        let input = item(json!([text("a"), part])).to_string();
        let input = TurnInput::read(Value::parse(&input).expect("JSON"), &Aap::new().capabilities())
            .expect("an input");
        assert_eq!(input.has_images(), is_by_address, "{part}");
        assert!(!input.has_files());
    }
}
