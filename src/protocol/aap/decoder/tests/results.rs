//! Results of tools that the server ran (section 4).

use serde_json::{Value as Json, json};

use super::{call, play, result, says, stop};

#[test]
fn a_result_is_a_text_or_blocks() {
    let image = json!({"type": "image", "url": "data:image/png;base64,AA=="});
    for (content, text, parts) in [
        (json!("18°C"), "18°C", Json::Null),
        (json!(""), "", Json::Null),
        (json!([]), "", json!([])),
        (json!([{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}]), "ab", json!(null)),
        (json!([{"type": "audio", "url": "x"}, 5, "loose"]), "", json!(null)),
    ] {
        let parts = if content.is_array() { content.clone() } else { parts };
        let seen = play([&call("a", "x"), &result("a", content.clone())]);
        let response = seen.of("tool.response")[0];
        assert_eq!((&response["id"], &response["tool_call_id"]), (&json!("t:0:a"), &json!("a")));
        assert_eq!(response["content"], text, "{content}");
        assert_eq!(response["parts"], parts, "{content}: nothing of it is lost");
    }
}

#[test]
fn results_come_in_any_order() {
    let frames = [
        call("a", "mine"),
        call("b", "x"),
        call("c", "x"),
        result("c", "3"),
        result("a", "1"),
        result("b", "2"),
        says("All."),
        stop("tool_use"),
    ];
    let seen = play(&frames);
    let told: Vec<_> = seen
        .of("tool.response")
        .iter()
        .map(|event| (event["id"].clone(), event["content"].clone()))
        .collect();
    assert_eq!(
        told,
        [(json!("t:0:c"), json!("3")), (json!("t:0:a"), json!("1")), (json!("t:0:b"), json!("2"))]
    );
    assert!(seen.pending().is_empty());
    // Nothing waits: that is the answer.
    assert_eq!(seen.state()["output"]["content"], "All.");
    let message = &seen.index.messages()[0];
    let responses: Vec<_> = message.calls().iter().flatten().map(|call| call.response().is_some()).collect();
    assert_eq!(responses, [true; 3]);
}

/// Section 5: a result without a known call is shown all the same.
#[test]
fn a_result_of_an_unknown_call_is_told() {
    let seen = play([&says("a"), &result("nobody's", "x"), &says("b")]);
    assert_eq!(seen.of("tool.response")[0]["id"], "t:in:nobody's");
    assert_eq!(seen.messages().len(), 2);
    assert!(seen.unknown().is_empty());
}

/// It is unreadable, but the call does not wait, and what follows is another message.
#[test]
fn a_result_without_a_readable_content_is_one_nevertheless() {
    for (content, problem) in [
        (None, "`content` is missing"),
        (Some(json!(null)), "`content` is neither a string nor a list of blocks"),
        (Some(json!(5)), "`content` is neither a string nor a list of blocks"),
        (Some(json!({"type": "text", "text": "a"})), "`content` is neither a string nor a list of blocks"),
    ] {
        let mut wire = json!({"toolCallId": "a"});
        if let Some(content) = content {
            wire["content"] = content;
        }
        let frames = [call("a", "mine"), ("tool_result", wire.clone()), says("Next."), stop("tool_use")];
        let seen = play(&frames);
        assert_eq!(seen.unknown(), [(&json!("tool_result"), &wire, Some(problem))]);
        assert!(seen.pending().is_empty(), "{wire}");
        assert_eq!(seen.messages()[1], json!({"id": "t:1", "content": "Next.", "finish_reason": "stop"}));
    }
}

#[test]
fn a_result_of_no_call_is_kept() {
    for (id, problem) in [
        (json!(null), "`toolCallId` is missing"),
        (json!(""), "`toolCallId` is missing"),
        (json!([]), "`toolCallId` is not a string"),
    ] {
        let wire = json!({"toolCallId": id, "content": "x"});
        let seen = play([&call("a", "mine"), &("tool_result", wire.clone()), &stop("tool_use")]);
        assert_eq!(seen.unknown(), [(&json!("tool_result"), &wire, Some(problem))]);
        assert_eq!(seen.pending(), ["Response a"]);
    }
}
