//! The gateway's own endpoints and the transport's faults, on these surfaces.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Gateway, fast, frames, kind, of, paced, read_until, said, text, waiting, words};

async fn plan(gateway: &Gateway, thread: &str, plan: Value) {
    let path = format!("/_gateway/sessions/{thread}/faults?ahead=true");
    let answer = gateway.send(Method::PUT, &path, plan).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[tokio::test]
async fn a_schedule_may_wait_for_a_thread_that_is_still_to_come() {
    let gateway = fast().await;
    let unknown = gateway.send(Method::PUT, "/_gateway/sessions/t/faults", json!([])).await;
    assert_eq!(unknown.status, 404);
    plan(
        &gateway,
        "t",
        json!([{"on": "create", "fault": "status:503:2"}, {"on": "stream", "fault": "eof:4"}]),
    )
    .await;
    let refused = gateway.post("/tirea/v1/runs", words("t", "plain")).await;
    assert_eq!(refused.error(), (503, "503 Service Unavailable, on purpose".to_owned()));
    assert_eq!(refused.headers["retry-after"], "2");
    assert_eq!(gateway.get("/tirea/v1/threads/t").await.status, 404, "nothing was processed");
    assert_eq!(gateway.say("t", "plain").await.len(), 61, "a query of its own wins");
    let cut = gateway.post("/tirea/v1/runs", words("t", "plain")).await.frames();
    assert_eq!(cut.len(), 4);
    let journal = gateway.get("/_gateway/sessions/t/requests").await.json();
    let seen: Vec<(&str, u64, &str)> = journal
        .as_array()
        .expect("a journal")
        .iter()
        .filter(|entry| entry["method"] == "POST")
        .map(|entry| {
            (
                entry["on"].as_str().unwrap_or("?"),
                entry["status"].as_u64().unwrap_or(0),
                entry["fault"].as_str().unwrap_or("none"),
            )
        })
        .collect();
    assert_eq!(seen, [("create", 503, "status:503:2"), ("create", 200, "none"), ("create", 200, "eof:4")]);
}

#[tokio::test]
async fn each_resource_has_its_name() {
    let gateway = paced(1).await;
    let run = text(&gateway.say("t", "approval").await[0]["run_id"]);
    for (on, method, path) in [
        ("turn", Method::GET, format!("/tirea/v1/runs/{run}")),
        ("turns", Method::GET, "/tirea/v1/runs?thread_id=t".to_owned()),
        ("session", Method::GET, "/tirea/v1/threads/t".to_owned()),
        ("session-events", Method::GET, "/tirea/v1/threads/t/messages".to_owned()),
        ("cancel", Method::POST, format!("/tirea/v1/runs/{run}/cancel")),
        ("cancel", Method::POST, "/tirea/v1/threads/t/interrupt".to_owned()),
        ("answer", Method::POST, format!("/tirea/v1/runs/{run}/inputs")),
    ] {
        plan(&gateway, "t", json!([{"on": on, "fault": "text-status:502"}])).await;
        let answer = gateway.send(method, &path, json!({})).await;
        assert_eq!(answer.status, 502, "{on}: {}", answer.text);
    }
    gateway.ask("t", "approval").await;
    plan(
        &gateway,
        "t",
        json!([{"on": "turns", "fault": "text-status:502"}, {"on": "answer", "fault": "text-status:504"}]),
    )
    .await;
    assert_eq!(gateway.get("/awaken/v1/threads/t/runs").await.status, 502);
    assert_eq!(gateway.post("/awaken/v1/threads/t/decision", json!({})).await.status, 504);
}

#[tokio::test]
async fn a_stream_that_a_fault_cuts_is_a_run_that_is_lost() {
    let gateway = fast().await;
    for fault in ["eof:5", "reset:5"] {
        let mut response =
            gateway.open(&format!("/tirea/v1/runs?fault={fault}&delay_ms=25"), words(fault, "plain")).await;
        let mut all = String::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            all += &String::from_utf8_lossy(&chunk);
        }
        let all = frames(&all);
        assert_eq!(all.len(), 5, "{fault}");
        let run = text(&all[0]["run_id"]);
        tokio::time::sleep(Duration::from_millis(100)).await;
        let cancel = gateway.post(&format!("/tirea/v1/runs/{run}/cancel"), json!({})).await;
        assert_eq!(cancel.error(), (400, "bad request: run is not active".to_owned()), "{fault}");
        assert_eq!(gateway.get(&format!("/tirea/v1/runs/{run}")).await.json()["status"], "running");
    }
}

#[tokio::test]
async fn frames_are_forged_as_the_protocol_writes_them() {
    let gateway = fast().await;
    let frames = gateway.say_with("t", "plain", "other-turn:3+after-done:2").await;
    let starts = of(&frames, "run_start");
    assert_eq!(starts.len(), 2);
    assert_ne!(starts[0]["run_id"], starts[1]["run_id"]);
    let end = frames.iter().position(|frame| kind(frame) == "run_finish").expect("an end");
    assert_eq!(said(&frames[end..]), " too late too late");
    let twice = gateway.ask_with("t", "plain", "two-dones").await;
    assert_eq!(of(&twice, "run_finish").len(), 2);
    let none = gateway.say_with("t", "plain", "no-done").await;
    assert!(of(&none, "run_finish").is_empty());
    let twice = gateway.say_with("t", "plain", "duplicate:3").await;
    assert_eq!(twice[2], twice[3]);
}

#[tokio::test]
async fn open_streams_are_cut_by_thread() {
    let gateway = paced(20).await;
    for (base, how) in [("/tirea", "eof"), ("/awaken", "reset")] {
        let mut response = gateway.open(&format!("{base}/v1/runs"), words("t", "plain")).await;
        read_until(&mut response, "text_delta").await;
        let cut = gateway.post(&format!("/_gateway/sessions/t/cut?how={how}"), json!({})).await.json();
        assert_eq!(cut, json!({"cut": 1}), "{base}");
        let mut end = response.chunk().await;
        while matches!(end, Ok(Some(_))) {
            end = response.chunk().await;
        }
        assert_eq!(end.is_err(), how == "reset", "{base}");
    }
}

#[tokio::test]
async fn the_log_of_a_run_is_all_that_it_said() {
    let gateway = fast().await;
    let mut body = words("t", "plain");
    body["runId"] = json!("r1");
    let said = gateway.post("/tirea/v1/runs", body).await.text;
    assert_eq!(gateway.get("/_gateway/turns/r1/log").await.text, said);
    let asked = gateway.ask("a", "approval").await;
    let run = text(&asked[0]["run_id"]);
    let call = of(&asked, "tool_call_done")[0]["id"].clone();
    let decision = json!({"toolCallId": call, "action": "resume"});
    gateway.post(&format!("/awaken/v1/runs/{run}/decision"), decision).await;
    gateway.until(&format!("/awaken/v1/runs/{run}"), |run| run["status"] == "done").await;
    let log = frames(&gateway.get(&format!("/_gateway/turns/{run}/log")).await.text);
    assert_eq!(log[..asked.len()], asked[..]);
    assert_eq!(of(&log, "run_finish").len(), 2);
}

#[tokio::test]
async fn writes_are_cut_as_asked() {
    let gateway = fast().await;
    let whole = gateway.say("t", "unicode").await;
    for query in ["chunk_bytes=7", "batch=3"] {
        let path = format!("/tirea/v1/runs?{query}");
        let cut = gateway.post(&path, words("t", "unicode")).await.frames();
        assert_eq!(said(&cut), said(&whole), "{query}");
    }
}

#[tokio::test]
async fn any_page_may_call_and_a_token_may_be_wanted() {
    let gateway = fast().await;
    let preflight = gateway
        .request(Method::OPTIONS, "/tirea/v1/runs")
        .header("origin", "http://example.com")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type")
        .send()
        .await
        .expect("an answer");
    assert_eq!(preflight.headers()["access-control-allow-origin"], "*");
    let token = Some("secret".to_owned());
    let gateway = Gateway::start(turnwire_gateway::Config { token, ..Default::default() }).await;
    let refused = gateway.get("/tirea/v1/threads").await;
    assert_eq!(refused.status, 401);
    assert!(text(&refused.json()["error"]).starts_with("unauthorized"));
    let admitted = gateway.request(Method::GET, "/awaken/v1/threads").bearer_auth("secret").send().await;
    assert_eq!(admitted.expect("an answer").status(), 200);
}

#[tokio::test]
async fn an_answer_that_gets_lost_is_processed() {
    let gateway = fast().await;
    gateway.say("t", "approval").await;
    plan(&gateway, "t", json!([{"on": "create", "fault": "late-status:502"}])).await;
    let waits = waiting_in(&gateway, "t").await;
    let body =
        json!({"agentId": "a", "threadId": "t", "decisions": [{"target_id": waits, "action": "resume"}]});
    let lost = gateway.post("/tirea/v1/runs", body).await;
    assert_eq!(lost.status, 502);
    let runs = gateway.get("/tirea/v1/runs?thread_id=t").await.json();
    assert_eq!(runs["total"], 2, "the run began, and nobody can read it: {runs}");
}

async fn waiting_in(gateway: &Gateway, thread: &str) -> Value {
    let state = gateway.get(&format!("/tirea/v1/threads/{thread}")).await.json()["state"].clone();
    let snapshot = json!({"type": "state_snapshot", "data": {"snapshot": state}});
    waiting(&[snapshot])[0]["call_id"].clone()
}
