//! Users: who they are, and that nothing of one is there for another.

use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};
use turnwire_gateway::Config;

use crate::gateway::gateway;
use crate::sockets::upgrade;
use crate::wire::{Server, Wire};
use crate::world::{Relay, STREAM, Scratch, Stream, delta, json as answered, sent, status};

/// Signs tokens, and shows the keys in a file.
pub(crate) struct Issuer {
    secret: Vec<u8>,
    public: String,
    scratch: Scratch,
}

impl Issuer {
    pub(crate) fn new() -> Self {
        let pair = rcgen::KeyPair::generate().expect("a key");
        let (secret, public) = (pair.serialize_der(), pair.public_key_pem());
        let scratch = Scratch::new();
        let mut key = Jwk::from_encoding_key(&Self::key(&secret), Algorithm::ES256).expect("a key");
        key.common.key_id = Some("k1".to_owned());
        std::fs::write(scratch.path("jwks.json"), json!({ "keys": [key] }).to_string()).expect("written");
        Self { secret, public, scratch }
    }

    fn key(secret: &[u8]) -> EncodingKey {
        EncodingKey::from_ec_der(secret)
    }

    fn claims(subject: &str) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
        json!({ "sub": subject, "iss": "https://id.test/", "aud": "chat", "exp": now + 600, "nbf": now - 10 })
    }

    fn head() -> Header {
        Header { kid: Some("k1".to_owned()), ..Header::new(Algorithm::ES256) }
    }

    pub(crate) fn token(&self, subject: &str) -> String {
        self.signed(&Self::head(), &Self::claims(subject))
    }

    fn signed(&self, head: &Header, claims: &Value) -> String {
        encode(head, claims, &Self::key(&self.secret)).expect("a token")
    }

    /// A gateway that serves the keys.
    pub(crate) async fn keys(&self) -> String {
        let www = Some(self.scratch.path("."));
        gateway(Config { www, beat: std::time::Duration::from_millis(2), ..Config::default() }).await
    }

    /// The part of a config that believes them.
    pub(crate) fn identity(agents: &str) -> String {
        format!(
            "[identity.bearer]\njwks = \"{agents}/jwks.json\"\nissuer = \"https://id.test/\"\naudience = \"chat\"\n\
             algorithms = [\"ES256\"]\n"
        )
    }

    /// A relay that believes them, before a gateway.
    async fn relay(&self) -> Relay {
        let agents = self.keys().await;
        let config = format!(
            "listen = \"127.0.0.1:0\"\n{}[upstream.a]\nprotocol = \"aap\"\nurl = \"{agents}/aap\"\nheaders.authorization = \"env:RELAY_TEST_KEY\"\n\
             [upstream.t]\nprotocol = \"tirea\"\nurl = \"{agents}/tirea\"\n\
             [upstream.f]\nprotocol = \"truefoundry\"\nurl = \"{agents}/acme\"\n\
             [upstream.o]\nprotocol = \"trueforge\"\nurl = \"{agents}\"\n\
             [upstream.g]\nprotocol = \"ag-ui\"\nurl = \"{agents}/ag-ui\"\n",
            Self::identity(&agents)
        );
        Relay::start(&config)
    }
}

#[tokio::test]
async fn only_good_tokens_are_let_in() {
    let issuer = Issuer::new();
    let relay = issuer.relay().await;
    let with = async |token: &str| {
        let request =
            relay.plain(Method::GET, "/a/sessions").header("authorization", format!("Bearer {token}"));
        status(request).await
    };
    let good = issuer.token("ann");
    assert_eq!(with(&good).await, 200);
    assert_eq!(status(relay.plain(Method::GET, "/a/sessions")).await, 401);
    // Only a socket may have it in its address.
    assert_eq!(status(relay.plain(Method::GET, &format!("/a/sessions?access_token={good}"))).await, 401);

    let change = |name: &str, value: Value| {
        let mut claims = Issuer::claims("ann");
        claims[name] = value;
        issuer.signed(&Issuer::head(), &claims)
    };
    let without = |name: &str| {
        let mut claims = Issuer::claims("ann");
        claims.as_object_mut().expect("an object").remove(name);
        issuer.signed(&Issuer::head(), &claims)
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
    let mut parts = good.split('.');
    let (_, claims, signature) =
        (parts.next(), parts.next().expect("claims"), parts.next().expect("a signature"));
    let none = "eyJhbGciOiJub25lIiwia2lkIjoiazEifQ";
    let other = rcgen::KeyPair::generate().expect("a key").serialize_der();
    let hs = Header { kid: Some("k1".to_owned()), ..Header::new(Algorithm::HS256) };
    let confused = encode(&hs, &Issuer::claims("ann"), &EncodingKey::from_secret(issuer.public.as_bytes()));
    let corpus = [
        ("no algorithm", format!("{none}.{claims}.")),
        ("no algorithm, signed", format!("{none}.{claims}.{signature}")),
        ("the public key as a secret", confused.expect("a token")),
        (
            "another key of the same name",
            encode(&Issuer::head(), &Issuer::claims("ann"), &Issuer::key(&other)).expect("a token"),
        ),
        (
            "an unknown key",
            issuer.signed(&Header { kid: Some("k2".to_owned()), ..Issuer::head() }, &Issuer::claims("ann")),
        ),
        (
            "a path as key",
            issuer.signed(
                &Header { kid: Some("../../dev/null".to_owned()), ..Issuer::head() },
                &Issuer::claims("ann"),
            ),
        ),
        (
            "its own place for keys",
            issuer.signed(
                &Header { jku: Some("https://evil.test/jwks".to_owned()), ..Issuer::head() },
                &Issuer::claims("ann"),
            ),
        ),
        (
            "its own certificate",
            issuer.signed(
                &Header { x5u: Some("https://evil.test/x".to_owned()), ..Issuer::head() },
                &Issuer::claims("ann"),
            ),
        ),
        (
            "something critical",
            issuer.signed(
                &Header { crit: Some(vec!["exp".to_owned()]), ..Issuer::head() },
                &Issuer::claims("ann"),
            ),
        ),
        ("past", change("exp", json!(now - 120))),
        ("future", change("nbf", json!(now + 120))),
        ("another issuer", change("iss", json!("https://evil.test/"))),
        ("another audience", change("aud", json!("other"))),
        ("no user", change("sub", json!(""))),
        ("a user that is no text", change("sub", json!(7))),
        ("no end", without("exp")),
        ("no issuer", without("iss")),
        ("no audience", without("aud")),
        ("no subject", without("sub")),
        ("cut", good[..good.len() - 4].to_owned()),
        ("other claims", good.replace(claims, "eyJzdWIiOiJib2IifQ")),
        ("nothing", String::new()),
        ("not a token", "a.b.c".to_owned()),
    ];
    for (what, token) in corpus {
        assert_eq!(with(&token).await, 401, "{what}");
    }
    let twice = relay.plain(Method::GET, "/a/sessions").header("authorization", format!("Bearer {good}"));
    assert_eq!(status(twice.header("authorization", format!("Bearer {good}"))).await, 401);
    // Within what clocks may differ, and with the key's name left out, as there is one only.
    assert_eq!(with(&change("exp", json!(now - 20))).await, 200);
    assert_eq!(with(&issuer.signed(&Header::new(Algorithm::ES256), &Issuer::claims("ann"))).await, 200);
    relay.terminate();
    let log = relay.ended().await;
    assert!(!log.contains(claims) && !log.contains("very-secret"), "{log}");
}

/// Of a connection that passes through, the end is a break: a good end would look like the agent's.
#[tokio::test]
async fn no_one_stays_connected_with_a_token_that_has_ended() {
    let (issuer, server) = (Issuer::new(), Server::start().await);
    let config = format!(
        "listen = \"127.0.0.1:0\"\n{}[upstream.g]\nprotocol = \"ag-ui\"\nurl = \"http://{address}\"\nsessions = \"open\"\n\
         [upstream.c]\nprotocol = \"codex\"\nurl = \"ws://{address}\"\nsessions = \"open\"\n",
        Issuer::identity(&issuer.keys().await),
        address = server.address,
    );
    let mut relay = Relay::start(&config);
    // Clocks may differ by a minute: it is good for some seconds more.
    let short = || {
        let mut claims = Issuer::claims("ann");
        claims["exp"] = json!(claims["exp"].as_u64().expect("a time") - 600 - 56);
        issuer.signed(&Issuer::head(), &claims)
    };
    relay.with_token(&short());
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(&delta("a")).await;
        wire
    };
    let run = relay.request(Method::POST, "/g").json(&json!({ "threadId": "t", "runId": "r" }));
    let (answer, mut wire) = tokio::join!(sent(run), agent);
    assert_eq!(Stream::of(answer).rest().await, Err(delta("a")));
    assert_eq!(wire.read_to_end().await.unwrap_or_default(), "", "the agent is hung up on");

    let open = upgrade(&format!("Authorization: Bearer {}\r\n", short())).replacen("/a?", "/c?", 1);
    let mut page = Wire::open(relay.address(), &open).await;
    let (mut agent, _) = server.accept().await;
    agent
        .write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n")
        .await;
    assert!(page.read_head().await.starts_with("HTTP/1.1 101 "));
    agent.write("down").await;
    assert_eq!(page.read_until("down").await, "down");
    assert!(page.read_to_end().await.is_err(), "no good end");
    assert_eq!(agent.read_to_end().await.unwrap_or_default(), "", "the agent is hung up on");
}

#[tokio::test]
async fn nothing_of_one_user_is_there_for_another() {
    let issuer = Issuer::new();
    let mut relay = issuer.relay().await;
    relay.with_token(&issuer.token("ann"));
    let made = answered(
        relay.request(Method::POST, "/a/sessions").json(&json!({ "agent": { "name": "support-bot" } })),
    )
    .await;
    let session = made["sessionId"].as_str().expect("an id").to_owned();
    let turn = json!({ "stream": "delta", "messages": [{ "role": "user", "content": "plain" }] });
    let start =
        relay.request(Method::POST, &format!("/a/sessions/{session}/turns")).header("turnwire-turn", "t-1");
    let whole = sent(start.json(&turn)).await.text().await.expect("text");
    let run = json!({ "agentId": "assistant", "threadId": "th", "runId": "r", "messages": [{ "role": "user", "content": "plain" }] });
    let start = relay.request(Method::POST, "/t/v1/runs").header("turnwire-turn", "r").json(&run);
    assert!(sent(start).await.text().await.expect("text").contains("run_finish"));
    let made = answered(
        relay.request(Method::POST, "/f/v1/agents/sessions").json(&json!({ "agent_name": "support" })),
    )
    .await;
    let talk = made["data"]["id"].as_str().expect("an id").to_owned();

    let agent = json!({ "agent": { "name": "support" } });
    let made = answered(relay.request(Method::POST, "/o/api/v1/sessions").json(&agent)).await;
    let forged = made["data"]["id"].as_str().expect("an id").to_owned();
    let thread = json!({
        "threadId": "ours", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": "m", "role": "user", "content": "plain" }],
    });
    let ran = sent(relay.request(Method::POST, "/g").json(&thread)).await.text().await.expect("text");
    assert!(ran.contains("RUN_FINISHED"), "{ran}");

    let every = [
        ("GET", format!("/o/api/v1/sessions/{forged}"), json!(null)),
        ("GET", format!("/o/api/v1/sessions/{forged}/turns"), json!(null)),
        ("GET", format!("/o/api/v1/sessions/{forged}/events"), json!(null)),
        ("GET", format!("/a/sessions/{session}"), json!(null)),
        ("GET", format!("/a/sessions/{session}/history?type=full"), json!(null)),
        ("POST", format!("/a/sessions/{session}/turns"), turn.clone()),
        ("GET", "/a/_turnwire/v1/turns/t-1/events".to_owned(), json!(null)),
        ("GET", "/a/_turnwire/v1/streams/t-1?offset=-1&live=sse".to_owned(), json!(null)),
        ("GET", "/t/v1/threads/th".to_owned(), json!(null)),
        ("GET", "/t/v1/threads/th/messages".to_owned(), json!(null)),
        ("GET", "/t/v1/runs?thread_id=th".to_owned(), json!(null)),
        ("GET", "/t/v1/runs/r".to_owned(), json!(null)),
        ("GET", "/t/_turnwire/v1/turns/r/events".to_owned(), json!(null)),
        ("GET", format!("/f/v1/agents/sessions/{talk}"), json!(null)),
        ("GET", format!("/f/v1/agents/sessions/{talk}/turns"), json!(null)),
        ("GET", format!("/f/v1/agents/sessions/{talk}/events"), json!(null)),
    ];
    let changes = [
        ("POST", "/g".to_owned(), thread.clone()),
        ("POST", "/g/connect".to_owned(), thread.clone()),
        ("POST", "/g/stop/ours".to_owned(), json!({})),
        ("POST", "/g/agents/state".to_owned(), json!({ "threadId": "ours" })),
        ("PATCH", format!("/o/api/v1/sessions/{forged}"), agent.clone()),
        ("DELETE", format!("/o/api/v1/sessions/{forged}"), json!(null)),
        ("POST", format!("/o/api/v1/sessions/{forged}/turns"), json!({ "input": [], "stream": true })),
        ("POST", "/t/v1/runs".to_owned(), run.clone()),
        (
            "POST",
            "/t/v1/runs".to_owned(),
            json!({ "agentId": "a", "threadId": "bob", "parentRunId": "r", "messages": [] }),
        ),
        ("POST", "/t/v1/runs/r/cancel".to_owned(), json!({})),
        ("POST", "/t/v1/runs/r/inputs".to_owned(), json!({ "decisions": [] })),
        ("POST", "/t/v1/threads/th/interrupt".to_owned(), json!({})),
        ("PATCH", "/t/v1/threads/th/metadata".to_owned(), json!({ "title": "bob" })),
        ("DELETE", "/t/v1/threads/th".to_owned(), json!(null)),
        ("POST", format!("/f/v1/agents/sessions/{talk}/turns"), json!({ "input": [], "stream": true })),
        ("POST", format!("/f/v1/agents/sessions/{talk}/cancel"), json!({})),
        ("DELETE", "/a/_turnwire/v1/turns/t-1".to_owned(), json!(null)),
        ("DELETE", format!("/a/sessions/{session}"), json!(null)),
    ];
    let request = |relay: &Relay, (method, path, body): &(&str, String, Value)| {
        let request = relay.request(method.parse().expect("a method"), path);
        if body.is_null() { request } else { request.json(body) }
    };
    relay.with_token(&issuer.token("bob"));
    for asked in every.iter().chain(&changes) {
        assert_eq!(status(request(&relay, asked)).await, 404, "{} {}", asked.0, asked.1);
    }
    for list in ["/a/sessions", "/f/v1/agents/sessions?agent_name=support", "/o/api/v1/sessions"] {
        let list = answered(relay.request(Method::GET, list)).await;
        let list = list.to_string();
        assert!([&session, &talk, &forged].iter().all(|id| !list.contains(*id)), "{list}");
    }
    for (list, empty) in [("/t/v1/threads/summaries", json!([])), ("/t/v1/threads", json!([]))] {
        let list = answered(relay.request(Method::GET, list)).await;
        assert_eq!(*list.get("items").unwrap_or(&list), empty);
    }
    let turns = answered(relay.request(Method::GET, "/a/_turnwire/v1/turns")).await;
    assert_eq!(turns, json!({ "turns": [] }));
    for (query, expected) in [("", 400), ("?thread_id=th&thread_id=bob", 400)] {
        assert_eq!(status(relay.request(Method::GET, &format!("/t/v1/runs{query}"))).await, expected);
    }
    let spelled = json!({ "agentId": "a", "threadId": "bob", "thread_id": "th", "messages": [] });
    assert_eq!(status(relay.request(Method::POST, "/t/v1/runs").json(&spelled)).await, 400);

    // All of it is still there for its owner.
    relay.with_token(&issuer.token("ann"));
    for asked in every.iter().filter(|(method, ..)| *method == "GET") {
        assert_eq!(status(request(&relay, asked)).await, 200, "{} {}", asked.0, asked.1);
    }
    assert_eq!(sent(relay.events("t-1", 0)).await.text().await.expect("text"), whole);
}

/// A thread belongs to the first who starts a run in it, not to one whose start was refused.
#[tokio::test]
async fn a_start_that_is_refused_makes_no_thread_ones_own() {
    let issuer = Issuer::new();
    let agents = issuer.keys().await;
    let mut relay = Relay::start(&format!(
        "listen = \"127.0.0.1:0\"\n{}[upstream.t]\nprotocol = \"tirea\"\nurl = \"{agents}/tirea\"\n\
         [upstream.g]\nprotocol = \"ag-ui\"\nurl = \"{agents}/ag-ui\"\n[limits]\nstarts_per_minute = 1\n",
        Issuer::identity(&agents)
    ));
    for path in ["/t/v1/runs", "/g"] {
        let mut started = async |user: &str, thread: &str| {
            relay.with_token(&issuer.token(&format!("{user} of {path}")));
            let messages = json!([{ "id": "m", "role": "user", "content": "plain" }]);
            let mut body = json!({ "threadId": thread, "runId": thread, "messages": messages });
            if path == "/g" {
                for (key, empty) in [("state", json!({})), ("tools", json!([])), ("context", json!([]))] {
                    body[key] = empty;
                }
            } else {
                body["agentId"] = json!("assistant");
            }
            status(relay.request(Method::POST, path).json(&body)).await
        };
        assert_eq!(started("ann", "first").await, 200);
        assert_eq!(started("ann", "second").await, 429);
        assert_eq!(started("bob", "second").await, 200, "{path}: it is still no one's");
    }
}
