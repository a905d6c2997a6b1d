//! Refusals before any protocol: tokens, routes, bodies.

use reqwest::Method;
use serde_json::json;

use crate::client::{Answer, Gateway, fast};

const SESSIONS: &str = "/acme/v1/agents/sessions";

#[tokio::test]
async fn a_given_token_is_required() {
    let mut config = fast();
    config.token = Some("secret".to_owned());
    let gateway = Gateway::start(config).await;
    for path in ["/acme/v1/agents/sessions?agent_name=a", "/api/v1/sessions"] {
        for token in ["", "other", "secretsecret"] {
            let answer = gateway.with_token(token).get(path).await;
            assert_eq!(answer.status, 401, "{path} {token}");
            assert!(answer.error().starts_with("Unauthorized"));
        }
        assert_eq!(gateway.with_token("secret").get(path).await.status, 200);
    }
    let bare = reqwest::get(format!("http://{}/api/v1/sessions", gateway.address)).await;
    assert_eq!(bare.expect("an answer").status(), 401);
}

#[tokio::test]
async fn without_a_given_token_any_will_do() {
    let gateway = Gateway::start(fast()).await;
    let bare = reqwest::get(format!("http://{}{SESSIONS}?agent_name=a", gateway.address)).await;
    assert_eq!(bare.expect("an answer").status(), 200);
}

#[tokio::test]
async fn unknown_routes_are_named() {
    let gateway = Gateway::start(fast()).await;
    for (method, path) in [
        (Method::GET, "/nowhere"),
        (Method::GET, "/acme/v1/agents/nowhere"),
        (Method::PUT, SESSIONS),
        (Method::GET, "/acme/v1/agents/sessions/x/cancel"),
        (Method::DELETE, "/api/v1/nowhere"),
    ] {
        let answer = Answer::read(gateway.request(method.clone(), path)).await;
        assert_eq!(answer.status, 404, "{method} {path}");
        assert_eq!(answer.error(), format!("Route not found: {method} {path}"));
    }
}

#[tokio::test]
async fn unreadable_bodies_are_refused() {
    let gateway = Gateway::start(fast()).await;
    for (body, part) in
        [("{\"agent_name\":", "Malformed JSON"), ("[]", "expected a JSON object"), ("", "agent_name")]
    {
        let request = gateway.request(Method::POST, SESSIONS).body(body);
        let answer = Answer::read(request).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.error().contains(part), "{}", answer.error());
    }
}

#[tokio::test]
async fn bodies_end_at_thirty_megabytes() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let turns = format!("{session}/turns");
    let body = |bytes: usize| json!({"input": [{"type": "user.message", "content": "plain ".to_owned() + &"a".repeat(bytes)}]});
    let large = gateway.post(&turns, body(31 * 1024 * 1024)).await;
    assert_eq!(large.status, 413);
    assert_eq!(large.error(), "Request body is larger than 30 MB");
    let fitting = gateway.post(&turns, body(29 * 1024 * 1024)).await;
    assert_eq!(fitting.status, 200);
}

#[tokio::test]
async fn unknown_sessions_are_named_everywhere() {
    let gateway = Gateway::start(fast()).await;
    let session = format!("{SESSIONS}/nobody");
    for path in ["", "/turns", "/events", "/turns/x", "/turns/x/events"] {
        let answer = gateway.get(&format!("{session}{path}")).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.error(), "Session not found: nobody");
    }
    for path in ["/cancel", "/turns", "/turns/x/subscribe"] {
        let answer = gateway.post(&format!("{session}{path}"), json!({})).await;
        assert_eq!((answer.status.as_u16(), answer.error().as_str()), (404, "Session not found: nobody"));
    }
    let known = gateway.session().await;
    for path in ["/turns/x", "/turns/x/events"] {
        let answer = gateway.get(&format!("{known}{path}")).await;
        assert_eq!((answer.status.as_u16(), answer.error().as_str()), (404, "Turn not found: x"));
    }
}
