//! Who may enter, what pages of other origins may do, and requests that cannot be answered.

use reqwest::Method;
use serde_json::json;
use turnwire_gateway::Config;

use super::client::{Answer, Gateway, fast, user};

async fn locked() -> Gateway {
    Gateway::start(Config { token: Some("key".to_owned()), ..Config::default() }).await
}

#[tokio::test]
async fn only_the_agents_are_public() {
    let gateway = locked().await;
    assert_eq!(gateway.get("/meta").await.status, 200);
    for (method, path) in [
        (Method::GET, "/sessions"),
        (Method::POST, "/sessions"),
        (Method::GET, "/sessions/x"),
        (Method::DELETE, "/sessions/x"),
        (Method::GET, "/sessions/x/history?type=full"),
        (Method::POST, "/sessions/x/turns"),
    ] {
        let request =
            || gateway.request(method.clone(), path).json(&json!({"agent": {"name": "support-bot"}}));
        for (authorization, status, text, challenge) in [
            (None, 401, "Unauthorized", "Bearer realm=\"\""),
            (Some("Bearer wrong"), 401, "Unauthorized", "Bearer error=\"invalid_token\""),
            (Some("Basic a2V5"), 400, "Bad Request", "Bearer error=\"invalid_request\""),
            (Some("Bearer "), 400, "Bad Request", "Bearer error=\"invalid_request\""),
        ] {
            let request = match authorization {
                Some(value) => request().header("authorization", value),
                None => request(),
            };
            let answer = Answer::read(request).await;
            let said = (answer.status.as_u16(), answer.text.as_str());
            assert_eq!(said, (status, text), "{method} {path}: {authorization:?}");
            assert_eq!(answer.headers["www-authenticate"], challenge);
            assert_eq!(answer.content_type(), "text/plain;charset=UTF-8");
        }
        let entered = Answer::read(request().bearer_auth("key")).await;
        assert_ne!(entered.status, 401, "{method} {path}");
    }
}

#[tokio::test]
async fn without_a_token_anybody_may_enter() {
    let gateway = fast().await;
    for authorization in ["Bearer anything", "Basic a2V5"] {
        let request = gateway.request(Method::GET, "/sessions").header("authorization", authorization);
        assert_eq!(Answer::read(request).await.status, 200);
    }
}

#[tokio::test]
async fn preflights_need_no_token() {
    let gateway = locked().await;
    for method in ["GET", "POST", "DELETE"] {
        let request = gateway
            .request(Method::OPTIONS, "/sessions/x/turns")
            .header("origin", "http://localhost:5173")
            .header("access-control-request-method", method)
            .header("access-control-request-headers", "authorization,content-type");
        let answer = Answer::read(request).await;
        assert!(answer.status.is_success(), "{}", answer.status);
        let header = |name: &str| answer.headers[name].to_str().expect("text").to_lowercase();
        assert_eq!(header("access-control-allow-origin"), "*");
        assert!(header("access-control-allow-methods").contains(&method.to_lowercase()));
        let allowed = header("access-control-allow-headers");
        assert!(allowed.contains("authorization") && allowed.contains("content-type"), "{allowed}");
    }
    let refused = gateway.get("/sessions").await;
    assert_eq!(refused.headers["access-control-allow-origin"], "*", "errors can be read as well");
}

#[tokio::test]
async fn bodies_that_cannot_be_read() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let turns = format!("{session}/turns");
    for (path, body) in [
        ("/sessions", "{nope"),
        ("/sessions", "{}"),
        ("/sessions", ""),
        (turns.as_str(), "{nope"),
        (turns.as_str(), r#"{"stream":"none"}"#),
    ] {
        let request = gateway.request(Method::POST, path).body(body);
        let answer = Answer::read(request.header("content-type", "application/json")).await;
        let said = (answer.status.as_u16(), answer.text.as_str(), answer.content_type());
        assert_eq!(said, (500, "Internal Server Error", "text/plain; charset=UTF-8"), "{path}: {body}");
    }
    for (path, body, word) in [
        ("/sessions", json!({"agent": {}}), "name"),
        ("/sessions", json!({"agent": {"name": "support-bot"}, "tools": [{"name": "x"}]}), "description"),
        (turns.as_str(), json!({"messages": [{"role": "robot"}]}), "robot"),
        (turns.as_str(), json!({"messages": [{"role": "user", "content": [{"type": "video"}]}]}), "video"),
    ] {
        let (status, error) = gateway.post(path, body).await.error();
        assert_eq!(status, 400);
        assert!(error.starts_with("Invalid request body: ") && error.contains(word), "{error}");
    }
}

#[tokio::test]
async fn a_turn_without_messages_has_no_events() {
    let gateway = fast().await;
    let session = gateway.session().await;
    for mode in ["delta", "message"] {
        let answer = gateway.post(&format!("{session}/turns"), json!({"stream": mode})).await;
        assert!(answer.frames().is_empty());
    }
    assert!(gateway.history(&session).await.is_empty());
}

#[tokio::test]
async fn an_agent_that_is_not_there_fails_when_it_is_to_run() {
    let gateway = fast().await;
    for name in ["nope", "no-such-agent"] {
        let session = gateway.session_with(json!({"agent": {"name": name}})).await;
        let answer = gateway.post(&format!("{session}/turns"), json!({"messages": user("x")})).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (500, "Internal Server Error"));
    }
}

#[tokio::test]
async fn routes_that_are_not_there() {
    let gateway = fast().await;
    for (method, path) in [
        (Method::GET, "/nope"),
        (Method::GET, ""),
        (Method::GET, "/sessions/x/y"),
        (Method::PUT, "/meta"),
        (Method::PATCH, "/sessions/x"),
        (Method::GET, "/sessions/x/turns"),
    ] {
        let answer = gateway.send(method.clone(), path, json!({})).await;
        let said = (answer.status.as_u16(), answer.text.as_str(), answer.content_type());
        assert_eq!(said, (404, "404 Not Found", "text/plain; charset=UTF-8"), "{method} {path}");
    }
}
