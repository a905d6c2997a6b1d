//! `Client`, `Session` and `Turn` as JavaScript classes, for scripts that drive the module of a front end in Rust
//! (feature `js-classes`).
//!
//! `wasm-pack build --target web --features js-classes` makes a package of them. Values cross as plain objects, with the
//! types of [`event`](crate::event) and [`snapshot`](crate::snapshot); rejections are `Error`s with `code`, `status` and
//! `cause`. The npm package `turnwire` is smaller and faster for pages in JavaScript, and has more: async iterators,
//! listeners by type, lists, tools of the page, Node.

mod options;
mod turn;
mod values;

use wasm_bindgen::prelude::*;

use crate::web::client;

use options::{ClientOptions, turn_options};
use turn::Turn;
use values::{Thrown, to_js};

/// A client of one server.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Client(client::Client);

#[wasm_bindgen]
impl Client {
    /// A client with these options. Sends nothing yet.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "ClientOptions")] options: JsValue,
    ) -> Result<Self, JsValue> {
        Ok(Self(client::Client::connect(ClientOptions::read(options)?).thrown()?))
    }

    /// Creates a session for a saved agent.
    #[wasm_bindgen(js_name = createSession)]
    pub async fn create_session(&self, agent_name: String) -> Result<Session, JsValue> {
        Ok(Session(self.0.clone().create_session(&agent_name).await.thrown()?))
    }

    /// Reads a session by its id.
    #[wasm_bindgen(js_name = getSession)]
    pub async fn session(&self, id: String) -> Result<Session, JsValue> {
        Ok(Session(self.0.clone().session(&id).await.thrown()?))
    }
}

/// A conversation with an agent.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Session(client::Session);

#[wasm_bindgen]
impl Session {
    /// The session's id; keep it to return with `client.getSession(id)`.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.0.id()
    }

    /// Prepares a turn: with a text, with a list of input items, or without an input. Sends nothing yet.
    #[wasm_bindgen(js_name = createTurn)]
    pub fn create_turn(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "string | TurnInputItem[]")] input: JsValue,
    ) -> Result<Turn, JsValue> {
        Ok(Turn::new(self.0.create_turn(turn_options(input)?).thrown()?))
    }

    /// Attaches to a turn by its id.
    #[wasm_bindgen(js_name = getTurn)]
    pub async fn turn(&self, id: String) -> Result<Turn, JsValue> {
        Ok(Turn::new(self.0.clone().turn(&id).await.thrown()?))
    }

    /// The turn that still runs, if there is one: for a page that was loaded again.
    pub async fn resume(&self) -> Result<Option<Turn>, JsValue> {
        Ok(self.0.clone().resume().await.thrown()?.map(Turn::new))
    }

    /// Lists the session's turns.
    #[wasm_bindgen(js_name = listTurns, unchecked_return_type = "TurnRecord[]")]
    pub async fn list_turns(&self) -> Result<JsValue, JsValue> {
        to_js(&self.0.clone().list_turns().await.thrown()?)
    }

    /// Cancels the session and its running turn.
    pub async fn cancel(&self) -> Result<(), JsValue> {
        self.0.clone().cancel().await.thrown()
    }
}
