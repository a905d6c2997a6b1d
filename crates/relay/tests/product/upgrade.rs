//! Two relays of one machine with one file: the old one ends its turns while the new one serves, and neither loses anything of the
//! other's.

use std::time::{Duration, Instant};

use reqwest::Method;
use turnwire_relay::log::SqliteLog;

use crate::restarts::started;
use crate::wire::{Server, Wire, get};
use crate::world::{Relay, STOP, Scratch, Stream, delta, json, numbered, open, sent, status};

/// A port that is free, which several relays are to have.
fn port() -> u16 {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    socket.local_addr().expect("its address").port()
}

/// The config of relays that replace each other, and the port of their admin address.
pub(crate) fn replaceable(server: &Server, scratch: &Scratch) -> (String, u16) {
    let (pages, admin) = (port(), port());
    let config = open(server, &scratch.log()).replace("127.0.0.1:0", &format!("127.0.0.1:{pages}"));
    (format!("admin = \"127.0.0.1:{admin}\"\n{config}"), admin)
}

#[tokio::test]
async fn a_new_relay_takes_the_address_and_reads_what_the_old_one_still_runs() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let (config, admin) = replaceable(&server, &scratch);
    let old = Relay::start(&config);
    let (mut reader, mut wire) = started(&old, &server, "t", 2).await;
    let new = Relay::start(&config);
    old.terminate();
    // Readers are asked to reconnect, and get the rest from the new one, as new readers do.
    reader.until("retry: 50").await;
    assert_eq!(reader.rest().await.expect("a good end").matches("id: ").count(), 2);
    let mut again = Stream::of(sent(new.events("t", 2)).await);
    wire.chunk(&delta("later")).await;
    again.until("later").await;
    let whole = Stream::of(sent(new.events("t", 0)).await);
    // The new one has the metrics' address too.
    let ready = format!("http://127.0.0.1:{admin}/readyz");
    while !reqwest::get(&ready).await.is_ok_and(|answer| answer.status() == 200) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // It starts turns at once, and knows those of the other.
    let (second, mut other) = started(&new, &server, "second", 1).await;
    assert_eq!(status(new.turn("t").body("{\"stream\":\"delta\",\"messages\":[1]}")).await, 409);
    let list = json(new.request(Method::GET, "/a/_turnwire/v1/turns?state=open")).await;
    assert_eq!(list["turns"].as_array().map(Vec::len), Some(2), "{list}");
    for wire in [&mut wire, &mut other] {
        wire.chunk(STOP).await;
        wire.end().await;
    }
    let (again, whole) = (again.rest().await.expect("a good end"), whole.rest().await.expect("a good end"));
    assert_eq!(again, numbered(3, &delta("later")) + &numbered(4, STOP));
    assert!(whole.ends_with(&again) && whole.matches("id: ").count() == 4, "{whole}");
    assert!(second.rest().await.expect("a good end").ends_with(&numbered(2, STOP)));
    let log = old.ended().await;
    assert!(log.contains("1 turns run"), "{log}");
    assert_eq!(status(new.events("t", 0)).await, 200);
}

#[tokio::test]
async fn a_new_relay_may_start_after_the_old_one_was_asked_to_end() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let (config, admin) = replaceable(&server, &scratch);
    let old = Relay::start(&config);
    let (mut reader, mut wire) = started(&old, &server, "t", 2).await;
    old.terminate();
    let ready = async || reqwest::get(format!("http://127.0.0.1:{admin}/readyz")).await.map(|it| it.status());
    while !ready().await.is_ok_and(|status| status == 503) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let new = Relay::start(&config);
    reader.until("retry: 50").await;
    reader.rest().await.expect("a good end");
    while !ready().await.is_ok_and(|status| status == 200) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let again = Stream::of(sent(new.events("t", 2)).await);
    let (second, mut other) = started(&new, &server, "second", 1).await;
    for wire in [&mut wire, &mut other] {
        wire.chunk(STOP).await;
        wire.end().await;
    }
    assert_eq!(again.rest().await.expect("a good end"), numbered(3, STOP));
    assert!(second.rest().await.expect("a good end").ends_with(&numbered(2, STOP)));
    assert!(old.ended().await.contains("1 turns run"));
}

/// A newer relay uses the log as soon as it starts, and may then fail.
#[tokio::test]
async fn an_old_relay_keeps_the_address_until_a_newer_one_serves() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let (config, _) = replaceable(&server, &scratch);
    let old = Relay::start(&config);
    let (stream, mut wire) = started(&old, &server, "t", 2).await;
    let starting = SqliteLog::open(&scratch.path("turns.db"), false).expect("the log");
    old.terminate();
    tokio::time::sleep(Duration::from_secs(4)).await;
    drop(starting);
    // On a new connection.
    let head = get("/a/_turnwire/v1/turns/t/events", "Turnwire-Relay: 1\r\n");
    let mut again = Wire::open(old.address(), &head).await;
    assert!(again.read_head().await.starts_with("HTTP/1.1 200 "));
    wire.chunk(STOP).await;
    wire.end().await;
    assert!(stream.rest().await.expect("a good end").ends_with(&numbered(3, STOP)));
    old.ended().await;
}

#[tokio::test]
async fn a_start_that_waits_for_the_log_is_served_by_a_relay_that_ends() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let relay = Relay::start(&open(&server, &scratch.log()));
    let file = rusqlite::Connection::open(scratch.path("turns.db")).expect("the log");
    file.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let start = tokio::spawn(sent(relay.turn("t")));
    // It has passed all checks by then.
    tokio::time::sleep(Duration::from_millis(300)).await;
    relay.terminate();
    tokio::time::sleep(Duration::from_millis(700)).await;
    file.execute_batch("ROLLBACK").expect("let go");
    let (mut wire, head) = server.accept().await;
    wire.body(&head).await;
    wire.write(crate::world::STREAM).await;
    wire.chunk(STOP).await;
    wire.end().await;
    let stream = Stream::of(start.await.expect("no panic"));
    assert_eq!(stream.rest().await.expect("a good end"), numbered(1, STOP));
    relay.ended().await;
}

#[tokio::test]
async fn turns_of_a_relay_that_crashed_beside_another_are_cut_and_no_others() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let config = open(&server, &scratch.log());
    let (first, second) = (Relay::start(&config), Relay::start(&config));
    let (_, lost_wire) = started(&first, &server, "lost", 2).await;
    let (mut kept, mut kept_wire) = started(&second, &server, "kept", 1).await;
    let reader = Stream::of(sent(second.events("lost", 0)).await);
    let third = Relay::start(&config);
    let begun = Instant::now();
    first.kill();
    let told = reader.rest().await.expect("told");
    assert!(
        told.ends_with(
            "event: turnwire.cut\ndata: {\"last\":2,\"reason\":\"owner_lost\",\"upstream\":\"gone\"}\n\n"
        ),
        "{told}"
    );
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    kept_wire.chunk(&delta("more")).await;
    kept.until("more").await;
    // What the crash has left behind is removed, and a stop finds the owner.
    assert_eq!(status(third.request(Method::DELETE, "/a/_turnwire/v1/turns/kept")).await, 202);
    let told = kept.rest().await.expect("told");
    assert!(told.contains("turnwire.cut") || told.contains("stopped"), "{told}");
    drop((lost_wire, kept_wire));
}

#[tokio::test]
async fn a_socket_of_systemd_is_served() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("its address");
    let path = scratch.path("relay.toml");
    // What the config says is another address.
    std::fs::write(&path, open(&server, &scratch.log())).expect("written");
    // The shell's process becomes the relay's, whose number the variable has.
    let script = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" serve \"$1\"";
    let mut child = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_turnwire-relay")])
        .arg(&path)
        .stdin(std::os::fd::OwnedFd::from(socket))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.as_mut().expect("a pipe")),
        &mut line,
    )
    .expect("a line");
    let answer = reqwest::get(format!("http://{address}/a/_turnwire/v1/")).await;
    child.kill().expect("ended");
    child.wait().expect("ended");
    assert_eq!(line.trim(), format!("http://{address}/"));
    assert_eq!(answer.expect("an answer").status(), 200);
}

#[test]
fn a_relay_with_another_log_does_not_get_the_address() {
    let (one, other) = (Scratch::new(), Scratch::new());
    let address = format!("127.0.0.1:{}", port());
    let config = |scratch: &Scratch| {
        let rest = format!("sessions = \"open\"\n{}", scratch.log());
        crate::world::config("aap", "http://127.0.0.1:9", &rest).replace("127.0.0.1:0", &address)
    };
    let _relay = Relay::start(&config(&one));
    let path = other.path("relay.toml");
    std::fs::write(&path, config(&other)).expect("written");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_turnwire-relay"))
        .arg("serve")
        .arg(&path)
        .output()
        .expect("run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("cannot listen on"), "{said}");
}
