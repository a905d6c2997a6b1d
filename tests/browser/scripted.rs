//! A socket whose server is a script in the page: what the development gateway does not do. It speaks as Codex
//! app-server does, asks for consent, and can be slow to read.

use std::cell::Cell;
use std::rc::Rc;

use futures::future::join;
use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Object as JsObject, Reflect};
use serde_json::{Value as Json, json};
use turnwire::ErrorCode;
use turnwire::json::{Object, Value};
use turnwire::protocol::Call;
use turnwire::protocol::Protocol;
use turnwire::protocol::turn_rpc::{Dialect, TurnRpc};
use turnwire::sse::DEFAULT_LIMIT;
use turnwire::turn::{
    Newest, Reconnect, StartTrace, TurnDriver, TurnInput, TurnMachine, TurnReader, TurnStatus,
};
use turnwire::web::socket::{Server, Waiting};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

use super::wasm_bindgen_test;

/// Returns a server with one turn, which asks for consent and ends once it has it.
const CODEX: &str = r#"
    const server = { said: [], addresses: [], buffered: 0, cuts: 0, echoes: 0, padding: 0, unloads: 0, created: 1700000000 };
    const turn = { id: "u", status: "inProgress", items: [] };
    const thread = { id: "t", status: { type: "active" }, turns: [turn], get created_at() { return server.created; } };
    const results = {
        initialize: { userAgent: "test" }, "thread/start": { thread }, "thread/resume": { thread }, "turn/start": { turn },
        "thread/turns/list": { data: [turn], nextCursor: null }, "workspace/default": { workspace: { id: "w" } },
        "thread/get": { thread }, "turn/cancel": { turn },
    };
    const question = { id: 7, method: "item/commandExecution/requestApproval", params: { threadId: "t", turnId: "u", itemId: "c", command: "ls" } };
    const Platform = globalThis.WebSocket;
    globalThis.WebSocket = class extends EventTarget {
        static CONNECTING = 0; static OPEN = 1; static CLOSING = 2; static CLOSED = 3;
        readyState = 0;
        constructor(address) {
            super();
            // A failed test does not restore the class, so other addresses get the browser's own.
            if (!address.includes("codex.test")) return new Platform(address);
            server.addresses.push(address);
            setTimeout(() => { this.readyState = 1; this.dispatchEvent(new Event("open")); });
        }
        get bufferedAmount() { return server.buffered; }
        say(message) { setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(message) }))); }
        send(text) {
            const message = JSON.parse(text);
            server.said.push(message);
            const { id, method } = message;
            if (method === undefined) {
                this.say({ method: "serverRequest/resolved", params: { threadId: "t", requestId: id } });
                this.say({ method: "turn/completed", params: { threadId: "t", turn: { ...turn, status: "completed" } } });
            } else if (id !== undefined) {
                const result = server.padding > 0 ? { data: [], padding: "x".repeat(server.padding) } : undefined;
                const outcome = results[method] ?? result;
                const response = outcome ? { id, result: outcome } : { id, error: { code: -32601, message: "not spoken" } };
                this.say(response);
                for (let echo = 0; echo < server.echoes; echo++) this.say(response);
                if (method === "turn/start" && server.unloads-- > 0) {
                    this.say({ method: "thread/closed", params: { threadId: "t" } });
                } else if (method === "turn/start" || method === "thread/resume") {
                    this.say(question);
                }
                if (method === "turn/start" && server.cuts-- > 0) {
                    setTimeout(() => {
                        this.readyState = 3;
                        this.dispatchEvent(new CloseEvent("close", { code: 1012, reason: "restart" }));
                    }, 5);
                }
            }
        }
        close() { this.readyState = 3; }
    };
    return server;"#;

/// The script, which replaces the browser's own class while it exists.
struct Scripted {
    platform: JsValue,
    server: JsObject,
}

impl Scripted {
    fn new() -> Self {
        let platform =
            Reflect::get(&js_sys::global(), &"WebSocket".into()).expect("there is a global object");
        let server = Function::new_no_args(CODEX).call0(&JsValue::NULL).expect("it is a script");
        Self { platform, server: server.unchecked_into() }
    }

    fn set(&self, name: &str, value: f64) {
        Reflect::set(&self.server, &name.into(), &value.into()).expect("it is an object");
    }

    fn get(&self, name: &str) -> Json {
        let value = Reflect::get(&self.server, &name.into()).expect("it is an object");
        let text = js_sys::JSON::stringify(&value).expect("it is JSON");
        serde_json::from_str(&String::from(text)).expect("it is JSON")
    }

    /// The client's messages, by their methods; a response is `-`.
    fn methods(&self) -> Vec<String> {
        let said = self.get("said");
        let said = said.as_array().expect("it is a list").iter();
        said.map(|message| message["method"].as_str().unwrap_or("-").to_owned()).collect()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        Reflect::set(&js_sys::global(), &"WebSocket".into(), &self.platform).expect("it is put back");
    }
}

fn codex() -> Server {
    Server::new("https://codex.test/any?a=b", TurnRpc::new(Dialect::Codex)).with_token("a/b")
}

fn server() -> Rc<Server> {
    Rc::new(codex())
}

fn turn(server: &Server) -> TurnDriver {
    let reader = TurnReader::new(server.protocol(), TurnMachine::unstarted(), DEFAULT_LIMIT);
    let mut driver = TurnDriver::new(reader, "t", "");
    driver.set_input(
        TurnInput::read("Go".into(), &driver.reader().capabilities()).expect("a text is an input"),
    );
    driver
}

/// The thread has no earlier turns.
fn new_thread() -> StartTrace {
    StartTrace { newest: Newest::None, ..StartTrace::default() }
}

fn input_of(json: &Json) -> TurnInput {
    let text = json.to_string();
    TurnInput::read(Value::parse(&text).expect("it is JSON"), &Protocol::capabilities(server().protocol()))
        .expect("it is an input")
}

/// Reads a turn to its end, with consent when it is asked for.
async fn consent(server: &Rc<Server>) -> TurnDriver {
    // People take their time, and the connection may break meanwhile.
    consent_after(30, server).await
}

/// The same, with this many milliseconds for the decision.
async fn consent_after(delay: u32, server: &Rc<Server>) -> TurnDriver {
    let mut driver = turn(server);
    let reconnect = Reconnect { max_attempts: 50, base_delay: 10, max_delay: 10 };
    let first = driver.stream(None, reconnect, new_thread()).expect("it is new");
    let is_answered = Cell::new(false);
    let came = &mut |driver: &mut TurnDriver| {
        let waiting = Waiting::of(driver);
        if waiting.pending().is_empty() || is_answered.replace(true) {
            return;
        }
        let server = Rc::clone(server);
        spawn_local(async move {
            TimeoutFuture::new(delay).await;
            let [asked] = waiting.pending() else { panic!("one call waits") };
            let input = json!([{
                "type": "user.tool_approval", "thread_id": asked.thread_id, "tool_call_id": asked.id,
                "approval": {"status": "allow"},
            }]);
            let params = waiting.answers(&input_of(&input)).expect("it fits what waits");
            server.ask(Call::AnswerTurn, params).await.expect("it is sent");
        });
    };
    assert_eq!(server.run(&mut driver, first, came).await, Ok(()));
    assert_eq!(driver.reader().machine().status(), TurnStatus::Done);
    driver
}

#[wasm_bindgen_test]
async fn a_server_is_initialized_and_its_questions_are_answered() {
    let page = Scripted::new();
    consent(&server()).await;
    let expected = ["initialize", "initialized", "thread/resume", "turn/start", "-"];
    assert_eq!(page.methods(), expected);
    assert_eq!(page.get("said")[4], json!({"jsonrpc": "2.0", "id": 7, "result": {"decision": "accept"}}));
    assert_eq!(page.get("addresses"), json!(["wss://codex.test/any?a=b&access_token=a%2Fb"]));
}

#[wasm_bindgen_test]
async fn every_connection_is_initialized_and_pending_actions_are_reported_once() {
    let page = Scripted::new();
    page.set("cuts", 1.0);
    // By then there is another connection, however busy the machine is.
    consent_after(300, &server()).await;
    let expected = [
        "initialize",
        "initialized",
        "thread/resume",
        "turn/start",
        "initialize",
        "initialized",
        "thread/resume",
        "thread/turns/list",
        "-",
    ];
    assert_eq!(page.methods(), expected);
}

#[wasm_bindgen_test]
async fn messages_that_are_not_read_are_not_sent_and_a_start_is_tried_again() {
    let page = Scripted::new();
    let server = server();
    let list = || server.ask(Call::ListAgents, Object::new());
    assert_eq!(list().await.expect_err("it is not spoken").code, ErrorCode::Rpc);
    page.set("buffered", 17.0 * 1024.0 * 1024.0);
    let before = page.methods().len();
    let error = list().await.expect_err("too much waits");
    assert_eq!(error.code, ErrorCode::Network);
    assert!(error.message.contains("16 MiB"), "{error}");
    let relief = async {
        TimeoutFuture::new(40).await;
        assert_eq!(page.methods().len(), before, "nothing was sent");
        page.set("buffered", 0.0);
    };
    join(consent(&server), relief).await;
    assert_eq!(page.methods()[before..], ["thread/resume", "turn/start", "-"]);
}

#[wasm_bindgen_test]
async fn answers_that_fit_nothing_are_refused_before_they_are_sent() {
    let page = Scripted::new();
    let server = server();
    let driver = consent(&server).await;
    let input =
        json!([{"type": "user.tool_response", "thread_id": "main", "tool_call_id": "x", "content": "y"}]);
    let input = input_of(&input);
    let refusal = Waiting::of(&driver).answers(&input).expect_err("nothing waits");
    assert_eq!(refusal.code, ErrorCode::InvalidInput);

    let protocol = TurnRpc::new(Dialect::Gateway);
    let reader = TurnReader::new(&protocol, TurnMachine::unstarted(), DEFAULT_LIMIT);
    let other = TurnDriver::new(reader, "t", "");
    let refusal = Waiting::of(&other).answers(&input).expect_err("it asks nothing");
    assert_eq!(refusal.code, ErrorCode::Unsupported);
    assert_eq!(page.methods().iter().filter(|method| *method == "-").count(), 1, "nothing more was sent");
}

#[wasm_bindgen_test]
async fn a_front_end_that_closes_its_connection_gets_another_one() {
    let page = Scripted::new();
    let server = server();
    let closing = async {
        while !page.methods().iter().any(|method| method == "turn/start") {
            TimeoutFuture::new(1).await;
        }
        TimeoutFuture::new(5).await;
        server.close();
    };
    join(consent(&server), closing).await;
    let count = |method: &str| page.methods().iter().filter(|said| *said == method).count();
    assert_eq!((count("initialize"), count("turn/start")), (2, 1));
}

#[wasm_bindgen_test]
async fn a_message_too_large_to_send_is_refused_for_good_and_affects_nothing_else() {
    let page = Scripted::new();
    let server = server();
    let mut driver = turn(&server);
    driver.set_input(
        TurnInput::read("x".repeat(16 * 1024 * 1024).into(), &driver.reader().capabilities())
            .expect("a text is an input"),
    );
    let first = driver.stream(None, Reconnect::default(), new_thread()).expect("it is new");
    let refusal = server.run(&mut driver, first, &mut |_| ()).await.expect_err("it cannot be sent");
    assert_eq!(refusal.code, ErrorCode::InvalidInput);
    assert_eq!(driver.reader().machine().status(), TurnStatus::Unstarted);
    consent(&server).await;
    assert_eq!(page.methods(), ["initialize", "initialized", "thread/resume", "turn/start", "-"]);
}

#[wasm_bindgen_test]
async fn a_message_to_be_sent_counts_with_the_buffered_ones() {
    let page = Scripted::new();
    let server = server();
    page.set("padding", 1.0);
    let list = || server.ask(Call::ListAgents, Object::new());
    list().await.expect("nothing waits");
    page.set("buffered", 16.0 * 1024.0 * 1024.0 - 10.0);
    assert_eq!(list().await.expect_err("it is more than ten bytes").code, ErrorCode::Network);
    page.set("buffered", 16.0 * 1024.0 * 1024.0 - 1000.0);
    list().await.expect("it is less than a thousand");
}

#[wasm_bindgen_test]
async fn a_response_that_is_too_large_does_not_affect_the_others() {
    let page = Scripted::new();
    let server = Rc::new(codex().with_largest_response(2000));
    let list = || server.ask(Call::ListAgents, Object::new());
    page.set("padding", 2000.0);
    assert_eq!(list().await.expect_err("it is larger than that").code, ErrorCode::FrameTooLarge);
    page.set("padding", 1000.0);
    list().await.expect("it is not");
    // The reader of a stream limits its messages.
    consent(&server).await;
    assert_eq!(page.get("addresses").as_array().map(Vec::len), Some(1));
}

#[wasm_bindgen_test]
async fn a_repeated_response_is_no_event() {
    let page = Scripted::new();
    let last = consent(&server()).await.reader().machine().cursor().last();
    page.set("echoes", 1.0);
    let echoed = consent(&server()).await;
    assert_eq!(echoed.reader().machine().cursor().last(), last);
}

#[wasm_bindgen_test]
async fn a_ping_that_cannot_be_sent_is_sent_later() {
    let page = Scripted::new();
    let server = Rc::new(codex().with_timeouts(5000, 1200));
    let waits = async {
        while !page.methods().iter().any(|method| method == "turn/start") {
            TimeoutFuture::new(1).await;
        }
        page.set("buffered", 17.0 * 1024.0 * 1024.0);
        // It is due after 600 milliseconds, and again after 900.
        TimeoutFuture::new(750).await;
        page.set("buffered", 0.0);
    };
    join(consent_after(1350, &server), waits).await;
    let expected = ["initialize", "initialized", "thread/resume", "turn/start", "thread/loaded/list", "-"];
    assert_eq!(page.methods(), expected);
}

#[wasm_bindgen_test]
async fn a_thread_that_the_server_unloads_while_its_turn_is_read_is_subscribed_to_at_once() {
    let page = Scripted::new();
    page.set("unloads", 1.0);
    consent(&server()).await;
    let expected = [
        "initialize",
        "initialized",
        "thread/resume",
        "turn/start",
        "thread/resume",
        "thread/turns/list",
        "-",
    ];
    assert_eq!(page.methods(), expected);
    assert_eq!(page.get("addresses").as_array().map(Vec::len), Some(1), "on the same connection");
}

#[wasm_bindgen_test]
async fn a_conversation_that_the_server_has_lost_is_an_error_when_it_continues() {
    let page = Scripted::new();
    let server = Server::new("https://codex.test/any", TurnRpc::new(Dialect::Gateway));
    let params = |members: &[(&'static str, &str)]| {
        let mut params = Object::new();
        for (name, value) in members {
            params.insert(*name, (*value).to_owned());
        }
        params
    };
    server.ask(Call::GetSession, params(&[("session_id", "t")])).await.expect("it is there");
    // From then on it is another thread with the same id.
    page.set("created", 1_700_000_001.0);
    let cancel = params(&[("session_id", "t"), ("turn_id", "u")]);
    let error = server.ask(Call::CancelTurn, cancel).await.expect_err("nothing of it is left");
    assert_eq!((error.code, error.status), (ErrorCode::Rpc, Some(404)), "{error}");
    assert_eq!(page.methods(), ["workspace/default", "thread/get", "thread/start"]);
}
