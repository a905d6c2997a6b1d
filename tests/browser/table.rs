//! The table of scripted traffic that the package plays in Node, too (`pkg/test/turn-rpc/table.test.mjs`).

use js_sys::{Function, JSON, Reflect};
use serde_json::Value as Json;
use turnwire::Error;
use turnwire::json::Object;
use turnwire::protocol::Call;
use turnwire::protocol::turn_rpc::{Dialect, TurnRpc};
use turnwire::sse::DEFAULT_LIMIT;
use turnwire::turn::{
    Newest, Reconnect, StartTrace, TurnDriver, TurnInput, TurnMachine, TurnReader, TurnStatus,
};
use turnwire::web::socket::{Server, new_id};
use wasm_bindgen::JsValue;

use super::wasm_bindgen_test;

const TABLE: &str = include_str!("../conformance/socket.json");
const SERVER: &str = include_str!("../conformance/socket-server.js");

fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).expect("it is an object")
}

/// The page's sockets are the server's until this is dropped.
struct Page(JsValue);

impl Page {
    fn with(sockets: &JsValue) -> Self {
        let page = Self(get(&js_sys::global(), "WebSocket"));
        Reflect::set(&js_sys::global(), &"WebSocket".into(), sockets).expect("it is put there");
        page
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        Reflect::set(&js_sys::global(), &"WebSocket".into(), &self.0).expect("it is put back");
    }
}

async fn session(server: &Server) -> Result<String, Error> {
    let mut params = Object::new();
    params.insert("session_id", "s1");
    server.ask(Call::GetSession, params).await?;
    Ok("read".to_owned())
}

async fn turn(server: &Server) -> Result<String, Error> {
    let reader = TurnReader::new(server.protocol(), TurnMachine::unstarted(), DEFAULT_LIMIT);
    let mut driver = TurnDriver::new(reader, "s1", "");
    driver.set_start("Chat", &new_id());
    driver.set_input(TurnInput::read("Hello".into(), &driver.reader().capabilities())?);
    let reconnect = Reconnect { max_attempts: 3, base_delay: 1, max_delay: 5 };
    let trace = StartTrace { newest: Newest::None, ..StartTrace::default() };
    let first = driver.stream(None, reconnect, trace)?;
    server.run(&mut driver, first, &mut |_| ()).await?;
    assert_eq!(driver.reader().machine().status(), TurnStatus::Done);
    let messages = driver.reader().index().messages().iter();
    let text: String = messages.map(|message| message.content().to_owned()).collect();
    Ok(format!("done {text}"))
}

#[wasm_bindgen_test]
async fn the_table_is_played() {
    let table: Json = serde_json::from_str(TABLE).expect("it is JSON");
    let script = Function::new_with_args("duties, answers", SERVER);
    let js = |value: &Json| JSON::parse(&value.to_string()).expect("it is JSON");
    for case in table["cases"].as_array().expect("it is a list") {
        let name = &case["name"];
        let scripted = script.call2(&JsValue::NULL, &js(&table["duties"]), &js(&case["answers"]));
        let scripted = scripted.expect("it is a script");
        let _page = Page::with(&get(&scripted, "Socket"));
        let server =
            Server::new("ws://scripted.test", TurnRpc::new(Dialect::Gateway)).with_timeouts(300, 90_000);
        let mut outcomes = Vec::new();
        for call in case["calls"].as_array().expect("it is a list") {
            let played = if call == "turn" { turn(&server).await } else { session(&server).await };
            outcomes.push(played.unwrap_or_else(|error| match error.status {
                Some(status) => format!("{} {status}", error.code.as_str()),
                None => error.code.as_str().to_owned(),
            }));
        }
        assert_eq!(Json::from(outcomes), case["outcomes"], "{name}");
        let heard = JSON::stringify(&get(&scripted, "heard")).expect("it is JSON");
        let heard: Json = serde_json::from_str(&String::from(heard)).expect("it is JSON");
        assert_eq!(heard, case["heard"], "{name}");
    }
}
