//! Requests that cannot be followed, refused as each framework does.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::client::{Gateway, error, gateway, said};
use crate::listen::{listen, paced};

const COPILOT: &str = "/ag-ui/copilotkit/agent/support-bot/run";

async fn refused(gateway: &Gateway, path: &str, body: &str) -> (u16, Value) {
    let request = gateway.post(path, &Value::Null).body(body.to_owned());
    let answer = Answer::read(request).await;
    (answer.status.as_u16(), answer.json())
}

#[tokio::test]
async fn invalid_bodies_are_reported_and_repeated() {
    let gateway = gateway(0).await;
    let no_run = json!({"threadId": "t", "messages": [], "state": {"key": "secret"}}).to_string();
    let (status, body) = refused(&gateway, "/ag-ui", &no_run).await;
    assert_eq!((status, &body[0]["type"], &body[0]["loc"]), (422, &json!("missing"), &json!(["runId"])));
    assert_eq!(body[0]["input"]["state"]["key"], "secret");
    let (status, body) = refused(&gateway, "/ag-ui", "{\"threadId\": ").await;
    assert_eq!((status, &body[0]["type"]), (422, &json!("json_invalid")));

    let (status, body) = refused(&gateway, "/ag-ui/store", "{\"a\":").await;
    assert_eq!((status, &body["detail"][0]["type"]), (422, &json!("json_invalid")));
    let (status, body) = refused(&gateway, "/ag-ui/store", "{\"threadId\": 7}").await;
    assert_eq!((status, body["detail"].as_array().map(Vec::len)), (422, Some(2)));
    assert_eq!(body["detail"][1]["loc"], json!(["body", "messages"]));
    let wizard = json!({"messages": [{"id": "x", "role": "wizard", "content": "x"}]}).to_string();
    let (status, body) = refused(&gateway, "/ag-ui/store", &wizard).await;
    assert_eq!((status, &body["detail"][0]["type"]), (422, &json!("union_tag_invalid")));
    assert_eq!(body["detail"][0]["loc"], json!(["body", "messages", 0]));

    let (status, body) = refused(&gateway, COPILOT, "{").await;
    assert_eq!((status, &body["error"]), (400, &json!("Invalid request body")));
    let (status, body) = refused(&gateway, COPILOT, &no_run).await;
    assert_eq!(status, 400);
    assert!(body["details"].as_str().expect("a text").contains("\"runId\""));
    let (status, body) = refused(&gateway, &COPILOT.replace("support-bot", "nope"), &no_run).await;
    assert_eq!((status, &body["error"]), (404, &json!("Agent not found")));
}

#[tokio::test]
async fn addresses_methods_and_types_are_refused_in_plain_text() {
    let gateway = gateway(0).await;
    let url = format!("http://{}/ag-ui", gateway.address);
    let answer = Answer::read(gateway.client.post(url).header("content-type", "text/plain").body("{}")).await;
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(answer.text, "Expected `Content-Type: application/json`, got text/plain");
    let answer = gateway.get("/ag-ui").await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (405, "Method Not Allowed"));
    let answer = gateway.send("/ag-ui/nowhere", &json!({})).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (404, "Not Found"));
}

#[tokio::test]
async fn nothing_said_and_unknown_roles() {
    let gateway = gateway(0).await;
    let events = gateway.go_on("t", &json!({"messages": []}), "none").await;
    assert_eq!(error(&events).1, "No message history, user prompt, or instructions provided");
    let mut request = said("t", "plain");
    let messages = request["messages"].as_array_mut().expect("messages");
    messages.push(json!({"id": "x", "role": "wizard", "content": "x"}));
    assert!(gateway.send("/ag-ui", &request).await.text.contains("RUN_FINISHED"), "it is left out");
    // Only this server makes ids that are missing.
    let made = gateway.send("/ag-ui/store", &json!({"messages": [request["messages"][0]]})).await.events();
    assert!(made[0]["threadId"].is_string() && made[0]["runId"].is_string());
}

#[tokio::test]
async fn a_token_is_wanted_if_the_gateway_wants_one() {
    let config =
        turnwire_gateway::Config { token: Some("key".to_owned()), ..paced(std::time::Duration::ZERO) };
    let (address, client) = listen(config).await;
    let gateway = Gateway { address, client };
    for path in ["/ag-ui", "/ag-ui/store", COPILOT, &COPILOT.replace("/run", "/connect")] {
        let answer = gateway.send(path, &said("t", "plain")).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()),
            (401, json!({"detail": "Not authenticated"})),
            "{path}"
        );
    }
    let answer = Answer::read(gateway.post("/ag-ui", &said("t", "plain")).bearer_auth("key")).await;
    assert_eq!(answer.status, 200);
}
