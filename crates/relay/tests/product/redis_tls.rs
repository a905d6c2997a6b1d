//! A Redis server that speaks TLS, with a certificate that only those trust who were given it.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::redis::Redis;
use crate::restarts::started;
use crate::several::shared;
use crate::wire::Server;
use crate::world::{Relay, STOP, Scratch, Stream, sent};

/// The variable that names the certificates to trust in place of the system's.
const TRUSTED: &str = "SSL_CERT_FILE";

/// A server with a certificate of its own.
struct Encrypted {
    url: String,
    certificate: String,
    _server: Redis,
    files: Scratch,
}

impl Encrypted {
    fn start() -> Self {
        let files = Scratch::new();
        let certificate = written(&files, "redis");
        let key = files.path("redis.key").display().to_string();
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
        // Beside the port without TLS, by which the test knows that it runs.
        let tls = ["--tls-port", &port.to_string(), "--tls-cert-file", &certificate, "--tls-key-file", &key];
        let open = [
            "--tls-ca-cert-file",
            &certificate,
            "--tls-auth-clients",
            "no",
            "--save",
            "",
            "--appendonly",
            "no",
        ];
        let server = Redis::start_with(&[&tls[..], &open[..]].concat());
        Self { url: format!("rediss://127.0.0.1:{port}"), certificate, _server: server, files }
    }
}

/// Writes a key and its certificate. Returns the path of the latter.
fn written(files: &Scratch, name: &str) -> String {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    fs::write(files.path(&format!("{name}.key")), made.signing_key.serialize_pem()).expect("written");
    let path = files.path(&format!("{name}.pem"));
    fs::write(&path, made.cert.pem()).expect("written");
    path.display().to_string()
}

#[tokio::test]
async fn relays_share_a_log_over_tls() {
    let (server, redis) = (Server::start().await, Encrypted::start());
    let config = shared(&server, &redis.url);
    let trusts = [(TRUSTED, redis.certificate.as_str())];
    let (owner, other) = (Relay::start_with(&config, &trusts), Relay::start_with(&config, &trusts));
    let (stream, mut wire) = started(&owner, &server, "t", 3).await;
    let mut reader = Stream::of(sent(other.events("t", 0)).await);
    reader.until("id: 3\n").await;
    wire.chunk(STOP).await;
    wire.end().await;
    let whole = stream.rest().await.expect("a good end");
    assert_eq!(reader.rest().await, Ok(whole));
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_refused_and_named() {
    let (server, redis) = (Server::start().await, Encrypted::start());
    let other = written(&redis.files, "other");
    let path = redis.files.path("relay.toml");
    fs::write(&path, shared(&server, &redis.url)).expect("written");
    // `check` would wait for its answer.
    drop(server);
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnwire-relay"));
    let output = command.arg("check").arg(&path).env(TRUSTED, other).output().expect("run");
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && told.contains("the certificate of Redis is not trusted here"),
        "{told}"
    );
}
