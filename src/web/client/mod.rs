//! Clients, sessions and turns for front ends written in Rust.
//!
//! ```
//! # #[cfg(target_arch = "wasm32")]
//! # fn show(_: &str) {}
//! # #[cfg(target_arch = "wasm32")]
//! # async fn chat() -> turnwire::Result<()> {
//! use futures::StreamExt;
//! use turnwire::event::Event;
//! use turnwire::Client;
//!
//! let client = Client::connect("https://gateway.truefoundry.ai/acme")?;
//! let session = client.create_session("my-agent").await?;
//! let turn = session.create_turn("What is new?")?;
//! let mut events = turn.stream()?;
//! while let Some(event) = events.next().await {
//!     if let Event::ModelMessageDelta(delta) = event? {
//!         show(&delta.content.unwrap_or_default());
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! A lost connection is recovered as in the npm package: each event comes once, in order. [`Turn::stream`] and
//! [`Turn::wait_for_completion`] read a turn in the background, so its snapshots update whether or not its events are
//! taken. Dropping the stream, or the wait, stops the reading; the turn itself continues, and [`Turn::cancel`] stops
//! it. [`Turn::snapshot`] has everything received so far.

/// The guide's examples are compiled with the tests. A published crate has no guides.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/rust.md")]
struct Guide;

mod changes;
mod connection;
mod core;
mod events;
mod input;
mod options;
mod server;
mod session;
mod setup;
mod shared;
mod stream;
mod turn;
mod view;

pub use connection::ConnectionEvent;
pub use input::TurnOptions;
pub use options::ConnectOptions;
pub use session::Session;
pub use stream::{NumberedEvents, TurnStream};
pub use turn::Turn;

use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorCode, Result};
use crate::event::SessionRecord;
use crate::json::{Object, Value};
use crate::protocol::{Call, Capabilities};

use server::Server;

/// A client of one server. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    server: Rc<Server>,
}

impl std::fmt::Debug for Client {
    /// Without the options, which may hold a token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Client {
    /// A client with these options. Sends nothing yet. Fails with
    /// [`InvalidOption`](ErrorCode::InvalidOption), [`InvalidUrl`](ErrorCode::InvalidUrl), or
    /// [`Unsupported`](ErrorCode::Unsupported) for a protocol that this build leaves out.
    pub fn connect(options: impl Into<ConnectOptions>) -> Result<Self> {
        Ok(Self { server: Rc::new(Server::new(&options.into())?) })
    }

    /// What the server's protocol supports.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.server.protocol.protocol().capabilities()
    }

    /// Creates a session for a saved agent.
    pub async fn create_session(&self, agent_name: &str) -> Result<Session> {
        setup::create(&self.server, agent_name).await
    }

    /// Creates a session for an agent that you supply, in the server's schema.
    pub async fn create_draft_session(&self, agent_spec: serde_json::Value) -> Result<Session> {
        let params = object(&serde_json::json!({ "agent_spec": agent_spec }))?;
        let record = self.server.ask(Call::CreateDraftSession, params).await?;
        Ok(Session::new(&self.server, parsed(&record)?, true))
    }

    /// Continues with a session whose conversation the client keeps, from its id and its stored
    /// [`Session::conversation`]. Sends nothing. [`Unsupported`](ErrorCode::Unsupported) if the server keeps it.
    pub fn restore_session(&self, id: &str, conversation: &str) -> Result<Session> {
        setup::restore(&self.server, id, conversation)
    }

    /// Reads a session, or a draft, by its id.
    pub async fn session(&self, id: &str) -> Result<Session> {
        setup::read(&self.server, id).await
    }

    /// Lists the sessions of an agent, from all pages.
    pub async fn list_sessions(&self, agent_name: &str) -> Result<Vec<SessionRecord>> {
        let mut params = Object::new();
        params.insert("agent_name", agent_name.to_owned());
        let sessions: Vec<SessionRecord> = self.list(Call::ListSessions, params).await?;
        let is_own = |name: &str| name == agent_name;
        // Some servers list the sessions of all agents.
        Ok(sessions.into_iter().filter(|one| one.agent_name.as_deref().is_none_or(is_own)).collect())
    }

    /// Makes any call of the protocol with parameters as a JSON object, and returns its response in turnwire's form.
    pub async fn request(&self, call: Call, params: &serde_json::Value) -> Result<serde_json::Value> {
        parsed(&self.server.ask(call, object(params)?).await?)
    }

    /// Closes the connection kept between calls, if the protocol has one. The next call opens it again.
    pub fn close(&self) {
        self.server.close();
    }

    async fn list<T: DeserializeOwned>(&self, call: Call, params: Object<'static>) -> Result<Vec<T>> {
        list(&self.server, call, params).await
    }
}

/// All pages of a list.
async fn list<T: DeserializeOwned>(server: &Server, call: Call, params: Object<'static>) -> Result<Vec<T>> {
    #[derive(serde::Deserialize)]
    struct Page<T> {
        items: Vec<T>,
        next: Option<String>,
    }
    let (mut items, mut tokens) = (Vec::new(), Vec::new());
    loop {
        let mut query = params.clone();
        if let Some(token) = tokens.last() {
            query.insert("page_token", String::clone(token));
        }
        let page: Page<T> = parsed(&server.read(call, query).await?)?;
        items.extend(page.items);
        match page.next {
            Some(token) if tokens.contains(&token) => {
                let problem = "a list leads back to a page that it had before";
                return Err(Error::new(ErrorCode::UnexpectedResponse, problem));
            }
            Some(token) => tokens.push(token),
            None => return Ok(items),
        }
    }
}

/// A response as its type.
fn parsed<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| {
        let problem = ["the response does not follow the protocol: ", &error.to_string()].concat();
        Error::new(ErrorCode::UnexpectedResponse, &problem)
    })
}

/// Parameters.
fn object(json: &serde_json::Value) -> Result<Object<'static>> {
    match Value::parse(&json.to_string()).map(Value::into_owned) {
        Ok(Value::Object(params)) => Ok(params),
        _ => Err(Error::new(ErrorCode::InvalidOption, "parameters must be an object")),
    }
}
