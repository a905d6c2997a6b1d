//! Turns of an agent that keeps them itself, with a log of the relay's all the same: many readers have one connection to the agent,
//! which is asked again for whatever is missing.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::json;
use turnwire_gateway::Config;

use crate::gateway::gateway;
use crate::redis::Redis;
use crate::several::stored;
use crate::streams_server::Streams;
use crate::wire::{Server, Wire};
use crate::world::{Relay, STREAM, Scratch, Stream, config, json, sent, status};

const TURNS: &str = "/a/v1/agents/sessions/s/turns";

/// A config before this agent, where all sessions are everyone's.
fn kept(server: &Server, rest: &str) -> String {
    let rest = format!("sessions = \"open\"\nlog = \"on\"\n{rest}");
    config("truefoundry", &format!("http://{}", server.address), &rest)
}

/// The JSON of an event.
fn event(number: u64) -> String {
    match number {
        1 => "{\"type\":\"turn.created\",\"turn_id\":\"t-1\"}".to_owned(),
        _ => format!("{{\"type\":\"model.message.delta\",\"content\":\"c{number}\"}}"),
    }
}

const DONE: &str = "{\"type\":\"turn.done\"}";

/// A frame as the agent writes it.
fn frame(number: u64, data: &str) -> String {
    format!("data: {data}\nid: {number}\n\n")
}

/// Frames with these numbers.
fn frames(numbers: impl IntoIterator<Item = u64>) -> String {
    numbers.into_iter().map(|number| frame(number, &event(number))).collect()
}

/// The same as readers get them, the last one of the turn after them.
fn read(numbers: impl IntoIterator<Item = u64>) -> String {
    let numbers: Vec<u64> = numbers.into_iter().collect();
    let last = numbers.last().map_or(0, |last| last + 1);
    let shown = |number: u64, data: &str| format!("id: {number}\ndata: {data}\n\n");
    let frames: Vec<String> = numbers.into_iter().map(|number| shown(number, &event(number))).collect();
    frames.concat() + &shown(last, DONE)
}

fn start(relay: &Relay) -> RequestBuilder {
    let start = relay.request(Method::POST, TURNS).header("turnwire-turn", "t");
    start.header("content-type", "application/json").body("{\"stream\":true}")
}

/// What a page of today sends, which knows nothing of the relay.
fn subscribe(relay: &Relay, after: u64) -> RequestBuilder {
    relay
        .plain(Method::POST, &format!("{TURNS}/t-1/subscribe"))
        .json(&json!({ "after_sequence_number": after }))
}

/// Starts a turn, whose first frames its reader has seen.
async fn started(relay: &Relay, server: &Server, last: u64) -> (Stream, Wire) {
    let agent = async {
        let (mut wire, head) = server.accept().await;
        assert!(head.starts_with("POST /v1/agents/sessions/s/turns "), "{head}");
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(&frames(1..=last)).await;
        wire
    };
    let (answer, wire) = tokio::join!(sent(start(relay)), agent);
    let mut stream = Stream::of(answer);
    stream.until(&format!("id: {last}\n")).await;
    (stream, wire)
}

/// The agent is asked for the rest of the turn, and begins to answer.
async fn asked(server: &Server, after: u64) -> Wire {
    let (mut wire, head) = server.accept().await;
    assert!(head.starts_with("POST /v1/agents/sessions/s/turns/t-1/subscribe "), "{head}");
    assert_eq!(wire.body(&head).await, format!("{{\"after_sequence_number\":{after}}}"));
    wire.write(STREAM).await;
    wire
}

#[tokio::test]
async fn a_connection_that_breaks_is_made_again_and_readers_see_nothing_of_it() {
    let server = Server::start().await;
    let relay = Relay::start(&kept(&server, ""));
    let (first, wire) = started(&relay, &server, 3).await;
    let second = Stream::of(sent(subscribe(&relay, 0)).await);
    let third = Stream::of(sent(subscribe(&relay, 2)).await);
    wire.reset();
    // A good end without the turn's last frame is no end either.
    let mut wire = asked(&server, 3).await;
    wire.chunk(&frames([2, 3, 4])).await;
    wire.end().await;
    drop(wire);
    // What may be lost on the way is asked for, and what the agent itself leaves out is left out.
    let mut wire = asked(&server, 4).await;
    wire.chunk(&frames([5, 7])).await;
    let mut again = asked(&server, 5).await;
    again.chunk(&(frames([7, 8]) + &frame(9, DONE))).await;
    let whole = read([1, 2, 3, 4, 5, 7, 8]);
    assert_eq!(first.rest().await.as_ref(), Ok(&whole));
    assert_eq!(second.rest().await.as_ref(), Ok(&whole));
    assert_eq!(third.rest().await, Ok(read([3, 4, 5, 7, 8])));
    assert_eq!(Stream::of(sent(subscribe(&relay, 6)).await).rest().await, Ok(read([7, 8])));
    assert_eq!(Stream::of(sent(relay.events("t", 5)).await).rest().await, Ok(read([7, 8])));
    assert_eq!(Stream::of(sent(start(&relay)).await).rest().await, Ok(whole));
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn what_the_agent_has_no_more_is_told_and_then_asked_of_itself() {
    let server = Server::start().await;
    let relay = Relay::start(&kept(&server, ""));
    let (stream, wire) = started(&relay, &server, 2).await;
    let page = Stream::of(sent(subscribe(&relay, 0)).await);
    wire.reset();
    let (mut wire, head) = server.accept().await;
    wire.body(&head).await;
    wire.json("412 Precondition Failed", "{}").await;
    let told = "event: turnwire.cut\ndata: {\"last\":2,\"reason\":\"log_lost\",\"upstream\":\"running\"}\n\n";
    assert!(stream.rest().await.is_ok_and(|rest| rest.ends_with(told)));
    assert!(page.rest().await.is_err(), "a good end would look like the turn's");
    drop(wire);
    // The page reconnects, as it would without the relay.
    let agent = async {
        let mut wire = asked(&server, 2).await;
        wire.chunk(&(frames([3]) + &frame(4, DONE))).await;
        wire.end().await;
    };
    let (answer, ()) = tokio::join!(sent(subscribe(&relay, 2)), agent);
    assert_eq!(Stream::of(answer).rest().await, Ok(frames([3]) + &frame(4, DONE)));
}

/// Only the agent knows whether there is more of a turn that has ended than the log has.
#[tokio::test]
async fn a_place_after_the_end_in_the_log_is_asked_of_the_agent() {
    let server = Server::start().await;
    let relay = Relay::start(&kept(&server, ""));
    let (stream, mut wire) = started(&relay, &server, 2).await;
    wire.chunk(&frame(3, DONE)).await;
    wire.end().await;
    assert_eq!(stream.rest().await, Ok(read(1..=2)));
    drop(wire);
    let agent = async {
        let mut wire = asked(&server, 4).await;
        wire.chunk(&frame(5, DONE)).await;
        wire.end().await;
    };
    let (answer, ()) = tokio::join!(sent(subscribe(&relay, 4)), agent);
    assert_eq!(Stream::of(answer).rest().await, Ok(frame(5, DONE)));
    assert_eq!(
        Stream::of(sent(subscribe(&relay, 2)).await).rest().await,
        Ok(format!("id: 3\ndata: {DONE}\n\n"))
    );
}

#[tokio::test]
async fn a_stop_is_the_agents_own_cancel() {
    let server = Server::start().await;
    let relay = Relay::start(&kept(&server, ""));
    let (stream, mut wire) = started(&relay, &server, 1).await;
    let agent = async {
        let (mut asked, head) = server.accept().await;
        assert!(head.starts_with("POST /v1/agents/sessions/s/cancel "), "{head}");
        assert_eq!(asked.body(&head).await, "{}");
        asked.json("200 OK", "{}").await;
        wire.chunk(&frame(2, DONE)).await;
    };
    let stop = relay.request(Method::DELETE, "/a/_turnwire/v1/turns/t");
    let (stopped, ()) = tokio::join!(status(stop), agent);
    assert_eq!(stopped, 202);
    assert_eq!(stream.rest().await, Ok(read([1])));
}

#[tokio::test]
async fn after_a_crash_the_next_process_goes_on() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let config = kept(&server, &scratch.log());
    let relay = Relay::start(&config);
    let (stream, wire) = started(&relay, &server, 4).await;
    relay.kill();
    drop((stream, wire));
    let relay = Relay::start(&config);
    let mut wire = asked(&server, 4).await;
    let mut stream = Stream::of(sent(subscribe(&relay, 2)).await);
    stream.until("id: 4\n").await;
    wire.chunk(&(frames([5]) + &frame(6, DONE))).await;
    assert_eq!(stream.rest().await, Ok(read([3, 4, 5])));
    assert_eq!(Stream::of(sent(start(&relay)).await).rest().await, Ok(read(1..=5)));
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn a_turn_is_named_by_whichever_of_its_first_frames_says_its_name() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let config = kept(&server, &scratch.log());
    let relay = Relay::start(&config);
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(&(frame(1, &event(2)) + &frame(2, &event(1)))).await;
        wire
    };
    let (answer, wire) = tokio::join!(sent(start(&relay)), agent);
    Stream::of(answer).until("id: 2\n").await;
    Stream::of(sent(subscribe(&relay, 0)).await).until("id: 2\n").await;
    relay.kill();
    drop(wire);
    let relay = Relay::start(&config);
    let mut wire = asked(&server, 2).await;
    wire.chunk(&(frames([3]) + &frame(4, DONE))).await;
    let rest = Stream::of(sent(subscribe(&relay, 2)).await).rest().await;
    assert_eq!(rest, Ok(read([3])));
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn a_turn_is_found_without_reading_all_of_the_others() {
    let (server, redis) = (Server::start().await, Redis::start());
    let relay = Relay::start(&kept(&server, &format!("[log]\nstore = \"{}\"\n", redis.url())));
    let long = format!("{{\"type\":\"model.message.delta\",\"content\":\"{}\"}}", "x".repeat(50_000));
    for turn in 1..=6 {
        let agent = async {
            let (mut wire, head) = server.accept().await;
            wire.body(&head).await;
            wire.write(STREAM).await;
            let created = event(1).replace("t-1", &format!("t-{turn}"));
            wire.chunk(&(frame(1, &created) + &frame(2, &long) + &frame(3, DONE))).await;
        };
        let start = relay.request(Method::POST, TURNS).header("turnwire-turn", format!("t{turn}"));
        let start = start.header("content-type", "application/json").body("{\"stream\":true}");
        let (answer, ()) = tokio::join!(sent(start), agent);
        Stream::of(answer).rest().await.expect("a good end");
    }
    let written = || {
        let stats = redis.ask(&["INFO", "stats"]);
        let line = stats.lines().find_map(|line| line.strip_prefix("total_net_output_bytes:"));
        line.and_then(|bytes| bytes.trim().parse::<u64>().ok()).expect("a number")
    };
    let before = written();
    // The oldest one is looked for last.
    assert_eq!(Stream::of(sent(subscribe(&relay, 3)).await).rest().await, Ok(String::new()));
    let read = written() - before;
    assert!(read < 50_000, "{read} bytes");
    assert!(server.is_left_alone().await);
}

#[tokio::test]
async fn when_an_owner_dies_another_one_goes_on() {
    let (redis, streams) = (Redis::start(), Streams::on_disk());
    for store in [redis.url(), stored(&streams)] {
        let server = Server::start().await;
        let config = kept(&server, &format!("[log]\nstore = \"{store}\"\ntakeover = \"3s\"\n"));
        let (owner, other) = (Relay::start(&config), Relay::start(&config));
        let (stream, wire) = started(&owner, &server, 3).await;
        let mut page = Stream::of(sent(subscribe(&other, 0)).await);
        page.until("id: 3\n").await;
        owner.kill();
        drop((stream, wire));
        let mut wire = asked(&server, 3).await;
        wire.chunk(&frames(2..=5)).await;
        // One that comes now reads with the new owner, the other one goes on from the log.
        let late = Stream::of(sent(other.events("t", 1)).await);
        page.until("id: 5\n").await;
        wire.chunk(&(frames([6]) + &frame(7, DONE))).await;
        assert_eq!(page.rest().await, Ok(read(1..=6)));
        assert_eq!(late.rest().await, Ok(read(2..=6)));
        assert!(server.is_left_alone().await);
    }
}

#[tokio::test]
async fn a_relay_that_ends_leaves_what_outlasts_the_drain_to_the_others() {
    let (server, redis) = (Server::start().await, Redis::start());
    let config = kept(&server, &format!("[log]\nstore = \"{}\"\ntakeover = \"3s\"\n", redis.url()));
    let config = config.replace("drain = \"20s\"", "drain = \"1s\"");
    let (ending, other) = (Relay::start(&config), Relay::start(&config));
    let (_stream, _wire) = started(&ending, &server, 2).await;
    let page = Stream::of(sent(subscribe(&other, 0)).await);
    ending.terminate();
    ending.ended().await;
    let mut wire = asked(&server, 2).await;
    wire.chunk(&(frames([3]) + &frame(4, DONE))).await;
    assert_eq!(page.rest().await, Ok(read(1..=3)));
}

#[tokio::test]
async fn what_the_log_has_lost_and_its_owner_has_not_in_memory_is_asked_for() {
    let (server, redis) = (Server::start().await, Redis::start());
    let config = kept(&server, &format!("[log]\nstore = \"{}\"\n", redis.url()));
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (stream, mut wire) = started(&owner, &server, 1).await;
    let large = format!("{{\"type\":\"model.message.delta\",\"content\":\"{}\"}}", "x".repeat(300_000));
    wire.chunk(&(frame(2, &large) + &frames([3]))).await;
    let mut page = Stream::of(sent(subscribe(&other, 0)).await);
    page.until("id: 3\n").await;
    assert_eq!(redis.ask(&["FLUSHALL"]), "OK");
    let mut wire = asked(&server, 0).await;
    wire.chunk(&(frames([1]) + &frame(2, &large) + &frames([3, 4]))).await;
    page.until("id: 4\n").await;
    wire.chunk(&frame(5, DONE)).await;
    let whole = read(1..=4).replace(&event(2), &large);
    assert!(page.rest().await.as_ref() == Ok(&whole) && stream.rest().await.as_ref() == Ok(&whole));
    assert!(Stream::of(sent(other.events("t", 0)).await).rest().await == Ok(whole));
}

/// The frames of a stream of the gateway's, each with its number before its data.
fn sorted(stream: &str) -> String {
    let frame = |frame: &str| {
        let mut lines: Vec<&str> = frame.lines().filter(|line| !line.starts_with(':')).collect();
        lines.sort_by_key(|line| !line.starts_with("id:"));
        lines.join("\n") + "\n"
    };
    stream.split_inclusive("\n\n").map(frame).collect()
}

/// Of each kind of fault one, on the connection of the start.
const FAULTS: [&str; 17] = [
    "none",
    "eof:5",
    "reset:1",
    "reset-bytes:900",
    "no-done",
    "duplicate:3",
    "replay:4",
    "reorder:3",
    "gap:4:2",
    "hole:4:2",
    "two-dones",
    "after-done:3",
    "numbers:none:4",
    "numbers:backwards:4",
    "numbers:huge:4",
    "numbers:words:4",
    "stall:4",
];

/// A dialect of the protocol, as the gateway speaks it.
struct Dialect {
    protocol: &'static str,
    /// The gateway's path of it.
    base: &'static str,
    sessions: &'static str,
    session: serde_json::Value,
    /// How the rest of a turn is asked for.
    subscribe: Method,
}

/// Plays a turn with each fault. Its readers get what a page gets from the gateway itself, afterwards and without a fault.
async fn play(dialect: Dialect, faults: &[&str]) {
    let agents = gateway(Config { beat: Duration::from_millis(2), ..Config::default() }).await + dialect.base;
    let rest = "log = \"on\"\n[limits]\nsilence = \"1s\"\nstarts_per_minute = 1000\n";
    let relay = Relay::start(&config(dialect.protocol, &agents, rest));
    let about = json(relay.request(Method::GET, "/a/_turnwire/v1")).await;
    assert_eq!((&about["resume"], &about["readers"]), (&json!("cursor"), &json!("many")));
    let made = relay.request(Method::POST, &format!("/a/{}", dialect.sessions)).json(&dialect.session);
    let session = json(made).await["data"]["id"].as_str().expect("an id").to_owned();
    let turns = format!("{}/{session}/turns", dialect.sessions);
    let body = json!({ "input": [{ "type": "user.message", "content": "plain" }], "stream": true });
    for fault in faults {
        let start = relay.plain(Method::POST, &format!("/a/{turns}?fault={fault}")).json(&body);
        let read =
            Stream::of(sent(start).await).rest().await.unwrap_or_else(|read| panic!("{fault}: {read}"));
        let (_, turn) = read.split_once("\"turn_id\":\"").expect("the turn's name");
        let path = format!("{turns}/{}/subscribe", turn.split('"').next().unwrap_or_default());
        let direct = reqwest::Client::new().request(dialect.subscribe.clone(), format!("{agents}/{path}"));
        let direct = sent(direct.json(&json!({}))).await.text().await.expect("text");
        assert_eq!(read, sorted(&direct), "{fault}");
        let subscribed = relay.plain(dialect.subscribe.clone(), &format!("/a/{path}"));
        let subscribed = sent(subscribed.header("last-event-id", "2").json(&json!({}))).await;
        assert!(subscribed.headers().contains_key("turnwire-turn"), "it comes from the log");
        let rest = Stream::of(subscribed).rest().await.expect("a good end");
        assert!(read.ends_with(&rest) && rest.starts_with("id: 3\n"), "{fault}: {rest}");
    }
}

#[tokio::test]
async fn whatever_the_gateways_connections_do_turns_of_truefoundry_are_whole() {
    let sessions = "v1/agents/sessions";
    let session = json!({ "agent_name": "support" });
    play(
        Dialect { protocol: "truefoundry", base: "/acme", sessions, session, subscribe: Method::POST },
        &FAULTS,
    )
    .await;
}

#[tokio::test]
async fn whatever_the_gateways_connections_do_turns_of_trueforge_are_whole() {
    let session = json!({ "agent": { "name": "support" } });
    let sessions = "api/v1/sessions";
    play(
        Dialect { protocol: "trueforge", base: "", sessions, session, subscribe: Method::GET },
        &FAULTS[..3],
    )
    .await;
}
