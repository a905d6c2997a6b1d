//! Targets for the parts of the relay that read untrusted bytes.

use turnwire::sse::FrameDecoder;
use turnwire_relay::Config;
use turnwire_relay::fuzzing::{Passed, body, caller, route, split};

use crate::input::Input;
use crate::seeds::Capture;

const PROTOCOLS: [&str; 6] = ["aap", "tirea", "awaken", "truefoundry", "turn-rpc", "codex"];
const METHODS: [&str; 6] = ["GET", "POST", "DELETE", "PATCH", "PUT", "GETS"];

/// Target `relay_frames`: a stream in any chunks is kept as the same frames. Pages read from them what they would read
/// from the stream, and splitting a frame returns the frame.
pub fn frames(input: &[u8]) {
    let (mut plan, bytes) = Input::of(input);
    let protocol = PROTOCOLS[plan.below(2)];
    let whole = split(protocol, &[bytes]).expect("inputs are small");
    assert_eq!(split(protocol, &plan.cut(bytes)).as_ref(), Ok(&whole), "in chunks");
    let kept: Vec<u8> = whole.iter().flat_map(|(frame, _)| frame.to_vec()).collect();
    assert_eq!(events(&kept), events(bytes), "as pages read it");
    for frame in &whole {
        assert!(frame.0.ends_with(b"\n\n"));
        // As readers get it: a byte order mark begins no frame then.
        let numbered = [b"id: 1\n", &frame.0[..]];
        assert_eq!(split(protocol, &numbered).as_ref(), Ok(&vec![frame.clone()]), "of a frame");
    }
}

/// The event and the data of each frame.
fn events(bytes: &[u8]) -> Vec<(String, String)> {
    let (mut events, mut decoder) = (Vec::new(), FrameDecoder::default());
    let each =
        &mut |frame: turnwire::sse::Frame<'_>| events.push((frame.event.to_owned(), frame.data.to_owned()));
    decoder.feed(bytes, each).expect("inputs are small");
    events
}

/// Target `relay_routes`: a path that passes has one meaning, which is the same after the agent has read it.
pub fn routes(input: &[u8]) {
    let (mut plan, bytes) = Input::of(input);
    let (protocol, method) = (PROTOCOLS[plan.below(6)], METHODS[plan.below(6)]);
    let text = String::from_utf8_lossy(bytes);
    let (path, query) = text.split_once('?').map_or((&*text, None), |(path, query)| (path, Some(query)));
    let Some(passed) = route(protocol, method, path, query) else { return };
    let Passed { target, session, turn } = &passed;
    let (path, query) = target.split_once('?').map_or((&**target, None), |(path, query)| (path, Some(query)));
    assert!(path.starts_with('/') && target.bytes().all(|byte| byte.is_ascii_graphic()), "{target}");
    let is_bad = |segment: &str| {
        let segment = segment.to_ascii_lowercase();
        matches!(&*segment, "." | ".." | "%2e" | "%2e%2e" | ".%2e" | "%2e.")
            || segment.contains("%2f")
            || segment.contains("%25")
    };
    assert!(!path[1..].split('/').any(is_bad) && !path.contains("//"), "{path}");
    for id in [session, turn].into_iter().flatten() {
        assert!(
            !id.is_empty() && !id.contains(['/', '\\', '%', '?', '#', ';']) && id != "." && id != "..",
            "{id}"
        );
    }
    // What the agent reads is what was checked.
    assert_eq!(route(protocol, method, path, query).as_ref(), Some(&passed));
}

/// Target `relay_bodies`: the session of a start is the one that the agent reads.
pub fn bodies(input: &[u8]) {
    let Some((session, parent)) = body(input) else { return };
    // The relay does not read all strings, and invalid ones are left to the agent.
    let Ok(read) = serde_json::from_slice::<serde_json::Value>(input) else { return };
    for (key, ours) in [("threadId", session), ("parentRunId", parent)] {
        let theirs = read.get(key).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
        assert_eq!(ours.as_deref(), theirs, "{key}");
    }
}

/// Target `relay_config`: any text is a config or has mistakes, each on an existing line.
pub fn config(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match Config::parse(&text) {
        Ok(config) => {
            assert!(!config.upstreams.is_empty());
            // Without user identification, it listens on this machine only.
            let is_open = matches!(config.identity, turnwire_relay::config::IdentityConfig::None);
            assert!(!is_open || config.listen.ip().is_loopback());
            assert!(config.listen.ip().is_loopback() || !config.hosts.is_empty());
        }
        Err(problems) => {
            let (lines, said) = (text.split('\n').count(), problems.to_string());
            assert!(!said.is_empty());
            assert!(problems.0.iter().all(|problem| (1..=lines).contains(&problem.line)), "{said}");
        }
    }
}

/// Target `relay_keys`: no token is valid unless it was signed with a key of the set, whatever both claim.
pub fn keys(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (keys, token) = text.split_once('\n').unwrap_or((&text, ""));
    let config = Config::parse(CONFIG).expect("a config");
    assert_eq!(caller(&config, keys.as_bytes(), token.trim()), None, "nothing here was signed");
}

const CONFIG: &str = r#"
listen = "127.0.0.1:0"
[identity.bearer]
jwks = "https://id.example.com/jwks.json"
issuer = "https://id.example.com/"
audience = "chat"
algorithms = ["ES256", "RS256", "PS256", "EdDSA"]
[upstream.a]
protocol = "aap"
url = "https://agents.example.com/v1"
"#;

/// Paths, some of them with tricks.
pub fn route_seeds(_: &[Capture]) -> Vec<Vec<u8>> {
    let paths = [
        "/sessions/s-1/turns?stream=delta",
        "/sessions/a%20b/history?type=full&a=%2F+x",
        "/v1/threads/t:1/messages?limit=5&limit=6",
        "/v1/runs/r/cancel",
        "/v1/agents/sessions/S/turns/T/subscribe",
        "/sessions/%2e%2e/history",
        "/sessions/%252e/turns",
        "//sessions/s",
        "/sessions/é",
        "",
    ];
    (0..72).flat_map(|plan| paths.map(|path| Input::from_parts(plan, path.as_bytes()))).collect()
}

/// Bodies of starts, some of them with tricks.
pub fn body_seeds(_: &[Capture]) -> Vec<Vec<u8>> {
    let bodies = [
        r#"{"agentId":"a","threadId":"t","runId":"r","parentRunId":"p","messages":[{"role":"user"}]}"#,
        r#"{"threadId":"t","threadId":"u"}"#,
        r#"{"thread\u0049d":"t","parentRunId":null}"#,
        r#"{"threadId":"","state":{"threadId":"x"}}"#,
        r#"[{"threadId":"t"}]"#,
    ];
    bodies.map(|body| body.as_bytes().to_vec()).into()
}

/// Configs.
pub fn config_seeds(_: &[Capture]) -> Vec<Vec<u8>> {
    let example = include_str!("../../relay/example.toml");
    let rest = "[log]\nstore = \"memory\"\nretention = \"1h\"\n[limits]\nturns = 1_0\nsilence = \"9s\"\n";
    let plain = CONFIG
        .replace("[upstream.a]", "[upstream.a]\non_leave = \"stop_after:60s\"\nheaders.x = \"env:HOME\"");
    let forward = "listen = \"0.0.0.0:1\"\nhosts = [\"a.example\"]\n[identity.forward]\nurl = \"http://127.0.0.1/\"\nheader = \"x-user\"\n";
    [example.to_owned(), CONFIG.to_owned() + rest, plain, forward.to_owned()].map(String::into_bytes).into()
}

/// Sets of keys, and tokens that none of them has signed.
pub fn key_seeds(_: &[Capture]) -> Vec<Vec<u8>> {
    let sets = [
        r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"a","alg":"ES256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#,
        r#"{"keys":[{"kty":"RSA","n":"sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri23bOdgWp4Dy1WlUzewbgBHod5pcM9H95GQRV3JDXboIRROSBigeC5yjU1hGzHHyXss8UDprecbAYxknTcQkhslANGRUZmdTOQ5qTRsLAt6BTYuyvVRdhS8exSZEy_c4gs_7svlJJQ4H9_NxsiIoLwAEk7-Q3UXERGYw_75IDrGA84-lA_-Ct4eTlXHBIY2EaV7t7LjJaynVJCpkv4LKjTTAumiGUIuQhrNhZLuF_RJLqHpM2kgWFLU7-VTdL1VbC2tejvcI2BlMkEpk1BzBZI0KQB0GaDWFLN-aEAw3vRw","e":"AQAB"}]}"#,
        r#"{"keys":[{"kty":"oct","kid":"a","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}]}"#,
        r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#,
    ];
    // {"alg":"none"}; {"alg":"ES256","kid":"a"}; {"alg":"HS256"}; {"alg":"EdDSA"}: each with claims that fit, and no signature.
    let claims =
        "eyJzdWIiOiJhIiwiaXNzIjoiaHR0cHM6Ly9pZC5leGFtcGxlLmNvbS8iLCJhdWQiOiJjaGF0IiwiZXhwIjo0MTAyNDQ0ODAwfQ";
    let heads = [
        "eyJhbGciOiJub25lIn0",
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ",
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJhbGciOiJFZERTQSJ9",
    ];
    let tokens = heads.map(|head| format!("{head}.{claims}.AAAA"));
    sets.iter()
        .flat_map(|set| tokens.iter().map(move |token| format!("{set}\n{token}").into_bytes()))
        .collect()
}
