//! Before the development gateway: the bytes are the agent's, but for the numbers.

use reqwest::Method;
use serde_json::json;
use tokio::net::TcpListener;
use turnwire_gateway::Config;

use crate::world::{Relay, Stream, config, json, sent, status};

/// Starts a gateway, and returns its address. It ends with the test's runtime.
pub(crate) async fn gateway(own: Config) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(turnwire_gateway::serve(listener, own));
    format!("http://{address}")
}

/// The frames without the relay's numbers, which count from 1.
fn unnumbered(stream: &str) -> String {
    let mut frames = String::new();
    for (place, frame) in stream.split_inclusive("\n\n").enumerate() {
        let own = frame.strip_prefix(&format!("id: {}\n", place + 1)).unwrap_or_else(|| panic!("{frame}"));
        frames.push_str(own);
    }
    frames
}

#[tokio::test]
async fn aap_is_the_same_through_the_relay() {
    let agents = gateway(Config { beat: std::time::Duration::from_millis(2), ..Config::default() }).await;
    let relay = Relay::start(&config("aap", &format!("{agents}/aap"), ""));
    let session = json!({ "agent": { "name": "support-bot" } });
    let made = json(relay.request(Method::POST, "/a/sessions").json(&session)).await;
    let id = made["sessionId"].as_str().expect("an id").to_owned();
    let turn = json!({ "stream": "delta", "messages": [{ "role": "user", "content": "tools" }] });
    let start = |name: &str| {
        relay
            .request(Method::POST, &format!("/a/sessions/{id}/turns"))
            .header("turnwire-turn", name)
            .json(&turn)
    };
    let first = sent(start("t-1")).await;
    // Its reader disconnects after some frames, and reconnects.
    let mut stream = Stream::of(first);
    let begun = stream.until("id: 3\n").await.len();
    assert!(begun > 0);
    drop(stream);
    let whole = Stream::of(sent(relay.events("t-1", 0)).await).rest().await.expect("a good end");
    let frames = unnumbered(&whole);
    assert!(frames.starts_with("event: turn_start\n") && frames.contains("event: turn_stop\n"), "{frames}");
    let rest = Stream::of(sent(relay.events("t-1", 3)).await).rest().await.expect("a good end");
    assert!(whole.ends_with(&rest) && rest.starts_with("id: 4\n"));
    // The same directly; ids of calls differ from turn to turn.
    let client = reqwest::Client::new();
    let made: serde_json::Value = json(client.post(format!("{agents}/aap/sessions")).json(&session)).await;
    let direct =
        client.post(format!("{agents}/aap/sessions/{}/turns", made["sessionId"].as_str().expect("an id")));
    let direct = sent(direct.json(&turn)).await.text().await.expect("text");
    let kinds = |stream: &str| {
        stream.lines().filter(|line| line.starts_with("event: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&frames), kinds(&direct));
    let texts = |stream: &str| stream.lines().filter(|line| line.contains("\"delta\"")).collect::<String>();
    assert_eq!(texts(&frames), texts(&direct));
    // The list has the caller's sessions only.
    let list = json(relay.request(Method::GET, "/a/sessions")).await;
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(
        status(
            relay
                .request(Method::GET, &format!("/a/sessions/{}", made["sessionId"].as_str().expect("an id")))
        )
        .await,
        404
    );
    let history = relay.request(Method::GET, &format!("/a/sessions/{id}/history?type=full"));
    assert!(json(history).await["history"]["full"].as_array().is_some_and(|full| !full.is_empty()));
    assert_eq!(status(relay.request(Method::DELETE, &format!("/a/sessions/{id}"))).await, 204);
    assert_eq!(status(relay.request(Method::GET, &format!("/a/sessions/{id}"))).await, 404);
    assert_eq!(status(relay.events("t-1", 0)).await, 404, "its turns are gone with it");
}

fn run(thread: &str, run: &str, message: &str) -> serde_json::Value {
    json!({ "agentId": "assistant", "threadId": thread, "runId": run, "messages": [{ "role": "user", "content": message }] })
}

#[tokio::test]
async fn a_run_of_tirea_outlives_its_reader() {
    let agents = gateway(Config { beat: std::time::Duration::from_millis(5), ..Config::default() }).await;
    let relay = Relay::start(&config("tirea", &format!("{agents}/tirea"), ""));
    let start = relay
        .request(Method::POST, "/a/v1/runs")
        .header("turnwire-turn", "r-1")
        .json(&run("th-1", "r-1", "markdown"));
    let mut stream = Stream::of(sent(start).await);
    stream.until("id: 2\n").await;
    drop(stream);
    let whole = Stream::of(sent(relay.events("r-1", 0)).await).rest().await.expect("a good end");
    let frames = unnumbered(&whole);
    assert!(frames.contains("\"run_finish\"") && frames.contains("natural_end"), "{frames}");
    // Without the relay, the record of a run whose reader has left stays `running`.
    let record = json(relay.request(Method::GET, "/a/v1/runs/r-1")).await;
    assert_eq!(record["status"], "done", "{record}");
    let list = json(relay.request(Method::GET, "/a/_turnwire/v1/turns?session=th-1&state=closed")).await;
    assert_eq!(list["turns"][0]["end"]["end"], "done", "{list}");

    // A stop is the protocol's own cancel, and the run's own last frame shows it.
    let start = relay
        .request(Method::POST, "/a/v1/runs")
        .header("turnwire-turn", "r-2")
        .json(&run("th-1", "r-2", "slow"));
    let mut stream = Stream::of(sent(start).await);
    stream.until("id: 2\n").await;
    assert_eq!(status(relay.request(Method::DELETE, "/a/_turnwire/v1/turns/r-2")).await, 202);
    let rest = stream.rest().await.expect("a good end");
    assert!(rest.contains("\"run_finish\"") && rest.contains("cancelled"), "{rest}");
}

#[tokio::test]
async fn a_thread_that_was_made_elsewhere_is_no_ones() {
    let agents = gateway(Config::default()).await;
    let direct =
        reqwest::Client::new().post(format!("{agents}/tirea/v1/runs")).json(&run("th-9", "r-9", "plain"));
    sent(direct).await.text().await.expect("text");
    let relay = Relay::start(&config("tirea", &format!("{agents}/tirea"), ""));
    assert_eq!(
        status(relay.request(Method::POST, "/a/v1/runs").json(&run("th-9", "r-10", "plain"))).await,
        404
    );
    assert_eq!(status(relay.request(Method::GET, "/a/v1/threads/th-9")).await, 404);
    assert_eq!(status(relay.request(Method::GET, "/a/v1/runs/r-9")).await, 404);
    let summaries = json(relay.request(Method::GET, "/a/v1/threads/summaries")).await;
    assert_eq!(summaries, json!([]));
}

#[tokio::test]
async fn protocols_that_resume_by_themselves_pass_through() {
    let agents = gateway(Config { beat: std::time::Duration::from_millis(2), ..Config::default() }).await;
    let text = config("awaken", &format!("{agents}/awaken"), "")
        + &format!("[upstream.t]\nprotocol = \"truefoundry\"\nurl = \"{agents}/acme\"\n");
    let relay = Relay::start(&text);
    let about = json(relay.request(Method::GET, "/a/_turnwire/v1")).await;
    assert_eq!((&about["resume"], &about["stop"]), (&json!("none"), &json!(false)));
    let start = relay.request(Method::POST, "/a/v1/runs");
    let start = start.json(&json!({ "agentId": "assistant", "threadId": "th-1", "messages": [{ "role": "user", "content": "plain" }] }));
    let stream = Stream::of(sent(start).await).rest().await.expect("a good end");
    assert!(stream.contains("run_finish") && !stream.contains("id: 1\n"), "{stream}");
    let runs = json(relay.request(Method::GET, "/a/v1/threads/th-1/runs")).await;
    let id = runs["items"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{runs}")).to_owned();
    assert_eq!(status(relay.request(Method::GET, &format!("/a/v1/runs/{id}"))).await, 200);
    assert_eq!(status(relay.request(Method::GET, "/a/v1/threads/th-2/runs")).await, 404);

    let made =
        json(relay.request(Method::POST, "/t/v1/agents/sessions").json(&json!({ "agent_name": "support" })))
            .await;
    let session = made["data"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let turns = format!("/t/v1/agents/sessions/{session}/turns");
    let body = json!({ "input": [{ "type": "user.message", "content": "plain" }], "stream": true });
    let stream = Stream::of(sent(relay.request(Method::POST, &turns).json(&body)).await)
        .rest()
        .await
        .expect("a good end");
    assert!(stream.contains("turn.done"), "{stream}");
    let list = json(relay.request(Method::GET, &turns)).await;
    let turn = list["data"][0]["id"].as_str().unwrap_or_else(|| panic!("{list}"));
    let again = relay
        .request(Method::POST, &format!("{turns}/{turn}/subscribe"))
        .json(&json!({ "after_sequence_number": 1 }));
    let again = Stream::of(sent(again).await).rest().await.expect("a good end");
    assert!(again.contains("turn.done") && again.len() < stream.len(), "{again}");
}

#[tokio::test]
async fn trueforge_and_ag_ui_pass_through_and_sessions_are_their_users_own() {
    let agents = gateway(Config { beat: std::time::Duration::from_millis(2), ..Config::default() }).await;
    let text = config("trueforge", &agents, "")
        + &format!("[upstream.g]\nprotocol = \"ag-ui\"\nurl = \"{agents}/ag-ui\"\n");
    let relay = Relay::start(&text);
    let agent = json!({ "agent": { "name": "support" } });
    let made = json(relay.request(Method::POST, "/a/api/v1/sessions").json(&agent)).await;
    let session = made["data"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let turns = format!("/a/api/v1/sessions/{session}/turns");
    let body = json!({ "input": [{ "type": "user.message", "content": "plain" }], "stream": true });
    let stream = Stream::of(sent(relay.request(Method::POST, &turns).json(&body)).await).rest().await;
    let stream = stream.expect("a good end");
    assert!(stream.contains("turn.done"), "{stream}");
    let list = json(relay.request(Method::GET, &turns)).await;
    let turn = list["data"][0]["id"].as_str().unwrap_or_else(|| panic!("{list}"));
    let again = relay.request(Method::GET, &format!("{turns}/{turn}/subscribe?after_sequence_number=1"));
    let again = Stream::of(sent(again).await).rest().await.expect("a good end");
    assert!(again.contains("turn.done") && again.len() < stream.len(), "{again}");
    let elsewhere = sent(reqwest::Client::new().post(format!("{agents}/api/v1/sessions")).json(&agent)).await;
    let elsewhere: serde_json::Value = elsewhere.json().await.expect("JSON");
    let other = elsewhere["data"]["id"].as_str().unwrap_or_else(|| panic!("{elsewhere}"));
    assert_eq!(status(relay.request(Method::GET, &format!("/a/api/v1/sessions/{other}"))).await, 404);
    let list = json(relay.request(Method::GET, "/a/api/v1/sessions")).await;
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(status(relay.request(Method::DELETE, &format!("/a/api/v1/sessions/{session}"))).await, 204);
    assert_eq!(status(relay.request(Method::GET, &turns)).await, 404);

    let run = |rest: serde_json::Value| {
        let mut body = json!({
            "threadId": "th-1", "runId": "r-1", "state": {}, "tools": [], "context": [], "forwardedProps": {},
            "messages": [{ "id": "m", "role": "user", "content": "plain" }],
        });
        for (key, value) in rest.as_object().expect("an object") {
            body[key] = value.clone();
        }
        relay.request(Method::POST, "/g").json(&body)
    };
    let stream = Stream::of(sent(run(json!({}))).await).rest().await.expect("a good end");
    assert!(stream.contains("RUN_FINISHED"), "{stream}");
    // What may name another's thread does not pass.
    for key in ["parentRunId", "thread_id", "config"] {
        assert_eq!(status(run(json!({ key: "x" }))).await, 400, "{key}");
    }
    assert_eq!(status(run(json!({ "threadId": "" }))).await, 400);
    assert_eq!(status(run(json!({ "threadId": "x".repeat(513) }))).await, 400);
    // Only a run makes a thread one's own.
    let unknown = json!({ "threadId": "th-3" });
    for path in ["/g/connect", "/g/agents/state"] {
        assert_eq!(status(relay.request(Method::POST, path).json(&unknown)).await, 404, "{path}");
    }
    assert_eq!(status(relay.request(Method::GET, "/g")).await, 405);
    assert_eq!(status(relay.request(Method::POST, "/g/info")).await, 404);
    assert_eq!(status(relay.request(Method::POST, "/g/stop/th-2")).await, 404);
}

/// How a turn ends that meets one of the gateway's faults.
struct Case {
    fault: &'static str,
    end: &'static str,
    reason: &'static str,
}

const fn case(fault: &'static str, end: &'static str, reason: &'static str) -> Case {
    Case { fault, end, reason }
}

/// Plays a start with each fault before two readers. Both hear the same, without a hole, and an end that is true.
async fn play(relay: &Relay, cases: &[Case], start: impl Fn(&str, &str) -> reqwest::RequestBuilder) {
    for (number, Case { fault, end, reason }) in cases.iter().enumerate() {
        let turn = format!("r-{number}");
        let answer = sent(start(&turn, fault)).await;
        let first = Stream::of(answer);
        let second = Stream::of(sent(relay.events(&turn, 0)).await);
        let first = first.rest().await.unwrap_or_else(|read| panic!("{fault}: reset after {read}"));
        assert_eq!(second.rest().await.as_ref(), Ok(&first), "{fault}");
        let again = Stream::of(sent(relay.events(&turn, 0)).await).rest().await;
        assert_eq!(again.as_ref(), Ok(&first), "{fault}");
        let (frames, told) = first.split_once("event: turnwire.cut\n").unwrap_or((&first, ""));
        unnumbered(frames);
        assert_eq!(told.is_empty(), reason.is_empty(), "{fault}: {told}");
        let list = json(relay.request(Method::GET, "/a/_turnwire/v1/turns")).await;
        let ended =
            list["turns"].as_array().and_then(|turns| turns.iter().find(|kept| kept["id"] == turn.as_str()));
        let ended = ended.unwrap_or_else(|| panic!("{list}"));
        assert_eq!(ended["end"]["end"], *end, "{fault}: {first}");
        assert_eq!(ended["end"]["reason"].as_str().unwrap_or_default(), *reason, "{fault}");
        assert_eq!(ended["last"], frames.matches("id: ").count(), "{fault}");
    }
}

const LIMITS: &str = "[limits]\nsilence = \"2s\"\nturn_time = \"6s\"\nstarts_per_minute = 1000\n";

#[tokio::test]
async fn faults_of_aap_are_told_as_they_are() {
    let agents = gateway(Config { beat: std::time::Duration::from_millis(2), ..Config::default() }).await;
    let relay = Relay::start(&config("aap", &format!("{agents}/aap"), LIMITS));
    let made =
        relay.request(Method::POST, "/a/sessions").json(&json!({ "agent": { "name": "support-bot" } }));
    let id = json(made).await["sessionId"].as_str().expect("an id").to_owned();
    let cases = [
        case("none", "done", ""),
        case("slow-head:200", "done", ""),
        case("duplicate:3", "done", ""),
        case("two-dones", "done", ""),
        case("throw:3", "done", ""),
        case("reset:5", "cut", "upstream_lost"),
        case("reset-bytes:300", "cut", "upstream_lost"),
        case("eof:5", "eof", ""),
        case("no-done", "eof", ""),
        case("lost-end", "eof", ""),
        case("stall:3", "cut", "silent"),
        case("comments:3", "cut", "turn_limit"),
        case("giant:3:9000000", "cut", "log_full"),
    ];
    play(&relay, &cases, |turn, fault| {
        let path = format!("/a/sessions/{id}/turns?fault={fault}");
        let body = json!({ "stream": "delta", "messages": [{ "role": "user", "content": "plain" }] });
        relay.request(Method::POST, &path).header("turnwire-turn", turn).json(&body)
    })
    .await;
    for (fault, expected) in [("status:503:2", 503), ("refuse", 504), ("lost", 504)] {
        let path = format!("/a/sessions/{id}/turns?fault={fault}");
        let body = json!({ "stream": "delta", "messages": [{ "role": "user", "content": "plain" }] });
        let start = || {
            relay.request(Method::POST, &path).header("turnwire-turn", fault.replace(':', "-")).json(&body)
        };
        assert_eq!(status(start()).await, expected, "{fault}");
        assert_eq!(status(start()).await, expected, "{fault}, once more");
    }
}

#[tokio::test]
async fn faults_of_tirea_are_told_as_they_are() {
    let agents = gateway(Config { beat: std::time::Duration::from_millis(2), ..Config::default() }).await;
    let relay = Relay::start(&config("tirea", &format!("{agents}/tirea"), LIMITS));
    let cases = [
        case("none", "done", ""),
        case("leak", "done", ""),
        case("error-eof:4", "done", ""),
        case("relay-error:4", "done", ""),
        case("retries", "done", ""),
        case("reset:5", "cut", "upstream_lost"),
        case("eof:5", "eof", ""),
        case("no-done", "eof", ""),
        case("stall:3", "cut", "silent"),
        case("giant:3:9000000", "cut", "log_full"),
    ];
    play(&relay, &cases, |turn, fault| {
        let body = run(&format!("th-{turn}"), turn, "plain");
        relay
            .request(Method::POST, &format!("/a/v1/runs?fault={fault}"))
            .header("turnwire-turn", turn)
            .json(&body)
    })
    .await;
}
