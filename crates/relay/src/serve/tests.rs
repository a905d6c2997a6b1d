//! A second user tries every route. The requests are made from the tables, so that new routes are tested automatically.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{App, dispatch};
use crate::config::Config;
use crate::identity::{Answer, Caller, Identity, Unknown};
use crate::log::MemoryLog;
use crate::route::{Action, Place, Protocol, Route};

/// The session of the first user, and a turn in it.
const SESSION: &str = "anns";
const TURN: &str = "turn-1";

/// Trusts what callers claim.
struct Named;

impl Identity for Named {
    fn identify<'a>(&'a self, head: &'a HeaderMap, _: Option<&'a str>) -> Answer<'a> {
        let name = head.get("x-user").and_then(|name| name.to_str().ok());
        let caller = name.map(|name| Caller { subject: name.into(), valid_for: None });
        Box::pin(std::future::ready(caller.ok_or(Unknown::Missing)))
    }
}

/// An agent that answers every request: what it received, and its responses.
#[derive(Clone, Default)]
struct Agent(Arc<Mutex<Asked>>);

#[derive(Default)]
struct Asked {
    heard: Vec<(Method, String)>,
    answer: Value,
}

impl Agent {
    async fn start(&self) -> String {
        let answer = async |State(agent): State<Self>, method: Method, uri: Uri| {
            let mut agent = agent.0.lock().expect("no panic");
            agent.heard.push((method, uri.path().to_owned()));
            Json(agent.answer.clone())
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let routes = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(axum::serve(listener, routes).into_future());
        format!("http://{address}")
    }

    fn answers(&self, answer: Value) {
        self.0.lock().expect("no panic").answer = answer;
    }

    fn heard(&self) -> Vec<(Method, String)> {
        std::mem::take(&mut self.0.lock().expect("no panic").heard)
    }
}

/// A JSON value in which a pointer finds this value.
fn at(pointer: &str, value: Value) -> Value {
    pointer.rsplit('/').filter(|key| !key.is_empty()).fold(value, |value, key| json!({ key: value }))
}

/// The agent's response to this route: it names the first user's session.
fn answer(route: &Route) -> Value {
    match (route.action, route.place) {
        (Action::Create(id), _) => at(id, json!(SESSION)),
        (Action::List(list, id), _) => at(list, json!([at(id, json!(SESSION))])),
        (_, Place::Turn) => json!({ "thread_id": SESSION }),
        _ => json!({}),
    }
}

/// Bodies that name the first user's session and turn in each way that the route allows.
fn bodies(route: &Route) -> Vec<Value> {
    match route.place {
        Place::Body => {
            let own = json!({ "threadId": SESSION });
            let parent = json!({ "threadId": "bobs", "parentRunId": TURN });
            let has_parent = route.keys.contains(&"parentRunId");
            std::iter::once(own).chain(has_parent.then_some(parent)).collect()
        }
        _ => vec![json!({})],
    }
}

struct World {
    app: Arc<App>,
    agent: Agent,
}

impl World {
    async fn of(protocol: Protocol) -> Self {
        let agent = Agent::default();
        let sessions = if protocol.is_socket() { "sessions = \"open\"\n" } else { "" };
        let text = format!(
            "listen = \"127.0.0.1:0\"\n[identity.none]\n[upstream.a]\nprotocol = \"{protocol}\"\nurl = \"{}\"\n{sessions}\
             [limits]\nstarts_per_minute = 1000\n",
            agent.start().await
        );
        let mut app = App::new(Config::parse(&text).expect("a config"), Arc::new(MemoryLog::default()));
        app.identity = Box::new(Named);
        Self { app: Arc::new(app), agent }
    }

    async fn ask(&self, user: &str, route: &Route, body: &Value) -> (StatusCode, Value) {
        let path = route.pattern.replace("{session}", SESSION).replace("{turn}", TURN);
        let slash = if path.is_empty() { "" } else { "/" };
        let query =
            if let Place::Query(name) = route.place { format!("?{name}={SESSION}") } else { String::new() };
        let request = Request::builder()
            .method(route.method)
            .uri(format!("/a{slash}{path}{query}"))
            .header("host", "localhost")
            .header("x-user", user)
            .header("turnwire-relay", "1")
            .header("content-type", "application/json");
        let body = if route.method == "GET" { Body::empty() } else { Body::from(body.to_string()) };
        let answer = dispatch::answer(State(self.app.clone()), request.body(body).expect("a request")).await;
        read(answer).await
    }

    /// Makes the first user the owner of everything.
    async fn is_anns(&self) {
        let owner = self.app.log.own("a".to_owned(), SESSION.to_owned(), "ann".to_owned()).await;
        assert_eq!(owner.as_deref(), Ok("ann"));
    }
}

async fn read(answer: Response) -> (StatusCode, Value) {
    let (head, body) = answer.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    (head.status, serde_json::from_slice(&body).unwrap_or_default())
}

/// What the relay itself may ask the agent about a request that it refuses: which session the named turn belongs to.
fn own_question(protocol: Protocol) -> Option<(Method, String)> {
    protocol.record(TURN).map(|(path, _)| (Method::GET, path))
}

#[tokio::test]
async fn nothing_of_one_user_is_there_for_another_on_any_route() {
    let mut attacked = 0;
    for protocol in Protocol::ALL.into_iter().filter(|protocol| !protocol.is_socket()) {
        let world = World::of(protocol).await;
        for route in protocol.routes() {
            for body in bodies(route) {
                let name = format!("{protocol}: {} /{} {body}", route.method, route.pattern);
                world.is_anns().await;
                world.agent.answers(answer(route));
                world.agent.heard();
                let (status, told) = world.ask("bob", route, &body).await;
                let mut heard = world.agent.heard();
                match (route.action, route.place) {
                    (Action::Public, _) => assert_eq!(status, 200, "{name}"),
                    (Action::List(list, _), _) => {
                        assert_eq!(
                            (status, told.pointer(list)),
                            (StatusCode::OK, Some(&json!([]))),
                            "{name}"
                        );
                    }
                    (Action::Create(_), _) => {
                        assert_eq!(
                            (status.as_u16(), &told["code"]),
                            (502, &json!("session_taken")),
                            "{name}"
                        );
                    }
                    // A new route that concerns a session must say where it is named.
                    (_, Place::Nowhere) => panic!("{name}: it names no session"),
                    _ => {
                        assert_eq!((status.as_u16(), &told["code"]), (404, &json!("not_found")), "{name}");
                        heard.retain(|asked| Some(asked) != own_question(protocol).as_ref());
                        assert_eq!(heard, [], "{name}: it reached the agent");
                        attacked += 1;
                    }
                }
                assert!(!told.to_string().contains(SESSION), "{name}: {told}");
                // The same request is valid: for its owner it reaches the agent.
                if body.get("parentRunId").is_none() && !matches!(route.action, Action::Create(_)) {
                    world.is_anns().await;
                    let (status, _) = world.ask("ann", route, &body).await;
                    let path = route.pattern.replace("{session}", SESSION).replace("{turn}", TURN);
                    let asked = (route.method.parse().expect("a method"), format!("/{path}"));
                    assert_eq!(status, 200, "{name}");
                    assert!(world.agent.heard().contains(&asked), "{name}: it does not reach the agent");
                }
            }
        }
    }
    assert!(attacked > 50, "{attacked} routes");
}
