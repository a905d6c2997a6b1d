//! A server, over either transport.

use futures::future::FutureExt;
use js_sys::Math;

use crate::error::{Error, ErrorCode, Result};
use crate::json::Object;
use crate::protocol::{AnyProtocol, Call};
use crate::turn::{Pause, Reconnect, RetryBudget, Step};
use crate::web::steps::{self, Reading};
use crate::web::token::Token;
use crate::web::{fetch, page, socket};

use super::ConnectOptions;

/// A server, and how requests to it are repeated.
pub(super) struct Server {
    pub(super) protocol: AnyProtocol,
    pub(super) max_frame_bytes: usize,
    pub(super) reconnect: Reconnect,
    transport: Transport,
}

enum Transport {
    Fetch(fetch::Server),
    Socket(socket::Server),
}

impl Server {
    pub(super) fn new(options: &ConnectOptions) -> Result<Self> {
        let named = AnyProtocol::named(&options.protocol)?;
        let protocol = if options.relay { named.behind_relay()? } else { named };
        let capabilities = protocol.protocol().capabilities();
        let is_socket = capabilities.has_socket();
        let base_url = options.checked_url(is_socket)?;
        let (max_frame_bytes, reconnect) = (options.largest(is_socket), options.reconnect);
        let idle_timeout = options.idle_timeout.unwrap_or(capabilities.silence);
        let transport = if is_socket {
            let server = socket::Server::new(&base_url, protocol).with_largest_response(max_frame_bytes);
            Transport::Socket(over_socket(server, options, idle_timeout)?)
        } else {
            Transport::Fetch(fetch::Server {
                base_url,
                protocol,
                idle_timeout,
                token: options.token.clone(),
                headers: options.headers.clone(),
                connect_timeout: options.connect_timeout,
            })
        };
        Ok(Self { protocol, max_frame_bytes, reconnect, transport })
    }

    /// Requests JSON. Returns it in turnwire's form.
    pub(super) async fn ask(&self, call: Call, params: Object<'_>) -> Result<String> {
        match &self.transport {
            Transport::Fetch(server) => server.ask(call, params).await.map_err(|failure| failure.error),
            Transport::Socket(server) => server.ask(call, params).await,
        }
    }

    /// The same for a request that changes nothing: it is repeated if that may help.
    pub(super) async fn read(&self, call: Call, params: Object<'_>) -> Result<String> {
        let mut budget = RetryBudget::after(self.reconnect, 0);
        loop {
            let failure = match &self.transport {
                Transport::Fetch(server) => match server.ask(call, params.clone()).await {
                    Ok(answer) => return Ok(answer),
                    Err(failure) => failure,
                },
                Transport::Socket(server) => match server.ask(call, params.clone()).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error.into(),
                },
            };
            let failure = crate::turn::Failure { is_offline: page::is_offline(), ..failure };
            // The URL may be wrong.
            let is_final = failure.error.code == ErrorCode::UnexpectedResponse;
            let Some((delay, least)) = budget.retry(&failure, Math::random()).filter(|_| !is_final) else {
                return Err(failure.error);
            };
            let pause = Pause { delay, least, attempt: budget.attempts(), cause: failure.error };
            steps::waited(&pause).await;
        }
    }

    /// Carries out the steps of a turn, to its end.
    pub(super) async fn run(&self, reading: &impl Reading, first: Step) -> Result<()> {
        match &self.transport {
            Transport::Fetch(server) => steps::run(server, reading, first).boxed_local().await,
            Transport::Socket(server) => steps::run(server, reading, first).boxed_local().await,
        }
    }

    /// Closes the connection kept between calls, if there is one.
    pub(super) fn close(&self) {
        match &self.transport {
            Transport::Fetch(_) => {}
            Transport::Socket(server) => server.close(),
        }
    }
}

/// The server with the options of a client.
fn over_socket(server: socket::Server, options: &ConnectOptions, idle: u32) -> Result<socket::Server> {
    let refused = |problem| Err(Error::new(ErrorCode::InvalidOption, problem));
    let limit = |timeout: u32| if timeout == 0 { u32::MAX } else { timeout };
    let server = server.with_timeouts(limit(options.connect_timeout), limit(idle));
    if !options.headers.is_empty() {
        return refused("`headers` cannot be sent with the WebSocket of the platform");
    }
    match &options.token {
        None => Ok(server),
        Some(Token::Fixed(token)) if options.token_in_query => Ok(server.with_token(token)),
        Some(Token::Renewed(_)) if options.token_in_query => {
            refused("over a WebSocket, `token` must be a fixed one")
        }
        Some(_) => refused(
            "`token` cannot be sent with a WebSocket: a proxy can add it; `token_in_query` puts it in the address",
        ),
    }
}
