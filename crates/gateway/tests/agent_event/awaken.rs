//! Awaken: its own ids, decisions to the same run, runs that outlive their readers, threads.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Gateway, fast, frames, kind, of, paced, read_until, said, termination, text, words};

const BOTH: [&str; 2] = ["/awaken", "/awaken-plain"];

/// The first frame of what was read so far.
fn first(begun: &str) -> Value {
    frames(begun.split_inclusive("\n\n").next().expect("a frame"))[0].clone()
}

#[tokio::test]
async fn run_ids_are_the_servers() {
    let gateway = fast().await;
    let mut body = words("t", "plain");
    body["runId"] = json!("mine");
    let all = gateway.post("/awaken/v1/runs", body).await.frames();
    let (start, finish) = (&all[0], all.last().expect("a frame"));
    assert_ne!(start["run_id"], "mine");
    assert_eq!(start["identity"], finish["identity"]);
    assert_eq!(start["identity"]["agent_id"], "support-bot");
    assert_eq!(
        finish["result"],
        json!({"response": said(&all), "status": "done", "status_reason": "natural"})
    );
    let run = gateway.get(&format!("/awaken/v1/runs/{}", text(&start["run_id"]))).await.json();
    assert_eq!((&run["status"], &run["final_output"]), (&json!("done"), &json!(said(&all))));
    assert_eq!(run["outcome"]["termination_reason"], json!({"type": "natural_end"}));
    let ours = json!({"agentId": "a", "messages": [{"role": "user", "content": "plain"}]});
    let made = gateway.post("/awaken/v1/runs", ours).await.frames();
    assert_eq!(text(&made[0]["thread_id"]).len(), 36);
}

#[tokio::test]
async fn errors_are_plain_sentences() {
    let gateway = fast().await;
    let message = json!([{"role": "user", "content": "plain"}]);
    for (body, status, sentence) in [
        (json!({"agentId": " ", "messages": message}), 400, "agent_id cannot be empty"),
        (json!({"agentId": "a", "messages": []}), 400, "at least one message is required"),
        (
            json!({"agentId": "a", "messages": [{"role": "alien", "content": "x"}]}),
            400,
            "at least one message is required",
        ),
        (json!({"agentId": "nope", "messages": message}), 404, "agent not found: nope"),
    ] {
        assert_eq!(gateway.post("/awaken/v1/runs", body).await.error(), (status, sentence.to_owned()));
    }
    for (path, sentence) in [
        ("/awaken/v1/runs/nobody", "run not found: nobody"),
        ("/awaken/v1/threads/nobody", "thread not found: nobody"),
        ("/awaken/v1/threads/nobody/messages", "thread not found: nobody"),
        ("/awaken/v1/threads/nobody/runs/latest", "run not found: no runs for thread nobody"),
    ] {
        assert_eq!(gateway.get(path).await.error(), (404, sentence.to_owned()));
    }
    assert_eq!(
        gateway.get("/awaken/v1/runs?status=odd").await.error(),
        (400, "invalid status filter: odd".to_owned())
    );
    assert_eq!(gateway.get("/awaken/v1/threads?cursor=odd").await.status, 400);
}

/// Answers a call and waits until the run has got that far.
async fn decide(gateway: &Gateway, path: &str, call: &Value, action: &str, payload: Value) -> Value {
    let body = json!({"toolCallId": call, "action": action, "payload": payload});
    let answer = gateway.post(path, body).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    answer.json()
}

#[tokio::test]
async fn the_same_run_goes_on_with_a_decision() {
    let gateway = fast().await;
    for (base, action, words) in
        [("/awaken", "resume", "is running again"), ("/awaken-plain", "cancel", "left it alone")]
    {
        let asked =
            gateway.post(&format!("{base}/v1/runs"), super::client::words("t", "approval")).await.frames();
        let pending = of(&asked, "tool_call_done")[0];
        assert_eq!(
            (&pending["outcome"], &pending["result"]["status"]),
            (&json!("suspended"), &json!("pending"))
        );
        let ticket = &pending["result"]["suspension"];
        assert_eq!(text(&ticket["pending"]["id"]), format!("perm_{}", text(&pending["id"])));
        assert_eq!(ticket["resume_mode"], "replay_tool_call");
        assert_eq!(*termination(&asked), json!({"type": "suspended"}));
        let run = text(&asked[0]["run_id"]);
        let waits = gateway.get(&format!("{base}/v1/threads/t/runs/active")).await.json();
        assert_eq!(waits["active_run"]["waiting"]["ticket_ids"], json!([ticket["pending"]["id"]]));
        let path = format!("{base}/v1/runs/{run}/decision");
        let unknown = gateway.post(&path, json!({"toolCallId": "x", "action": "resume"})).await;
        assert_eq!(unknown.error(), (404, format!("run not found: {run}")));
        let odd = gateway.post(&path, json!({"toolCallId": "x", "action": "odd"})).await;
        assert_eq!(odd.error(), (400, "invalid action: odd, expected 'resume' or 'cancel'".to_owned()));
        let answer =
            decide(&gateway, &path, &pending["id"], action, json!({"approved": action == "resume"})).await;
        assert_eq!(
            answer,
            json!({"status": "decision_submitted", "run_id": run, "tool_call_id": pending["id"]})
        );
        let record = gateway.until(&format!("{base}/v1/runs/{run}"), |run| run["status"] == "done").await;
        assert!(text(&record["final_output"]).contains(words), "{record}");
        assert_eq!(gateway.get(&format!("{base}/v1/threads/t/runs")).await.json()["total"], 1);
        assert_eq!(
            gateway.get(&format!("{base}/v1/threads/t/runs/active")).await.json()["active_run"],
            Value::Null
        );
    }
}

#[tokio::test]
async fn several_calls_are_decided_one_by_one_by_thread() {
    let gateway = fast().await;
    let asked = gateway.ask("t", "mixed").await;
    let run = text(&asked[0]["run_id"]);
    let open: Vec<&Value> =
        of(&asked, "tool_call_done").into_iter().filter(|done| done["outcome"] == "suspended").collect();
    assert_eq!(open.len(), 2);
    let path = "/awaken/v1/threads/t/decision";
    let answer = decide(&gateway, path, &open[0]["id"], "resume", json!({"approved": true})).await;
    assert_eq!(
        answer,
        json!({"status": "decision_submitted", "thread_id": "t", "tool_call_id": open[0]["id"]})
    );
    let record = format!("/awaken/v1/runs/{run}");
    gateway
        .until(&record, |run| {
            run["status"] == "waiting" && run["waiting"]["tickets"].as_array().map(Vec::len) == Some(1)
        })
        .await;
    decide(&gateway, path, &open[1]["id"], "resume", json!({"answer": "Everybody"})).await;
    let done = gateway.until(&record, |run| run["status"] == "done").await;
    assert!(text(&done["final_output"]).contains("Everybody"), "{done}");
    let nothing = gateway.post(path, json!({"toolCallId": open[1]["id"], "action": "resume"})).await;
    assert_eq!(nothing.error(), (404, "thread not found: t".to_owned()));
}

#[tokio::test]
async fn tools_of_the_page_are_answered_one_by_one() {
    let gateway = fast().await;
    for base in BOTH {
        let asked = gateway.post(&format!("{base}/v1/runs"), words("t", "page")).await.frames();
        let run = text(&asked[0]["run_id"]);
        let path = format!("{base}/v1/runs/{run}/decision");
        for (call, said) in of(&asked, "tool_call_done").into_iter().zip(["nine o’clock", "forty-two"]) {
            assert_eq!(call["result"]["suspension"]["resume_mode"], "use_decision_as_tool_result");
            decide(&gateway, &path, &call["id"], "resume", json!(said)).await;
        }
        let done = gateway.until(&format!("{base}/v1/runs/{run}"), |run| run["status"] == "done").await;
        let output = text(&done["final_output"]);
        assert!(output.contains("nine o’clock in Tokyo") && output.contains("forty-two."), "{output}");
    }
}

#[tokio::test]
async fn a_run_outlives_its_reader() {
    let gateway = paced(5).await;
    for base in BOTH {
        let mut response = gateway.open(&format!("{base}/v1/runs"), words("t", "plain")).await;
        let run = text(&first(&read_until(&mut response, "text_delta").await)["run_id"]);
        drop(response);
        let record = gateway.until(&format!("{base}/v1/runs/{run}"), |run| run["status"] == "done").await;
        assert!(text(&record["final_output"]).starts_with("Here is a plain answer"));
        let messages = gateway.get(&format!("{base}/v1/threads/t/messages")).await.json();
        assert_eq!(
            messages["messages"][1]["content"],
            json!([{"type": "text", "text": record["final_output"]}])
        );
    }
}

#[tokio::test]
async fn a_new_message_cancels_the_run_before_it() {
    let gateway = paced(25).await;
    let mut response = gateway.open("/awaken/v1/runs", words("t", "plain")).await;
    let begun = read_until(&mut response, "text_delta").await;
    let second = gateway.post("/awaken/v1/runs?delay_ms=0", words("t", "plain")).await.frames();
    let all = frames(&(begun + &response.text().await.expect("the rest")));
    assert_eq!(*termination(&all), json!({"type": "cancelled"}));
    assert_eq!(termination(&second)["type"], "natural_end");
}

#[tokio::test]
async fn cancel_and_interrupt() {
    let gateway = paced(25).await;
    for (thread, path) in [("t1", "cancel"), ("t2", "interrupt")] {
        let mut response = gateway.open("/awaken/v1/runs", words(thread, "plain")).await;
        let begun = read_until(&mut response, "text_delta").await;
        let answer = gateway.post(&format!("/awaken/v1/threads/{thread}/{path}"), json!({})).await;
        assert_eq!(answer.status, 202);
        let all = frames(&(begun + &response.text().await.expect("the rest")));
        assert_eq!(*termination(&all), json!({"type": "cancelled"}));
        let again = gateway.post(&format!("/awaken/v1/threads/{thread}/{path}"), json!({})).await;
        assert_eq!(again.error(), (404, format!("thread not found: {thread}")));
        let run = text(&all[0]["run_id"]);
        let again = gateway.post(&format!("/awaken/v1/runs/{run}/cancel"), json!({})).await;
        assert_eq!(again.error(), (404, format!("run not found: {run}")));
    }
}

#[tokio::test]
async fn a_run_that_waits_can_be_cancelled() {
    let gateway = fast().await;
    let asked = gateway.ask("t", "approval").await;
    let run = text(&asked[0]["run_id"]);
    assert_eq!(gateway.post(&format!("/awaken/v1/runs/{run}/cancel"), json!({})).await.status, 202);
    let record = gateway.get(&format!("/awaken/v1/runs/{run}")).await.json();
    assert_eq!(
        (&record["status"], &record["termination_reason"]),
        (&json!("done"), &json!({"type": "cancelled"}))
    );
    assert!(record.get("waiting").is_none());
}

#[tokio::test]
async fn silence_is_filled_with_heartbeats() {
    let silence = Duration::from_millis(40);
    let gateway = Gateway::start(turnwire_gateway::Config { silence, ..Default::default() }).await;
    let path = "/awaken/v1/runs?fault=silence:200&delay_ms=0";
    let answer = gateway.post(path, words("t", "plain")).await;
    assert!(answer.text.matches(": heartbeat\n\n").count() >= 3, "{}", answer.text);
    let tirea = gateway.post("/tirea/v1/runs?fault=silence:200&delay_ms=0", words("t", "plain")).await;
    assert!(!tirea.text.contains("\n:"), "tirea has no comments: {}", tirea.text);
}

#[tokio::test]
async fn threads_are_made_listed_changed_and_deleted() {
    let gateway = fast().await;
    let made = gateway.post("/awaken/v1/threads", json!({"title": "First", "parentThreadId": "p"})).await;
    assert_eq!(made.status, 201);
    let id = text(&made.json()["id"]);
    assert_eq!(made.json()["metadata"]["title"], "First");
    gateway.ask("t", "plain").await;
    let children = gateway.get("/awaken/v1/threads?parentThreadId=p").await.json();
    assert_eq!(children["items"], json!([id]));
    assert_eq!(gateway.get("/awaken/v1/threads?root=true").await.json()["items"], json!(["t"]));
    let page = gateway.get("/awaken/v1/threads?limit=1").await.json();
    assert_eq!((&page["total"], &page["has_more"]), (&json!(2), &json!(true)));
    let next = format!("/awaken/v1/threads?limit=1&cursor={}", text(&page["next_cursor"]));
    let second = gateway.get(&next).await.json();
    assert_ne!(second["items"], page["items"]);
    assert_eq!((&second["has_more"], &second["next_cursor"]), (&json!(false), &Value::Null));
    let path = format!("/awaken/v1/threads/{id}");
    let renamed = gateway.send(Method::PATCH, &format!("{path}/metadata"), json!({"title": "Second"})).await;
    assert_eq!(renamed.json()["metadata"]["title"], "Second");
    let summaries = gateway.get("/awaken/v1/threads/summaries").await.json();
    assert!(summaries["items"].as_array().expect("items").iter().any(|item| item["title"] == "Second"));
    assert_eq!(gateway.send(Method::DELETE, &path, json!({})).await.status, 204);
    assert_eq!(gateway.send(Method::DELETE, &path, json!({})).await.status, 404);
    let thread = gateway.get("/awaken/v1/threads/t").await.json();
    assert!(thread["latest_run_id"].is_string() && thread.get("messages").is_none(), "{thread}");
}

#[tokio::test]
async fn messages_are_paged_by_cursor() {
    let gateway = fast().await;
    for _ in 0..3 {
        gateway.ask("t", "plain").await;
    }
    let path = "/awaken/v1/threads/t/messages";
    let page = gateway.get(&format!("{path}?limit=4")).await.json();
    assert_eq!((&page["total"], &page["has_more"]), (&json!(6), &json!(true)));
    let rest = gateway.get(&format!("{path}?limit=4&cursor={}", text(&page["next_cursor"]))).await.json();
    assert_eq!(rest["messages"].as_array().map(Vec::len), Some(2));
    let newest = gateway.get(&format!("{path}?limit=1&order=desc")).await.json();
    assert_eq!(newest["messages"][0]["role"], "assistant");
    assert_eq!(gateway.get(&format!("{path}?after=4")).await.json()["total"], 2);
    assert_eq!(
        gateway.get(&format!("{path}?order=odd")).await.error(),
        (400, "order must be asc or desc".to_owned())
    );
    let run = text(&newest["messages"][0]["metadata"]["run_id"]);
    assert_eq!(gateway.get(&format!("{path}?runId={run}")).await.json()["total"], 2);
}

#[tokio::test]
async fn calls_are_announced_in_the_step_and_done_before_its_end() {
    let gateway = fast().await;
    let all = gateway.ask("t", "parallel").await;
    let kinds: Vec<&str> = all.iter().map(kind).filter(|kind| !kind.ends_with("delta")).collect();
    let first_step: Vec<&str> = kinds.iter().take_while(|kind| **kind != "step_end").copied().collect();
    let count = |wanted: &str| first_step.iter().filter(|kind| **kind == wanted).count();
    assert_eq!((count("tool_call_ready"), count("tool_call_done"), count("state_snapshot")), (3, 3, 1));
    let place = |wanted: &str| first_step.iter().position(|kind| *kind == wanted);
    assert!(place("tool_call_ready") < place("inference_complete"));
    assert!(place("inference_complete") < place("tool_call_done"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_decision_that_comes_while_the_run_ends_is_not_lost() {
    let gateway = fast().await;
    for number in 0..60 {
        let thread = format!("t{number}");
        let mut response = gateway.open("/awaken/v1/runs", words(&thread, "approval")).await;
        let begun = read_until(&mut response, "\"outcome\":\"suspended\"").await;
        let all = frames(&begun);
        let call = of(&all, "tool_call_done")[0]["id"].clone();
        let run = text(&all[0]["run_id"]);
        decide(
            &gateway,
            &format!("/awaken/v1/runs/{run}/decision"),
            &call,
            "resume",
            json!({"approved": true}),
        )
        .await;
        gateway.until(&format!("/awaken/v1/runs/{run}"), |run| run["status"] == "done").await;
    }
}

#[tokio::test]
async fn every_script_is_played_to_an_end() {
    let gateway = fast().await;
    let natural = [
        "plain",
        "reasoning",
        "markdown",
        "unicode",
        "tools",
        "parallel",
        "mcp-auth",
        "sandbox",
        "file",
        "subagents",
        "refusal late",
    ];
    for script in natural {
        let all = gateway.ask(script, script).await;
        assert_eq!(termination(&all)["type"], "natural_end", "{script}");
        assert_eq!(json!(said_last(&all)), all.last().expect("a frame")["result"]["response"], "{script}");
    }
    for script in
        ["approval", "question", "mixed", "page mixed", "subagents approval", "please file a ticket"]
    {
        assert_eq!(
            *termination(&gateway.ask(script, script).await),
            json!({"type": "suspended"}),
            "{script}"
        );
    }
    assert_eq!(termination(&gateway.ask("error", "error").await)["type"], "error");
    assert_eq!(termination(&gateway.ask("length", "length").await)["type"], "stopped");
}

/// The text of the last step.
fn said_last(all: &[Value]) -> String {
    let last = all.iter().rposition(|frame| kind(frame) == "step_start").expect("a step");
    said(&all[last..])
}

#[tokio::test]
async fn a_sub_agent_is_answered_through_the_call_that_started_it() {
    let gateway = fast().await;
    let asked = gateway.ask("t", "subagents approval").await;
    let pending = of(&asked, "tool_call_done").into_iter().find(|done| done["outcome"] == "suspended");
    let pending = pending.expect("a call that waits");
    assert_eq!(pending["result"]["suspension"]["resume_mode"], "pass_decision_to_tool");
    let run = text(&asked[0]["run_id"]);
    let ticket = &pending["result"]["suspension"]["pending"]["id"];
    decide(&gateway, &format!("/awaken/v1/runs/{run}/decision"), ticket, "cancel", Value::Null).await;
    let record = gateway.until(&format!("/awaken/v1/runs/{run}"), |run| run["status"] == "done").await;
    assert!(text(&record["final_output"]).contains("Version 2.14 stays, as you wish."), "{record}");
}
