//! Each script's events in their order, and what its second turn does with the answers.

use std::collections::BTreeSet;

use base64::Engine;
use serde_json::{Value, json};

use crate::client::{Gateway, Numbered, answers, fast, of_type, outline, said, state, text};

const MESSAGE: [&str; 2] = ["model.message", "model.message.delta"];

/// An order of events that begins and ends as every turn does.
fn order(parts: &[&[&str]]) -> Vec<String> {
    let all = [&["turn.created"][..]].into_iter().chain(parts.iter().copied());
    let mut order: Vec<String> = all.flatten().map(|&kind| kind.to_owned()).collect();
    order.push("turn.done".to_owned());
    order
}

async fn play(text: &str) -> (Gateway, String, Vec<Numbered>) {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let events = gateway.say(&session, text).await;
    (gateway, session, events)
}

fn allow() -> Value {
    json!({"status": "allow"})
}

#[tokio::test]
async fn answers_in_one_message() {
    for script in ["plain", "reasoning", "markdown", "unicode", "file", "slow", "long 50", "Hello"] {
        let (_, _, events) = play(script).await;
        assert_eq!(outline(&events), order(&[&["mcp.initialize"], &MESSAGE]), "{script}");
        assert_eq!(state(&events)["status"], "done", "{script}");
        assert_eq!(state(&events)["output"]["content"], said(&events).as_str(), "{script}");
    }
}

#[tokio::test]
async fn reasoning_comes_before_the_answer() {
    let (_, _, events) = play("reasoning").await;
    let deltas = of_type(&events, "model.message.delta");
    let first_answer = deltas.iter().position(|delta| delta.get("content").is_some());
    let last_thought = deltas.iter().rposition(|delta| delta.get("reasoning_content").is_some());
    assert!(last_thought < first_answer);
    assert!(text(&state(&events)["output"]["reasoning_content"]).len() > 100);
}

#[tokio::test]
async fn tools_are_called_one_after_another() {
    let (_, _, events) = play("tools").await;
    let call = [MESSAGE[0], MESSAGE[1], "tool.response"];
    let expected = order(&[&["mcp.initialize"], &call, &call, &MESSAGE]);
    assert_eq!(outline(&events), expected);
    let deltas = of_type(&events, "model.message.delta");
    let first = deltas.iter().find(|delta| delta.get("tool_calls").is_some()).expect("a call");
    let call = &first["tool_calls"][0];
    assert_eq!((&call["index"], &call["type"]), (&json!(0), &json!("function")));
    assert_eq!(call["function"]["arguments"], "");
    assert_eq!(call["tool_info"]["type"], "mcp");
    assert_eq!(of_type(&events, "tool.response")[0]["tool_call_id"], call["id"]);
    let pieces: Vec<_> = deltas
        .iter()
        .filter(|delta| delta["tool_calls"][0].get("id").is_none() && delta.get("tool_calls").is_some())
        .collect();
    assert!(pieces.len() > 4 && pieces.iter().all(|delta| delta["tool_calls"][0].get("tool_info").is_none()));
}

#[tokio::test]
async fn parallel_calls_arrive_interleaved() {
    let (_, _, events) = play("parallel").await;
    let expected = order(&[&["mcp.initialize"], &MESSAGE, &["tool.response"; 3], &MESSAGE]);
    assert_eq!(outline(&events), expected);
    let deltas = of_type(&events, "model.message.delta");
    let indexes: Vec<u64> =
        deltas.iter().filter_map(|delta| delta["tool_calls"][0]["index"].as_u64()).collect();
    assert_eq!(indexes[..6], [0, 1, 2, 0, 1, 2]);
}

#[tokio::test]
async fn an_approval_leads_on_both_ways() {
    for (decision, result, reply) in [
        (allow(), "\"status\":\"running\"", "nine seconds"),
        (json!({"status": "deny"}), "Error: the user denied", "left it alone"),
        (json!({"status": "deny", "reason": "not now"}), "Reason: not now", "“not now”"),
    ] {
        let (gateway, session, paused) = play("approval").await;
        let asked = ["tool.approval_required"];
        assert_eq!(outline(&paused), order(&[&["mcp.initialize"], &MESSAGE, &asked]));
        let event = of_type(&paused, "tool.approval_required")[0];
        assert_eq!(state(&paused)["required_actions"], json!([event]));
        assert_eq!(state(&paused)["output"], Value::Null);
        let source = of_type(&paused, "model.message")[0];
        assert_eq!(event["tool_calls"][0]["source_event_id"], source["id"]);
        let resumed = gateway.turn(&session, answers(&paused, &decision, "")).await;
        let expected = order(&[&["mcp.initialize"], &["tool.response"], &MESSAGE]);
        assert_eq!(outline(&resumed), expected);
        assert!(text(&of_type(&resumed, "tool.response")[0]["content"]).contains(result));
        assert!(said(&resumed).contains(reply), "{}", said(&resumed));
    }
}

#[tokio::test]
async fn a_pause_can_be_answered_twice_by_forking() {
    let (gateway, session, paused) = play("approval").await;
    for (decision, reply) in [(allow(), "nine seconds"), (json!({"status": "deny"}), "left it alone")] {
        let mut body = answers(&paused, &decision, "");
        body["previous_turn_id"] = paused[0].event["turn_id"].clone();
        let resumed = gateway.turn(&session, body).await;
        assert!(said(&resumed).contains(reply));
    }
}

#[tokio::test]
async fn a_question_is_answered_without_a_result_event() {
    let (gateway, session, paused) = play("question").await;
    let asked = ["tool.response_required"];
    assert_eq!(outline(&paused), order(&[&["mcp.initialize"], &MESSAGE, &asked]));
    let resumed = gateway.turn(&session, answers(&paused, &allow(), "Virginia")).await;
    assert_eq!(outline(&resumed), order(&[&["mcp.initialize"], &MESSAGE]));
    assert!(said(&resumed).contains("**Virginia**"));
    assert_eq!(resumed[0].event["input"][0]["content"], "Virginia");
}

#[tokio::test]
async fn mixed_calls_all_wait() {
    let (gateway, session, paused) = play("mixed").await;
    let asked = ["tool.response_required", "tool.approval_required"];
    assert_eq!(outline(&paused), order(&[&["mcp.initialize"], &MESSAGE, &asked]));
    let actions = state(&paused)["required_actions"].as_array().expect("actions");
    assert_eq!(actions.len(), 2);
    let resumed = gateway.turn(&session, answers(&paused, &allow(), "Everybody")).await;
    let expected = order(&[&["mcp.initialize"], &["tool.response"; 2], &MESSAGE]);
    assert_eq!(outline(&resumed), expected);
    assert!(said(&resumed).contains("four instances"));
}

#[tokio::test]
async fn sub_agents_work_at_the_same_time() {
    let (_, _, events) = play("subagents").await;
    let created = of_type(&events, "thread.created");
    assert_eq!(created.len(), 3);
    let threads: BTreeSet<String> = created.iter().map(|event| text(&event["thread_id"])).collect();
    assert!(threads.iter().all(|thread| thread.len() == 36));
    assert_eq!(created[0]["agent_info"]["type"], "dynamic");
    assert_eq!(created[0]["parent"]["thread_id"], "main");
    let switches = events.windows(2).filter(|pair| {
        let thread = |event: &Numbered| event.event["thread_id"].as_str().map(str::to_owned);
        thread(&pair[0]) != thread(&pair[1])
    });
    assert!(switches.count() > 30, "their events are interleaved");
    let mut outcomes = Vec::new();
    for pair in events.windows(2).filter(|pair| pair[1].event["type"] == "thread.done") {
        let (response, done) = (&pair[0].event, &pair[1].event);
        assert_eq!(response["type"], "tool.response");
        assert_eq!((&response["content"], &response["thread_id"]), (&json!(""), &json!("main")));
        assert_eq!(response["tool_call_id"], done["parent"]["tool_call_id"]);
        outcomes.push(text(&done["state"]["status"]));
    }
    outcomes.sort();
    assert_eq!(outcomes, ["done", "done", "error"]);
    assert!(said(&events).contains("Two of the three"));
}

#[tokio::test]
async fn a_sub_agent_can_ask() {
    let (gateway, session, paused) = play("subagents approval").await;
    let action = &state(&paused)["required_actions"][0];
    let thread = text(&action["thread_id"]);
    assert_ne!(thread, "main");
    assert_eq!(of_type(&paused, "thread.done").len(), 2);
    let resumed = gateway.turn(&session, answers(&paused, &allow(), "")).await;
    let done = of_type(&resumed, "thread.done");
    assert_eq!((done.len(), text(&done[0]["thread_id"])), (1, thread.clone()));
    assert_eq!(done[0]["state"]["output"]["thread_id"], thread.as_str());
    assert!(said(&resumed).ends_with("Version 2.13 is running again."));
}

#[tokio::test]
async fn a_tool_server_wants_a_sign_in() {
    for (word, body) in [("mcp-auth", json!({})), ("MCP", json!({"input": []}))] {
        let (gateway, session, paused) = play(word).await;
        assert_eq!(outline(&paused), order(&[&["mcp.auth_required"]]));
        let action = &state(&paused)["required_actions"][0];
        assert_eq!(action["thread_id"], Value::Null);
        let url = text(&action["mcp_servers"][0]["auth_url"]);
        let path = url.strip_prefix(&format!("http://{}", gateway.address)).expect("this gateway");
        assert!(gateway.get(path).await.text.contains("calendar"));
        let resumed = gateway.turn(&session, body).await;
        let expected = order(&[&["mcp.initialize"], &MESSAGE, &["tool.response"], &MESSAGE]);
        assert_eq!(outline(&resumed), expected);
        assert_eq!(resumed[0].event.get("input"), None);
    }
}

#[tokio::test]
async fn a_sandbox_serves_its_file() {
    let (gateway, session, events) = play("sandbox").await;
    let created = of_type(&events, "sandbox.created");
    assert_eq!(created[0]["thread_id"], Value::Null);
    let sandbox = text(&created[0]["sandbox_id"]);
    let file = format!("/acme/v1/agents/sandbox/{sandbox}/file");
    let answer = gateway.get(&format!("{file}?path=/workspace/uptime.csv")).await;
    assert_eq!(answer.headers["content-type"], "text/csv");
    assert!(answer.text.starts_with("month,uptime_percent,incidents\n"));
    for (path, status) in [
        (format!("{file}?path=/nothing"), 404),
        (format!("{file}?path=uptime.csv"), 400),
        (file, 400),
        ("/acme/v1/agents/sandbox/none/file?path=/x".to_owned(), 404),
    ] {
        let answer = gateway.get(&path).await;
        assert_eq!(answer.status, status, "{path}");
        answer.error();
    }
    let again = gateway.say(&session, "sandbox").await;
    assert!(of_type(&again, "sandbox.created").is_empty(), "one for the whole session");
    assert!(said(&again).contains(&sandbox));
}

#[tokio::test]
async fn files_are_named_with_type_and_size() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let payload = base64::engine::general_purpose::STANDARD.encode([7; 1234]);
    let file =
        json!({"type": "file", "name": "plan.pdf", "data": format!("data:application/pdf;base64,{payload}")});
    let content = json!([{"type": "text", "text": "File!"}, file]);
    let body = json!({"input": [{"type": "user.message", "content": content}]});
    let events = gateway.turn(&session, body).await;
    assert!(said(&events).contains("`plan.pdf`, type `application/pdf`, 1234 bytes"));
    assert_eq!(events[0].event["input"][0]["content"], content);
}

#[tokio::test]
async fn failures_end_the_turn() {
    let (gateway, session, events) = play("error").await;
    assert_eq!(outline(&events), order(&[&["mcp.initialize"], &MESSAGE]));
    assert_eq!(state(&events)["status"], "error");
    assert!(said(&events).ends_with("the renew"));
    assert_eq!(state(&gateway.say(&session, "plain").await)["status"], "done");
    let (_, _, events) = play("length").await;
    assert_eq!(state(&events)["message"], "max_tokens breached");
    let last = of_type(&events, "model.message.delta");
    assert_eq!(last.last().expect("a delta")["finish_reason"], "length");
}

#[tokio::test]
async fn the_support_desk_files_a_ticket_and_remembers_it() {
    let (gateway, session, hello) = play("Hi!").await;
    assert!(said(&hello).starts_with("Hello! I am Wren"));
    let paused = gateway.say(&session, "I would like to file a support ticket.").await;
    let call = [MESSAGE[0], MESSAGE[1], "tool.response"];
    let asked = ["tool.approval_required"];
    assert_eq!(outline(&paused), order(&[&["mcp.initialize"], &call, &MESSAGE, &asked]));
    let filed = gateway.turn(&session, answers(&paused, &allow(), "")).await;
    let reply = said(&filed);
    let number = &reply[reply.find("SM-").expect("a number")..][..7];
    let told = gateway.say(&session, "What about my ticket?").await;
    assert!(said(&told).contains(number));
    let elsewhere = gateway.session().await;
    let told = gateway.say(&elsewhere, "What about my ticket?").await;
    assert!(!said(&told).contains(number), "another session knows nothing of it");
}

#[tokio::test]
async fn an_idle_session_runs_again_without_input() {
    let (gateway, session, _) = play("plain").await;
    for body in [json!({}), json!({"input": []}), json!({"input": null})] {
        let events = gateway.turn(&session, body).await;
        assert_eq!(state(&events)["status"], "done");
        assert!(said(&events).starts_with("I am still here."));
    }
}

#[tokio::test]
async fn the_page_runs_both_tools_and_answers_in_one_turn() {
    let (gateway, session, paused) = play("page").await;
    assert_eq!(outline(&paused), order(&[&["mcp.initialize"], &MESSAGE, &["tool.response_required"]]));
    let required = &of_type(&paused, "tool.response_required")[0]["tool_calls"];
    assert_eq!(required.as_array().map(Vec::len), Some(2));
    let resumed = gateway.turn(&session, answers(&paused, &allow(), "nine o’clock")).await;
    assert_eq!(outline(&resumed), order(&[&["mcp.initialize"], &MESSAGE]));
    assert_eq!(said(&resumed).matches("nine o’clock").count(), 2, "{}", said(&resumed));
}

#[tokio::test]
async fn the_page_is_asked_round_after_round() {
    let (gateway, session, mut events) = play("page rounds 2").await;
    for result in ["six", "twelve"] {
        assert_eq!(state(&events)["required_actions"].as_array().map(Vec::len), Some(1));
        events = gateway.turn(&session, answers(&events, &allow(), result)).await;
    }
    assert!(said(&events).contains("six, twelve"), "{}", said(&events));
}

#[tokio::test]
async fn a_page_tool_and_consent_wait_together() {
    let (gateway, session, paused) = play("page mixed").await;
    let asked = ["tool.response_required", "tool.approval_required"];
    assert_eq!(outline(&paused), order(&[&["mcp.initialize"], &MESSAGE, &asked]));
    let resumed = gateway.turn(&session, answers(&paused, &allow(), "midnight")).await;
    assert_eq!(outline(&resumed), order(&[&["mcp.initialize"], &["tool.response"], &MESSAGE]));
    let said = said(&resumed);
    assert!(said.contains("midnight") && said.contains("is running again"), "{said}");
}

#[tokio::test]
async fn a_refusal_is_a_message_that_was_filtered() {
    for (words, begun) in [("refusal", false), ("refusal late", true)] {
        let (_, _, events) = play(words).await;
        assert_eq!(state(&events)["status"], "done");
        let last = of_type(&events, "model.message.delta");
        assert_eq!(last.last().expect("a delta")["finish_reason"], "content_filter");
        assert_eq!(!said(&events).is_empty(), begun);
    }
}
