//! A page that was away does not trust its connection, and one without a network waits for it.

use std::convert::Infallible;
use std::pin::pin;

use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, join, pending, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Reflect, global};
use turnwire::event::TerminalState;
use turnwire::turn::Reconnect;
use turnwire::web::socket::Server;
use turnwire::{Client, ConnectOptions};
use wasm_bindgen::JsValue;

use super::gateway::{
    Played, break_next, count, in_time, play, play_in, play_with, server, session, sockets,
};
use super::tap::Tap;
use super::wasm_bindgen_test;

/// Longer than any test takes, in milliseconds.
const LONG: u32 = 60_000;

fn run(script: &str) {
    Function::new_no_args(script).call0(&JsValue::NULL).expect("it is a script");
}

/// Something that happens to the page a bit later.
async fn later(script: &str) {
    TimeoutFuture::new(400).await;
    run(script);
}

/// The result of a future while that happens to the page again and again, as it takes time to get that far.
async fn during<T>(script: &str, work: impl Future<Output = T>) -> T {
    let happens = async {
        loop {
            later(script).await;
        }
    };
    let happens: LocalBoxFuture<'_, Infallible> = happens.boxed_local();
    match select(pin!(work), happens).await {
        Either::Left((done, _)) => done,
        Either::Right((never, _)) => match never {},
    }
}

/// The same in a turn that has begun: a page that returns before it has sent anything has nothing to recover.
async fn during_turn(script: &str, server: &Server) -> Played {
    let session = session(server).await;
    let events = async {
        while count(&session, "turn/start").await == 0 {
            TimeoutFuture::new(50).await;
        }
        during(script, pending::<Infallible>()).await
    };
    match select(pin!(play_in(server, session.clone(), "tools")), pin!(events)).await {
        Either::Left((played, _)) => played,
        Either::Right((never, _)) => match never {},
    }
}

#[wasm_bindgen_test]
async fn a_page_that_was_away_does_not_trust_its_connection() {
    let plain = play(&server("0.2"), "tools").await;
    for event in [
        "dispatchEvent(new Event('online'))",
        "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))",
        "document.dispatchEvent(new Event('resume'))",
    ] {
        let server = server("0.2").with_timeouts(LONG, LONG);
        // Nothing comes after that, and no time limit ends it.
        break_next("stall:12").await;
        let played = during_turn(event, &server).await;
        played.demand_whole(event);
        assert_eq!(played.conversation(), plain.conversation(), "{event}");
        assert_eq!(count(&played.session, "turn/start").await, 1, "{event}");
        assert!(sockets(&[&played.session]).await > 1, "{event}");
    }
}

#[wasm_bindgen_test]
async fn a_page_that_is_only_shown_keeps_its_connection() {
    let server = server("0.2&fault=silence:800").with_timeouts(LONG, LONG);
    let events = "document.dispatchEvent(new Event('visibilitychange'));
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }))";
    let (played, ()) = join(play(&server, "plain"), later(events)).await;
    played.demand_whole("shown");
    assert_eq!(sockets(&[&played.session]).await, 1);
}

#[wasm_bindgen_test]
async fn a_page_that_is_shown_reads_the_wall_clock() {
    let server = server("0.2").with_timeouts(LONG, LONG);
    break_next("stall:12").await;
    // As after a sleep, in which timers stand still.
    let wakes = "const { now } = Date;
        Date.now = () => now() + 600_000;
        document.dispatchEvent(new Event('visibilitychange'));
        setTimeout(() => { Date.now = now; }, 100)";
    let played = during_turn(wakes, &server).await;
    played.demand_whole("woken");
    assert!(sockets(&[&played.session]).await > 1);
}

#[wasm_bindgen_test]
async fn a_page_without_a_network_waits_for_it() {
    let tap = Tap::new();
    let server = server("0.2");
    let session = session(&server).await;
    server.close();
    tap.set_down(true);
    run("Object.defineProperty(navigator, 'onLine', { value: false, configurable: true })");
    let back = async {
        TimeoutFuture::new(400).await;
        tap.set_down(false);
        run("delete navigator.onLine; dispatchEvent(new Event('online'))");
    };
    // Tries without a network do not count: there would be no second one.
    let once = Reconnect { max_attempts: 1, base_delay: 5, max_delay: 50 };
    let (played, ()) = join(play_with(&server, session, "plain", once), back).await;
    played.demand_whole("offline");
}

#[wasm_bindgen_test]
async fn a_wait_ends_when_the_page_comes_back() {
    let server = server("0.2");
    break_next("reset:9").await;
    // The random part can shorten the wait, but not to the length of a test.
    let patient = Reconnect { max_attempts: 5, base_delay: 10_000_000, max_delay: 10_000_000 };
    let session = session(&server).await;
    let shown = "document.dispatchEvent(new Event('visibilitychange'))";
    let played = during(shown, play_with(&server, session, "tools", patient)).await;
    played.demand_whole("hurried");
}

/// Answers the start with the beginning of a stream that has no end, and all others with the whole one. Before the start
/// the session's newest turn is read.
const FETCH: &str = "
    let isFirst = true;
    globalThis.fetch = async ({ method, url }) => {
        if (url.endsWith('/s1')) return Response.json({ data: { id: 's1', type: 'session' } });
        if (method === 'GET') return Response.json({ data: [], pagination: {} });
        const begin = (controller) => controller.enqueue(new TextEncoder().encode(stream.slice(0, 2000)));
        const body = isFirst ? new ReadableStream({ start: begin }) : stream;
        isFirst = false;
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };";

#[wasm_bindgen_test]
async fn the_same_of_streams_over_fetch() {
    let platform = Reflect::get(&global(), &"fetch".into()).expect("there is a global object");
    let stream = include_str!("../fixtures/truefoundry/plain.sse");
    Function::new_with_args("stream", FETCH).call1(&JsValue::NULL, &stream.into()).expect("it is replaced");
    let reconnect = Reconnect { max_attempts: 5, base_delay: 5, max_delay: 50 };
    let options = ConnectOptions { reconnect, ..ConnectOptions::new("http://server.test/acme") };
    let client = Client::connect(options).expect("the options are right");
    let turn = client.session("s1").await.and_then(|session| session.create_turn("plain"));
    let turn = turn.expect("a text is an input");
    let ended =
        during("dispatchEvent(new Event('online'))", in_time("fetch", turn.wait_for_completion())).await;
    Reflect::set(&global(), &"fetch".into(), &platform).expect("it is put back");
    assert!(matches!(ended, Ok(TerminalState::Done { .. })), "{ended:?}");
}
