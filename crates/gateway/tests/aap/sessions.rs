//! Agents, sessions, their settings and histories.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{fast, specs, text, user};

#[tokio::test]
async fn agents_declare_their_capabilities() {
    let gateway = fast().await;
    let meta = gateway.get("/meta").await.json();
    assert_eq!(meta["version"], 3);
    let agents = meta["agents"].as_array().expect("agents");
    let declared = |name: &str| {
        let agent = agents.iter().find(|agent| agent["name"] == name).expect(name);
        agent["capabilities"].clone()
    };
    let all = json!({
        "history": {"compacted": {}, "full": {}},
        "stream": {"delta": {}, "message": {}, "none": {}},
        "application": {"tools": {}},
        "image": {"http": {}, "data": {}},
    });
    assert_eq!(declared("support-bot"), all);
    assert_eq!(declared("message-only")["stream"], json!({"message": {}}));
    assert_eq!(declared("none-only").get("stream"), None);
    assert_eq!(declared("compacted-only")["history"], json!({"compacted": {}}));
    assert_eq!(declared("forgetful").get("history"), None);
    assert_eq!(declared("text-only").get("image"), None);
    assert_eq!(declared("text-only").get("application"), None);
    let options = agents[0]["options"].as_array().expect("options");
    let kinds: BTreeSet<&str> = options.iter().filter_map(|option| option["type"].as_str()).collect();
    assert_eq!(kinds, BTreeSet::from(["secret", "select", "text"]));
    for tool in agents[0]["tools"].as_array().expect("tools") {
        assert!(tool["name"].is_string() && tool["description"].is_string(), "{tool}");
        assert_eq!(tool["parameters"]["type"], "object");
    }
}

#[tokio::test]
async fn undeclared_capabilities_are_refused() {
    let gateway = fast().await;
    let image = |url: &str| json!([{"role": "user", "content": [{"type": "image", "url": url}]}]);
    let png = "data:image/png;base64,AAEC";
    for (agent, mode, messages, sentence) in [
        ("message-only", "delta", user("plain"), "Agent message-only does not support stream mode delta"),
        ("message-only", "none", user("plain"), "Agent message-only does not support stream mode none"),
        ("none-only", "message", user("plain"), "Agent none-only does not support stream mode message"),
        ("text-only", "none", image(png), "Agent text-only does not take data images"),
        ("text-only", "none", image("https://x/y"), "Agent text-only does not take http images"),
        ("support-bot", "none", image("/y.png"), "An image's url must be a data: or https: address"),
    ] {
        let session = gateway.session_with(json!({"agent": {"name": agent}})).await;
        let answer = gateway.turn(&session, mode, messages).await;
        assert_eq!(answer.error(), (400, sentence.to_owned()));
    }
    for (agent, mode) in [("message-only", "message"), ("none-only", "none"), ("anything", "delta")] {
        let session = gateway.session_with(json!({"agent": {"name": agent}})).await;
        assert_eq!(gateway.outcome(&session, mode, "plain").await.stop_reason, "end_turn", "{agent}");
    }
    let refused = gateway.post("/sessions", json!({"agent": {"name": "text-only"}, "tools": specs(&["x"])}));
    assert_eq!(refused.await.error(), (400, "Agent text-only takes no application tools".to_owned()));
}

#[tokio::test]
async fn histories_are_of_the_declared_kinds() {
    let gateway = fast().await;
    for (agent, full, compacted) in
        [("support-bot", true, true), ("compacted-only", false, true), ("forgetful", false, false)]
    {
        let session = gateway.session_with(json!({"agent": {"name": agent}})).await;
        gateway.say(&session, "none", "plain").await;
        for (kind, there) in [("full", full), ("compacted", compacted)] {
            let answer = gateway.get(&format!("{session}/history?type={kind}")).await;
            if there {
                let history = &answer.json()["history"];
                let kinds: Vec<&String> = history.as_object().expect("an object").keys().collect();
                assert_eq!(kinds, [kind]);
                assert_eq!(history[kind].as_array().map(Vec::len), Some(2), "{agent}");
            } else {
                assert_eq!(answer.error(), (404, "Specified history not found".to_owned()), "{agent}");
            }
        }
    }
}

#[tokio::test]
async fn a_seed_is_part_of_the_history() {
    let gateway = fast().await;
    let seed = json!([
        {"role": "system", "content": "Be brief."},
        user("Hello")[0],
        {"role": "assistant", "content": "Hi."},
    ]);
    let session = gateway.session_with(json!({"agent": {"name": "support-bot"}, "messages": seed})).await;
    assert_eq!(json!(gateway.history(&session).await), seed, "and nothing ran");
    for _ in 0..4 {
        gateway.say(&session, "none", "plain").await;
    }
    assert_eq!(gateway.history(&session).await.len(), 11);
    let compacted = gateway.get(&format!("{session}/history?type=compacted")).await.json();
    assert_eq!(compacted["history"]["compacted"].as_array().map(Vec::len), Some(10));
}

#[tokio::test]
async fn options_are_merged_and_secrets_masked() {
    let gateway = fast().await;
    let body = json!({"agent": {"name": "support-bot", "options": {"apiKey": "sk-secret", "model": "a"}}});
    let session = gateway.session_with(body).await;
    let turn = json!({
        "agent": {"options": {"model": "b", "language": "Japanese"}},
        "messages": user("plain"),
    });
    assert_eq!(gateway.post(&format!("{session}/turns"), turn).await.status, 200);
    gateway.say(&session, "none", "plain").await;
    let options = gateway.get(&session).await.json()["agent"]["options"].clone();
    assert_eq!(options, json!({"apiKey": "***", "model": "b", "language": "Japanese"}));
    for path in [session.clone(), "/sessions".to_owned(), format!("/_gateway{session}/requests")] {
        let answer = gateway.get(&path).await;
        assert_eq!(answer.status, 200);
        assert!(!answer.text.contains("sk-secret"), "{path}");
    }
}

#[tokio::test]
async fn tools_are_replaced_and_stay() {
    let gateway = fast().await;
    let server = json!([{"name": "read_log"}, {"name": "get_service", "trust": true}]);
    let body = json!({"agent": {"name": "support-bot", "tools": server}, "tools": specs(&["clock"])});
    let session = gateway.session_with(body).await;
    gateway.say(&session, "none", "plain").await;
    let kept = gateway.get(&session).await.json();
    assert_eq!(kept["agent"]["tools"], server, "what is not sent stays");
    assert_eq!(kept["tools"], specs(&["clock"]));
    let other = json!([{"name": "restart_service", "trust": true}]);
    let turn = json!({"agent": {"tools": other}, "tools": specs(&["calculator"]), "messages": user("plain")});
    gateway.post(&format!("{session}/turns"), turn).await;
    let kept = gateway.get(&session).await.json();
    assert_eq!((&kept["agent"]["tools"], &kept["tools"]), (&other, &specs(&["calculator"])));
    assert_eq!(gateway.outcome(&session, "none", "approval").await.stop_reason, "end_turn", "trusted now");
    let turn = json!({"agent": {"tools": []}, "tools": [], "messages": user("plain")});
    gateway.post(&format!("{session}/turns"), turn).await;
    let kept = gateway.get(&session).await.json();
    assert_eq!((&kept["agent"]["tools"], &kept["tools"]), (&json!([]), &json!([])));
    assert_eq!(gateway.outcome(&session, "none", "approval").await.stop_reason, "tool_use");
}

#[tokio::test]
async fn a_refused_turn_changes_nothing() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let before = gateway.get(&session).await.json();
    let turn = json!({
        "agent": {"options": {"model": "b"}},
        "tools": specs(&["clock"]),
        "messages": [{"role": "tool_permission", "toolCallId": "nope", "granted": true}],
    });
    assert_eq!(gateway.post(&format!("{session}/turns"), turn).await.status, 400);
    assert_eq!(gateway.get(&session).await.json(), before);
}

#[tokio::test]
async fn sessions_come_in_pages() {
    let gateway = fast().await;
    let mut made = Vec::new();
    for _ in 0..45 {
        made.push(gateway.session().await);
    }
    let (mut seen, mut pages, mut after): (Vec<String>, _, _) = (Vec::new(), 0, String::new());
    loop {
        let page = gateway.get(&format!("/sessions{after}")).await.json();
        let sessions = page["sessions"].as_array().expect("sessions");
        seen.extend(sessions.iter().map(|session| format!("/sessions/{}", text(&session["sessionId"]))));
        pages += 1;
        let Some(next) = page.get("next") else {
            break;
        };
        // It may be removed while a client pages through the list.
        let last = seen.pop().expect("a session");
        assert_eq!(gateway.send(Method::DELETE, &last, json!({})).await.status, 204);
        made.retain(|session| *session != last);
        after = format!("?after={}", text(next));
    }
    assert_eq!((seen, pages), (made, 3));
    let foreign = gateway.get("/sessions?after=2").await;
    assert_eq!(foreign.error(), (400, "Unknown cursor".to_owned()));
}

#[tokio::test]
async fn a_deleted_session_is_gone() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let deleted = gateway.send(Method::DELETE, &session, Value::Null).await;
    assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
    let gone = (404, "Session not found".to_owned());
    assert_eq!(gateway.send(Method::DELETE, &session, Value::Null).await.error(), gone);
    assert_eq!(gateway.get(&session).await.error(), gone);
    assert_eq!(gateway.say(&session, "delta", "plain").await.error(), gone);
    assert_eq!(gateway.get("/sessions").await.json(), json!({"sessions": []}));
}
