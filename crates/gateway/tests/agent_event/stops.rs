//! Runs of tirea that do not come to their end: cancelled, interrupted, abandoned.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Gateway, frames, of, paced, read_until, termination, text, words};

/// A run that has begun to talk: its stream, what it said, its id.
async fn begun(
    gateway: &Gateway,
    thread: &str,
    script: &str,
    mark: &str,
) -> (reqwest::Response, String, String) {
    let mut response = gateway.open("/tirea/v1/runs", words(thread, script)).await;
    let said = read_until(&mut response, mark).await;
    let first: Value =
        serde_json::from_str(&said.split("\n\n").next().expect("a frame")["data: ".len()..]).expect("JSON");
    (response, said, text(&first["run_id"]))
}

#[tokio::test]
async fn cancelling_stores_no_half_answer_but_a_note_to_the_model() {
    let gateway = paced(25).await;
    for (thread, script, mark, stage) in [
        ("t1", "plain", "text_delta", "during inference"),
        ("t2", "tools", "\"running\"", "while using tools"),
    ] {
        let (response, said, run) = begun(&gateway, thread, script, mark).await;
        assert_eq!(gateway.post(&format!("/tirea/v1/runs/{run}/cancel"), json!({})).await.status, 202);
        let all = frames(&(said + &response.text().await.expect("the rest")));
        assert_eq!(*termination(&all), json!({"type": "cancelled"}));
        assert!(of(&all, "tool_call_done").is_empty());
        let content = gateway.get(&format!("/tirea/v1/threads/{thread}")).await.json();
        let last = content["messages"].as_array().expect("messages").last().expect("a message").clone();
        let note =
            format!("The previous run was interrupted {stage}. Please continue from the current context.");
        assert_eq!((&last["role"], &last["content"]), (&json!("user"), &json!(note)));
        let record = gateway.get(&format!("/tirea/v1/runs/{run}")).await.json();
        assert_eq!((&record["status"], &record["termination_code"]), (&json!("done"), &json!("cancelled")));
        let again = gateway.post(&format!("/tirea/v1/runs/{run}/cancel"), json!({})).await;
        assert_eq!(again.error(), (400, "bad request: run is not active".to_owned()));
    }
    let nobody = gateway.post("/tirea/v1/runs/nobody/cancel", json!({})).await;
    assert_eq!(nobody.error(), (404, "run not found: nobody".to_owned()));
}

#[tokio::test]
async fn an_interrupt_cancels_by_thread_and_never_fails() {
    let gateway = paced(25).await;
    let (response, said, run) = begun(&gateway, "t", "plain", "text_delta").await;
    let answer = gateway.post("/tirea/v1/threads/t/interrupt", json!({})).await;
    assert_eq!(answer.status, 202);
    assert_eq!(
        answer.json(),
        json!({"status": "interrupt_requested", "thread_id": "t", "generation": 1, "cancelled_run_id": run,
               "superseded_pending_count": 0, "superseded_pending_entry_ids": []})
    );
    let all = frames(&(said + &response.text().await.expect("the rest")));
    assert_eq!(*termination(&all), json!({"type": "cancelled"}));
    for (thread, generation) in [("t", 2), ("nowhere", 1)] {
        let idle = gateway.post(&format!("/tirea/v1/threads/{thread}/interrupt"), json!({})).await.json();
        assert_eq!((&idle["cancelled_run_id"], &idle["generation"]), (&Value::Null, &json!(generation)));
    }
}

#[tokio::test]
async fn a_run_whose_reader_leaves_is_lost_for_ever() {
    let gateway = paced(25).await;
    let (response, _, run) = begun(&gateway, "t", "plain", "text_delta").await;
    drop(response);
    let path = format!("/tirea/v1/runs/{run}/cancel");
    let refused = async {
        loop {
            let answer = gateway.post(&path, json!({})).await;
            if answer.status == 400 {
                break answer.error();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(5), refused).await.expect("it is noticed");
    assert_eq!(refused.1, "bad request: run is not active");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let record = gateway.get(&format!("/tirea/v1/runs/{run}")).await.json();
    assert_eq!((&record["status"], record.get("termination_code")), (&json!("running"), None));
    let thread = gateway.get("/tirea/v1/threads/t").await.json();
    assert_eq!(thread["messages"].as_array().map(Vec::len), Some(1), "{thread}");
    let next = gateway.post("/tirea/v1/runs?delay_ms=0", words("t", "plain")).await.frames();
    assert_eq!(termination(&next)["type"], "natural_end");
}

#[tokio::test]
async fn a_run_may_take_only_so_long() {
    let config = turnwire_gateway::Config { turn_limit: Duration::from_millis(150), ..Default::default() };
    let gateway = Gateway::start(config).await;
    let all = gateway.say("t", "slow").await;
    assert_eq!(termination(&all)["value"]["code"], "timeout_reached");
}

#[tokio::test]
async fn runs_of_different_threads_do_not_mix() {
    let gateway = std::sync::Arc::new(paced(1).await);
    let says: Vec<_> = (0..8)
        .map(|number| {
            let gateway = std::sync::Arc::clone(&gateway);
            tokio::spawn(async move {
                let thread = format!("t{number}");
                let all = gateway.say(&thread, "tools").await;
                assert!(all.iter().all(|frame| frame["thread_id"] == thread.as_str()));
                assert_eq!(termination(&all)["type"], "natural_end");
            })
        })
        .collect();
    for say in says {
        say.await.expect("its own run");
    }
}
