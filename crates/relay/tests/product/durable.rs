//! Turns as streams of the protocol "durable streams", read by its own client (npm: `@durable-streams/client`) and by plain
//! requests.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::restarts::started;
use crate::upgrade::replaceable;
use crate::wire::{Server, within};
use crate::world::{Relay, STOP, Scratch, Stream, delta, numbered, open, sent, status};

/// The protocol's client, in a process of its own. It ends with the test.
struct Client {
    child: Child,
    lines: mpsc::UnboundedReceiver<Value>,
    text: String,
    offset: String,
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// Reads a turn.
    fn of(relay: &Relay, turn: &str, live: &str, offset: &str) -> Self {
        let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/streams");
        let url = format!("{}/a/_turnwire/v1/streams/{turn}", relay.url());
        let mut command = Command::new("node");
        command.current_dir(home).args(["client.mjs", &url, live, offset]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Node, which runs the client");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (says, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = says.send(serde_json::from_str(&line).expect("JSON"));
            }
        });
        Self { child, lines, text: String::new(), offset: String::new() }
    }

    /// Its next line.
    async fn line(&mut self) -> Value {
        let line =
            within(self.lines.recv()).await.expect("a line: `cargo xtask test --only host` installs it");
        self.text += line["text"].as_str().unwrap_or_default();
        line["offset"].as_str().unwrap_or_default().clone_into(&mut self.offset);
        line
    }

    /// Reads up to this text, and returns the offset behind it.
    async fn until(&mut self, end: &str) -> String {
        while !self.text.ends_with(end) {
            let line = self.line().await;
            assert_eq!((&line["end"], &line["streamClosed"]), (&Value::Null, &false.into()), "{line}");
        }
        self.offset.clone()
    }

    /// Reads to the end, and returns the text and how it ended.
    async fn rest(mut self) -> (String, Value) {
        loop {
            let line = self.line().await;
            if line["end"] == true {
                return (self.text.clone(), line);
            }
        }
    }
}

fn path(turn: &str, query: &str) -> String {
    format!("/a/_turnwire/v1/streams/{turn}{query}")
}

/// A request of any program.
async fn asked(relay: &Relay, method: Method, query: &str) -> Response {
    sent(relay.plain(method, &path("t", query))).await
}

fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    response.headers().get(name).map(|value| value.to_str().expect("text"))
}

/// The response's code and reason.
async fn refused(response: Response) -> (u16, String, Value) {
    let status = response.status().as_u16();
    let body = response.json::<Value>().await.expect("JSON");
    (status, body["code"].as_str().expect("a code").to_owned(), body["reason"].clone())
}

fn is_closed(end: &Value) -> bool {
    end["streamClosed"] == true
}

#[tokio::test]
async fn the_protocols_client_reads_a_running_turn_to_its_end() {
    for live in ["long-poll", "sse"] {
        let server = Server::start().await;
        let relay = Relay::start(&open(&server, ""));
        let (page, mut wire) = started(&relay, &server, "t", 2).await;
        let mut first = Client::of(&relay, "t", live, "-1");
        let place = first.until(&numbered(2, &delta("t2"))).await;
        // It has caught up, and waits.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut now = Client::of(&relay, "t", live, "now");
        now.until("").await;
        wire.chunk(&delta("é\\n three")).await;
        first.until("three\"}\n\n").await;
        // Another one goes on where the first one was.
        let again = Client::of(&relay, "t", live, &place);
        wire.chunk(STOP).await;
        wire.end().await;
        let whole = page.rest().await.expect("a good end");
        let (text, end) = first.rest().await;
        assert_eq!((&text, is_closed(&end)), (&whole, true), "{live}: {end}");
        let (text, end) = again.rest().await;
        let rest = numbered(3, &delta("é\\n three")) + &numbered(4, STOP);
        assert_eq!((&text, is_closed(&end)), (&rest, true), "{live}: {end}");
        let (text, end) = now.rest().await;
        assert!(rest.ends_with(&text) && is_closed(&end), "{live}: {text} {end}");
        // The end is there for those who come later, and for those who have it already.
        for (live, offset) in
            [(live, "-1"), ("false", "-1"), (live, end["offset"].as_str().expect("a place"))]
        {
            let (text, end) = Client::of(&relay, "t", live, offset).rest().await;
            let expected = if offset == "-1" { &*whole } else { "" };
            assert_eq!((&*text, is_closed(&end)), (expected, true), "{live} {offset}: {end}");
        }
        let state = Client::of(&relay, "t", "head", "").line().await;
        assert_eq!((&state["exists"], is_closed(&state)), (&true.into(), true), "{state}");
        let (text, end) = Client::of(&relay, "unknown", live, "-1").rest().await;
        assert_eq!((&*text, &end["status"]), ("", &404.into()), "{end}");
    }
}

#[tokio::test]
async fn no_turn_but_one_that_is_done_is_closed() {
    for (cut, reason) in [(true, "upstream_lost"), (false, "eof")] {
        let server = Server::start().await;
        let relay = Relay::start(&open(&server, ""));
        let (page, mut wire) = started(&relay, &server, "t", 2).await;
        let mut readers = Vec::new();
        for live in ["long-poll", "sse"] {
            let mut reader = Client::of(&relay, "t", live, "-1");
            reader.until(&numbered(2, &delta("t2"))).await;
            readers.push(reader);
        }
        if cut {
            wire.reset();
        } else {
            wire.end().await;
        }
        page.rest().await.expect("told");
        for live in ["long-poll", "sse"] {
            readers.push(Client::of(&relay, "t", live, "-1"));
        }
        let whole = numbered(1, &delta("t1")) + &numbered(2, &delta("t2"));
        for reader in readers {
            let (text, end) = reader.rest().await;
            assert_eq!(text, whole, "{end}");
            let told = (&end["status"], &end["body"]["code"], &end["body"]["reason"]);
            assert_eq!(told, (&410.into(), &"cut".into(), &reason.into()), "{end}");
        }
        // This one asks for no more than there is.
        let (text, end) = Client::of(&relay, "t", "false", "-1").rest().await;
        assert_eq!((&text, is_closed(&end), &end["upToDate"]), (&whole, false, &false.into()), "{end}");
        let end = end["offset"].as_str().expect("a place").to_owned();
        for offset in ["now", &end] {
            for live in ["", "&live=long-poll", "&live=sse"] {
                let answer = asked(&relay, Method::GET, &format!("?offset={offset}{live}")).await;
                assert_eq!(header(&answer, "stream-closed"), None);
                assert_eq!(refused(answer).await, (410, "cut".to_owned(), reason.into()));
            }
        }
        let answer = asked(&relay, Method::HEAD, "").await;
        assert_eq!((answer.status().as_u16(), header(&answer, "stream-closed")), (410, None));
    }
}

#[tokio::test]
async fn a_page_says_where_it_ends() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let (reading, mut wire) = started(&relay, &server, "t", 1).await;
    let one = numbered(1, &delta("t1"));
    let page = asked(&relay, Method::GET, "").await;
    let place = header(&page, "stream-next-offset").expect("a place").to_owned();
    assert_eq!(header(&page, "stream-up-to-date"), Some("true"));
    assert_eq!((header(&page, "stream-closed"), header(&page, "stream-cursor")), (None, None));
    assert_eq!(header(&page, "content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(header(&page, "cache-control"), Some("no-store"));
    assert_eq!(header(&page, "x-content-type-options"), Some("nosniff"));
    let tag = header(&page, "etag").expect("a tag").to_owned();
    assert_eq!(page.text().await.expect("text"), one);
    let again = relay.plain(Method::GET, &path("t", "?offset=-1")).header("if-none-match", &tag);
    assert_eq!(status(again).await, 304);
    let now = asked(&relay, Method::GET, "?offset=now").await;
    assert_eq!((header(&now, "stream-next-offset"), header(&now, "etag")), (Some(&*place), None));
    assert_eq!(now.text().await.expect("text"), "");
    let head = asked(&relay, Method::HEAD, "?offset=1").await;
    assert_eq!((head.status().as_u16(), header(&head, "stream-next-offset")), (200, Some(&*place)));

    // A long poll waits for what comes next, and each one has a later cursor.
    let poll = format!("?offset={place}&live=long-poll&cursor=7");
    let poll = asked(&relay, Method::GET, &poll);
    let large = delta(&"x".repeat(50_000));
    let (poll, ()) = tokio::join!(poll, async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        wire.chunk(&large).await;
    });
    assert_eq!((poll.status().as_u16(), header(&poll, "stream-cursor")), (200, Some("8")));
    assert_eq!(poll.text().await.expect("text"), numbered(2, &large));
    for _ in 3..=9 {
        wire.chunk(&large).await;
    }
    wire.chunk(STOP).await;
    wire.end().await;
    let whole = reading.rest().await.expect("a good end");
    // A page has all there is, however long.
    let answer = relay.plain(Method::GET, &path("t", "?offset=-1")).header("if-none-match", &tag);
    let answer = sent(answer).await;
    assert_eq!(header(&answer, "stream-closed"), Some("true"));
    let end = header(&answer, "stream-next-offset").expect("a place").to_owned();
    assert!(place < end, "in the order of the frames: {place} {end}");
    assert_eq!(answer.text().await.expect("text"), whole);
    let poll = asked(&relay, Method::GET, &format!("?offset={end}&live=long-poll")).await;
    assert_eq!((poll.status().as_u16(), header(&poll, "stream-closed")), (204, Some("true")));
}

#[tokio::test]
async fn a_reader_of_a_silent_turn_is_told_where_it_is() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let (_reading, _wire) = started(&relay, &server, "t", 1).await;
    let place = asked(&relay, Method::GET, "").await;
    let place = header(&place, "stream-next-offset").expect("a place").to_owned();
    let poll = relay.plain(Method::GET, &path("t", &format!("?offset={place}&live=long-poll"))).send();
    let events = async {
        let mut events = Stream::of(asked(&relay, Method::GET, "?offset=-1&live=sse&cursor=7").await);
        let control = |rest: &str| {
            format!(
                "event: control\ndata:{{\"streamCursor\":\"8\",\"streamNextOffset\":\"{place}\"{rest}}}\n\n"
            )
        };
        let lines = numbered(1, &delta("t1")).replace('\n', "\ndata:");
        let told = control(",\"upToDate\":true");
        let expected = format!("event: data\ndata:{lines}\n\n{told}");
        assert_eq!(events.until(&told).await, expected);
        // The next word comes after fifteen seconds, as on every stream.
        tokio::time::sleep(Duration::from_secs(10)).await;
        events.until(&format!("{expected}{told}")).await;
    };
    // Less than half a minute, after which clients give up.
    let (poll, ()) = tokio::join!(tokio::time::timeout(Duration::from_secs(29), poll), events);
    let poll = poll.expect("in time").expect("an answer");
    assert_eq!((poll.status().as_u16(), header(&poll, "stream-next-offset")), (204, Some(&*place)));
    assert_eq!((header(&poll, "stream-up-to-date"), header(&poll, "stream-closed")), (Some("true"), None));
    assert_eq!(header(&poll, "stream-cursor"), Some("1"));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_and_nothing_is_written() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let (_reading, _wire) = started(&relay, &server, "t", 1).await;
    for query in [
        "?offset=",
        "?offset=1",
        "?offset=-2",
        "?offset=-1&offset=-1",
        "?offset=0123456789abcdef_1",
        "?offset=0123456789ABCDEF_00000000000000000001",
        "?live=sse",
        "?live=long-poll",
        "?offset=-1&live=true",
    ] {
        assert_eq!(asked(&relay, Method::GET, query).await.status(), 400, "{query}");
    }
    let other = "?offset=0123456789abcdef_00000000000000000001";
    assert_eq!(refused(asked(&relay, Method::GET, other).await).await.1, "log_changed");
    let place =
        header(&asked(&relay, Method::GET, "").await, "stream-next-offset").expect("a place").to_owned();
    let beyond = format!("?offset={}9", &place[..place.len() - 1]);
    let beyond = refused(asked(&relay, Method::GET, &beyond).await).await;
    assert_eq!((beyond.0, &*beyond.1), (410, "log_changed"));
    for method in [Method::PUT, Method::POST, Method::PATCH, Method::DELETE] {
        assert_eq!(asked(&relay, method.clone(), "").await.status(), 405, "{method}");
    }
    // The agent's failure is no stream.
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.json("500 Internal Server Error", "{\"error\":\"no\"}").await;
    };
    let (answer, ()) = tokio::join!(sent(relay.turn("failed")), agent);
    assert_eq!(answer.status(), 500);
    let answer = sent(relay.plain(Method::GET, &path("failed", ""))).await;
    assert_eq!(refused(answer).await, (406, "no_stream".to_owned(), Value::Null));
}

#[tokio::test]
async fn a_reader_goes_on_when_its_relay_is_replaced() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let (config, _) = replaceable(&server, &scratch);
    let old = Relay::start(&config);
    let (_page, mut wire) = started(&old, &server, "t", 2).await;
    let mut readers = Vec::new();
    for live in ["long-poll", "sse"] {
        let mut reader = Client::of(&old, "t", live, "-1");
        reader.until(&numbered(2, &delta("t2"))).await;
        readers.push(reader);
    }
    let new = Relay::start(&config);
    old.terminate();
    tokio::time::sleep(Duration::from_secs(1)).await;
    wire.chunk(&delta("later")).await;
    wire.chunk(STOP).await;
    wire.end().await;
    old.ended().await;
    let frames = [&delta("t1"), &delta("t2"), &delta("later"), STOP].map(str::to_owned);
    let whole: String = (1..).zip(&frames).map(|(offset, frame)| numbered(offset, frame)).collect();
    for reader in readers {
        let (text, end) = reader.rest().await;
        assert_eq!((&text, is_closed(&end)), (&whole, true), "{end}");
    }
    assert_eq!(status(new.plain(Method::GET, &path("t", ""))).await, 200);
}
