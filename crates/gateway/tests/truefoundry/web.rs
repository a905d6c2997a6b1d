//! What a page in a browser needs: CORS, and files.

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::json;

use crate::client::{Answer, Gateway, fast};

#[tokio::test]
async fn preflights_are_answered_without_a_token() {
    let mut config = fast();
    config.token = Some("secret".to_owned());
    let gateway = Gateway::start(config).await;
    let wanted = "authorization,content-type,last-event-id,x-turnwire-delay-ms,x-turnwire-fault";
    for (method, path) in [
        ("POST", "/acme/v1/agents/sessions/x/turns"),
        ("PATCH", "/acme/v1/agents/draft-sessions/x"),
        ("DELETE", "/api/v1/sessions/x"),
        ("PUT", "/_gateway/sessions/x/faults"),
    ] {
        let request = gateway
            .with_token("none")
            .request(Method::OPTIONS, path)
            .header("origin", "http://localhost:5173")
            .header("access-control-request-method", method)
            .header("access-control-request-headers", wanted);
        let answer = Answer::read(request).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.headers["access-control-allow-origin"], "*");
        assert_eq!(answer.headers["access-control-allow-headers"], wanted);
        let methods = answer.headers["access-control-allow-methods"].to_str().expect("text");
        assert!(methods.split(',').any(|allowed| allowed == method), "{methods}");
    }
}

#[tokio::test]
async fn every_answer_can_be_read_by_a_page() {
    let mut config = fast();
    config.token = Some("test".to_owned());
    let gateway = Gateway::start(config).await;
    let readable = |headers: &HeaderMap| {
        assert_eq!(headers["access-control-allow-origin"], "*");
        let exposed = headers["access-control-expose-headers"].to_str().expect("text");
        // The last three are a relay's, whose answers the gateway may pass on.
        assert_eq!(exposed, "retry-after,x-request-id,turnwire-relay,turnwire-turn,turnwire-log");
        assert!(headers.contains_key("x-request-id"));
    };
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "plain"}]});
    readable(&gateway.post(&format!("{session}/turns"), body).await.headers);
    readable(&gateway.get("/nowhere").await.headers);
    readable(&gateway.with_token("wrong").get(&session).await.headers);
}

#[tokio::test]
async fn files_have_their_types() {
    let www = std::env::temp_dir().join(format!("turnwire-www-{}", std::process::id()));
    std::fs::create_dir_all(www.join("dist")).expect("a directory");
    for (name, content) in
        [("index.html", "<p>demo"), ("dist/core.wasm", "\0asm"), ("dist/core.js", "export {}")]
    {
        std::fs::write(www.join(name), content).expect("a file");
    }
    let mut config = fast();
    config.www = Some(www.clone());
    let gateway = Gateway::start(config).await;
    for (path, mime) in [
        ("/", "text/html"),
        ("/index.html", "text/html"),
        ("/dist/core.wasm", "application/wasm"),
        ("/dist/core.js", "text/javascript"),
    ] {
        let answer = gateway.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.headers["content-type"], mime, "{path}");
        assert_eq!(answer.headers["cache-control"], "no-cache");
    }
    for path in ["/missing.js", "/../Cargo.toml", "/%2e%2e/Cargo.toml"] {
        let answer = gateway.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        answer.error();
    }
    let posted = gateway.post("/index.html", json!({})).await;
    assert_eq!(posted.error(), "Route not found: POST /index.html");
    gateway.session().await;
    std::fs::remove_dir_all(www).expect("removed");
}

#[tokio::test]
async fn without_files_the_root_says_what_this_is() {
    let gateway = Gateway::start(fast()).await;
    let answer = gateway.get("/").await;
    assert!(answer.text.starts_with("turnwire development gateway"));
    assert!(answer.text.contains("- `subagents`: "));
}
