//! The files of `deploy/`: the relay behind a real nginx and a real Caddy, with the configs as they stand there but for
//! addresses; its notifications to systemd; and that the alerts name what it measures.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::net::{TcpStream, UnixDatagram};

use crate::wire::{Server, Wire, within};
use crate::world::{Relay, STOP, STREAM, Scratch, Stream, config, delta, numbered, sent, status};

const NGINX: &str = include_str!("../../deploy/nginx.conf");
const CADDY: &str = include_str!("../../deploy/Caddyfile");
const ALERTS: &str = include_str!("../../deploy/alerts.yml");
/// The name of the examples.
const NAME: &str = "relay.example.com";

/// A proxy in front of a relay. It ends with the test.
struct Proxy {
    child: Child,
    address: String,
    _files: Scratch,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    async fn start(mut command: Command, address: String, files: Scratch) -> Self {
        let child = command.stdout(Stdio::null()).spawn().expect("the proxy starts");
        let mut proxy = Self { child, address, _files: files };
        within(async {
            while TcpStream::connect(&proxy.address).await.is_err() {
                assert_eq!(proxy.child.try_wait().expect("its state"), None, "the proxy ended: see above");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        proxy
    }

    async fn nginx(relay: &Relay) -> Self {
        let (files, address) = (Scratch::new(), free());
        let certified = rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("a certificate");
        std::fs::write(files.path("it.pem"), certified.cert.pem()).expect("written");
        std::fs::write(files.path("it.key"), certified.signing_key.serialize_pem()).expect("written");
        // Beside the example's own listener, one without TLS.
        let tls = format!("listen {} ssl http2;", free());
        let example = replaced(NGINX, "listen 443 ssl http2;", &format!("{tls} listen {address};"));
        let example =
            replaced(&example, &format!("/etc/ssl/{NAME}.pem"), &files.path("it.pem").to_string_lossy());
        let example =
            replaced(&example, &format!("/etc/ssl/{NAME}.key"), &files.path("it.key").to_string_lossy());
        let example = replaced(&example, "127.0.0.1:8791", relay.address());
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {};\n", files.path(kind).display()))
            .concat();
        let pid = files.path("pid");
        let text = format!(
            "daemon off;\nmaster_process off;\npid {};\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{example}}}\n",
            pid.display()
        );
        let path = files.path("nginx.conf");
        std::fs::write(&path, text).expect("written");
        let mut command = program("TURNWIRE_NGINX", "nginx");
        command.arg("-p").arg(files.path("")).args(["-e", "stderr", "-c"]).arg(path);
        Self::start(command, address, files).await
    }

    async fn caddy(relay: &Relay) -> Self {
        let (files, address) = (Scratch::new(), free());
        let site =
            format!("http://{NAME}:{} {{\n\tbind 127.0.0.1", address.rsplit(':').next().expect("a port"));
        let example = replaced(CADDY, &format!("{NAME} {{"), &site);
        let example = replaced(&example, "127.0.0.1:8791", relay.address());
        let path = files.path("Caddyfile");
        std::fs::write(&path, format!("{{\n\tadmin off\n}}\n{example}")).expect("written");
        let mut command = program("TURNWIRE_CADDY", "caddy");
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(path);
        command
            .env("HOME", files.path(""))
            .env("XDG_DATA_HOME", files.path(""))
            .env("XDG_CONFIG_HOME", files.path(""));
        command.stderr(Stdio::null());
        Self::start(command, address, files).await
    }
}

/// A program that the tests' runner names, or that is installed.
fn program(variable: &str, name: &str) -> Command {
    let path = std::env::var_os(variable).map_or_else(|| PathBuf::from(name), PathBuf::from);
    let is_there = Command::new(&path).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    assert!(is_there, "{name} is missing: `cargo xtask test` fetches it, or install it");
    Command::new(path)
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} in {text}");
    text.replace(from, to)
}

/// An address where nothing listens.
pub(crate) fn free() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

/// A relay for the examples' name, before this server.
fn relay(server: &Server, protocol: &str) -> Relay {
    let scheme = if protocol == "aap" { "http" } else { "ws" };
    let open = config(protocol, &format!("{scheme}://{}", server.address), "sessions = \"open\"\n");
    Relay::start(&format!("hosts = [\"{NAME}\"]\n{open}"))
}

/// Frames come one by one, a broken connection goes on elsewhere, and a long message passes.
async fn streams(server: &Server, relay: &mut Relay, proxy: &Proxy) {
    relay.move_to(&proxy.address);
    let long = format!("{{\"messages\":[\"{}\"]}}", "x".repeat(3_000_000));
    let agent = async {
        let (mut wire, head) = server.accept().await;
        assert_eq!(wire.body(&head).await.len(), long.len());
        wire.write(STREAM).await;
        wire.chunk(&delta("one")).await;
        wire
    };
    let start = relay.turn("t").header("host", NAME).body(long.clone());
    let (answer, mut wire) = tokio::join!(sent(start), agent);
    assert_eq!(answer.headers()["turnwire-turn"], "t");
    let mut stream = Stream::of(answer);
    // The next frame is written only when this one is there.
    stream.until(&numbered(1, &delta("one"))).await;
    wire.chunk(&delta("two")).await;
    stream.until(&numbered(2, &delta("two"))).await;
    drop(stream);
    let mut again = Stream::of(sent(relay.events("t", 1).header("host", NAME)).await);
    again.until(&numbered(2, &delta("two"))).await;
    wire.chunk(STOP).await;
    wire.end().await;
    assert_eq!(again.rest().await, Ok(numbered(2, &delta("two")) + &numbered(3, STOP)));
}

/// A socket passes both ways.
async fn sockets(server: &Server, proxy: &Proxy) {
    let request = format!(
        "GET /a HTTP/1.1\r\nHost: {NAME}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://localhost:5173\r\n\r\n"
    );
    let mut page = Wire::open(&proxy.address, &request).await;
    let (mut agent, head) = server.accept().await;
    assert!(head.to_ascii_lowercase().contains("upgrade: websocket\r\n"), "{head}");
    agent
        .write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n")
        .await;
    let answer = page.read_head().await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    page.write("up").await;
    assert_eq!(agent.read_until("up").await, "up");
    agent.write("down").await;
    assert_eq!(page.read_until("down").await, "down");
}

#[tokio::test]
async fn behind_nginx_frames_come_one_by_one() {
    let server = Server::start().await;
    let mut relay = relay(&server, "aap");
    let proxy = Proxy::nginx(&relay).await;
    streams(&server, &mut relay, &proxy).await;
    // The name that was called is passed on: the relay knows its own.
    assert_eq!(status(relay.events("t", 0).header("host", "evil.example")).await, 403);
}

#[tokio::test]
async fn behind_nginx_sockets_pass() {
    let server = Server::start().await;
    let relay = relay(&server, "codex");
    sockets(&server, &Proxy::nginx(&relay).await).await;
}

#[tokio::test]
async fn behind_caddy_frames_come_one_by_one() {
    let server = Server::start().await;
    let mut relay = relay(&server, "aap");
    let proxy = Proxy::caddy(&relay).await;
    streams(&server, &mut relay, &proxy).await;
}

#[tokio::test]
async fn behind_caddy_sockets_pass() {
    let server = Server::start().await;
    let relay = relay(&server, "codex");
    sockets(&server, &Proxy::caddy(&relay).await).await;
}

#[tokio::test]
async fn systemd_hears_when_it_is_ready_and_when_it_ends() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let socket = UnixDatagram::bind(scratch.path("notify")).expect("a socket");
    let url = format!("http://{}", server.address);
    let place = scratch.path("notify").to_string_lossy().into_owned();
    let relay = Relay::start_with(&config("aap", &url, ""), &[("NOTIFY_SOCKET", &place)]);
    let mut heard = [0; 100];
    let mut hear = async || {
        let length = within(socket.recv(&mut heard)).await.expect("a message");
        String::from_utf8_lossy(&heard[..length]).trim().to_owned()
    };
    assert_eq!(hear().await, "READY=1");
    relay.terminate();
    assert_eq!(hear().await, "STOPPING=1");
    relay.ended().await;
}

#[tokio::test]
async fn alerts_name_what_is_measured() {
    let server = Server::start().await;
    let admin = free();
    let relay = Relay::start(&format!(
        "admin = \"{admin}\"\n{}",
        config("aap", &format!("http://{}", server.address), "sessions = \"open\"\n")
    ));
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(&delta("a")).await;
        wire
    };
    let (answer, mut wire) = tokio::join!(sent(relay.turn("t")), agent);
    let mut reader = Stream::of(answer);
    reader.until("\"a\"}\n\n").await;
    // Some that its reader waits for.
    for text in ["b", "c", "d", "e", "f"] {
        tokio::time::sleep(Duration::from_millis(50)).await;
        wire.chunk(&delta(text)).await;
        reader.until(&format!("\"{text}\"}}\n\n")).await;
    }
    wire.reset();
    let told = reader.rest().await.expect("told");
    assert!(told.contains("turnwire.cut"), "{told}");
    assert_eq!(status(relay.events("unknown", 0)).await, 404);
    let metrics = reqwest::get(format!("http://{admin}/metrics")).await.expect("an answer");
    let metrics = metrics.text().await.expect("text");
    // With its labels, as far as their values are those of this turn.
    for (alert, measured) in [
        ("turnwire_relay_turns_ended_total{end=\"cut\"}", "end=\"cut\""),
        ("turnwire_relay_turns_ended_total{reason=", "reason=\"upstream_lost\""),
        (
            "turnwire_relay_append_seconds{quantile=\"0.99\"}",
            "turnwire_relay_append_seconds{quantile=\"0.99\"}",
        ),
        ("turnwire_relay_refusals_total{code=", "turnwire_relay_refusals_total{code="),
    ] {
        assert!(ALERTS.contains(alert), "{alert}");
        assert!(metrics.contains(measured), "{measured} in {metrics}");
    }
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    for name in
        ALERTS.split(|character| !is_name(character)).filter(|word| word.starts_with("turnwire_relay_"))
    {
        assert!(metrics.contains(name), "{name} in {metrics}");
    }
    let guide = include_str!("../../../../docs/relay.md");
    for name in metrics.lines().filter_map(|line| line.strip_prefix("# TYPE turnwire_relay_")) {
        let name = name.split(' ').next().unwrap_or(name);
        assert!(guide.contains(&format!("`{name}")), "{name} is in the table of docs/relay.md");
    }
    assert!(metrics.contains("turnwire_relay_readers_closed_total{reason=\"cut\"} 1"), "{metrics}");
    // Values of labels are those that the documentation lists.
    let values =
        ALERTS.split("=~\"").skip(1).flat_map(|rest| rest.split('"').next().unwrap_or("").split('|'));
    for value in values {
        assert!(guide.contains(&format!("`{value}`")), "{value}");
    }
}
