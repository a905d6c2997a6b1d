//! The options of a client.

use crate::error::{Error, ErrorCode, Result};
use crate::turn::Reconnect;
use crate::web::page;
use crate::web::token::Token;

/// The largest event by default, in bytes.
const MAX_FRAME_BYTES: usize = 8 * 1024 * 1024;
/// The largest message of a socket by default, in bytes: it may hold a whole turn.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// The options of [`Client::connect`](super::Client::connect). Begin with [`new`](Self::new), and change what differs:
///
/// ```
/// # #[cfg(target_arch = "wasm32")] {
/// use turnwire::{ConnectOptions, Token};
///
/// let options = ConnectOptions {
///     token: Some(Token::Fixed("…".into())),
///     ..ConnectOptions::new("https://gateway.truefoundry.ai/acme")
/// };
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// The URL of the server, with the tenant if it has one. A relative one begins with `/` or `.`, and is resolved
    /// against the page. With `"trueforge"` the server's origin: `/api/v1` is added.
    pub base_url: String,
    /// The server's protocol, one of [`NAMES`](crate::protocol::AnyProtocol::NAMES); `"truefoundry"` by default.
    pub protocol: String,
    /// Whether the server stands behind a turnwire relay, at whose URL this client calls it: `"aap"`, `"tirea"`,
    /// `"turn-rpc"` and `"codex"` only. By default `false`.
    pub relay: bool,
    /// The bearer token; by default none. Browsers send no headers with a `WebSocket`: over one it is refused, unless
    /// [`token_in_query`](Self::token_in_query) is set.
    pub token: Option<Token>,
    /// Over a `WebSocket`: sends the token in the URL, as `?access_token=`. The development gateway accepts this, and
    /// URLs end up in logs. By default `false`.
    pub token_in_query: bool,
    /// Headers of every request; by default none. They override turnwire's own. Not over a `WebSocket`.
    pub headers: Vec<(String, String)>,
    /// The limit from a request to the head of its response, in milliseconds; by default 30,000. 0 for none.
    pub connect_timeout: u32,
    /// The longest silence of a stream, in milliseconds; by default what the protocol's servers need, 60,000 or more. 0
    /// for no limit.
    pub idle_timeout: Option<u32>,
    /// The largest event, in bytes; by default 8 MiB, over a `WebSocket` 64 MiB.
    pub max_frame_bytes: Option<usize>,
    /// How often and how fast a lost connection is recovered. By default ten attempts in a row that bring nothing new,
    /// 0.5 to 8 seconds apart.
    pub reconnect: Reconnect,
}

impl From<&str> for ConnectOptions {
    /// The defaults for a server at this URL.
    fn from(base_url: &str) -> Self {
        Self::new(base_url)
    }
}

impl ConnectOptions {
    /// The defaults for a server at this URL.
    #[must_use]
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            protocol: "truefoundry".to_owned(),
            relay: false,
            token: None,
            token_in_query: false,
            headers: Vec::new(),
            connect_timeout: crate::web::steps::CONNECT_TIMEOUT,
            idle_timeout: None,
            max_frame_bytes: None,
            reconnect: Reconnect::default(),
        }
    }

    /// The same options for another protocol.
    #[must_use]
    pub fn protocol(self, name: impl Into<String>) -> Self {
        Self { protocol: name.into(), ..self }
    }

    /// The base URL without a trailing slash, or the error. The error does not show it: it may hold a secret.
    pub(super) fn checked_url(&self, is_socket: bool) -> Result<String> {
        let url = self.base_url.trim_end_matches('/');
        let is_relative = ["/", "./", "../"].iter().any(|start| self.base_url.starts_with(start))
            && !self.base_url.starts_with("//");
        let schemes: &[&str] =
            if is_socket { &["http://", "https://", "ws://", "wss://"] } else { &["http://", "https://"] };
        let lower = self.base_url.to_ascii_lowercase();
        if !is_relative && !schemes.iter().any(|scheme| lower.starts_with(scheme)) {
            let problem = "`base_url` is not a URL: it begins with https:// or http://, or with / for one of this \
                           page's own server";
            return Err(Error::new(ErrorCode::InvalidUrl, problem));
        }
        if url.contains(['?', '#']) {
            return Err(Error::new(ErrorCode::InvalidUrl, "`base_url` must not have a query or a fragment"));
        }
        // Not every browser resolves the URL of a socket.
        let origin = if is_relative && is_socket { page::origin() } else { String::new() };
        Ok([&*origin, url].concat())
    }

    pub(super) fn largest(&self, is_socket: bool) -> usize {
        self.max_frame_bytes.unwrap_or(if is_socket { MAX_MESSAGE_BYTES } else { MAX_FRAME_BYTES })
    }
}
