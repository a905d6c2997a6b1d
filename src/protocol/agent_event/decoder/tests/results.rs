//! Results of calls, and answers in flight to them.

use serde_json::{Value as Json, json};

use super::{awaken, begin, call_done, calling, run_start, tirea};

fn result(status: &str) -> Json {
    json!({"data": {"hits": 2}, "message": null, "metadata": {"k": 1}, "status": status, "tool_name": "search"})
}

fn done(data: Json) -> Json {
    let wire = tirea("tool_call_done", data);
    let mut frames = vec![run_start()];
    frames.extend(calling("m", "c"));
    frames.push(wire);
    begin(&frames).last().clone()
}

/// The content is what the server keeps, which agents read: a result's fields in their own order.
#[test]
fn a_result_is_a_response() {
    let patch =
        json!({"patch": {"ops": [{"op": "set", "path": ["a", 0], "value": 1}]}, "source": "tool:search"});
    let event = done(
        json!({"id": "c", "message_id": "t", "outcome": "succeeded", "patch": patch, "result": result("success")}),
    );
    let content =
        r#"{"tool_name":"search","status":"success","data":{"hits":2},"message":null,"metadata":{"k":1}}"#;
    let expected = json!({
        "type": "tool.response", "id": "t", "thread_id": "main", "tool_call_id": "c", "content": content,
        "outcome": "succeeded", "result": result("success"), "patch": patch
    });
    assert_eq!(event, expected);
}

#[test]
fn an_outcome_follows_from_the_status() {
    let cases = [
        ("success", "succeeded"),
        ("warning", "succeeded"),
        ("error", "failed"),
        ("a newer one", "succeeded"),
    ];
    for (status, outcome) in cases {
        assert_eq!(done(json!({"id": "c", "result": result(status)}))["outcome"], outcome);
        assert_eq!(
            done(json!({"id": "c", "outcome": "newer", "result": result(status)}))["outcome"],
            outcome
        );
        assert_eq!(
            done(json!({"id": "c", "outcome": "failed", "result": result(status)}))["outcome"],
            "failed"
        );
    }
}

#[test]
fn what_a_result_leaves_out_is_filled_in() {
    let event = done(json!({"id": "c", "outcome": "failed", "result": {"message": "no", "extra": [1]}}));
    let expected =
        json!({"tool_name": "search", "status": "error", "data": null, "message": "no", "extra": [1]});
    assert_eq!(event["result"], expected);
    assert_eq!(event["id"], "r:6", "an id is made up");
    let event = done(json!({"id": "unknown", "message_id": "", "result": {}}));
    assert_eq!(event["result"], json!({"tool_name": "", "status": "success", "data": null, "message": null}));
    assert_eq!(event["outcome"], "succeeded");
}

/// Section 2.2: after an answer, calls of an earlier run are done, and calls may be done twice.
#[test]
fn a_result_needs_no_beginning() {
    let seen = begin([&call_done("c"), &call_done("c")]);
    assert_eq!(seen.types(), ["tool.response", "tool.response"]);
}

#[test]
fn a_result_that_is_none_is_unknown() {
    let cases = [
        (json!({"result": {}}), "`id` is missing"),
        (json!({"id": 5, "result": {}}), "`id` is not a string"),
        (json!({"id": "c"}), "`result` is missing"),
        (json!({"id": "c", "result": "done"}), "`result` is not an object"),
        (json!({"id": "c", "result": {"status": 1}}), "`status` is not a string"),
        (json!({"id": "c", "result": {"metadata": []}}), "`metadata` is not an object"),
        (json!({"id": "c", "result": {}, "patch": []}), "`patch` is not an object"),
        (json!({"id": "c", "result": {}, "outcome": true}), "`outcome` is not a string"),
    ];
    for (data, problem) in cases {
        let event = done(data.clone());
        assert_eq!(event["type"], "unknown", "{data}");
        assert_eq!(event["problem"], problem);
        assert_eq!(event["raw"]["data"], data, "it is kept whole");
        assert_eq!(event["wire_type"], "tool_call_done");
    }
}

/// awaken's agents read the message that is for people, or else the data (section 5).
#[test]
fn awakens_content_is_what_its_agents_read() {
    let done = |result: Json| {
        begin([&awaken(
            "tool_call_done",
            json!({"id": "c", "message_id": "", "result": result, "outcome": "succeeded"}),
        )])
        .last()
        .clone()
    };
    let event =
        done(json!({"tool_name": "t", "status": "success", "data": {"b": 1, "a": "☃"}, "message": null}));
    assert_eq!(event["content"], r#"{"a":"☃","b":1}"#);
    assert_eq!(
        event["result"],
        json!({"tool_name": "t", "status": "success", "data": {"b": 1, "a": "☃"}, "message": null})
    );
    let event = done(json!({"tool_name": "t", "status": "error", "data": null, "message": "not found"}));
    assert_eq!(event["content"], "not found");
}

#[test]
fn an_answer_is_said_to_have_arrived() {
    let resumed =
        |target: &str| tirea("tool_call_resumed", json!({"target_id": target, "result": {"approved": true}}));
    let event = json!({"type": "tool.resumed", "id": "r:2", "thread_id": "main", "tool_call_id": "c", "result": {"approved": true}});
    assert_eq!(begin([&run_start(), &resumed("c")]).events[1..], [event]);
    // By its projection's id, where the call is known.
    let mut frames = calling("m", "c");
    frames.push(resumed("fc_c"));
    frames.push(resumed("fc_d"));
    let seen = begin(&frames);
    let ids: Vec<_> = seen.of("tool.resumed").iter().map(|event| &event["tool_call_id"]).collect();
    assert_eq!(ids, ["c", "fc_d"]);
}

/// With awaken the answer's arrival is the call's end, and says its result (section 5).
#[test]
fn awakens_answer_is_the_result() {
    let cases = [
        (json!({"message": "blue"}), "succeeded", r#"{"message":"blue"}"#),
        (json!("blue"), "succeeded", r#""blue""#),
        (json!({"data": [1], "metadata": {"a": 1}}), "succeeded", "[1]"),
        (json!({"error": "denied"}), "failed", "denied"),
        (json!({"error": "e", "more": 1}), "succeeded", r#"{"error":"e","more":1}"#),
    ];
    for (result, outcome, content) in cases {
        let seen = begin([&awaken("tool_call_resumed", json!({"target_id": "c", "result": result}))]);
        assert_eq!(seen.types(), ["tool.resumed", "tool.response"]);
        assert_eq!(seen.events[0]["result"], result);
        let response = json!({"type": "tool.response", "id": ":2", "thread_id": "main", "tool_call_id": "c", "content": content, "outcome": outcome});
        assert_eq!(seen.events[1], response);
    }
}
