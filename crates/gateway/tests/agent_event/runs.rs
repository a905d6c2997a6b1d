//! Starting runs of tirea: ids, input, errors, what is on record afterwards.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{fast, kind, of, outline, paced, read_until, said, termination, text, waiting, words};

#[tokio::test]
async fn ids_are_the_clients_or_made() {
    let gateway = fast().await;
    let mut body = words("t", "plain");
    body["runId"] = json!("my-run");
    body["parentRunId"] = json!("before");
    let frames = gateway.post("/tirea/v1/runs", body).await.frames();
    let start = &frames[0];
    assert_eq!(
        (kind(start), &start["run_id"], &start["thread_id"]),
        ("run_start", &json!("my-run"), &json!("t"))
    );
    assert_eq!(start["data"], json!({"parent_run_id": "before"}));
    let body = json!({"agentId": "a", "threadId": " ", "messages": [{"role": "user", "content": "plain"}]});
    let frames = gateway.post("/tirea/v1/runs", body).await.frames();
    let made = [text(&frames[0]["run_id"]), text(&frames[0]["thread_id"])];
    let plain = |id: &String| id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit());
    assert!(made.iter().all(plain), "{made:?}");
    assert!(frames[0].get("data").is_none(), "an empty payload is left out");
}

#[tokio::test]
async fn other_spellings_are_taken() {
    let gateway = fast().await;
    let messages = json!([{"role": "user", "content": "plain"}]);
    let snake = json!({"agent_id": "a", "thread_id": "t1", "run_id": "r1", "messages": messages});
    let task = json!({"agentId": "a", "contextId": "t2", "taskId": "r2", "messages": messages, "extra": 1});
    for (body, thread, run) in [(snake, "t1", "r1"), (task, "t2", "r2")] {
        let frames = gateway.post("/tirea/v1/runs", body).await.frames();
        assert_eq!((&frames[0]["thread_id"], &frames[0]["run_id"]), (&json!(thread), &json!(run)));
    }
}

#[tokio::test]
async fn frames_are_numbered_and_bear_their_step() {
    let gateway = fast().await;
    let frames = gateway.say("t", "tools").await;
    let mut step: Option<String> = None;
    let mut steps = 0;
    for (number, frame) in frames.iter().enumerate() {
        assert_eq!(frame["seq"], number);
        if kind(frame) == "step_start" {
            step = Some(format!("step:{steps}"));
            steps += 1;
        }
        assert_eq!(frame["step_id"].as_str(), step.as_deref(), "{frame}");
        if kind(frame) == "step_end" {
            assert!(frame.get("data").is_none(), "{frame}");
            step = None;
        }
    }
    assert_eq!(steps, 3);
    assert_eq!(frames[0]["thread_id"], "t");
}

#[tokio::test]
async fn the_response_is_the_last_words_and_stored() {
    let gateway = fast().await;
    let frames = gateway.say("t", "reasoning").await;
    let response = &frames.last().expect("a frame")["data"]["result"]["response"];
    assert_eq!(*response, json!(said(&frames)));
    assert!(of(&frames, "reasoning_delta").len() > 10);
    let thread = gateway.get("/tirea/v1/threads/t").await.json();
    assert_eq!(thread["messages"][1]["content"], *response);
    assert_eq!(thread["messages"][1]["id"], of(&frames, "step_start")[0]["data"]["message_id"]);
    assert_eq!(thread["state"]["__run"]["done_reason"], "natural");
    assert!(thread["state"]["__run"].get("id").is_none(), "{thread}");
}

#[tokio::test]
async fn several_tools_are_announced_together_and_done_in_order() {
    let gateway = fast().await;
    let frames = gateway.say("t", "parallel").await;
    let kinds = outline(&frames);
    assert_eq!(
        kinds.iter().skip_while(|kind| **kind != "step_end").copied().collect::<Vec<_>>(),
        [
            "step_end",
            "tool_call_ready",
            "activity_snapshot",
            "tool_call_done",
            "state_snapshot",
            "step_start",
            "text_delta",
            "inference_complete",
            "step_end",
            "run_finish"
        ]
    );
    let ids = |wanted| of(&frames, wanted).iter().map(|frame| text(&frame["data"]["id"])).collect::<Vec<_>>();
    assert_eq!(ids("tool_call_ready").len(), 3);
    assert_eq!(ids("tool_call_ready"), ids("tool_call_done"));
    assert_eq!(ids("tool_call_ready"), ids("tool_call_start"));
    let thread = gateway.get("/tirea/v1/threads/t").await.json();
    for (message, done) in
        thread["messages"].as_array().expect("messages")[2..].iter().zip(of(&frames, "tool_call_done"))
    {
        assert_eq!((&message["role"], &message["id"]), (&json!("tool"), &done["data"]["message_id"]));
        let stored: Value = serde_json::from_str(&text(&message["content"])).expect("JSON");
        assert_eq!(stored, done["data"]["result"]);
    }
}

#[tokio::test]
async fn arguments_are_the_sum_of_their_deltas() {
    let gateway = fast().await;
    let frames = gateway.say("t", "parallel").await;
    for ready in of(&frames, "tool_call_ready") {
        let deltas = of(&frames, "tool_call_delta").into_iter();
        let own = deltas.filter(|delta| delta["data"]["id"] == ready["data"]["id"]);
        let sum: String = own.map(|delta| text(&delta["data"]["args_delta"])).collect();
        let parsed: Value = serde_json::from_str(&sum).expect("JSON");
        assert_eq!(parsed, ready["data"]["arguments"]);
    }
}

#[tokio::test]
async fn failures_are_reported_twice_and_recorded_once() {
    let gateway = fast().await;
    let frames = gateway.say("t", "error").await;
    assert_eq!(outline(&frames), ["run_start", "step_start", "text_delta", "error", "run_finish"]);
    let message = of(&frames, "error")[0]["data"]["message"].clone();
    assert_eq!(of(&frames, "error")[0]["data"]["code"], "LLM_ERROR");
    assert_eq!(*termination(&frames), json!({"type": "error", "value": message}));
    assert_eq!(frames.last().expect("a frame")["step_id"], "step:0");
    let run = gateway.get(&format!("/tirea/v1/runs/{}", text(&frames[0]["run_id"]))).await.json();
    assert_eq!((&run["termination_code"], &run["termination_detail"]), (&json!("error"), &message));
    let length = gateway.say("t2", "length").await;
    assert_eq!(termination(&length)["type"], "stopped");
    assert_eq!(termination(&length)["value"]["code"], "token_budget_exceeded");
}

#[tokio::test]
async fn a_message_that_is_there_already_is_dropped_and_the_run_still_runs() {
    let gateway = fast().await;
    let body = json!({"agentId": "a", "threadId": "t",
        "messages": [{"id": "m1", "role": "user", "content": "plain"}]});
    for run in 1..=2 {
        let frames = gateway.post("/tirea/v1/runs", body.clone()).await.frames();
        assert!(said(&frames).starts_with("Here is a plain answer"), "run {run}");
    }
    let thread = gateway.get("/tirea/v1/threads/t").await.json();
    let roles: Vec<String> =
        thread["messages"].as_array().expect("messages").iter().map(|m| text(&m["role"])).collect();
    assert_eq!(roles, ["user", "assistant", "assistant"]);
}

#[tokio::test]
async fn a_run_without_any_input_still_runs() {
    let gateway = fast().await;
    let frames = gateway.post("/tirea/v1/runs", json!({"agentId": "a", "threadId": "t"})).await.frames();
    assert_eq!(termination(&frames)["type"], "natural_end");
}

#[tokio::test]
async fn state_of_the_client_takes_the_place_of_the_threads() {
    let gateway = fast().await;
    let mut body = words("t", ONE_TOOL);
    body["state"] = json!({"theme": "dark"});
    let frames = gateway.post("/tirea/v1/runs", body).await.frames();
    assert_eq!(of(&frames, "state_snapshot")[0]["data"]["snapshot"]["theme"], "dark");
    assert_eq!(gateway.get("/tirea/v1/threads/t").await.json()["state"]["theme"], "dark");
}

const ONE_TOOL: &str = "Why was I charged?";

#[tokio::test]
async fn facts_that_the_agent_keeps_are_part_of_the_state() {
    let gateway = fast().await;
    let frames = gateway.say("t", "sandbox").await;
    let sandbox = &of(&frames, "state_snapshot").last().expect("a snapshot")["data"]["snapshot"]["sandbox"];
    assert!(sandbox.as_str().is_some_and(|id| id.starts_with("sbx-")), "{sandbox}");
    let again = gateway.say("t", "sandbox").await;
    assert_eq!(of(&again, "state_snapshot")[0]["data"]["snapshot"]["sandbox"], *sandbox);
}

#[tokio::test]
async fn errors_are_exactly_those_of_the_real_server() {
    let gateway = fast().await;
    for (body, status, sentence) in [
        (json!({"agentId": "nope", "messages": []}), 404, "agent not found: nope"),
        (json!({"agentId": " ", "messages": []}), 400, "bad request: agent_id cannot be empty"),
    ] {
        assert_eq!(gateway.post("/tirea/v1/runs", body).await.error(), (status, sentence.to_owned()));
    }
    let target = "Failed to deserialize the JSON body into the target type: ";
    for (body, status, sentence) in [
        ("{\"messages\":[]}", 422, format!("{target}missing field `agentId` at line 1 column 15")),
        (
            "{not json",
            400,
            "Failed to parse the request body as JSON: key must be a string at line 1 column 2".into(),
        ),
        (
            "{\"agentId\":\"a\",\"messages\":[{\"role\":\"alien\",\"content\":\"x\"}]}",
            422,
            format!(
                "{target}messages[0].role: unknown variant `alien`, expected one of `system`, `user`, `assistant`, `tool`"
            ),
        ),
    ] {
        let request = gateway.request(reqwest::Method::POST, "/tirea/v1/runs").body(body);
        let answer = super::client::Answer::read(request.header("content-type", "application/json")).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        assert!(answer.text.starts_with(&sentence), "{}", answer.text);
        assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
    }
    let request = gateway.request(reqwest::Method::POST, "/tirea/v1/runs").body("{}");
    let answer = super::client::Answer::read(request).await;
    assert_eq!(
        (answer.status.as_u16(), answer.text.as_str()),
        (415, "Expected request with `Content-Type: application/json`")
    );
    assert_eq!(gateway.get("/tirea/v1/runs/nobody").await.error(), (404, "run not found: nobody".to_owned()));
    let nowhere = gateway.get("/tirea/v1/runs/nobody/events").await;
    assert_eq!((nowhere.status.as_u16(), nowhere.text.as_str()), (404, ""));
}

#[tokio::test]
async fn a_new_message_breaks_off_the_run_before_it() {
    let gateway = paced(25).await;
    let mut first = gateway.open("/tirea/v1/runs", words("t", "plain")).await;
    let begun = read_until(&mut first, "text_delta").await;
    let second = gateway.post("/tirea/v1/runs?delay_ms=0", words("t", "reasoning")).await.frames();
    let all = super::client::frames(&(begun + &first.text().await.expect("the rest")));
    let last = all.last().expect("a frame");
    assert_eq!((kind(last), &last["data"]["code"]), ("error", &json!("STATE_ERROR")));
    assert!(text(&last["data"]["message"]).contains("Version conflict"), "{last}");
    assert_eq!(termination(&second)["type"], "natural_end");
    let run = gateway.get(&format!("/tirea/v1/runs/{}", text(&all[0]["run_id"]))).await.json();
    assert_eq!((&run["status"], run.get("termination_code")), (&json!("running"), None));
    let cancelled =
        gateway.post(&format!("/tirea/v1/runs/{}/cancel", text(&all[0]["run_id"])), json!({})).await;
    assert_eq!(cancelled.error(), (400, "bad request: run is not active".to_owned()));
    let thread = gateway.get("/tirea/v1/threads/t").await.json();
    let roles: Vec<String> =
        thread["messages"].as_array().expect("messages").iter().map(|m| text(&m["role"])).collect();
    assert_eq!(roles, ["user", "user", "assistant"], "what was half said is not stored");
}

/// The last frames of a run during which another client writes to its thread.
async fn disturbed(method: Method, path: &str, body: Value) -> Vec<Value> {
    let gateway = paced(25).await;
    let mut first = gateway.open("/tirea/v1/runs", words("t", "plain")).await;
    let begun = read_until(&mut first, "text_delta").await;
    assert!(gateway.send(method, path, body).await.status.is_success());
    let all = super::client::frames(&(begun + &first.text().await.expect("the rest")));
    let record = gateway.get(&format!("/tirea/v1/runs/{}", text(&all[0]["run_id"]))).await.json();
    assert_eq!(record["status"], "running");
    all[all.len() - 2..].to_vec()
}

#[tokio::test]
async fn another_writer_to_the_thread_ends_the_run_at_its_next_write() {
    let mut other = words("t", "plain");
    other["agentId"] = json!("other-bot");
    let conflict = "Version conflict: expected 1, actual ";
    for (method, path, body, reason) in [
        (Method::POST, "/tirea/v1/runs?delay_ms=0", other, conflict),
        (Method::PATCH, "/tirea/v1/threads/t/metadata", json!({"title": "x"}), conflict),
        (Method::DELETE, "/tirea/v1/threads/t", json!({}), "Thread not found: t"),
    ] {
        let last = disturbed(method, path, body).await;
        assert_eq!((kind(&last[0]), kind(&last[1])), ("inference_complete", "error"), "{path}");
        assert_eq!(last[1]["step_id"], "step:0");
        assert!(text(&last[1]["data"]["message"]).contains(reason), "{}", last[1]);
    }
}

#[tokio::test]
async fn sub_agents_are_seen_by_the_progress_of_their_calls() {
    let gateway = fast().await;
    let frames = gateway.say("t", "subagents").await;
    let calls: Vec<&Value> =
        of(&frames, "tool_call_ready").iter().map(|frame| &frame["data"]["id"]).collect();
    let reports = of(&frames, "activity_snapshot");
    let nested: Vec<&Value> = reports
        .iter()
        .map(|frame| &frame["data"]["content"])
        .filter(|content| content["parent_call_id"].is_string() && content["updated_at_ms"].is_number())
        .collect();
    assert!(!nested.is_empty());
    for content in nested {
        assert!(calls.contains(&&content["parent_call_id"]), "{content}");
        assert_eq!(
            text(&content["parent_node_id"]),
            format!("tool_call:{}", text(&content["parent_call_id"]))
        );
        assert_eq!(content["parent_run_id"], frames[0]["run_id"]);
        assert_ne!(content["run_id"], frames[0]["run_id"]);
        assert_ne!(content["thread_id"], "t");
        let thread = gateway.get(&format!("/tirea/v1/threads/{}", text(&content["thread_id"]))).await.json();
        assert_eq!(thread["parent_thread_id"], "t");
        let run = gateway.get(&format!("/tirea/v1/runs/{}", text(&content["run_id"]))).await.json();
        assert_eq!((&run["origin"], &run["status"]), (&json!("subagent"), &json!("done")));
    }
    let outcomes: Vec<&Value> =
        of(&frames, "tool_call_done").iter().map(|frame| &frame["data"]["outcome"]).collect();
    assert_eq!(outcomes, [&json!("succeeded"), &json!("failed"), &json!("succeeded")]);
}

#[tokio::test]
async fn scripts_without_a_counterpart_are_played_all_the_same() {
    let gateway = fast().await;
    for script in ["mcp-auth", "sandbox", "file", "markdown", "unicode", "support"] {
        let frames = gateway.say(script, script).await;
        assert_eq!(termination(&frames)["type"], "natural_end", "{script}");
    }
    assert!(waiting(&gateway.say("t", "question").await)[0]["resume_mode"] == "use_decision_as_tool_result");
    let long = gateway.say("long", "long 3000").await;
    assert_eq!(of(&long, "text_delta").len(), 3000);
}

#[tokio::test]
async fn a_refusal_is_an_end_like_any_other() {
    let gateway = fast().await;
    for (words, begun) in [("refusal", false), ("refusal late", true)] {
        let frames = gateway.say(words, words).await;
        assert_eq!(termination(&frames)["type"], "natural_end", "the protocol has no other word for it");
        assert_eq!(!said(&frames).is_empty(), begun, "{words}");
    }
}
