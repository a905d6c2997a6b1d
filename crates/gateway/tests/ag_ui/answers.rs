//! What a thread waits for, and answers that are right, wrong or missing.

use serde_json::json;

use crate::client::{error, gateway, interrupts, of, only, resolved, said, words};

#[tokio::test]
async fn a_resume_answers_every_interrupt_or_is_refused() {
    let gateway = gateway(0).await;
    let asked = interrupts(&gateway.say("t", "mixed", "none").await);
    assert_eq!(asked.len(), 2);
    for (resume, code) in [
        (json!([]), "APPROVAL_RESUME_REQUIRED"),
        (resolved(&asked[..1], &json!("Nobody")), "APPROVAL_RESUME_MISSING_INTERRUPT"),
        (json!([{"interruptId": "int-nobody", "status": "cancelled"}]), "APPROVAL_RESUME_NOT_FOUND"),
        (resolved(&asked, &json!("Nobody")), "APPROVAL_RESUME_INVALID"),
    ] {
        let events = gateway.go_on("t", &json!({"resume": resume}), "none").await;
        assert_eq!(error(&events).0, code, "{resume}");
        assert_eq!(events.len(), 2);
    }
    // What was refused still waits.
    let events =
        gateway.go_on("t", &json!({"resume": resolved(&asked, &json!({"approved": true}))}), "none").await;
    assert!(words(&events).contains("has four instances"), "{}", words(&events));
    let events =
        gateway.go_on("t", &json!({"resume": resolved(&asked, &json!({"approved": true}))}), "none").await;
    assert_eq!(error(&events).0, "APPROVAL_RESUME_NOT_FOUND");
}

#[tokio::test]
async fn pending_calls_can_be_dropped_or_repeated() {
    let gateway = gateway(0).await;
    let asked = interrupts(&gateway.say("t", "approval", "none").await);
    let again = gateway.say("t", "plain", "lost-message").await;
    assert_eq!((again.len(), interrupts(&again)), (2, asked));
    assert_eq!(error(&gateway.say("t", "plain", "none").await).0, "APPROVAL_RESUME_REQUIRED");
    assert!(words(&gateway.say("t", "plain", "drop-pending").await).starts_with("Here is a plain answer"));
}

#[tokio::test]
async fn expired_interrupts_can_only_be_cancelled() {
    let gateway = gateway(0).await;
    let asked = interrupts(&gateway.say("t", "approval", "expiring:1").await);
    assert!(asked[0]["expiresAt"].is_string());
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    let resume = resolved(&asked, &json!({"approved": true}));
    let events = gateway.go_on("t", &json!({"resume": resume}), "none").await;
    assert_eq!(error(&events).0, "APPROVAL_RESUME_EXPIRED");
    let resume = json!([{"interruptId": asked[0]["id"], "status": "cancelled"}]);
    assert!(words(&gateway.go_on("t", &json!({"resume": resume}), "none").await).contains("left it alone"));
}

#[tokio::test]
async fn a_page_continues_from_its_messages_wherever_it_is() {
    let gateway = gateway(0).await;
    let mut request = said("t", "page");
    request["tools"] =
        json!([{"name": "clock", "description": ""}, {"name": "calculator", "description": ""}]);
    let events = gateway.send("/ag-ui", &request).await.events();
    let pending = events.last().expect("events")["outcome"]["pendingToolCallIds"].clone();
    assert_eq!(pending.as_array().map(Vec::len), Some(2), "{pending}");
    let result = |call: usize, content: &str| json!({"id": format!("result-{call}"), "role": "tool", "toolCallId": pending[call], "content": content});
    // Another thread has the same conversation.
    let mut fork = said("fork", "page");
    let messages = fork["messages"].as_array_mut().expect("messages");
    messages.push(json!({"id": "a", "role": "assistant", "content": ""}));
    messages.push(result(0, "noon"));
    let events = gateway.send("/ag-ui", &fork).await.events();
    assert_eq!(error(&events).0, "TOOL_RESULT_MISSING");
    fork["messages"].as_array_mut().expect("messages").push(result(1, "42"));
    let events = gateway.send("/ag-ui", &fork).await.events();
    assert_eq!(words(&events), "Your page says that it is noon in Tokyo, and that six times seven is 42.");
    // In the thread itself the user says something else.
    assert!(words(&gateway.say("t", "plain", "none").await).starts_with("Here is a plain answer"));
}

#[tokio::test]
async fn results_of_a_conversation_from_elsewhere_are_accepted() {
    let gateway = gateway(0).await;
    let message = json!({"id": "1", "role": "tool", "toolCallId": "call_elsewhere", "content": "blue"});
    let events = gateway.go_on("t", &json!({"messages": [message]}), "none").await;
    assert_eq!(words(&events), "Tool said: blue.");
}

#[tokio::test]
async fn consent_is_asked_in_the_ways_of_other_frameworks() {
    let gateway = gateway(0).await;
    // LangGraph by default: the answer is a command.
    let events = gateway.say("a", "approval", "on-interrupt").await;
    let custom = only(&events, "CUSTOM");
    assert_eq!(custom["name"], "on_interrupt");
    assert!(custom["value"].as_str().expect("a text").contains("\"reason\":\"tool_call\""));
    assert_eq!(events.last().expect("events")["outcome"]["type"], "success");
    let command = json!({"forwardedProps": {"command": {"resume": "{\"approved\": false}"}}});
    assert!(words(&gateway.go_on("a", &command, "none").await).contains("left it alone"));
    // Agno and ADK: by tool messages.
    for (fault, content) in
        [("accepted-call", "{\"accepted\":true}"), ("confirmation-call", "{\"confirmed\":true}")]
    {
        let events = gateway.say(fault, "approval", fault).await;
        let outcome = &events.last().expect("events")["outcome"];
        assert_eq!(outcome, &json!({"type": "success"}), "the call is no page's");
        let call = &of(&events, "TOOL_CALL_START").last().expect("a call")["toolCallId"];
        let message = json!({"id": "1", "role": "tool", "toolCallId": call, "content": content});
        let events = gateway.go_on(fault, &json!({"messages": [message]}), "none").await;
        assert!(words(&events).contains("is running again"), "{fault}: {events:#?}");
    }
    // Agent Framework: an interrupt with two companions, which are not answered.
    let events = gateway.say("m", "approval", "confirm-changes").await;
    assert_eq!(only(&events, "CUSTOM")["name"], "function_approval_request");
    assert_eq!(of(&events, "TOOL_CALL_START")[1]["toolCallName"], "confirm_changes");
    let resume = resolved(&interrupts(&events), &json!({"accepted": true}));
    assert!(
        words(&gateway.go_on("m", &json!({"resume": resume}), "none").await).contains("is running again")
    );
}
