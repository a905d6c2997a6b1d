//! The development gateway, as the tests over a socket use it: `cargo xtask test --only browser` starts it, and names
//! its address when this is compiled.

use std::collections::BTreeSet;
use std::pin::pin;

use futures::future::{Either, join_all, select};
use gloo_net::http::Request;
use gloo_timers::future::TimeoutFuture;
use serde_json::{Value as Json, json};
use turnwire::delivery::{EVENT_STRIDE, TextArena, kind};
use turnwire::index::{EventIndex, Message};
use turnwire::json::Object;
use turnwire::protocol::Call;
use turnwire::protocol::turn_rpc::{Dialect, TurnRpc};
use turnwire::sse::DEFAULT_LIMIT;
use turnwire::turn::{
    Reconnect, StartTrace, Step, TurnDriver, TurnInput, TurnMachine, TurnReader, TurnStatus,
};
use turnwire::web::socket::{Server, new_id};

const QUICK: Reconnect = Reconnect { max_attempts: 5, base_delay: 5, max_delay: 50 };

/// How long a turn may take, in milliseconds.
const PATIENCE: u32 = 15_000;

/// The URL of this browser's gateway. Each has its own: a fault for the next connection could meet another browser's.
pub(super) fn gateway_url() -> &'static str {
    // Not `env!`: lints are run without a gateway.
    let urls: Option<&str> = option_env!("TURNWIRE_GATEWAY_URLS");
    let (chromium, firefox) = urls
        .and_then(|urls| urls.split_once(' '))
        .expect("`cargo xtask test --only browser` names the gateways");
    let agent = js_sys::eval("navigator.userAgent").ok().and_then(|agent| agent.as_string());
    if agent.expect("a browser has a name").contains("Firefox") { firefox } else { chromium }
}

/// The same without its scheme.
fn gateway() -> &'static str {
    gateway_url().strip_prefix("http://").expect("it is an HTTP address")
}

/// A server whose turns send an event at this interval, in milliseconds.
pub(super) fn server(delay: &str) -> Server {
    let address = ["ws://", gateway(), "/turn-rpc?delay_ms=", delay].concat();
    Server::new(&address, TurnRpc::new(Dialect::Gateway))
}

/// The answer of the gateway's control route.
async fn control(method: gloo_net::http::Method, path: &str, body: Option<Json>) -> Json {
    let url = ["http://", gateway(), "/_gateway/sessions/", path].concat();
    let request = gloo_net::http::RequestBuilder::new(&url).method(method);
    let request = request.header("content-type", "application/json");
    let request: Request = match body {
        Some(body) => request.body(body.to_string()).expect("it is a request"),
        None => request.build().expect("it is a request"),
    };
    let answer = request.send().await.expect("the gateway listens");
    assert!(answer.ok(), "{path}: {}", answer.status());
    serde_json::from_str(&answer.text().await.expect("it has a body")).unwrap_or(Json::Null)
}

/// The requests of a session, or (`turn-rpc`) of all sockets.
pub(super) async fn journal(session: &str) -> Vec<Json> {
    let asked = control(gloo_net::http::Method::GET, &[session, "/requests"].concat(), None).await;
    asked.as_array().expect("it is a list").clone()
}

/// The number of requests with this method.
pub(super) async fn count(session: &str, method: &str) -> usize {
    journal(session).await.iter().filter(|asked| asked["frame"]["method"] == method).count()
}

/// The number of sockets with requests of these sessions.
pub(super) async fn sockets(sessions: &[&str]) -> usize {
    let asked = join_all(sessions.iter().map(|session| journal(session))).await.concat();
    let sockets: BTreeSet<u64> = asked.iter().filter_map(|asked| asked["socket"].as_u64()).collect();
    sockets.len()
}

/// Requests of this session have these faults.
pub(super) async fn plan(session: &str, schedule: Json) {
    control(gloo_net::http::Method::PUT, &[session, "/faults?ahead=true"].concat(), Some(schedule)).await;
}

/// The next socket that is opened has this fault.
pub(super) async fn break_next(fault: &str) {
    let schedule = json!([{"on": "connect", "fault": fault, "times": 1}]);
    control(gloo_net::http::Method::PUT, "turn-rpc/faults?ahead=true", Some(schedule)).await;
}

pub(super) fn params<const N: usize>(members: [(&'static str, &str); N]) -> Object<'static> {
    let mut params = Object::new();
    for (name, value) in members {
        params.insert(name, value.to_owned());
    }
    params
}

/// A new session.
pub(super) async fn session(server: &Server) -> String {
    let id = new_id();
    assert_eq!(id.len(), 21);
    let made = server.ask(Call::CreateSession, params([("id", &id), ("agent_name", "Chat")])).await;
    let made: Json = serde_json::from_str(&made.expect("it is made")).expect("it is JSON");
    assert_eq!(made["id"], *id);
    id
}

pub(super) fn driver(session: &str, script: &str) -> TurnDriver {
    let protocol = TurnRpc::new(Dialect::Gateway);
    let mut reader = TurnReader::new(&protocol, TurnMachine::unstarted(), DEFAULT_LIMIT);
    reader.set_wants_events(true);
    let mut driver = TurnDriver::new(reader, session, "");
    driver.set_start("Chat", &new_id());
    driver.set_input(
        TurnInput::read(script.to_owned().into(), &driver.reader().capabilities())
            .expect("a text is an input"),
    );
    driver
}

pub(super) fn begin(driver: &mut TurnDriver) -> Step {
    begin_with(driver, QUICK)
}

fn begin_with(driver: &mut TurnDriver, reconnect: Reconnect) -> Step {
    driver.stream(None, reconnect, StartTrace::default()).expect("it is new")
}

/// A turn that was read to its end, and the numbers of its events.
pub(super) struct Played {
    pub(super) session: String,
    pub(super) driver: TurnDriver,
    pub(super) numbers: Vec<u32>,
    ended: turnwire::Result<()>,
}

/// The result of a future that must end.
pub(super) async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    match select(pin!(work), TimeoutFuture::new(PATIENCE)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => panic!("`{what}` has no end"),
    }
}

/// Plays a script in a session.
pub(super) async fn play_in(server: &Server, session: String, script: &str) -> Played {
    play_with(server, session, script, QUICK).await
}

/// The same, with these settings for reconnects.
pub(super) async fn play_with(
    server: &Server,
    session: String,
    script: &str,
    reconnect: Reconnect,
) -> Played {
    let mut driver = driver(&session, script);
    let first = begin_with(&mut driver, reconnect);
    let mut numbers = Vec::new();
    let mut taken = (Vec::new(), TextArena::default());
    let came = &mut |driver: &mut TurnDriver| {
        driver.reader_mut().batch().take(&mut taken);
        let events = taken.0.chunks(EVENT_STRIDE).filter(|record| record[0] & 0xff != kind::NAME);
        numbers.extend(events.map(|record| record[3]));
    };
    let ended = in_time(script, server.run(&mut driver, first, came)).await;
    Played { session, driver, numbers, ended }
}

pub(super) async fn play(server: &Server, script: &str) -> Played {
    let session = session(server).await;
    play_in(server, session, script).await
}

impl Played {
    pub(super) fn index(&self) -> &EventIndex {
        self.driver.reader().index()
    }

    pub(super) fn status(&self) -> TurnStatus {
        self.driver.reader().machine().status()
    }

    /// Checks that it ended well, and that each event came once.
    pub(super) fn demand_whole(&self, about: &str) {
        assert_eq!(self.ended, Ok(()), "{about}");
        assert_eq!(self.status(), TurnStatus::Done, "{about}");
        let counted: Vec<u32> = (1..).take(self.numbers.len()).collect();
        assert!(self.numbers == counted && !counted.is_empty(), "{about}: {:?}", self.numbers);
    }

    /// The messages, without generated names.
    pub(super) fn conversation(&self) -> Vec<Vec<String>> {
        let threads = self.index().threads();
        let said = |at: usize| {
            let messages = self.index().messages().iter().filter(|message| message.thread == at);
            let mut said: Vec<String> = messages.map(shape).collect();
            said.sort();
            said
        };
        (0..threads.len()).map(said).collect()
    }
}

fn shape(message: &Message) -> String {
    let outcome = |response: &str| serde_json::from_str::<Json>(response).expect("JSON")["outcome"].clone();
    let calls = message.calls().iter().flatten();
    let calls = calls.map(|call| json!([call.name, call.arguments(), call.response().map(outcome)]));
    let calls: Json = calls.collect();
    json!([message.content(), message.reasoning(), message.finish_reason(), calls]).to_string()
}
