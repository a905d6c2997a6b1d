//! Held sockets: pages that share one, leave it, and reconnect.

use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use turnwire_gateway::Config;

use crate::gateway::gateway;
use crate::held_world::{Agent, Heard, Page, heard, open, say};
use crate::wire::within;
use crate::world::{Relay, config, json as answered};

/// A relay before an agent that speaks Codex's protocol.
pub(crate) fn before(agent: &Agent, limits: &str) -> Relay {
    let rest = format!("sessions = \"open\"\nheaders.authorization = \"env:RELAY_TEST_KEY\"\n{limits}");
    Relay::start(&config("codex", &agent.url, &rest))
}

pub(crate) fn tell(number: usize) -> Value {
    json!({ "method": "item/agentMessage/delta", "params": { "threadId": "t", "delta": format!("word {number}") } })
}

pub(crate) fn approval(id: u64) -> Value {
    json!({ "method": "item/commandExecution/requestApproval", "id": id, "params": { "threadId": "t", "itemId": "i" } })
}

#[tokio::test]
async fn pages_share_one_socket_and_have_ids_of_their_own() {
    let agent = Agent::start().await;
    let relay = before(&agent, "");
    let mut ann = Page::come(relay.address(), "?access_token=x&k=1", "ann").await;
    let mut upstream = agent.accept().await;
    let head = upstream.head.to_ascii_lowercase();
    assert!(head.starts_with("/?k=1 ") && head.contains("bearer very-secret"), "{head}");
    assert!(!head.contains("turnwire") && !head.contains("protocol"), "{head}");
    let mut bob = Page::come(relay.address(), "", "bob").await;
    assert_eq!(ann.attached["log"], bob.attached["log"]);
    ann.ask(1, "initialize").await;
    ann.say(&json!({ "method": "initialized" })).await;
    upstream.answer("initialize", &json!({ "os": "x" })).await;
    assert_eq!(upstream.hear().await, json!({ "method": "initialized" }));
    assert_eq!(ann.message().await, json!({ "id": 1, "result": { "os": "x" } }));
    bob.ask(1, "initialize").await;
    assert_eq!(bob.message().await, json!({ "id": 1, "result": { "os": "x" } }), "the same answer");
    bob.ask(2, "model/list").await;
    ann.ask(2, "thread/list").await;
    let (first, second) = (upstream.hear().await, upstream.hear().await);
    for request in [&second, &first] {
        let id = request["id"].as_str().expect("a text");
        assert_eq!(id.len(), 21, "some agents demand it");
        upstream.say(&json!({ "id": id, "result": request["method"] })).await;
    }
    upstream.say(&tell(1)).await;
    assert_eq!(ann.message().await, json!({ "id": 2, "result": "thread/list" }));
    assert_eq!(bob.message().await, json!({ "id": 2, "result": "model/list" }));
    assert_eq!((ann.message().await, bob.message().await), (tell(1), tell(1)));
    assert_eq!(ann.last, bob.last, "a message has one number");
    // Another conversation has its own socket.
    let other = Page::come(relay.address(), "?conversation=other", "ann").await;
    let _upstream = agent.accept().await;
    assert_ne!(other.attached["log"], ann.attached["log"]);
    let list = answered(relay.request(Method::GET, "/a/_turnwire/v1/sockets")).await;
    let names: Vec<&Value> =
        list["sockets"].as_array().expect("a list").iter().map(|one| &one["conversation"]).collect();
    assert_eq!(names, ["main", "other"], "{list}");
}

#[tokio::test]
async fn a_page_that_is_cut_off_anywhere_misses_nothing() {
    const WORDS: usize = 24;
    let agent = Agent::start().await;
    let relay = before(&agent, "[limits]\nsockets_per_subject = 100\nstreams_per_subject = 100\n");
    for cut in 0..=WORDS {
        let query = format!("?conversation=c{cut}");
        let mut page = Page::come(relay.address(), &query, "page").await;
        let mut upstream = agent.accept().await;
        page.ask(1, "turn/start").await;
        for number in 0..WORDS {
            if number == WORDS / 2 {
                upstream.answer("turn/start", &json!({})).await;
            }
            upstream.say(&tell(number)).await;
        }
        let mut got = Vec::new();
        for _ in 0..cut {
            got.push(page.message().await);
        }
        // Messages in flight are lost.
        page.cut();
        let mut page = page.again(relay.address(), &query, "page").await;
        assert_eq!(page.attached["whole"], true);
        // It does not know whether its request has arrived, and sends it again.
        page.ask(1, "turn/start").await;
        while got.len() <= WORDS {
            got.push(page.message().await);
        }
        let mut expected: Vec<Value> = (0..WORDS).map(tell).collect();
        expected.insert(WORDS / 2, json!({ "id": 1, "result": {} }));
        assert_eq!(got, expected, "cut after {cut}");
        // A request that follows shows that the repeated one has not arrived before it.
        page.ask(2, "thread/read").await;
        upstream.answer("thread/read", &json!({})).await;
        assert_eq!(page.message().await, json!({ "id": 2, "result": {} }));
    }
}

#[tokio::test]
async fn an_approval_that_no_page_saw_is_answered_from_another_device() {
    let agent = Agent::start().await;
    let relay = before(&agent, "");
    let mut desk = Page::come(relay.address(), "", "desk").await;
    let mut upstream = agent.accept().await;
    desk.cut();
    upstream.say(&approval(0)).await;
    let mut phone = Page::come(relay.address(), "", "phone").await;
    assert_eq!(phone.message().await, approval(0), "it waits");
    phone.say(&json!({ "id": 7, "method": "thread/resume", "params": { "threadId": "t" } })).await;
    upstream.answer("thread/resume", &json!({})).await;
    // The agent repeats what is pending; the relay has done so.
    upstream.say(&approval(0)).await;
    upstream.say(&tell(1)).await;
    assert_eq!(phone.message().await, json!({ "id": 7, "result": {} }));
    assert_eq!(phone.message().await, approval(0), "a page reads a thread from this answer on");
    assert_eq!(phone.message().await, tell(1), "the relay has heard the agent's own repetition by now");
    let yes = json!({ "id": 0, "result": { "decision": "accept" } });
    phone.say(&yes).await;
    assert_eq!(upstream.hear().await, yes);
    assert_eq!(phone.message().await, json!({ "turnwire": "answered", "id": 0 }));
    // The first device reconnects, receives the question and its answer, and is too late.
    let mut desk = desk.again(relay.address(), "", "desk").await;
    assert_eq!(desk.message().await, approval(0));
    assert_eq!(desk.message().await, tell(1));
    assert_eq!(desk.message().await, json!({ "turnwire": "answered", "id": 0 }));
    desk.say(&json!({ "id": 0, "result": { "decision": "decline" } })).await;
    assert_eq!(desk.message().await, json!({ "turnwire": "late", "id": 0 }));
    desk.ask(8, "thread/read").await;
    upstream.answer("thread/read", &json!({})).await;
    assert_eq!(
        desk.message().await,
        json!({ "id": 8, "result": {} }),
        "nothing more reached the agent before"
    );
}

#[tokio::test]
async fn a_reader_that_does_not_attach_is_refused() {
    let agent = Agent::start().await;
    let relay = before(&agent, "[limits]\nsocket_readers = 1\n");
    let first = [
        "",
        "{}",
        "7",
        r#"{"turnwire":"attach"}"#,
        r#"{"turnwire":"attach","reader":""}"#,
        r#"{"turnwire":"attach","reader":"a","after":1}"#,
        r#"{"turnwire":"attach","reader":"a","more":1}"#,
        r#"{"turnwire":"else","reader":"a"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
    ];
    let mut ann = Page::come(relay.address(), "", "ann").await;
    let _upstream = agent.accept().await;
    for text in first {
        let mut socket = open(relay.address(), "").await.expect("a socket");
        say(&mut socket, text).await;
        assert_eq!(heard(&mut socket).await, Heard::Closed(4000, "bad_attach".to_owned()), "{text}");
    }
    let mut socket = open(relay.address(), "").await.expect("a socket");
    say(&mut socket, r#"{"turnwire":"attach","reader":"bob"}"#).await;
    assert_eq!(heard(&mut socket).await, Heard::Closed(4005, "too_many_readers".to_owned()));
    // The same page on another connection takes the place of the first one.
    let again = ann.again(relay.address(), "", "ann").await;
    assert_eq!(again.attached["whole"], true);
    assert_eq!(ann.hear().await, Heard::Closed(4003, "superseded".to_owned()));
    assert_eq!(open(relay.address(), "?conversation=").await.err(), Some(400));
    assert_eq!(open(relay.address(), &format!("?conversation={}", "x".repeat(129))).await.err(), Some(400));
    let mut late = again;
    late.say_text("no JSON").await;
    let refused = late.message().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32700)));
}

/// The gateway's own protocol, with its ids and its turns.
#[tokio::test]
async fn a_turn_of_turn_rpc_is_whole_over_cuts_and_for_two_pages() {
    let agents = gateway(Config { beat: std::time::Duration::from_millis(2), ..Config::default() }).await;
    let url = format!("{}/turn-rpc", agents.replace("http", "ws"));
    let relay = Relay::start(&config("turn-rpc", &url, "sessions = \"open\"\n"));
    let id = |number: usize| format!("{number:0>21}");
    let ask = |number, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id(number), "method": method, "params": params });
    let mut page = Page::come(relay.address(), "", "page").await;
    let mut other = Page::come(relay.address(), "", "other").await;
    page.say(&ask(1, "workspace/default", json!({}))).await;
    let answer = page.message().await;
    assert_eq!(answer["id"], id(1));
    let workspace = answer["result"]["workspace"]["id"].clone();
    page.say(&ask(2, "thread/start", json!({ "thread_id": "thr_1", "workspace_id": workspace }))).await;
    let input = json!([{ "type": "text", "text": "plain" }]);
    page.say(&ask(3, "turn/start", json!({ "thread_id": "thr_1", "turn_id": "trn_1", "input": input })))
        .await;
    let (mut got, mut answers, mut count) = (Vec::new(), Vec::new(), 0);
    while got.last().is_none_or(|last: &Value| last["method"] != "turn/completed") {
        let message = page.message().await;
        if message["method"].is_string() {
            got.push(message);
        } else {
            answers.push(message["id"].clone());
        }
        count += 1;
        if count % 3 == 0 {
            page = page.again(relay.address(), "", "page").await;
            assert_eq!(page.attached["whole"], true);
        }
    }
    assert_eq!(answers, [id(2), id(3)]);
    let mut heard = Vec::new();
    while heard.last().is_none_or(|last: &Value| last["method"] != "turn/completed") {
        heard.push(other.message().await);
    }
    assert_eq!(got, heard, "both pages hear the same, and no answer of the other's");
    let deltas = got.iter().filter(|message| message["method"] == "item/agent_message/delta");
    let text: String = deltas.filter_map(|message| message["params"]["delta"].as_str()).collect();
    let whole =
        got.iter().rfind(|message| message["params"]["item"]["type"] == "agentMessage").expect("an answer");
    assert!(text.ends_with(whole["params"]["item"]["text"].as_str().expect("text")), "{text}");
}

#[tokio::test]
async fn a_client_without_the_subprotocol_has_a_tunnel() {
    let agent = Agent::start().await;
    let relay = before(&agent, "");
    let connecting = tokio::spawn(connect_async(format!("ws://{}/a", relay.address())));
    let mut upstream = agent.accept().await;
    let (mut socket, response) = within(connecting).await.expect("run").expect("a socket");
    assert!(!response.headers().contains_key("sec-websocket-protocol"));
    upstream.say(&tell(1)).await;
    let message = within(futures_util::StreamExt::next(&mut socket)).await.expect("one").expect("a message");
    assert_eq!(message.into_text().expect("text").as_str(), tell(1).to_string(), "as it was sent");
}
