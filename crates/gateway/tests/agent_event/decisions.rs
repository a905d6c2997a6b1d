//! Suspended calls of tirea: which wait, and how they are answered in a new or a live run.

use serde_json::{Value, json};

use super::client::{
    Gateway, fast, kind, of, outline, paced, read_until, said, termination, text, waiting, words,
};

fn allow(target: &Value) -> Value {
    json!({"target_id": target, "action": "resume", "result": {"approved": true}})
}

#[tokio::test]
async fn a_call_may_be_named_in_three_ways() {
    let gateway = fast().await;
    for (thread, path) in [("t1", "/call_id"), ("t2", "/suspension/id"), ("t3", "/pending/id")] {
        let call = waiting(&gateway.say(thread, "approval").await)[0].clone();
        let frames = gateway.decide(thread, json!([allow(call.pointer(path).expect("an id"))])).await;
        assert_eq!(of(&frames, "tool_call_resumed")[0]["data"]["target_id"], call["call_id"]);
        assert_eq!(termination(&frames)["type"], "natural_end");
    }
}

#[tokio::test]
async fn a_bare_yes_and_no_result_at_all_are_consent() {
    let gateway = fast().await;
    for (thread, decision, resumed) in [
        ("t1", json!({"action": "resume", "result": true}), json!(true)),
        ("t2", json!({"action": "resume"}), json!(true)),
        ("t3", json!({"action": "cancel"}), json!(false)),
    ] {
        let call = waiting(&gateway.say(thread, "approval").await)[0]["call_id"].clone();
        let mut decision = decision;
        decision["target_id"] = call;
        let allowed = decision["action"] == "resume";
        let frames = gateway.decide(thread, json!([decision])).await;
        assert_eq!(of(&frames, "tool_call_resumed")[0]["data"]["result"], resumed);
        let done = &of(&frames, "tool_call_done")[0]["data"];
        assert_eq!(done["outcome"], if allowed { "succeeded" } else { "failed" });
        if !allowed {
            assert_eq!(done["result"]["message"], "User denied the action");
            assert!(said(&frames).contains("left it alone"), "the agent goes on: {}", said(&frames));
        }
    }
}

#[tokio::test]
async fn a_reason_reaches_the_agent() {
    let gateway = fast().await;
    let call = waiting(&gateway.say("t", "approval").await)[0]["call_id"].clone();
    let decision = json!({"target_id": call, "action": "cancel", "reason": "not on a Friday"});
    let frames = gateway.decide("t", json!([decision])).await;
    assert_eq!(of(&frames, "tool_call_done")[0]["data"]["result"]["message"], "not on a Friday");
    assert!(said(&frames).contains("not on a Friday"));
}

#[tokio::test]
async fn after_its_end_a_run_takes_no_decisions() {
    let gateway = fast().await;
    let asked = gateway.say("t", "approval").await;
    let run = text(&asked[0]["run_id"]);
    let decisions = json!({"decisions": [allow(&waiting(&asked)[0]["call_id"])]});
    let answer = gateway.post(&format!("/tirea/v1/runs/{run}/inputs"), decisions.clone()).await;
    assert_eq!(answer.error(), (400, "bad request: run is not active".to_owned()));
    let nobody = gateway.post("/tirea/v1/runs/nobody/inputs", decisions).await;
    assert_eq!(nobody.error(), (404, "run not found: nobody".to_owned()));
    let record = gateway.get(&format!("/tirea/v1/runs/{run}")).await.json();
    assert_eq!(
        (&record["status"], &record["termination_code"]),
        (&json!("waiting"), &json!("input_required"))
    );
    let thread = gateway.get("/tirea/v1/threads/t").await.json();
    assert_eq!(thread["state"]["__run"]["status"], "waiting");
    let call = waiting(&asked)[0].clone();
    assert_eq!(thread["state"]["__tool_call_scope"][text(&call["call_id"])]["suspended_call"], call);
    let held = thread["messages"].as_array().expect("messages").last().expect("a message");
    assert_eq!(held["content"], "Tool 'restart_service' is awaiting approval. Execution paused.");
}

#[tokio::test]
async fn an_unknown_target_answers_nothing() {
    let gateway = fast().await;
    gateway.say("t", "approval").await;
    let frames = gateway.decide("t", json!([allow(&json!("somebody else's"))])).await;
    assert_eq!(
        outline(&frames),
        ["run_start", "step_start", "text_delta", "inference_complete", "step_end", "run_finish"]
    );
    assert_eq!(*termination(&frames), json!({"type": "suspended"}));
}

#[tokio::test]
async fn a_message_of_the_user_clears_pending_calls() {
    let gateway = fast().await;
    let call = waiting(&gateway.say("t", "approval").await)[0]["call_id"].clone();
    gateway.say("t", "plain").await;
    let thread = gateway.get("/tirea/v1/threads/t").await.json();
    assert!(thread["state"].get("__tool_call_scope").is_none(), "{thread}");
    let frames = gateway.decide("t", json!([allow(&call)])).await;
    assert!(of(&frames, "tool_call_resumed").is_empty());
    assert_eq!(termination(&frames)["type"], "natural_end");
}

#[tokio::test]
async fn a_question_is_a_call_of_the_front_end() {
    let gateway = fast().await;
    let asked = gateway.say("t", "question").await;
    let call = waiting(&asked)[0].clone();
    assert_eq!(call["pending"]["id"], call["call_id"]);
    assert_eq!(of(&asked, "tool_call_start").len(), 1, "no call stands for it");
    let decision =
        json!({"target_id": call["call_id"], "action": "resume", "result": {"answer": "Singapore"}});
    let frames = gateway.decide("t", json!([decision])).await;
    assert_eq!(of(&frames, "tool_call_done")[0]["data"]["result"]["data"], json!({"answer": "Singapore"}));
    assert!(said(&frames).starts_with("**Singapore** it is"), "{}", said(&frames));
}

#[tokio::test]
async fn the_other_call_of_a_message_goes_on_and_so_does_the_run() {
    let gateway = fast().await;
    let frames = gateway.say("t", "mixed").await;
    let after: Vec<&str> = outline(&frames).into_iter().skip_while(|kind| *kind != "step_end").collect();
    let expected = [
        "step_end",
        "tool_call_ready",
        "tool_call_start",
        "tool_call_ready",
        "activity_snapshot",
        "tool_call_done",
        "state_snapshot",
        "step_start",
        "text_delta",
        "inference_complete",
        "step_end",
        "run_finish",
    ];
    assert_eq!(after, expected);
    assert_eq!(waiting(&frames).len(), 2);
    assert_eq!(*termination(&frames), json!({"type": "suspended"}));
}

#[tokio::test]
async fn answers_may_come_one_by_one() {
    let gateway = fast().await;
    let calls = waiting(&gateway.say("t", "mixed").await);
    let consent = calls.iter().find(|call| call["resume_mode"] == "replay_tool_call").expect("a call");
    let question = calls.iter().find(|call| call["resume_mode"] != "replay_tool_call").expect("a call");
    let first = gateway.decide("t", json!([allow(&consent["call_id"])])).await;
    assert_eq!(*termination(&first), json!({"type": "suspended"}));
    assert_eq!(of(&first, "tool_call_done")[0]["data"]["result"]["data"]["instances"], 4);
    assert_eq!(waiting(&first).len(), 1);
    let answer = json!({"target_id": question["call_id"], "action": "resume", "result": "Nobody"});
    let second = gateway.decide("t", json!([answer])).await;
    assert_eq!(termination(&second)["type"], "natural_end");
    assert!(
        said(&second).contains("four instances") && said(&second).contains("Nobody"),
        "{}",
        said(&second)
    );
}

#[tokio::test]
async fn both_answers_at_once() {
    let gateway = fast().await;
    let calls = waiting(&gateway.say("t", "mixed").await);
    let decisions: Vec<Value> = calls.iter().map(|call| allow(&call["suspension"]["id"])).collect();
    let frames = gateway.decide("t", json!(decisions)).await;
    assert_eq!(
        outline(&frames)[..6],
        [
            "run_start",
            "tool_call_resumed",
            "tool_call_done",
            "tool_call_resumed",
            "tool_call_done",
            "state_snapshot"
        ]
    );
    assert_eq!(termination(&frames)["type"], "natural_end");
}

#[tokio::test]
async fn consent_may_be_remembered() {
    let gateway = fast().await;
    let call = waiting(&gateway.say("t", "approval").await)[0]["call_id"].clone();
    let decision =
        json!({"target_id": call, "action": "resume", "result": {"approved": true, "remember": true}});
    gateway.decide("t", json!([decision])).await;
    let frames = gateway.say("t", "approval").await;
    assert_eq!(termination(&frames)["type"], "natural_end");
    assert!(said(&frames).contains("is running again"), "{}", said(&frames));
}

#[tokio::test]
async fn a_sub_agent_may_ask_too() {
    let gateway = fast().await;
    let asked = gateway.say("t", "subagents approval").await;
    let call = waiting(&asked)[0].clone();
    assert_eq!(
        (&call["tool_name"], &call["resume_mode"]),
        (&json!("create_sub_agent"), &json!("pass_decision_to_tool"))
    );
    assert_eq!(call["suspension"]["parameters"]["tool_name"], "roll_back");
    let frames = gateway.decide("t", json!([allow(&call["pending"]["id"])])).await;
    let done = &of(&frames, "tool_call_done")[0]["data"];
    assert_eq!((&done["id"], &done["outcome"]), (&call["call_id"], &json!("succeeded")));
    assert_eq!(done["result"]["data"]["output"], "Version 2.13 is running again.");
    assert!(said(&frames).contains("Version 2.13 is running again."));
}

/// Begins a run that goes on while a call waits; what it has said so far, and the call.
async fn suspended_live(gateway: &Gateway) -> (reqwest::Response, String, Value) {
    let path = "/tirea/v1/runs?fault=suspend-live";
    let mut response = gateway.open(path, words("t", "approval")).await;
    let mut begun = read_until(&mut response, "\"suspended_call\"").await;
    begun += &read_until(&mut response, "text_delta").await;
    let snapshot =
        begun.split("\n\n").find(|frame| frame.contains("\"suspended_call\"")).expect("a snapshot");
    let snapshot: Value = serde_json::from_str(&snapshot["data: ".len()..]).expect("JSON");
    let call = waiting(&[snapshot])[0].clone();
    (response, begun, call)
}

#[tokio::test]
async fn a_run_that_goes_on_takes_a_decision_in_the_middle_of_its_words() {
    let gateway = paced(25).await;
    let (response, begun, call) = suspended_live(&gateway).await;
    let first: Value =
        serde_json::from_str(&begun.split("\n\n").next().expect("a frame")["data: ".len()..]).expect("JSON");
    let run = text(&first["run_id"]);
    let unknown = allow(&json!("unknown"));
    let decisions = json!({"decisions": [unknown, allow(&call["call_id"])]});
    let answer = gateway.post(&format!("/tirea/v1/runs/{run}/inputs"), decisions).await;
    assert_eq!(answer.status, 202);
    assert_eq!(answer.json(), json!({"status": "decision_forwarded", "run_id": run, "thread_id": "t"}));
    let frames = super::client::frames(&(begun + &response.text().await.expect("the rest")));
    let resumed = frames.iter().position(|frame| kind(frame) == "tool_call_resumed").expect("an answer");
    let next: Vec<&str> = frames[resumed..resumed + 4].iter().map(kind).collect();
    assert_eq!(next, ["tool_call_resumed", "tool_call_done", "state_snapshot", "text_delta"]);
    assert_eq!(frames[resumed]["step_id"], "step:1", "in the middle of a step");
    assert_eq!(of(&frames, "tool_call_resumed").len(), 1, "what nobody waits for is ignored");
    assert_eq!(termination(&frames)["type"], "natural_end");
    assert!(said(&frames).contains("is running again"));
}

#[tokio::test]
async fn a_sub_agents_question_may_be_answered_while_the_run_goes_on() {
    let gateway = paced(25).await;
    let mut response = gateway.open("/tirea/v1/runs", words("t", "subagents approval")).await;
    let begun = read_until(&mut response, "\"suspended_call\"").await;
    let frames = super::client::frames(&begun);
    let call = waiting(&frames)[0].clone();
    let run = text(&frames[0]["run_id"]);
    let decisions = json!({"decisions": [allow(&call["pending"]["id"])]});
    assert_eq!(gateway.post(&format!("/tirea/v1/runs/{run}/inputs"), decisions).await.status, 202);
    let frames = super::client::frames(&(begun + &response.text().await.expect("the rest")));
    let done = of(&frames, "tool_call_done").into_iter().find(|done| done["data"]["id"] == call["call_id"]);
    assert_eq!(done.expect("a result")["data"]["result"]["data"]["output"], "Version 2.13 is running again.");
    assert_eq!(termination(&frames)["type"], "natural_end");
}

#[tokio::test]
async fn a_decision_may_come_as_soon_as_the_call_is_seen() {
    let gateway = paced(25).await;
    let mut response = gateway.open("/tirea/v1/runs", words("t", "mixed")).await;
    let begun = read_until(&mut response, "\"PermissionConfirm\"").await;
    let seen = super::client::frames(&begun);
    let run = text(&seen[0]["run_id"]);
    let projection = of(&seen, "tool_call_start").last().expect("a call")["data"]["id"].clone();
    let decisions = json!({"decisions": [allow(&projection)]});
    assert_eq!(gateway.post(&format!("/tirea/v1/runs/{run}/inputs"), decisions).await.status, 202);
    let frames = super::client::frames(&(begun + &response.text().await.expect("the rest")));
    let resumed = frames.iter().position(|frame| kind(frame) == "tool_call_resumed").expect("an answer");
    let snapshot = frames.iter().position(|frame| kind(frame) == "state_snapshot").expect("a snapshot");
    assert_eq!(resumed, snapshot + 1, "at the end of the round");
    assert_eq!(waiting(&frames).len(), 1, "the question still waits");
}

#[tokio::test]
async fn without_a_decision_the_live_run_ends_suspended() {
    let gateway = fast().await;
    let frames = gateway.say_with("t", "approval", "suspend-live").await;
    assert_eq!(*termination(&frames), json!({"type": "suspended"}));
    assert_eq!(of(&frames, "tool_call_done").len(), 1, "the other call went on");
    let decided = gateway.decide("t", json!([allow(&waiting(&frames)[0]["call_id"])])).await;
    assert_eq!(termination(&decided)["type"], "natural_end");
}

#[tokio::test]
async fn inputs_continue_in_the_background() {
    let gateway = fast().await;
    let run = text(&gateway.say("t", "plain").await[0]["run_id"]);
    let inputs = format!("/tirea/v1/runs/{run}/inputs");
    let message = json!([{"id": "m", "role": "user", "content": "plain"}]);
    for (body, sentence) in [
        (json!({}), "bad request: messages and decisions cannot both be empty"),
        (json!({"messages": message}), "bad request: agent_id is required when messages are provided"),
    ] {
        assert_eq!(gateway.post(&inputs, body).await.error(), (400, sentence.to_owned()));
    }
    let body = json!({"agentId": "support-bot", "messages": message, "runId": "next"});
    let answer = gateway.post(&inputs, body.clone()).await;
    assert_eq!(answer.status, 202);
    assert_eq!(
        answer.json(),
        json!({"status": "continuation_started", "parent_run_id": run, "thread_id": "t"})
    );
    let record = gateway.until("/tirea/v1/runs/next", |record| record["status"] == "done").await;
    assert_eq!(record["parent_run_id"], json!(run));
    let bogus = gateway.post(&inputs, json!({"decisions": [{"target_id": "x", "action": "bogus"}]})).await;
    assert_eq!(bogus.status, 422);
    assert!(bogus.text.contains("unknown variant `bogus`, expected `resume` or `cancel`"), "{}", bogus.text);
}

#[tokio::test]
async fn inputs_wait_for_a_thread_that_waits() {
    let gateway = fast().await;
    let run = text(&gateway.say("t", "approval").await[0]["run_id"]);
    let body = json!({"agentId": "support-bot", "messages": [{"role": "user", "content": "plain"}]});
    let answer = gateway.post(&format!("/tirea/v1/runs/{run}/inputs"), body).await;
    assert_eq!(answer.json()["status"], "continuation_started");
    let mailbox = gateway.get("/tirea/v1/threads/t/mailbox").await.json();
    assert_eq!((&mailbox["total"], &mailbox["items"][0]["status"]), (&json!(1), &json!("queued")));
    assert_eq!(mailbox["items"][0]["payload"]["messages"][0]["content"], "plain");
    let interrupted = gateway.post("/tirea/v1/threads/t/interrupt", json!({})).await.json();
    assert_eq!(interrupted["superseded_pending_count"], 1);
    assert_eq!(interrupted["superseded_pending_entry_ids"][0], mailbox["items"][0]["entry_id"]);
    assert_eq!(gateway.get("/tirea/v1/threads/t/mailbox").await.json()["total"], 0);
}

#[tokio::test]
async fn the_page_runs_both_its_tools() {
    let gateway = fast().await;
    let calls = waiting(&gateway.say("t", "page").await);
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call["resume_mode"] == "use_decision_as_tool_result"), "{calls:?}");
    let tools: Vec<&Value> = calls.iter().map(|call| &call["tool_name"]).collect();
    assert!(tools.contains(&&json!("clock")) && tools.contains(&&json!("calculator")), "{tools:?}");
    let answer = |call: &Value| {
        let result = if call["tool_name"] == "clock" { "nine o’clock" } else { "forty-two" };
        json!({"target_id": call["call_id"], "action": "resume", "result": result})
    };
    let answers: Vec<Value> = calls.iter().map(answer).collect();
    let frames = gateway.decide("t", json!(answers)).await;
    assert_eq!(termination(&frames)["type"], "natural_end");
    assert!(
        said(&frames).contains("nine o’clock") && said(&frames).contains("forty-two"),
        "{}",
        said(&frames)
    );
}

#[tokio::test]
async fn the_page_is_asked_round_after_round() {
    let gateway = fast().await;
    let mut frames = gateway.say("t", "page rounds 2").await;
    for result in ["six", "twelve"] {
        let call = waiting(&frames)[0]["call_id"].clone();
        let answer = json!({"target_id": call, "action": "resume", "result": result});
        frames = gateway.decide("t", json!([answer])).await;
    }
    assert_eq!(termination(&frames)["type"], "natural_end");
    assert!(said(&frames).contains("six, twelve"), "{}", said(&frames));
}

#[tokio::test]
async fn a_page_tool_and_consent_wait_together() {
    let gateway = fast().await;
    let calls = waiting(&gateway.say("t", "page mixed").await);
    assert_eq!(calls.len(), 2);
    let answer = |call: &Value| match call["tool_name"].as_str() {
        Some("clock") => json!({"target_id": call["call_id"], "action": "resume", "result": "midnight"}),
        _ => allow(&call["call_id"]),
    };
    let answers: Vec<Value> = calls.iter().map(answer).collect();
    let frames = gateway.decide("t", json!(answers)).await;
    assert!(said(&frames).contains("midnight") && said(&frames).contains("is running again"));
}
