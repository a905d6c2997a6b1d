//! Calls that wait, and their answers: the tool loop and the permission loop, in every mode.

use serde_json::{Value, json};

use super::client::{Frame, Gateway, MODES, deny, fast, grant, outline, result, specs, text, user};
use super::conversation::{Outcome, calls};

/// Words at which the support desk calls one tool and answers.
const ONE_TOOL: &str = "Why was I charged?";
const TOOL: &str = "get_invoice";

/// The call that a turn waits for, which must be the only one.
fn only(outcome: &Outcome) -> Value {
    assert_eq!(outcome.stop_reason, "tool_use");
    let waiting = outcome.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    waiting[0].clone()
}

/// The roles of a history, a letter each.
fn roles(history: &[Value]) -> String {
    history.iter().map(|message| text(&message["role"]).remove(0)).collect()
}

#[tokio::test]
async fn the_client_runs_its_own_tool() {
    let gateway = fast().await;
    for mode in MODES {
        let session = gateway.session_of_page(&["calculator"]).await;
        let call = only(&gateway.outcome(&session, mode, "page rounds 1").await);
        assert_eq!((&call["name"], &call["input"]), (&json!("calculator"), &json!({"expression": "6*1"})));
        let answered = gateway.answered(&session, mode, json!([result(&call, "six")])).await;
        assert_eq!(answered.stop_reason, "end_turn", "{mode}");
        assert!(answered.said().contains("six"), "{}", answered.said());
        assert_eq!(answered.messages.len(), 1, "its own result is not told to the client");
        let history = gateway.history(&session).await;
        assert_eq!(roles(&history), "uata");
        assert_eq!(history[2], result(&call, "six"));
    }
}

#[tokio::test]
async fn a_trusted_tool_runs_inline() {
    let gateway = fast().await;
    for mode in MODES {
        let session = gateway.session_of_server(json!([{"name": TOOL, "trust": true}])).await;
        let outcome = gateway.outcome(&session, mode, ONE_TOOL).await;
        assert_eq!(outcome.stop_reason, "end_turn", "{mode}");
        assert_eq!(roles(&outcome.messages), "ata");
        assert_eq!(roles(&gateway.history(&session).await), "uata");
    }
}

#[tokio::test]
async fn a_grant_is_followed_by_the_result() {
    let gateway = fast().await;
    for mode in MODES {
        let session = gateway.session_of_server(json!([{"name": TOOL}])).await;
        let call = only(&gateway.outcome(&session, mode, ONE_TOOL).await);
        assert_eq!(call["name"], TOOL);
        let answered = gateway.answered(&session, mode, json!([grant(&call)])).await;
        assert_eq!(answered.stop_reason, "end_turn", "{mode}");
        assert_eq!(roles(&answered.messages), "ta");
        assert_eq!(answered.messages[0]["toolCallId"], call["toolCallId"]);
        assert!(text(&answered.messages[0]["content"]).contains("42.00"));
        let history = gateway.history(&session).await;
        assert_eq!(roles(&history), "uata", "a permission is not part of it");
        assert_eq!(history[2], answered.messages[0]);
    }
}

#[tokio::test]
async fn a_denial_is_stored_and_the_agent_goes_on() {
    let gateway = fast().await;
    for mode in MODES {
        let session = gateway.session_of_server(json!([{"name": TOOL, "trust": false}])).await;
        let call = only(&gateway.outcome(&session, mode, ONE_TOOL).await);
        let answered = gateway.answered(&session, mode, json!([deny(&call, "User declined")])).await;
        assert_eq!((answered.stop_reason.as_str(), roles(&answered.messages).as_str()), ("end_turn", "a"));
        assert!(answered.said().contains("may not use `get_invoice`"), "{}", answered.said());
        let history = gateway.history(&session).await;
        assert_eq!(history[2], result(&call, "Tool call denied: User declined"));
    }
    let session = gateway.session_of_server(json!([{"name": TOOL}])).await;
    let call = only(&gateway.outcome(&session, "none", ONE_TOOL).await);
    let bare = json!({"role": "tool_permission", "toolCallId": call["toolCallId"], "granted": false});
    gateway.answered(&session, "none", json!([bare])).await;
    assert_eq!(gateway.history(&session).await[2]["content"], "Tool call denied");
}

#[tokio::test]
async fn results_and_permissions_are_mixed_in_one_turn() {
    let gateway = fast().await;
    for mode in MODES {
        for allowed in [true, false] {
            let session = gateway.session_of_page(&["clock"]).await;
            let waiting = gateway.outcome(&session, mode, "page mixed").await.waiting();
            let names: Vec<&Value> = waiting.iter().map(|call| &call["name"]).collect();
            assert_eq!(names, ["clock", "restart_service"]);
            let permission = if allowed { grant(&waiting[1]) } else { deny(&waiting[1], "not now") };
            let answers = json!([result(&waiting[0], "midnight"), permission]);
            let answered = gateway.answered(&session, mode, answers).await;
            assert!(answered.said().contains("midnight"), "{}", answered.said());
            assert_eq!(answered.said().contains("is running again"), allowed, "{}", answered.said());
            let history = gateway.history(&session).await;
            assert_eq!(roles(&history), "uatta");
            assert_eq!(history[2], result(&waiting[0], "midnight"));
            assert_eq!(history[3]["content"] == "Tool call denied: not now", !allowed);
        }
    }
}

#[tokio::test]
async fn several_calls_at_once_have_each_their_runner() {
    let gateway = fast().await;
    for mode in MODES {
        let body = json!({
            "agent": {"name": "support-bot", "tools": [{"name": "scale_service"}]},
            "tools": specs(&["ask_user_question"]),
        });
        let session = gateway.session_with(body).await;
        let outcome = gateway.outcome(&session, mode, "mixed").await;
        let asked = calls(&outcome.messages);
        let waiting = outcome.waiting();
        assert_eq!(asked.len(), 3);
        assert_eq!(waiting.len(), 2, "the third one runs meanwhile");
        assert_eq!(roles(&outcome.messages), "at");
        assert_eq!(outcome.messages[1]["toolCallId"], asked[2]["toolCallId"]);
        // The order of answers is free.
        let answers = json!([result(&waiting[1], "Nobody"), grant(&waiting[0])]);
        let answered = gateway.answered(&session, mode, answers).await;
        assert!(answered.said().contains("four instances"), "{}", answered.said());
        assert!(answered.said().contains("“Nobody”"), "{}", answered.said());
        assert_eq!(roles(&answered.messages), "ta", "nothing runs a second time");
        assert_eq!(roles(&gateway.history(&session).await), "uattta");
    }
}

#[tokio::test]
async fn a_question_is_the_clients_if_it_has_the_tool_else_a_permission() {
    let gateway = fast().await;
    let own = gateway.session_of_page(&["ask_user_question"]).await;
    let call = only(&gateway.outcome(&own, "delta", "question").await);
    let answered = gateway.answered(&own, "delta", json!([result(&call, "Virginia")])).await;
    assert!(answered.said().starts_with("**Virginia** it is"), "{}", answered.said());

    let other = gateway.session().await;
    let call = only(&gateway.outcome(&other, "delta", "question").await);
    let answered = gateway.answered(&other, "delta", json!([grant(&call)])).await;
    assert_eq!(answered.messages[0]["content"], "Amsterdam (Recommended)");
    assert!(answered.said().starts_with("**Amsterdam** it is"), "{}", answered.said());
}

#[tokio::test]
async fn a_tool_that_needs_consent_asks_unless_it_is_trusted() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let call = only(&gateway.outcome(&session, "message", "approval").await);
    assert_eq!(call["name"], "restart_service");
    let answered = gateway.answered(&session, "message", json!([deny(&call, "too early")])).await;
    assert!(answered.said().contains("“too early”"), "{}", answered.said());

    let trusted = gateway.session_of_server(json!([{"name": "restart_service", "trust": true}])).await;
    let outcome = gateway.outcome(&trusted, "message", "approval").await;
    assert_eq!((outcome.stop_reason.as_str(), roles(&outcome.messages).as_str()), ("end_turn", "ata"));
    assert!(outcome.said().contains("is running again"), "{}", outcome.said());
}

#[tokio::test]
async fn a_sub_agent_asks_in_the_name_of_its_call() {
    let gateway = fast().await;
    for (allowed, words) in [(true, "Version 2.13 is running again."), (false, "Version 2.14 stays")] {
        let session = gateway.session().await;
        let call = only(&gateway.outcome(&session, "delta", "subagents approval").await);
        assert_eq!(call["name"], "create_sub_agent");
        assert_eq!(call["input"]["name"], "historian");
        let answer = if allowed { grant(&call) } else { deny(&call, "no") };
        let answered = gateway.answered(&session, "delta", json!([answer])).await;
        assert!(answered.said().contains(words), "{}", answered.said());
        assert_eq!(roles(&gateway.history(&session).await), "uattta");
    }
}

#[tokio::test]
async fn rounds_follow_one_another() {
    let gateway = fast().await;
    let session = gateway.session_of_server(json!([{"name": "list_services"}, {"name": "read_log"}])).await;
    let first = only(&gateway.outcome(&session, "delta", "tools").await);
    let second = gateway.answered(&session, "delta", json!([grant(&first)])).await;
    let call = only(&second);
    assert_eq!((&first["name"], &call["name"]), (&json!("list_services"), &json!("read_log")));
    let last = gateway.answered(&session, "delta", json!([grant(&call)])).await;
    assert_eq!(last.stop_reason, "end_turn");
    assert!(last.said().contains("512 MiB"), "{}", last.said());
    assert_eq!(roles(&gateway.history(&session).await), "uatata");
}

#[tokio::test]
async fn a_granted_call_streams_its_result_first() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let call = only(&gateway.outcome(&session, "delta", "approval").await);
    let frames = gateway.turn(&session, "delta", json!([grant(&call)])).await.frames();
    assert_eq!(outline(&frames), ["turn_start", "tool_result", "text_delta", "turn_stop"]);
    let Frame { data, .. } = &frames[1];
    assert_eq!(data.as_object().expect("an object").keys().collect::<Vec<_>>(), ["content", "toolCallId"]);
}

#[tokio::test]
async fn the_client_may_run_a_tool_that_has_a_scripted_result() {
    let gateway = fast().await;
    let session = gateway.session_of_page(&[TOOL]).await;
    let call = only(&gateway.outcome(&session, "none", ONE_TOOL).await);
    let answered = gateway.answered(&session, "none", json!([result(&call, "nothing")])).await;
    assert_eq!(roles(&answered.messages), "a");
    assert_eq!(gateway.history(&session).await[2]["content"], "nothing");
    let call = only(&gateway.outcome(&session, "none", ONE_TOOL).await);
    let answered = gateway.answered(&session, "none", json!([grant(&call)])).await;
    assert_eq!(answered.stop_reason, "end_turn", "a permission for a tool of the client does no good");
}

async fn refused(gateway: &Gateway, session: &str, messages: Value, sentence: &str) {
    let before = gateway.history(session).await;
    for mode in MODES {
        let (status, error) = gateway.turn(session, mode, messages.clone()).await.error();
        assert_eq!(status, 400);
        assert!(error.starts_with(sentence), "{error}");
    }
    assert_eq!(gateway.history(session).await, before, "nothing was stored");
}

#[tokio::test]
async fn answers_are_for_all_pending_calls_and_no_others() {
    let gateway = fast().await;
    let session = gateway.session_of_page(&["clock"]).await;
    let nope = json!({"toolCallId": "nope"});
    refused(&gateway, &session, json!([grant(&nope)]), "No call nope waits").await;
    refused(&gateway, &session, json!([deny(&nope, "x")]), "No call nope waits").await;
    refused(&gateway, &session, json!([result(&nope, "x")]), "No call nope waits").await;
    let waiting = gateway.outcome(&session, "delta", "page mixed").await.waiting();
    let both = json!([result(&waiting[0], "noon"), grant(&waiting[1])]);
    for part in [&both[0], &both[1]] {
        let other = if part == &both[0] { &waiting[1] } else { &waiting[0] };
        let sentence = format!("Call {} waits for an answer too", text(&other["toolCallId"]));
        refused(&gateway, &session, json!([part]), &sentence).await;
    }
    let twice = json!([both[0], both[0], both[1]]);
    let sentence = format!("Call {} is answered twice", text(&waiting[0]["toolCallId"]));
    refused(&gateway, &session, twice, &sentence).await;
    assert_eq!(gateway.answered(&session, "delta", both.clone()).await.stop_reason, "end_turn");
    refused(&gateway, &session, both, "No call ").await;
}

#[tokio::test]
async fn a_message_of_the_user_discards_pending_calls() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let call = only(&gateway.outcome(&session, "delta", "approval").await);
    assert_eq!(gateway.outcome(&session, "delta", "plain").await.stop_reason, "end_turn");
    refused(&gateway, &session, json!([grant(&call)]), "No call ").await;

    let call = only(&gateway.outcome(&session, "delta", "approval").await);
    let both = json!([grant(&call), user("and thank you")[0]]);
    let answered = gateway.answered(&session, "delta", both).await;
    assert!(answered.said().contains("is running again"), "they may come with the answer");
    assert!(gateway.history(&session).await.contains(&user("and thank you")[0]));
}

#[tokio::test]
async fn a_seed_may_end_with_a_call_that_waits() {
    let gateway = fast().await;
    let call = json!({"type": "tool_use", "toolCallId": "c1", "name": "clock", "input": {}});
    let seed = json!([user("What time is it?")[0], {"role": "assistant", "content": [call]}]);
    let body = json!({"agent": {"name": "support-bot"}, "messages": seed, "tools": specs(&["clock"])});
    let session = gateway.session_with(body).await;
    let answered = gateway.answered(&session, "delta", json!([result(&call, "noon")])).await;
    assert_eq!(answered.said(), "Tool said: noon.");
    assert_eq!(roles(&gateway.history(&session).await), "uata");
}
