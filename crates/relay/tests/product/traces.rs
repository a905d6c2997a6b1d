//! Spans at a collector: what a turn took, in the trace of the page that asked for it.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::redis::Redis;
use crate::restarts::started;
use crate::wire::{Server, within};
use crate::world::{Relay, STOP, STREAM, Stream, delta, open, sent};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PAGE: &str = "b7ad6b7169203331";

/// A collector, and what it was sent: each request's key and its spans.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<(String, Value)>>>);

impl Collector {
    async fn start(&self) -> String {
        let take = async |State(all): State<Self>, head: HeaderMap, body: Bytes| {
            let sent: Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(head["content-type"], "application/json");
            let key = head.get("x-key").map(|key| key.to_str().expect("text").to_owned());
            let resource = &sent["resourceSpans"][0];
            assert!(resource["resource"].to_string().contains("turnwire-relay"), "{resource}");
            let spans = resource["scopeSpans"][0]["spans"].as_array().expect("spans").clone();
            let mut all = all.0.lock().expect("spans");
            all.extend(spans.into_iter().map(|span| (key.clone().unwrap_or_default(), span)));
            "{}"
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let routes = Router::new().route("/v1/traces", post(take)).with_state(self.clone());
        tokio::spawn(axum::serve(listener, routes).into_future());
        format!("http://{address}/v1/traces")
    }

    /// The spans of this name.
    fn spans(&self, name: &str) -> Vec<Value> {
        let all = self.0.lock().expect("spans");
        all.iter().map(|(_, span)| span).filter(|span| span["name"] == name).cloned().collect()
    }
}

/// What an attribute of a span says.
fn attribute<'a>(span: &'a Value, name: &str) -> Option<&'a str> {
    let all = span["attributes"].as_array()?;
    all.iter().find(|attribute| attribute["key"] == name)?["value"]["stringValue"].as_str()
}

#[tokio::test]
async fn a_turn_is_a_span_of_the_pages_trace_and_its_readers_link_to_it() {
    let (server, collector) = (Server::start().await, Collector::default());
    let url = collector.start().await;
    let traces = format!("[traces]\nurl = \"{url}\"\nheaders.x-key = \"env:RELAY_TEST_KEY\"\n");
    // Meant for others: the relay does not compress.
    let variable = ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    let relay = Relay::start_with(&open(&server, &traces), &[variable]);
    let asked = relay.turn("t").header("traceparent", format!("00-{TRACE}-{PAGE}-01"));
    let agent = async {
        let (mut wire, head) = server.accept().await;
        wire.body(&head).await;
        wire.write(STREAM).await;
        wire.chunk(&delta("a")).await;
        (wire, head)
    };
    let (answer, (mut wire, head)) = tokio::join!(sent(asked), agent);
    let mut stream = Stream::of(answer);
    stream.until("id: 1\n").await;
    let others = [sent(relay.events("t", 1)).await, sent(relay.turn("t")).await].map(Stream::of);
    wire.chunk(STOP).await;
    wire.end().await;
    stream.rest().await.expect("a good end");
    for other in others {
        other.rest().await.expect("a good end");
    }
    relay.terminate();
    relay.ended().await;

    let [start] = &collector.spans("start")[..] else { panic!("{:?}", collector.0) };
    assert_eq!((&start["traceId"], &start["parentSpanId"]), (&TRACE.into(), &PAGE.into()));
    assert_eq!(attribute(start, "turnwire.upstream"), Some("a"));
    assert_eq!(attribute(start, "turnwire.end"), Some("done"));
    let id = start["spanId"].as_str().expect("an id");
    assert!(head.to_ascii_lowercase().contains(&format!("traceparent: 00-{TRACE}-{id}-01")), "{head}");
    // One who attaches, and one who sends the start again.
    let [attach, again] = &collector.spans("attach")[..] else { panic!("{:?}", collector.0) };
    for span in [attach, again] {
        assert_eq!((&span["links"][0]["traceId"], &span["links"][0]["spanId"]), (&TRACE.into(), &id.into()));
    }
    let all = collector.0.lock().expect("spans");
    assert!(all.iter().all(|(key, _)| key == "Bearer very-secret"));
    let told = format!("{all:?}").replace("very-secret", "");
    assert!(!told.contains("/sessions/") && !told.contains("turn_stop"), "nothing of the content: {told}");
}

#[tokio::test]
async fn a_takeover_is_a_span_and_a_page_that_is_not_traced_leaves_none() {
    let (server, redis, collector) = (Server::start().await, Redis::start(), Collector::default());
    let url = collector.start().await;
    let log = format!("[log]\nstore = \"{}\"\ntakeover = \"3s\"\n", redis.url());
    let config = open(&server, &format!("{log}[traces]\nurl = \"{url}\"\n"));
    let (owner, other) = (Relay::start(&config), Relay::start(&config));
    let (_stream, _wire) = started(&owner, &server, "t", 1).await;
    let reader = other.events("t", 1).header("traceparent", format!("00-{TRACE}-{PAGE}-00"));
    let reader = Stream::of(sent(reader).await);
    owner.kill();
    assert!(reader.rest().await.expect("a good end").contains("owner_lost"));
    other.terminate();
    other.ended().await;
    let [takeover] = &collector.spans("takeover")[..] else { panic!("{:?}", collector.0) };
    assert_eq!(attribute(takeover, "turnwire.reason"), Some("owner_lost"));
    assert_eq!(collector.spans("attach"), Vec::<Value>::new(), "its page has chosen not to be traced");
}

#[tokio::test]
async fn a_collector_that_is_away_holds_nothing_up() {
    let server = Server::start().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let relay = Relay::start(&open(&server, &format!("[traces]\nurl = \"http://{closed}/v1/traces\"\n")));
    let (stream, mut wire) = started(&relay, &server, "t", 2).await;
    wire.chunk(STOP).await;
    wire.end().await;
    stream.rest().await.expect("a good end");
    relay.terminate();
    within(relay.ended()).await;
}
