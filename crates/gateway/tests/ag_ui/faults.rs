//! The faults of all protocols, on runs of this one: by the query, by a schedule, by a cut.

use std::time::Duration;

use serde_json::json;

use crate::client::{error, events, gateway, of, outline, said};

const PLAIN: &str = "RUN_STARTED TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED";

#[tokio::test]
async fn streams_are_cut_repeated_and_continued() {
    let gateway = gateway(0).await;
    assert_eq!(outline(&gateway.say("t", "plain", "none").await), PLAIN);
    for (fault, expected) in [
        ("eof:3", "RUN_STARTED TEXT_START TEXT_CONTENT"),
        ("eof:0", ""),
        ("no-done", "RUN_STARTED TEXT_START TEXT_CONTENT TEXT_END"),
        ("two-dones", PLAIN),
        ("after-done:2", "RUN_STARTED TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED TEXT_CONTENT"),
        ("gap:2:1", "RUN_STARTED TEXT_CONTENT TEXT_END RUN_FINISHED"),
        ("reorder:1", "TEXT_START RUN_STARTED TEXT_CONTENT TEXT_END RUN_FINISHED"),
        ("other-turn:2", "RUN_STARTED TEXT_START RUN_STARTED TEXT_CONTENT TEXT_END RUN_FINISHED"),
    ] {
        assert_eq!(outline(&gateway.say("t", "plain", fault).await), expected, "{fault}");
    }
    let late = gateway.say("t", "plain", "after-done:1").await;
    assert_eq!(late.last().expect("events")["messageId"], of(&late, "TEXT_MESSAGE_START")[0]["messageId"]);
    let mut reset = gateway.open("/ag-ui?fault=reset:3", &said("t", "plain")).await;
    let broken = async {
        while reset.chunk().await?.is_some() {}
        Ok::<(), reqwest::Error>(())
    };
    broken.await.expect_err("a reset");
    let answer = gateway.send("/ag-ui?fault=status:503:2", &said("t", "plain")).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["retry-after"], "2");
    assert_eq!(answer.json()["detail"], "503 Service Unavailable, on purpose");
}

#[tokio::test]
async fn a_thread_has_a_schedule_and_a_journal() {
    let gateway = gateway(0).await;
    let planned = json!([{"on": "create", "fault": "eof:1"}, {"on": "subscribe", "fault": "eof:2"}]);
    let path = format!("http://{}/_gateway/sessions/planned/faults?ahead=true", gateway.address);
    let answer = gateway.client.put(path).json(&planned).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let base = "/ag-ui/copilotkit/agent/support-bot";
    let run = gateway.send(&format!("{base}/run"), &said("planned", "plain")).await;
    assert_eq!(outline(&run.events()), "RUN_STARTED");
    let connect = gateway.send(&format!("{base}/connect"), &said("planned", "plain")).await;
    assert_eq!(connect.events().len(), 2);
    let journal = gateway.get("/_gateway/sessions/planned/requests").await.json();
    let noted: Vec<_> =
        journal.as_array().expect("a list").iter().map(|one| (&one["on"], &one["fault"])).collect();
    assert_eq!(noted, [(&json!("create"), &json!("eof:1")), (&json!("subscribe"), &json!("eof:2"))]);
}

#[tokio::test]
async fn a_run_ends_with_its_reader_or_goes_on() {
    let gateway = gateway(5).await;
    for (path, goes_on) in [("/ag-ui", false), ("/ag-ui/store", true)] {
        let mut request = said("left", "plain");
        request["runId"] = json!(format!("run{path}"));
        let mut response = gateway.open(path, &request).await;
        response.chunk().await.expect("a chunk").expect("a chunk");
        drop(response);
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let log =
            gateway.get(&format!("/_gateway/turns/{}/log", format!("run{path}").replace('/', "%2F"))).await;
        assert_eq!(log.text.contains("RUN_FINISHED"), goes_on, "{path}: {}", log.text);
    }
}

#[tokio::test]
async fn open_streams_of_a_thread_are_cut() {
    let gateway = gateway(20).await;
    let mut response = gateway.open("/ag-ui", &said("cut", "long 5000")).await;
    response.chunk().await.expect("a chunk").expect("a chunk");
    let answer = gateway.send("/_gateway/sessions/cut/cut?how=eof", &json!({})).await;
    assert_eq!(answer.json(), json!({"cut": 1}));
    while response.chunk().await.expect("a clean end").is_some() {}
}

#[tokio::test]
async fn a_silence_has_comments_that_end_with_crlf() {
    let gateway = gateway(0).await;
    let answer = gateway.send("/ag-ui?fault=keepalive:20%2Bsilence:100", &said("t", "plain")).await;
    let comment = ": keepalive\r\n\r\n";
    assert!(answer.text.matches(comment).count() >= 2, "{}", answer.text);
    assert_eq!(outline(&events(&answer.text.replace(comment, ""))), PLAIN);
}

#[tokio::test]
async fn an_answer_can_be_empty_busy_or_an_error_of_the_encoder() {
    let gateway = gateway(0).await;
    assert_eq!(gateway.say("t", "plain", "nothing").await.len(), 0);
    let busy = gateway.send("/ag-ui?fault=busy", &said("t", "plain")).await;
    assert_eq!((busy.status.as_u16(), busy.json()["detail"].is_string()), (409, true));
    let first = gateway.say("t", "plain", "error-first").await;
    assert_eq!((first.len(), error(&first).0.as_str()), (1, "AGENT_ERROR"));
    let answer = gateway.send("/ag-ui?fault=error-event", &said("t", "plain")).await;
    assert!(
        answer.text.ends_with("event: error\ndata: {\"error\":\"Event encoding failed\"}\n\n"),
        "{}",
        answer.text
    );
}
