//! No secret is said anywhere: not in what the relay writes, answers, counts, traces, or finds wrong.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use reqwest::{Method, RequestBuilder};
use tokio::net::TcpListener;

use crate::deploy::free;
use crate::redis::Redis;
use crate::sockets::upgrade;
use crate::users::Issuer;
use crate::wire::{Server, Wire, within};
use crate::world::{Relay, STREAM, Scratch, delta, sent};

/// The agents' key is what every test's relay has, `RELAY_TEST_KEY`.
const KEY: &str = "very-secret";
const REDIS: &str = "redis-hush";
const STREAMS: &str = "streams-hush";
const COLLECTOR: &str = "collector-hush";
/// As talkative as anything in it can be.
const VARIABLES: [(&str, &str); 6] = [
    ("RUST_LOG", "trace"),
    ("RUST_BACKTRACE", "full"),
    ("REDIS_HUSH", REDIS),
    ("STREAMS_HUSH", STREAMS),
    ("COLLECTOR_HUSH", COLLECTOR),
    ("RELAY_TEST_KEY", "Bearer very-secret"),
];

/// Everything that was said, and where.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<(String, String)>>>);

impl Said {
    fn note(&self, place: &str, text: impl Into<String>) {
        self.0.lock().expect("no panic").push((place.to_owned(), text.into()));
    }

    /// An answer's head and body.
    async fn ask(&self, place: &str, request: RequestBuilder) -> u16 {
        let answer = sent(request).await;
        let (status, head) = (answer.status().as_u16(), format!("{:?}", answer.headers()));
        // It may break off.
        let body = within(answer.text()).await.unwrap_or_default();
        self.note(place, format!("{status} {head} {body}"));
        status
    }

    /// What a task of the program says of this config.
    fn run(&self, task: &str, directory: &Scratch, config: &str) -> String {
        let path = directory.path("relay.toml");
        std::fs::write(&path, config).expect("written");
        let said = output(task, &path);
        self.note(&format!("{task} {config}"), said.clone());
        said
    }

    fn has_none_of(&self, secrets: &[&str]) {
        let all = self.0.lock().expect("no panic");
        for secret in secrets {
            for (place, text) in &*all {
                assert!(!text.contains(secret), "{secret} in {place}: {text}");
            }
        }
    }
}

fn output(task: &str, config: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnwire-relay"));
    let output = command.arg(task).arg(config).envs(VARIABLES).output().expect("run");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A collector, which notes every span.
async fn collector(said: &Said) -> String {
    let take = async |State(said): State<Said>, body: Bytes| {
        said.note("a span", String::from_utf8_lossy(&body));
        "{}"
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let routes = Router::new().route("/v1/traces", post(take)).with_state(said.clone());
    tokio::spawn(axum::serve(listener, routes).into_future());
    format!("http://{address}/v1/traces")
}

#[tokio::test]
async fn a_relay_that_serves_says_no_secret() {
    let (said, issuer, server, redis) =
        (Said::default(), Issuer::new(), Server::start().await, Redis::start());
    redis.ask(&["ACL", "SETUSER", "relay", "on", &format!(">{REDIS}"), "~*", "&*", "+@all"]);
    let admin = free();
    let config = format!(
        "listen = \"127.0.0.1:0\"\nadmin = \"{admin}\"\n{identity}\
         [upstream.a]\nprotocol = \"aap\"\nurl = \"http://{agent}\"\nsessions = \"open\"\nheaders.authorization = \"env:RELAY_TEST_KEY\"\n\
         [upstream.c]\nprotocol = \"codex\"\nurl = \"ws://{agent}\"\nsessions = \"open\"\nheaders.authorization = \"env:RELAY_TEST_KEY\"\n\
         [log]\nstore = \"{log}\"\npassword = \"env:REDIS_HUSH\"\n\
         [traces]\nurl = \"{traces}\"\nheaders.x-key = \"env:COLLECTOR_HUSH\"\n",
        identity = Issuer::identity(&issuer.keys().await),
        agent = server.address,
        log = redis.url().replacen("redis://", "redis://relay@", 1),
        traces = collector(&said).await,
    );
    let mut relay = Relay::start_with(&config, &VARIABLES);
    let token = issuer.token("ann");
    relay.with_token(&token);

    // A turn that breaks off, which has spans.
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(&delta("a")).await;
        wire.reset();
    };
    let (got, ()) = tokio::join!(said.ask("a turn that is cut", relay.turn("t")), agent);
    assert_eq!(got, 200);
    // The agent refuses the key, and repeats it.
    let agent = async {
        let (mut wire, head) = server.accept().await;
        assert!(head.contains(KEY), "the agent gets it: {head}");
        wire.json("401 Unauthorized", "{\"error\":\"very-secret is no good\"}").await;
    };
    let asked = said.ask("the agent refuses the key", relay.request(Method::GET, "/a/meta"));
    assert_eq!(tokio::join!(asked, agent).0, 502);
    // Tokens that are no good, and that stand in an address.
    let cut = &token[..token.len() - 3];
    let bad = relay.plain(Method::GET, "/a/meta").bearer_auth(cut);
    assert_eq!(said.ask("a token that is no good", bad).await, 401);
    let address = relay.plain(Method::GET, &format!("/a/meta?access_token={token}"));
    assert_eq!(said.ask("a token in an address", address).await, 401);
    let unknown = relay.request(Method::GET, &format!("/a/{token}?access_token={token}"));
    assert_eq!(said.ask("an unknown path", unknown).await, 404);
    // A socket, which the agent does not open.
    let open = upgrade("").replacen("/a?access_token=x", &format!("/c?access_token={token}"), 1);
    let mut page = Wire::open(relay.address(), &open).await;
    let (mut agent, head) = server.accept().await;
    said.note("what the agent gets of a socket", head.replace(KEY, ""));
    agent.json("500 No", "{}").await;
    let refused = page.read_head().await;
    assert!(refused.starts_with("HTTP/1.1 502 "), "{refused}");
    said.note("a socket that is not opened", refused);
    // Redis lets the relay in no more.
    redis.ask(&["ACL", "SETUSER", "relay", "resetpass", ">another"]);
    redis.ask(&["CLIENT", "KILL", "USER", "relay"]);
    assert_eq!(said.ask("the log is away", relay.turn("u")).await, 503);
    for path in ["metrics", "readyz"] {
        said.ask(path, reqwest::Client::new().get(format!("http://{admin}/{path}"))).await;
    }
    relay.terminate();
    let stderr = relay.ended().await;
    assert!(stderr.contains("ending"), "it says something: {stderr}");
    said.note("stderr", stderr);
    let places: Vec<String> =
        said.0.lock().expect("no panic").iter().map(|(place, _)| place.clone()).collect();
    assert!(places.iter().any(|place| place == "a span"), "{places:?}");
    let parts: Vec<&str> = token.split('.').collect();
    said.has_none_of(&[KEY, REDIS, COLLECTOR, cut, parts[1], parts[2]]);
}

#[tokio::test]
async fn neither_a_check_nor_a_mistake_names_a_secret() {
    let (said, directory, redis) = (Said::default(), Scratch::new(), Redis::start());
    redis.ask(&["ACL", "SETUSER", "relay", "on", ">another", "~*", "&*", "+@all"]);
    let away = free();
    let head = format!(
        "listen = \"127.0.0.1:0\"\n[identity.forward]\nurl = \"http://{away}/whoami\"\nheader = \"x-user\"\n\
         [upstream.a]\nprotocol = \"aap\"\nurl = \"http://{away}\"\nheaders.authorization = \"env:RELAY_TEST_KEY\"\n"
    );
    let log = redis.url().replacen("redis://", "redis://relay@", 1);
    for (log, problem) in [
        (format!("store = \"{log}\"\npassword = \"env:REDIS_HUSH\"\n"), "FAILED  the log in redis://relay@"),
        (
            format!(
                "store = \"durable-streams+http://{away}\"\nheaders.authorization = \"env:STREAMS_HUSH\"\n"
            ),
            "FAILED  the log at http://",
        ),
    ] {
        let told = said.run("check", &directory, &format!("{head}[log]\n{log}"));
        for problem in [problem, "FAILED  the identity: it does not answer", "FAILED  a at "] {
            assert!(told.contains(problem), "{problem}: {told}");
        }
        said.run("serve", &directory, &format!("{head}[log]\n{log}"));
        said.run("purge", &directory, &format!("{head}[log]\n{log}"));
    }
    // Secrets where none may stand, or where they cannot be read.
    std::fs::write(directory.path("key"), "very-secret\u{1}").expect("written");
    let file = directory.path("key").display().to_string();
    for mistake in [
        "headers.x-key = \"very-secret\"\n",
        "headers.x-key = very-secret\n",
        "headers.x-key = \"very-secret\n",
        "headers.x-key = [\"very-secret\"]\n",
        "headers = \"very-secret\"\n",
        &format!("headers.x-key = \"file:{file}\"\n"),
        "[log]\nstore = \"redis://127.0.0.1\"\npassword = \"redis-hush\"\n",
        "[log]\nstore = \"redis://relay:redis-hush@127.0.0.1\"\n",
        "[log]\nstore = \"redis-sentinel://127.0.0.1?sentinelServiceName=m&sentinelPassword=redis-hush\"\n",
        "[log]\nstore = \"redis-hush\"\n",
        "[log]\nstore = \"durable-streams+http://relay:streams-hush@127.0.0.1/\"\n",
        "[log]\nstore = \"durable-streams+http://127.0.0.1/?key=streams-hush\"\n",
        "[traces]\nurl = \"http://collector-hush@127.0.0.1/\"\n",
        "[upstream.b]\nprotocol = \"aap\"\nurl = \"http://very-secret@127.0.0.1/\"\n",
    ] {
        let told = said.run("check", &directory, &format!("{head}{mistake}"));
        assert!(told.contains("line "), "{mistake} is a mistake: {told}");
    }
    said.has_none_of(&[KEY, REDIS, STREAMS, COLLECTOR]);
}
