//! Sessions and drafts: create, read, change, list, search.

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Gateway, fast, text};

const SESSIONS: &str = "/acme/v1/agents/sessions";
const DRAFTS: &str = "/acme/v1/agents/draft-sessions";

fn spec() -> Value {
    json!({"model": {"name": "scripted/one"}, "instructions": "Be brief."})
}

async fn create(gateway: &Gateway, agent: &str) -> String {
    let answer = gateway.post(SESSIONS, json!({"agent_name": agent})).await;
    text(&answer.data()["id"])
}

#[tokio::test]
async fn a_session_is_created_and_read() {
    let gateway = Gateway::start(fast()).await;
    let answer = gateway.post(SESSIONS, json!({"agent_name": "support-bot"})).await;
    assert_eq!(answer.status, 201);
    let session = answer.data();
    assert_eq!(session["type"], "session");
    assert_eq!(session["agent_name"], "support-bot");
    assert_eq!(session.get("title"), None);
    assert_eq!(session["created_at"], session["updated_at"]);
    let subject = session["created_by_subject"].as_object().expect("a subject");
    let fields: Vec<&str> = subject.keys().map(String::as_str).collect();
    assert_eq!(fields, ["subject_id", "subject_slug", "subject_type"]);
    let id = text(&session["id"]);
    assert_eq!((id.len(), &id[26..]), (28, ".g"));
    let got = gateway.get(&format!("{SESSIONS}/{id}")).await;
    assert_eq!(got.status, 200);
    assert_eq!(got.data(), session);
}

#[tokio::test]
async fn sessions_belong_to_a_tenant() {
    let gateway = Gateway::start(fast()).await;
    let id = create(&gateway, "support-bot").await;
    assert_eq!(gateway.get(&format!("{SESSIONS}/{id}")).await.status, 200);
    let behind_a_control_plane = format!("/api/llm{SESSIONS}/{id}");
    assert_eq!(gateway.get(&behind_a_control_plane).await.status, 200);
    let elsewhere = gateway.get(&format!("/other/v1/agents/sessions/{id}")).await;
    assert_eq!(elsewhere.status, 404);
    assert_eq!(elsewhere.error(), format!("Session not found: {id}"));
}

#[tokio::test]
async fn the_title_comes_from_the_first_message() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let message = format!("  plain {}", "é".repeat(60));
    gateway.say(&session, &message).await;
    gateway.say(&session, "plain again").await;
    let data = gateway.get(&session).await.data();
    assert_eq!(data["title"], format!("plain {}", "é".repeat(44)));
    assert!(text(&data["updated_at"]) > text(&data["created_at"]));
}

#[tokio::test]
async fn a_given_title_is_kept() {
    let gateway = Gateway::start(fast()).await;
    let body = json!({"agent_name": "support-bot", "title": "My own"});
    let id = text(&gateway.post(SESSIONS, body).await.data()["id"]);
    let session = format!("{SESSIONS}/{id}");
    gateway.say(&session, "plain").await;
    assert_eq!(gateway.get(&session).await.data()["title"], "My own");
}

#[tokio::test]
async fn creation_needs_an_agent() {
    let gateway = Gateway::start(fast()).await;
    for body in [json!({}), json!({"agent_name": " "}), json!({"agent_name": 1})] {
        let answer = gateway.post(SESSIONS, body).await;
        assert_eq!(answer.status, 400);
        assert!(answer.error().contains("agent_name") || answer.error().contains("string"));
    }
}

/// All ids of a list, page by page, and how many pages there were.
async fn walk(gateway: &Gateway, path: &str) -> (Vec<String>, usize) {
    let mut ids = Vec::new();
    let mut token = None::<String>;
    for pages in 1.. {
        let page = match &token {
            None => gateway.get(path).await,
            Some(token) => gateway.get(&format!("{path}&page_token={token}")).await,
        };
        ids.extend(page.ids());
        let pagination = page.json()["pagination"].take();
        assert!(pagination["limit"].is_u64(), "{pagination}");
        assert_eq!(pagination.get("previous_page_token").is_some(), pages > 1);
        match pagination.get("next_page_token") {
            Some(next) => token = Some(text(next)),
            None => return (ids, pages),
        }
    }
    unreachable!("the loop ends with the last page")
}

#[tokio::test]
async fn lists_are_newest_first_and_paged() {
    let gateway = Gateway::start(fast()).await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(create(&gateway, "a").await);
        create(&gateway, "b").await;
    }
    let (oldest_first, pages) = walk(&gateway, &format!("{SESSIONS}?agent_name=a&limit=2&order=asc")).await;
    assert_eq!((oldest_first, pages), (made.clone(), 3));
    made.reverse();
    let (newest_first, pages) = walk(&gateway, &format!("{SESSIONS}?agent_name=a&limit=2")).await;
    assert_eq!((newest_first, pages), (made.clone(), 3));
    let first = gateway.get(&format!("{SESSIONS}?agent_name=a&limit=3")).await.json();
    let second = format!(
        "{SESSIONS}?agent_name=a&limit=3&page_token={}",
        text(&first["pagination"]["next_page_token"])
    );
    let second = gateway.get(&second).await.json();
    let back = format!(
        "{SESSIONS}?agent_name=a&limit=3&page_token={}",
        text(&second["pagination"]["previous_page_token"])
    );
    assert_eq!(gateway.get(&back).await.ids(), made[..3]);
}

#[tokio::test]
async fn pages_have_ten_items_and_at_most_a_hundred() {
    let gateway = Gateway::start(fast()).await;
    for _ in 0..11 {
        create(&gateway, "a").await;
    }
    let page = gateway.get(&format!("{SESSIONS}?agent_name=a")).await;
    assert_eq!(page.ids().len(), 10);
    assert_eq!(page.json()["pagination"]["limit"], 10);
    let all = gateway.get(&format!("{SESSIONS}?agent_name=a&limit=100")).await;
    assert_eq!(all.ids().len(), 11);
    for query in ["limit=0", "limit=101", "limit=x", "order=up", "page_token=%25", "start_timestamp=x"] {
        let answer = gateway.get(&format!("{SESSIONS}?agent_name=a&{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        answer.error();
    }
    let without_agent = gateway.get(SESSIONS).await;
    assert_eq!(without_agent.status, 400);
    assert_eq!(without_agent.error(), "agent_name is required");
}

#[tokio::test]
async fn lists_reach_half_an_hour_back() {
    let gateway = Gateway::start(fast()).await;
    let id = create(&gateway, "a").await;
    let list = async |query: &str| {
        let path = format!("{SESSIONS}?agent_name=a&{query}");
        gateway.get(&path).await.ids()
    };
    let minutes = |minutes: i64| {
        let time = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(minutes);
        time.to_string()
    };
    let now = [id];
    let none: [String; 0] = [];
    assert_eq!(list("").await, now);
    assert_eq!(list(&format!("end_timestamp={}", minutes(29))).await, now);
    assert_eq!(list(&format!("end_timestamp={}", minutes(31))).await, none);
    assert_eq!(list(&format!("end_timestamp={}", minutes(-1))).await, none);
    assert_eq!(list(&format!("start_timestamp={}", minutes(-1))).await, now);
    let both = format!("start_timestamp={}&end_timestamp={}", minutes(-60), minutes(60));
    assert_eq!(list(&both).await, now);
    let search = format!("/acme/v1/x/agents/search-sessions?end_timestamp={}", minutes(60));
    assert_eq!(gateway.get(&search).await.ids(), now, "search has no lower bound");
}

#[tokio::test]
async fn drafts_are_created_read_and_changed() {
    let gateway = Gateway::start(fast()).await;
    let body = json!({"agent_spec": spec(), "agent_name": "mine"});
    let draft = gateway.post(DRAFTS, body).await.data();
    assert_eq!(draft["type"], "session/draft");
    assert_eq!(draft["agent_spec"], spec());
    assert_eq!(draft["agent_name"], "mine");
    let path = format!("{DRAFTS}/{}", text(&draft["id"]));
    assert_eq!(gateway.get(&path).await.data(), draft);
    tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    let touched = gateway.send(Method::PATCH, &path, json!({})).await.data();
    assert!(text(&touched["updated_at"]) > text(&draft["updated_at"]));
    assert_eq!(touched["agent_spec"], spec());
    let other = json!({"model": {"name": "scripted/two"}});
    let changed = gateway.send(Method::PATCH, &path, json!({"agent_spec": other})).await;
    assert_eq!(changed.data()["agent_spec"], other);
    assert_eq!(gateway.get(&path).await.data()["agent_spec"], other);
    let invalid = gateway.send(Method::PATCH, &path, json!({"agent_spec": {}})).await;
    assert_eq!(invalid.status, 400);
    let missing = gateway.post(DRAFTS, json!({})).await;
    assert_eq!(missing.status, 400);
}

#[tokio::test]
async fn turns_of_drafts_use_the_paths_of_sessions() {
    let gateway = Gateway::start(fast()).await;
    let draft = gateway.post(DRAFTS, json!({"agent_spec": spec()})).await.data();
    let session = format!("{SESSIONS}/{}", text(&draft["id"]));
    let events = gateway.say(&session, "plain").await;
    assert_eq!(crate::client::state(&events)["status"], "done");
    assert_eq!(gateway.get(&format!("{session}/turns")).await.ids().len(), 1);
    assert_eq!(gateway.get(&session).await.status, 404, "a draft is not a session");
    let saved = create(&gateway, "a").await;
    let as_draft = gateway.get(&format!("{DRAFTS}/{saved}")).await;
    assert_eq!(as_draft.status, 404, "a session is not a draft");
}

#[tokio::test]
async fn owned_and_search_show_both_kinds() {
    let gateway = Gateway::start(fast()).await;
    let saved = create(&gateway, "a").await;
    let body = json!({"agent_spec": spec(), "agent_name": "a"});
    let draft = text(&gateway.post(DRAFTS, body).await.data()["id"]);
    let x = |path: &str| format!("/acme/v1/x/agents/{path}");
    let list = async |path: &str| gateway.get(&x(path)).await.ids();
    let (both, only_saved, only_draft) =
        (vec![draft.clone(), saved.clone()], vec![saved.clone()], vec![draft.clone()]);
    assert_eq!(list("owned-sessions").await, both);
    assert_eq!(list("owned-sessions?agent_name=a").await, both);
    assert!(list("owned-sessions?agent_name=b").await.is_empty());
    assert_eq!(list("search-sessions").await, both);
    assert_eq!(list("search-sessions?session_type=session").await, only_saved);
    assert_eq!(list("search-sessions?session_type=session/draft").await, only_draft);
    assert_eq!(list(&format!("search-sessions?session_id={saved}")).await, only_saved);
    assert_eq!(list("search-sessions?created_by_subject_id=developer").await, both);
    assert!(list("search-sessions?created_by_subject_id=ana").await.is_empty());
    assert!(list("search-sessions?created_by_subject_type=virtualaccount").await.is_empty());
    assert_eq!(gateway.get(DRAFTS).await.ids(), only_draft);
    assert_eq!(gateway.get(&format!("{SESSIONS}?agent_name=a")).await.ids(), only_saved);
}

#[tokio::test]
async fn users_see_their_own_sessions() {
    let gateway = Gateway::start(fast()).await;
    let (ana, ben) = (gateway.with_token("user:ana"), gateway.with_token("user:ben"));
    let session = ana.session().await;
    assert_eq!(ana.get(&session).await.data()["created_by_subject"]["subject_id"], "ana");
    let refused = ben.get(&session).await;
    assert_eq!(refused.status, 403);
    refused.error();
    let turn = ben.post(&format!("{session}/turns"), json!({})).await;
    assert_eq!(turn.status, 403);
    assert_eq!(gateway.get(&session).await.status, 200, "a manager sees all");
    let draft = ana.post(DRAFTS, json!({"agent_spec": spec()})).await.data();
    let draft = format!("{DRAFTS}/{}", text(&draft["id"]));
    assert_eq!(ana.get(&draft).await.status, 200);
    assert_eq!(gateway.get(&draft).await.status, 404, "drafts are private");
    let search = "/acme/v1/x/agents/search-sessions";
    assert!(ben.get(search).await.ids().is_empty());
    assert_eq!(gateway.get(search).await.ids().len(), 2);
    let owned: Answer = gateway.get("/acme/v1/x/agents/owned-sessions").await;
    assert!(owned.ids().is_empty());
}
