//! How held sockets end, and what their readers hear of it; and that nothing of one user is there for another.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::net::TcpListener;

use crate::held::{approval, before, tell};
use crate::held_world::{Agent, Heard, Page};
use crate::users::Issuer;
use crate::wire::within;
use crate::world::{Relay, config, json as answered, status};

#[tokio::test]
async fn readers_hear_that_the_agent_is_gone() {
    let agent = Agent::start().await;
    let relay = before(&agent, "");
    let mut ann = Page::come(relay.address(), "", "ann").await;
    let mut bob = Page::come(relay.address(), "", "bob").await;
    let mut upstream = agent.accept().await;
    upstream.say(&tell(1)).await;
    drop(upstream);
    for page in [&mut ann, &mut bob] {
        assert_eq!(page.message().await, tell(1), "what came before");
        page.ends("upstream_lost").await;
    }
    let mut again = ann.again(relay.address(), "", "ann").await;
    assert_eq!(again.attached["whole"], false, "another socket has another journal");
    assert_ne!(again.attached["log"], ann.attached["log"]);
    let mut upstream = agent.accept().await;
    upstream.say(&tell(2)).await;
    assert_eq!(again.message().await, tell(2));
    assert_eq!(again.last, 1);
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_said_to_be() {
    let agent = Agent::start().await;
    let relay = before(&agent, "");
    agent.stop().await;
    assert_eq!(crate::held_world::open(relay.address(), "").await.err(), Some(503));
    let list = answered(relay.request(Method::GET, "/a/_turnwire/v1/sockets")).await;
    assert_eq!(list, json!({ "sockets": [] }));
}

#[tokio::test]
async fn a_slow_reader_holds_no_other_up() {
    const MESSAGES: usize = 200;
    let agent = Agent::start().await;
    let relay = before(&agent, "[limits]\nsocket_journal_bytes = 1000000\n");
    let mut slow = Page::come(relay.address(), "", "slow").await;
    let mut fast = Page::come(relay.address(), "", "fast").await;
    let mut upstream = agent.accept().await;
    let long = "x".repeat(100_000);
    for number in 0..MESSAGES {
        let message = json!({ "method": "m", "params": { "number": number, "text": long } });
        upstream.say(&message).await;
        assert_eq!(fast.message().await["params"]["number"], number);
    }
    let mut numbers = Vec::new();
    let code = loop {
        match slow.hear().await {
            Heard::Message(_, message) => numbers.push(message["params"]["number"].as_u64().expect("one")),
            Heard::Closed(code, _) => break code,
            other @ Heard::Own(_) => panic!("{other:?}"),
        }
    };
    assert_eq!(code, 4002, "it fell behind");
    assert!(numbers.len() < MESSAGES, "more than a connection holds");
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "in order: {numbers:?}");
    let mut again = slow.again(relay.address(), "", "slow").await;
    assert_eq!(again.attached["whole"], false);
    upstream.say(&tell(1)).await;
    assert_eq!(again.message().await, tell(1));
}

#[tokio::test]
async fn a_socket_without_readers_is_given_up() {
    let agent = Agent::start().await;
    let relay = before(&agent, "[limits]\nsocket_idle = \"1s\"\n");
    let page = Page::come(relay.address(), "", "page").await;
    let mut upstream = agent.accept().await;
    drop(page);
    assert_eq!(upstream.next().await, None);
    let page = Page::come(relay.address(), "", "page").await;
    let mut upstream = agent.accept().await;
    // A reader keeps it, however quiet it is.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    upstream.say(&tell(1)).await;
    let mut page = page;
    assert_eq!(page.message().await, tell(1));
}

#[tokio::test]
async fn a_relay_that_ends_waits_for_turns_and_answers() {
    let agent = Agent::start().await;
    let relay = before(&agent, "");
    let mut page = Page::come(relay.address(), "", "page").await;
    let mut upstream = agent.accept().await;
    let mut quiet = Page::come(relay.address(), "?conversation=quiet", "page").await;
    let mut other = agent.accept().await;
    let turn = json!({ "threadId": "t", "turn": { "id": "1" } });
    upstream.say(&json!({ "method": "turn/started", "params": turn })).await;
    page.message().await;
    relay.terminate();
    quiet.ends("drained").await;
    assert_eq!(other.next().await, None);
    upstream.say(&approval(3)).await;
    assert_eq!(page.message().await, approval(3));
    let yes = json!({ "id": 3, "result": {} });
    page.say(&yes).await;
    assert_eq!(upstream.hear().await, yes);
    page.message().await;
    assert_eq!(crate::held_world::open(relay.address(), "").await.err(), Some(503), "no reader is let in");
    upstream.say(&json!({ "method": "turn/completed", "params": turn })).await;
    assert_eq!(page.message().await["method"], "turn/completed");
    page.ends("drained").await;
    relay.ended().await;
}

/// Between an answer and what it has begun nothing is awaited, and yet it is no time to end.
#[tokio::test]
async fn a_relay_that_ends_waits_for_what_follows_an_answer() {
    let agent = Agent::start().await;
    let relay = before(&agent, "");
    let mut page = Page::come(relay.address(), "", "page").await;
    let mut upstream = agent.accept().await;
    page.ask(1, "turn/start").await;
    relay.terminate();
    // It knows that it ends when it lets no reader in.
    while crate::held_world::open(relay.address(), "").await.is_ok() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    upstream.answer("turn/start", &json!({})).await;
    assert_eq!(page.message().await, json!({ "id": 1, "result": {} }));
    // Longer than between two looks of the relay.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let turn = json!({ "threadId": "t", "turn": { "id": "1" } });
    for method in ["turn/started", "turn/completed"] {
        upstream.say(&json!({ "method": method, "params": turn })).await;
        assert_eq!(page.message().await["method"], method);
    }
    page.ends("drained").await;
    relay.ended().await;
}

#[tokio::test]
async fn an_agent_that_opens_no_socket_is_not_waited_for_for_ever() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("ws://{}", silent.local_addr().expect("an address"));
    let relay = Relay::start(&config("codex", &url, "sessions = \"open\"\n"));
    let head = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-protocol", "turnwire.v1"),
    ];
    let asked =
        head.iter().fold(relay.plain(Method::GET, "/a"), |asked, (name, value)| asked.header(*name, *value));
    // Longer than other answers may take: the relay waits for ten seconds.
    let answer = tokio::time::timeout(Duration::from_mins(1), asked.send());
    let (answer, accepted) = tokio::join!(answer, silent.accept());
    accepted.expect("asked");
    assert_eq!(answer.expect("in time").expect("an answer").status(), 504);
}

#[tokio::test]
async fn another_user_has_another_socket() {
    let issuer = Issuer::new();
    let agents = issuer.keys().await;
    let agent = Agent::start().await;
    let config = format!(
        "listen = \"127.0.0.1:0\"\n{}[upstream.a]\nprotocol = \"codex\"\nurl = \"{}\"\nsessions = \"open\"\n\
         [limits]\nsockets_per_subject = 1\n",
        Issuer::identity(&agents),
        agent.url
    );
    let mut relay = Relay::start(&config);
    let of = |name: &str| format!("?access_token={}", issuer.token(name));
    assert_eq!(crate::held_world::open(relay.address(), "").await.err(), Some(401));
    let mut ann = Page::come(relay.address(), &of("ann"), "page").await;
    let mut for_ann = agent.accept().await;
    for_ann.say(&approval(0)).await;
    ann.message().await;
    // The same name, and ann's own journal: another user finds neither.
    let mut bob = ann.again(relay.address(), &of("bob"), "page").await;
    let mut for_bob = agent.accept().await;
    assert_eq!(bob.attached["whole"], false);
    assert_ne!(bob.attached["log"], ann.attached["log"]);
    bob.say(&json!({ "id": 0, "result": {} })).await;
    assert_eq!(bob.message().await, json!({ "turnwire": "late", "id": 0 }), "nothing waits for bob");
    for_bob.say(&tell(1)).await;
    assert_eq!(bob.message().await, tell(1));
    for_ann.say(&tell(2)).await;
    assert_eq!(ann.message().await, tell(2), "and not what bob heard");
    let second = format!("{}&conversation=second", of("ann"));
    assert_eq!(crate::held_world::open(relay.address(), &second).await.err(), Some(429));
    let cid = issuer.token("cid");
    relay.with_token(&cid);
    let path = "/a/_turnwire/v1/sockets";
    assert_eq!(answered(relay.request(Method::GET, path)).await, json!({ "sockets": [] }));
    assert_eq!(status(relay.request(Method::DELETE, &format!("{path}/main"))).await, 404);
    relay.with_token(&issuer.token("ann"));
    let own = &answered(relay.request(Method::GET, path)).await["sockets"][0];
    assert_eq!(own["log"], ann.attached["log"]);
    assert_eq!((&own["readers"], &own["pending"], &own["busy"]), (&json!(1), &json!(1), &json!(true)));
    assert_eq!(status(relay.request(Method::DELETE, &format!("{path}/main"))).await, 202);
    ann.ends("stopped").await;
    assert_eq!(within(for_ann.next()).await, None);
    for_bob.say(&tell(3)).await;
    assert_eq!(bob.message().await, tell(3), "bob's goes on");
}
