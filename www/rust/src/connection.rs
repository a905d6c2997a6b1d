//! Which agent the page talks to: the address says whether over `fetch` or over a WebSocket.

use turnwire::{Client, ConnectOptions, Result};

/// A way to the agents of the server that serves this page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Server-sent events over `fetch`.
    Fetch,
    /// JSON-RPC over a WebSocket.
    Socket,
}

impl Transport {
    /// The one that the page's address names: `?over=socket`, or by default `fetch`.
    pub fn of_page() -> Self {
        let query = leptos::prelude::window().location().search().unwrap_or_default();
        if query.contains("over=socket") { Self::Socket } else { Self::Fetch }
    }

    /// A client, and the agent's name.
    pub fn connect(self) -> Result<(Client, &'static str)> {
        let (path, protocol, agent) = match self {
            Self::Fetch => ("/demo", "truefoundry", "support-bot"),
            Self::Socket => ("/turn-rpc", "turn-rpc", "Chat"),
        };
        Ok((Client::connect(ConnectOptions::new(path).protocol(protocol))?, agent))
    }
}
