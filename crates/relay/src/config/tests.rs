//! The example config, and the messages for mistakes.

use super::*;

const GOOD: &str = r#"
listen = "127.0.0.1:0"
[identity.none]
[upstream.agents]
protocol = "aap"
url = "http://127.0.0.1:1/aap"
"#;

fn mistakes(text: &str) -> Vec<String> {
    let problems = Config::parse(text).expect_err("mistakes");
    problems.0.iter().map(ToString::to_string).collect()
}

#[test]
fn the_example_has_no_mistake() {
    let config = Config::parse(include_str!("../../example.toml")).expect("a config");
    assert_eq!(config.upstreams.len(), 3);
    assert!(config.upstreams.iter().all(|upstream| upstream.is_logged && upstream.is_owned));
    assert!(
        matches!(config.log.store, Store::Sqlite(path) if path == std::path::Path::new("target/relay/turns.db"))
    );
    let config = Config::parse(GOOD).expect("a config");
    assert!(matches!(config.log.store, Store::Memory));
    assert_eq!(config.drain, Duration::from_mins(10));
}

/// A config whose secrets, which begin like this, do not exist here.
fn without_secrets(text: &str, kind: &str) -> Config {
    let text = text.lines().map(|line| match line.split_once(&format!("\"{kind}:")) {
        Some((before, _)) => format!("{before}\"env:PATH\"\n"),
        None => format!("{line}\n"),
    });
    Config::parse(&text.collect::<String>()).expect("a config")
}

#[test]
fn the_example_of_several_relays_has_no_mistake() {
    let text = include_str!("../../deploy/several.toml");
    for key in ["agents", "redis"] {
        assert!(text.contains(&format!("\"credential:{key}\"")), "{key}");
    }
    let config = without_secrets(text, "credential");
    assert!(matches!(config.log.store, Store::Redis { password: Some(_), .. }));
    assert_eq!(config.log.takeover, Duration::from_secs(10));
}

/// The config within the example, and what else there must agree with it.
#[test]
fn the_example_for_kubernetes_agrees_with_itself() {
    let example = include_str!("../../deploy/kubernetes.yaml");
    let (_, rest) = example.split_once("  relay.toml: |\n").expect("a config");
    let (text, rest) = rest.split_once("---\n").expect("an end");
    let config = without_secrets(text, "file");
    assert!(matches!(config.log.store, Store::Redis { password: Some(_), .. }));
    let admin = config.admin.expect("an address");
    for (name, address) in [("pages", config.listen), ("admin", admin)] {
        assert!(address.ip().is_unspecified(), "others reach {name}");
        let port = format!("{{ name: {name}, containerPort: {} }}", address.port());
        assert!(rest.contains(&port), "{port}");
    }
    let number = |name: &str| {
        let (_, after) = rest.split_once(name).expect(name);
        let end = after.find(|character: char| !character.is_ascii_digit()).unwrap_or(after.len());
        Duration::from_secs(after[..end].parse().expect("a number"))
    };
    let shutdown = number("preStop: { sleep: { seconds: ") + config.drain;
    assert!(number("terminationGracePeriodSeconds: ") > shutdown + Duration::from_secs(5));
    for key in ["agents", "redis"] {
        assert!(text.contains(&format!("\"file:/run/secrets/turnwire/{key}\"")), "{key}");
        assert!(example.contains(&format!("--from-file={key}=")), "{key}");
    }
    assert!(rest.contains("mountPath: /run/secrets/turnwire,"));
    // The image serves this file.
    let image = include_str!("../../deploy/Containerfile");
    assert!(image.contains("\"/etc/turnwire/relay.toml\"]") && rest.contains("mountPath: /etc/turnwire,"));
}

#[test]
fn all_mistakes_are_listed_with_their_lines() {
    let text = r#"listen = "everywhere"
colour = "red"
origins = ["https://app.example.com/", "*"]
drain = "soon"
[identity.bearer]
jwks = "http://id.example.com/jwks"
issuer = "https://id.example.com/"
algorithms = ["HS256", "none"]
[upstream.agents]
protocol = "smtp"
url = "http://user:hunter2@agents"
log = "maybe"
headers.authorization = "Bearer very-secret"
headers.host = "env:HOME"
[upstream.sockets]
protocol = "codex"
url = "ws://127.0.0.1:1"
on_leave = "stop_after:1m"
[log]
store = "redis://relay:hunter2@localhost"
durability = "disk"
[limits]
turns_per_subject = 0
"#;
    let found = mistakes(text);
    let expected = [
        "line 1: listen: ",
        "line 2: colour: there is no such key",
        "line 3: origins: `*` is no origin",
        "line 3: origins: `https://app.example.com/` is no origin",
        "line 4: drain: it must be a time",
        "line 5: identity.bearer: `audience` is missing",
        "line 6: identity.bearer.jwks: it must begin with https://",
        "line 8: identity.bearer.algorithms: `HS256` is not accepted",
        "line 8: identity.bearer.algorithms: `none` is not accepted",
        "line 10: upstream.agents.protocol: `smtp` is not spoken here",
        "line 11: upstream.agents.url: ",
        "line 12: upstream.agents.log: ",
        "line 13: upstream.agents.headers.authorization: write where the value stands",
        "line 14: upstream.agents.headers.host: this header is the connection's own",
        "line 15: upstream.sockets: threads behind a socket cannot be kept",
        "line 18: upstream.sockets.on_leave: without a log",
        "line 20: log.store: no password may stand in the config",
        "line 23: limits.turns_per_subject: it must be a whole number from 1",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found} is not {expected}");
        assert!(!found.contains("very-secret") && !found.contains("hunter2"), "{found}");
    }
}

#[test]
fn what_would_do_nothing_is_a_mistake() {
    for (addition, expected) in [
        ("on_leave = \"drain\"\nlog = \"off\"", "upstream.agents.on_leave"),
        (
            "[upstream.b]\nprotocol = \"awaken\"\nurl = \"http://b\"\nlog = \"on\"",
            "upstream.b.log: turns of this protocol",
        ),
        ("sesions = \"open\"", "upstream.agents.sesions: there is no such key"),
        ("[log]\ndurability = \"disk\"", "log.durability: \"disk\" needs a store"),
        ("[log]\nstore = \"redis://r\"\ndurability = \"disk\"", "log.durability: what Redis has"),
        ("[log]\nstore = \"sqlite:/r\"\ndurability = \"replica\"", "log.durability: only a store in Redis"),
        ("[log]\ndurability = \"replica\"", "log.durability: only a store in Redis"),
        ("[log]\ndurability = \"all\"", "log.durability: it must be"),
        ("[log]\ntakeover = \"5s\"", "log.takeover: only a store that several relays use"),
        (
            "[log]\nheaders.authorization = \"env:PATH\"",
            "log.headers: only a store on a durable-streams server",
        ),
        (
            "[log]\nstore = \"durable-streams+http://s\"\npassword = \"env:PATH\"",
            "log.password: only a store in Redis",
        ),
        ("[log]\nstore = \"durable-streams+http://s\"\ndurability = \"disk\"", "log.durability: what is on"),
        ("[log]\nstore = \"redis://r\"\ntakeover = \"1s\"", "log.takeover: owners show each second"),
        ("[tls]\ncert = \"x\"", "tls: `key` is missing"),
        ("[tls]\ncert = \"/absent.pem\"\nkey = \"/absent.pem\"", "tls.cert: /absent.pem: "),
        (
            "[traces]\nurl = \"http://otel.internal/v1/traces\"\nheaders.key = \"env:PATH\"",
            "traces.url: its key would be read on the way",
        ),
        ("[traces]\none_in = 5", "traces: `url` is missing"),
        ("[proxy]\nport = 1", "proxy: there is no such key"),
        ("[log]\nstore = \"sqlite::memory:\"", "log.store: write \"memory\""),
        ("[log]\nretention = \"0s\"", "log.retention: it must be at least \"1s\""),
        ("[limits]\nturn_time = \"0m\"", "limits.turn_time: it must be at least \"1s\""),
        ("[limits]\nsilence = \"0s\"", "limits.silence: it must be at least \"1s\""),
        (
            "headers.Authorization = \"env:PATH\"\nheaders.authorization = \"env:PATH\"",
            "upstream.agents.headers.authorization: this header is there twice",
        ),
        ("[identity.forward]\nurl = \"https://a\"\nheader = \"x\"", "write exactly one"),
    ] {
        let found = mistakes(&format!("{GOOD}{addition}\n"));
        assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    }
}

#[test]
fn a_name_that_no_request_can_have_is_a_mistake() {
    let with = |line: &str| format!("{line}{GOOD}");
    for (line, expected) in [
        ("origins = [\"https://app.example.com:443\"]", "origins: browsers leave out the port"),
        ("origins = [\"http://app.example.com:80\"]", "origins: browsers leave out the port"),
        ("hosts = [\"*.example.com\"]", "hosts: `*.example.com` is no host"),
        ("hosts = [\"relay.example.com:443\"]", "hosts: requests leave out the port"),
    ] {
        let found = mistakes(&with(line));
        assert!(found.len() == 1 && found[0].contains(expected), "{line}: {found:?}");
    }
    let other = "origins = [\"http://app.example.com:443\"]\nhosts = [\"relay.example.com:8443\", \"[::1]\"]\ndrain = \"0s\"";
    Config::parse(&with(other)).expect("a config");
    for (listen, admin, is_good) in [
        ("127.0.0.1:8791", "127.0.0.1:8791", false),
        ("127.0.0.1:8791", "0.0.0.0:8791", false),
        ("127.0.0.1:8791", "[::]:8791", false),
        ("127.0.0.1:8791", "127.0.0.2:8791", true),
        ("127.0.0.1:0", "127.0.0.1:0", true),
    ] {
        let text =
            with(&format!("admin = \"{admin}\"")).replace("127.0.0.1:0\"\n[", &format!("{listen}\"\n["));
        let found = Config::parse(&text).map_err(|problems| problems.to_string()).err();
        assert_eq!(found.is_none(), is_good, "{text}: {found:?}");
        assert!(found.is_none_or(|found| found.contains("admin: it is the address of `listen`")), "{text}");
    }
}

#[test]
fn redis_has_several_kinds_of_addresses_and_none_with_a_password() {
    let store = |url: &str| format!("{GOOD}[log]\nstore = \"{url}\"\n");
    for url in [
        "redis://redis.internal",
        "rediss://relay@redis.internal:6380/1",
        "redis-sentinel://a:26379?sentinelServiceName=main&node=b:26379",
        "redis-cluster://a:7000?node=b:7000",
    ] {
        let config = Config::parse(&store(url)).expect("a config");
        assert!(matches!(config.log.store, Store::Redis { url: read, password: None } if read == url));
    }
    for (url, expected) in [
        ("redis://", "it is no address"),
        ("redis://:hunter2@a", "no password may stand"),
        ("redis-sentinel://a?sentinelServiceName=b&sentinelPassword=hunter2", "no password may stand"),
        ("redis-sentinel://a:26379", "name what Sentinel calls it"),
        ("redis+tls://a", "it must be"),
    ] {
        let found = mistakes(&store(url));
        assert!(
            found.len() == 1 && found[0].contains(expected) && !found[0].contains("hunter2"),
            "{found:?}"
        );
    }
}

#[test]
fn one_user_for_all_stays_on_this_machine() {
    let found = mistakes(&GOOD.replace("127.0.0.1:0", "0.0.0.0:8791"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("hosts") && found[1].contains("identity.none"), "{found:?}");
}

#[test]
fn secrets_are_read_from_elsewhere_and_shown_nowhere() {
    let file = std::env::temp_dir().join(format!("turnwire-relay-secret-{}", std::process::id()));
    std::fs::write(&file, "Bearer very-secret\n").expect("written");
    let with = |reference: &str| Config::parse(&format!("{GOOD}headers.authorization = \"{reference}\"\n"));
    let config = with(&format!("file:{}", file.display())).expect("a config");
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(config.upstreams[0].headers[0].1.value(), "Bearer very-secret");
    assert!(config.upstreams[0].headers[0].1.value().is_sensitive());
    assert!(!format!("{config:?}").contains("very-secret"));
    for wrong in ["env:TURNWIRE_NO_SUCH_VARIABLE", "file:/no/such/file", "very-secret"] {
        let found = with(wrong).expect_err("a mistake").to_string();
        assert!(!found.contains("\"very-secret\"") && found.contains("headers.authorization"), "{found}");
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    for text in [
        "",
        "=",
        "[",
        "[[upstream]]",
        "upstream = 1",
        "identity = []",
        "listen = 1\n[upstream]\na = 2",
        "\u{0}",
        "[log]\n[log]",
    ] {
        assert!(!mistakes(text).is_empty(), "{text}");
    }
}

/// The message for an unknown key lists all known keys.
#[test]
fn the_guide_has_every_key() {
    let text = "[identity.bearer]\nx = 1\n[identity.forward]\nx = 1\n[upstream.a]\nx = 1\n[log]\nx = 1\n[limits]\nx = 1\n[x]\n";
    let guide = include_str!("../../../../docs/relay.md");
    let sections = [text, "[identity.bearer]\nx = 1\n", "[identity.forward]\nx = 1\n"];
    let mut known = std::collections::BTreeSet::new();
    for mistake in sections.into_iter().flat_map(mistakes) {
        if let Some((_, keys)) = mistake.split_once("here are: ") {
            known.extend(keys.split(", ").map(str::to_owned));
        }
    }
    assert!(known.len() > 30, "{known:?}");
    for key in known {
        let is_there = [format!("`{key}`"), format!("[{key}"), format!("`{key}.NAME`")]
            .iter()
            .any(|way| guide.contains(way));
        assert!(is_there, "docs/relay.md does not say what `{key}` is");
    }
}

#[test]
fn a_streams_server_has_an_address_and_its_key_elsewhere() {
    let config = |url: &str, more: &str| format!("{GOOD}[log]\nstore = \"{url}\"\n{more}\n");
    let key = "headers.authorization = \"env:PATH\"";
    let good = [
        ("durable-streams+http://127.0.0.1:4437/v1/stream", key),
        ("durable-streams+https://streams.internal", key),
        ("durable-streams+http://streams.internal", "takeover = \"4s\""),
    ];
    for (url, more) in good {
        let config = Config::parse(&config(url, more)).expect("a config");
        let Store::Streams { url: address, headers } = config.log.store else { panic!("{url}") };
        assert_eq!(format!("durable-streams+{address}"), url);
        assert_eq!(headers.len(), usize::from(more == key));
    }
    for (url, more, expected) in [
        ("durable-streams+http://streams.internal", key, "log.store: its key would be read on the way"),
        (
            "durable-streams+https://ann:hunter2@streams",
            "",
            "log.store: it must hold no user and no password",
        ),
        ("durable-streams+https://streams/?key=hunter2", "", "log.store: it must end with its path"),
        ("durable-streams+ws://streams", "", "log.store: it must begin with durable-streams+http://"),
        ("durable-streams://streams", "", "log.store: it must be \"memory\""),
        (
            "durable-streams+https://s",
            "headers.authorization = \"Bearer hunter2\"",
            "write where the value stands",
        ),
    ] {
        let found = mistakes(&config(url, more));
        assert!(found.len() == 1 && found[0].contains(expected), "{url}: {found:?}");
        assert!(!found[0].contains("hunter2"), "{found:?}");
    }
}
