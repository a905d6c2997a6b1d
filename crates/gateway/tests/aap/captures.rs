//! Requests that were recorded with a real server, sent again: the answers have the same form. Texts
//! are another agent's, so the words are replaced by those of a script that does the same.

use std::collections::BTreeSet;
use std::path::PathBuf;

use reqwest::Method;
use serde_json::{Value, json};
use turnwire_gateway::Config;

use super::client::{Answer, Gateway, MODES, fast, frames, specs, text};
use super::conversation::Outcome;

/// Words at which the support desk calls one tool, which is the server's.
const SERVER: &str = "Why was I charged?";

/// A recorded answer.
struct Recorded {
    status: u16,
    content_type: String,
    body: String,
}

fn read(name: &str) -> Option<String> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../tests/fixtures/aap", name].iter().collect();
    std::fs::read_to_string(path).ok()
}

fn request(name: &str) -> Value {
    let text = read(&format!("{name}.request.json")).unwrap_or_else(|| panic!("no request {name}"));
    serde_json::from_str(&text).expect("JSON")
}

/// The answer of this name: a stream, a JSON object, or any of the other endpoints' answers.
fn recorded(name: &str) -> Recorded {
    let all = ["sse", "json", "http"].iter().find_map(|kind| read(&format!("{name}.{kind}")));
    let all = all.unwrap_or_else(|| panic!("no capture {name}")).replace("\r\n", "\n");
    if !all.starts_with("HTTP/") {
        return Recorded { status: 200, content_type: "application/json".to_owned(), body: all };
    }
    let (head, body) = all.split_once("\n\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let content_type = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or_default();
    Recorded { status, content_type: content_type.to_owned(), body: body.to_owned() }
}

/// What is compared of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Everything,
    /// The captured model says nothing before its call, and ours does.
    WithoutText,
}

/// A turn's answer: its events with their keys, or the roles and blocks of its messages.
fn form(mode: &str, body: &str, detail: Detail) -> Vec<String> {
    let lines: Vec<String> = if mode == "none" {
        let answer: Value = serde_json::from_str(body).expect("JSON");
        let messages = messages(&answer["messages"], detail);
        std::iter::once(format!("stop {}", answer["stopReason"])).chain(messages).collect()
    } else {
        let frames = frames(body);
        let mut lines: Vec<String> = frames
            .iter()
            .map(|frame| match frame.data.get("stopReason") {
                Some(reason) => format!("{} {reason}", frame.event),
                None => format!("{}: {}", frame.event, keys(&frame.data)),
            })
            .collect();
        // How many deltas there are is a matter of chance.
        lines.dedup_by(|next, line| next == line && line.contains("_delta"));
        lines.retain(|line| detail == Detail::Everything || !line.starts_with("text"));
        lines
    };
    lines
}

/// Messages by their roles and blocks.
fn messages(messages: &Value, detail: Detail) -> Vec<String> {
    let messages = messages.as_array().expect("messages");
    messages
        .iter()
        .map(|message| {
            let blocks: Vec<&str> = message["content"].as_array().into_iter().flatten().map(kind).collect();
            let kept = blocks.into_iter().filter(|kind| detail == Detail::Everything || *kind != "text");
            format!("{}: {} {:?}", message["role"], keys(message), kept.collect::<Vec<_>>())
        })
        .collect()
}

fn kind(block: &Value) -> &str {
    block["type"].as_str().expect("a type")
}

fn keys(value: &Value) -> String {
    value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ")
}

/// The recorded request with other words, and with answers to our calls in the place of theirs.
fn adapted(mut body: Value, words: &str, waiting: &[Value]) -> Value {
    let mut calls = waiting.iter();
    for message in body["messages"].as_array_mut().expect("messages") {
        if message["role"] != "user" {
            message["toolCallId"] = calls.next().expect("a call that waits")["toolCallId"].clone();
        } else if let Some(blocks) = message["content"].as_array_mut() {
            let text = blocks.iter_mut().find(|block| block["type"] == "text");
            text.expect("a text")["text"] = json!(words);
        } else {
            message["content"] = json!(words);
        }
    }
    body
}

/// A recorded dialog.
struct Dialog<'a> {
    name: &'a str,
    words: &'a str,
    session: Value,
    detail: Detail,
    /// Its turns, with what the released server did to them; then the history after it, if recorded.
    turns: &'a [(&'a str, &'a str, Option<&'a str>)],
}

async fn replay(gateway: &Gateway, mode: &str, dialog: &Dialog<'_>) {
    let session = gateway.session_with(dialog.session.clone()).await;
    let mut waiting = Vec::new();
    for (number, (part, fault, history)) in dialog.turns.iter().enumerate() {
        let name = format!("{}-{mode}{part}", dialog.name);
        let body = adapted(request(&name), dialog.words, &waiting);
        let answer = gateway.post(&format!("{session}/turns?fault={fault}"), body).await;
        let recorded = recorded(&name);
        assert_eq!(answer.status, recorded.status, "{name}");
        assert_eq!(same(answer.content_type()), same(&recorded.content_type), "{name}");
        if recorded.status != 200 {
            assert_eq!(answer.text, recorded.body, "{name}");
            continue;
        }
        let ours = form(mode, &answer.text, dialog.detail);
        assert_eq!(ours, form(mode, &recorded.body, dialog.detail), "{name}");
        if let Some(history) = history {
            let name = format!("{}-{mode}{history}", dialog.name);
            check_history(gateway, &session, &name, dialog.detail).await;
        }
        if number + 1 < dialog.turns.len() {
            waiting = Outcome::of(mode, &answer).waiting();
        }
    }
}

async fn check_history(gateway: &Gateway, session: &str, name: &str, detail: Detail) {
    let recorded: Value = serde_json::from_str(&recorded(name).body).expect("JSON");
    let history = json!(gateway.history(session).await);
    assert_eq!(messages(&history, detail), messages(&recorded["history"]["full"], detail), "{name}");
}

/// A media type without its spelling.
fn same(content_type: &str) -> String {
    content_type.to_lowercase().replace(' ', "")
}

fn support() -> Value {
    json!({"agent": {"name": "support-bot"}})
}

#[tokio::test]
async fn turns_of_one_answer() {
    let gateway = fast().await;
    for mode in MODES {
        for (name, words, fault, history) in [
            ("10-plain", "PLAIN weather?", "none", Some("-history-full")),
            ("b-think", "reasoning", "text-first", Some("-history")),
            ("60-length", "length", "none", None),
            ("60-filter", "refusal", "none", None),
            ("60-miderr", "plain", "throw:1", None),
            ("70-image", "file", "none", None),
        ] {
            let turns = [("", fault, history)];
            let dialog =
                Dialog { name, words, session: support(), detail: Detail::Everything, turns: &turns };
            replay(&gateway, mode, &dialog).await;
        }
    }
}

#[tokio::test]
async fn turns_with_tools() {
    let gateway = fast().await;
    let server = |trust: bool| json!({"agent": {"name": "support-bot", "tools": [{"name": "get_invoice", "trust": trust}]}});
    let page = |tool: &str| json!({"agent": {"name": "support-bot"}, "tools": specs(&[tool])});
    for mode in MODES {
        for dialog in [
            Dialog {
                name: "20-client-tool",
                words: "page rounds 1",
                session: page("calculator"),
                detail: Detail::Everything,
                turns: &[("-a-call", "none", Some("-a2-history")), ("-b-resume", "none", Some("-c-history"))],
            },
            Dialog {
                name: "30-trusted-server-tool",
                words: SERVER,
                session: server(true),
                detail: Detail::WithoutText,
                turns: &[("", "twice-stored", Some("-history"))],
            },
            Dialog {
                name: "40-untrusted-grant",
                words: SERVER,
                session: server(false),
                detail: Detail::WithoutText,
                turns: &[("-a-call", "none", None), ("-b-permission", "silent-grant", Some("-c-history"))],
            },
            Dialog {
                name: "41-untrusted-deny",
                words: SERVER,
                session: server(false),
                detail: Detail::WithoutText,
                turns: &[("-a-call", "none", None), ("-b-permission", "use-denied", Some("-c-history"))],
            },
            Dialog {
                name: "50-mixed",
                words: "page mixed",
                session: page("clock"),
                detail: Detail::Everything,
                turns: &[("-a-call", "none", None), ("-b-resume", "silent-grant", None)],
            },
        ] {
            replay(&gateway, mode, &dialog).await;
        }
    }
}

#[tokio::test]
async fn turns_as_the_released_server_cuts_them() {
    let gateway = fast().await;
    for (mode, name, part, words, detail) in [
        ("delta", "as-shipped-0.8.0/10-plain", "", "plain", Detail::Everything),
        ("message", "as-shipped-0.8.0/10-plain", "", "plain", Detail::Everything),
        ("delta", "as-shipped-0.8.0/20-client-tool", "-a-call", "approval", Detail::Everything),
        ("delta", "as-shipped-0.8.0/40-untrusted-grant", "-a-call", "approval", Detail::WithoutText),
    ] {
        let turns = [(part, "lost-end", None)];
        replay(&gateway, mode, &Dialog { name, words, session: support(), detail, turns: &turns }).await;
    }
}

#[tokio::test]
async fn an_unknown_stream_mode_is_none() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let answer = gateway.post(&format!("{session}/turns"), request("94-turn-unknown-stream")).await;
    let recorded = recorded("94-turn-unknown-stream");
    let detail = Detail::Everything;
    assert_eq!(form("none", &answer.text, detail), form("none", &recorded.body, detail));
}

fn assert_recorded(name: &str, answer: &Answer) {
    let recorded = recorded(name);
    assert_eq!(
        (answer.status.as_u16(), answer.text.as_str()),
        (recorded.status, recorded.body.as_str()),
        "{name}"
    );
    if recorded.status != 204 {
        assert_eq!(same(answer.content_type()), same(&recorded.content_type), "{name}");
    }
}

#[tokio::test]
async fn refusals_word_by_word() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let missing = gateway.session_with(json!({"agent": {"name": "nope"}})).await;
    let forgetful = gateway.session_with(json!({"agent": {"name": "forgetful"}})).await;
    let unknown = request("88-turn-404");
    for (name, method, path, body) in [
        ("83-history-missing-type", Method::GET, format!("{session}/history"), Value::Null),
        ("84-history-bad-type", Method::GET, format!("{session}/history?type=weird"), Value::Null),
        ("86-history-unknown-session", Method::GET, "/sessions/nope/history?type=full".into(), Value::Null),
        ("87-session-404", Method::GET, "/sessions/nope".into(), Value::Null),
        ("88-turn-404", Method::POST, "/sessions/nope/turns".into(), unknown),
        ("89-delete", Method::DELETE, session.clone(), Value::Null),
        ("89b-delete-again", Method::DELETE, session.clone(), Value::Null),
        ("90-unknown-route", Method::GET, "/nope".into(), Value::Null),
        ("f2-history-unsupported-type", Method::GET, format!("{forgetful}/history?type=full"), Value::Null),
        ("92-create-no-agent", Method::POST, "/sessions".into(), json!({})),
        ("97-agent-unknown-name", Method::POST, format!("{missing}/turns"), request("97-agent-unknown-name")),
    ] {
        assert_recorded(name, &gateway.send(method, &path, body).await);
    }
    let broken = gateway.request(Method::POST, "/sessions").body("{not json");
    assert_recorded("91-create-bad-json", &Answer::read(broken).await);

    let locked = Gateway::start(Config { token: Some("key".to_owned()), ..Config::default() }).await;
    assert_recorded("a0-auth-missing", &locked.get("/sessions").await);
    let wrong = locked.request(Method::GET, "/sessions").bearer_auth("wrong");
    assert_recorded("a1-auth-wrong", &Answer::read(wrong).await);
}

/// All paths of keys in a value, except for those of a schema, which are a tool's own.
fn paths(value: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let path = format!("{prefix}.{key}");
                if key != "properties" {
                    paths(value, &path, found);
                }
                found.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| paths(item, &format!("{prefix}[]"), found)),
        _ => {}
    }
}

fn paths_of(body: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    paths(&serde_json::from_str(body).expect("JSON"), "", &mut found);
    found
}

#[tokio::test]
async fn agents_and_sessions_have_the_recorded_keys() {
    let gateway = fast().await;
    let meta = gateway.get("/meta").await;
    let (ours, theirs) = (paths_of(&meta.text), paths_of(&recorded("a3-meta").body));
    assert!(theirs.is_subset(&ours), "lacking: {:?}", theirs.difference(&ours));

    let created = gateway.post("/sessions", request("01-create")).await;
    assert_eq!(created.status, recorded("01-create").status);
    assert_eq!(paths_of(&created.text), paths_of(&recorded("01-create").body));

    let session = format!("/sessions/{}", text(&created.json()["sessionId"]));
    let turn = gateway.post(&format!("{session}/turns"), request("80-overrides")).await;
    let detail = Detail::Everything;
    assert_eq!(form("delta", &turn.text, detail), form("delta", &recorded("80-overrides").body, detail));
    let mut theirs: Value = serde_json::from_str(&recorded("81-session-after-overrides").body).expect("JSON");
    theirs["sessionId"] = created.json()["sessionId"].clone();
    assert_eq!(gateway.get(&session).await.json(), theirs);

    for _ in 0..20 {
        gateway.session_with(json!({"agent": {"name": "scripted-agent"}})).await;
    }
    let page = paths_of(&gateway.get("/sessions").await.text);
    assert!(paths_of(&recorded("f0-list-page1").body).is_subset(&page), "{page:?}");
}
