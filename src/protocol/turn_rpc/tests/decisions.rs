//! Answers to the server's requests (section 14).

use serde_json::{Value as Json, json};

use super::said;
use crate::error::ErrorCode;
use crate::protocol::Call;
use crate::protocol::turn_rpc::Dialect;

fn answer(item: Json, method: &str, parameters: Json) -> Json {
    let mut item = item;
    item["suspension"] = json!({"id": "\"r\"", "action": method, "parameters": parameters});
    let said =
        said(Dialect::Codex, Call::AnswerTurn, &json!({"sessionId": "t", "turnId": "u", "input": [item]}));
    let said = said.expect("an answer");
    assert_eq!(
        (&said["thread"], &said["subscribes"], &said["messages"][0]["id"]),
        (&json!("t"), &json!(false), &json!("\"r\""))
    );
    said["messages"][0]["result"].clone()
}

fn approval(approval: Json) -> Json {
    json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c", "approval": approval})
}

fn response(content: &str) -> Json {
    json!({"type": "user.tool_response", "thread_id": "main", "tool_call_id": "c", "content": content})
}

#[test]
fn approvals_are_decisions() {
    let amendment = json!({"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["ls"]}});
    for (given, decision) in [
        (json!({"status": "allow"}), json!("accept")),
        (json!({"status": "allow", "remember": true}), json!("acceptForSession")),
        (json!({"status": "allow", "result": {"decision": amendment}}), amendment.clone()),
        (json!({"status": "deny", "reason": "no"}), json!("decline")),
        (json!({"status": "deny", "cancel": true}), json!("cancel")),
    ] {
        for method in ["item/commandExecution/requestApproval", "item/fileChange/requestApproval"] {
            assert_eq!(answer(approval(given.clone()), method, json!({})), json!({"decision": decision}));
        }
    }
}

#[test]
fn permissions_are_granted_as_asked() {
    let asked = json!({"permissions": {"network": {"enabled": true}}});
    let grant = |given| answer(approval(given), "item/permissions/requestApproval", asked.clone());
    assert_eq!(
        grant(json!({"status": "allow"})),
        json!({"permissions": asked["permissions"], "scope": "turn"})
    );
    assert_eq!(grant(json!({"status": "allow", "remember": true}))["scope"], "session");
    assert_eq!(
        grant(json!({"status": "deny", "remember": true})),
        json!({"permissions": {}, "scope": "turn"})
    );
}

#[test]
fn forms_are_filled_in() {
    let fill = |given| answer(approval(given), "mcpServer/elicitation/request", json!({}));
    assert_eq!(
        fill(json!({"status": "allow", "result": {"a": 1}})),
        json!({"action": "accept", "content": {"a": 1}})
    );
    assert_eq!(fill(json!({"status": "deny"})), json!({"action": "decline"}));
    assert_eq!(fill(json!({"status": "deny", "cancel": true})), json!({"action": "cancel"}));
}

#[test]
fn questions_are_answered_by_their_ids() {
    let asked = json!({"questions": [{"id": "q1"}, {"id": "q2"}]});
    let say = |content: &str| answer(response(content), "item/tool/requestUserInput", asked.clone());
    let both = json!({"answers": {"q1": {"answers": ["yes"]}, "q2": {"answers": ["yes"]}}});
    assert_eq!(say("yes"), both);
    assert_eq!(say(&both.to_string()), both);
    let own = json!({"answers": {"q1": {"answers": ["a"]}, "q2": {"answers": ["b", "c"]}}});
    assert_eq!(say(r#"{"q1":"a","q2":["b","c"]}"#), own);
}

#[test]
fn tools_of_the_client_give_their_results() {
    let give = |content: &str| answer(response(content), "item/tool/call", json!({}));
    assert_eq!(
        give("sunny"),
        json!({"contentItems": [{"type": "inputText", "text": "sunny"}], "success": true})
    );
    let own = json!({"contentItems": [], "success": false});
    assert_eq!(give(&own.to_string()), own);
}

#[test]
fn an_answer_to_what_was_not_asked_is_refused() {
    let params = json!({"sessionId": "t", "turnId": "u", "input": [response("x")]});
    let error = said(Dialect::Codex, Call::AnswerTurn, &params).expect_err("it is refused");
    let message = "input[0]: what call `c` waits for is not known";
    assert_eq!((error.code, &*error.message), (ErrorCode::InvalidInput, message));
}
