//! Calls and streams over the browser's `fetch`, for front ends written in Rust. The npm package sends its requests in
//! TypeScript, and its modules contain none of this.

use std::pin::pin;

use futures::future::{Either, select};
use gloo_net::http::{RequestBuilder, Response};
use js_sys::{Date, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader};

use crate::error::{Error, ErrorCode, Result};
use crate::json::Object;
use crate::protocol::relay;
use crate::protocol::{Answer, AnyProtocol, Call, Method, Request};
use crate::turn::{Failure, Plan};

use super::page::Returns;
use super::steps::{Came, Opened, Source, Transport, in_time, params};
use super::token::Token;

/// A server reached by `fetch`.
pub(super) struct Server {
    /// Without a trailing slash.
    pub(super) base_url: String,
    pub(super) protocol: AnyProtocol,
    pub(super) token: Option<Token>,
    /// Headers of every request. They override turnwire's own.
    pub(super) headers: Vec<(String, String)>,
    /// The limit from a request to the head of its response, in milliseconds; 0 for none.
    pub(super) connect_timeout: u32,
    /// The longest silence of a stream, in milliseconds; 0 for no limit. Comments also end a silence.
    pub(super) idle_timeout: u32,
}

impl Server {
    /// Requests JSON. Returns it in turnwire's form.
    pub(super) async fn ask(&self, call: Call, params: Object<'_>) -> Result<String, Failure> {
        if let Some(answer) = self.protocol.protocol().local(call, &params) {
            return Ok(answer.to_json());
        }
        let asked = async {
            let (response, _connection) = self.send(call, params.clone()).await?;
            let read = self.read(call, &params, &response).await;
            read.map_err(|error| failure(error, &response))
        };
        in_time(self.connect_timeout, asked).await
    }

    /// Sends a request. After a 401, renews the token once, if it can be renewed.
    async fn send(&self, call: Call, params: Object<'_>) -> Result<(Response, Connection), Failure> {
        let request = self.protocol.protocol().request(call, params)?;
        let mut sent = self.send_once(&request).await?;
        let can_renew = self.token.as_ref().is_some_and(Token::can_be_renewed);
        if sent.0.status() == 401 && can_renew {
            sent = self.send_once(&request).await?;
        }
        let (response, _) = &sent;
        if self.is_relayed() && response.ok() && response.headers().get(relay::RELAY).is_none() {
            return Err(relay::is_none().with_url(&response.url()).into());
        }
        Ok(sent)
    }

    fn is_relayed(&self) -> bool {
        self.protocol.protocol().capabilities().is_relayed()
    }

    async fn send_once(&self, request: &Request) -> Result<(Response, Connection), Failure> {
        let token = match &self.token {
            Some(token) => Some(token.get().await?),
            None => None,
        };
        let method = match request.method {
            Method::Get => gloo_net::http::Method::GET,
            Method::Post => gloo_net::http::Method::POST,
            Method::Patch => gloo_net::http::Method::PATCH,
            Method::Delete => gloo_net::http::Method::DELETE,
        };
        // An endpoint without a path is the base URL itself.
        let slash = if request.path.is_empty() { "" } else { "/" };
        let url = [&*self.base_url, slash, &request.path].concat();
        let connection = Connection::new()?;
        let mut builder = RequestBuilder::new(&url).method(method);
        builder = builder.abort_signal(Some(&connection.0.signal()));
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        if let Some(token) = token {
            builder = builder.header("authorization", &["Bearer ", &token].concat());
        }
        for (name, value) in &self.headers {
            builder = builder.header(name, value);
        }
        let sent = match &request.body {
            Some(body) => builder.body(body).map_err(network)?.send().await,
            None => builder.send().await,
        };
        Ok((sent.map_err(|error| unreachable(&error).with_url(&url))?, connection))
    }

    async fn read(&self, call: Call, params: &Object<'_>, response: &Response) -> Result<String> {
        let body = response.text().await.map_err(network)?;
        let content_type = response.headers().get("content-type").unwrap_or_default();
        let status_text = response.status_text();
        let answer = Answer {
            status: response.status(),
            status_text: &status_text,
            content_type: &content_type,
            body: &body,
        };
        let read = answer.read(self.protocol.protocol(), call, params);
        read.map_err(|error| error.with_url(&response.url()))
    }
}

impl Transport for Server {
    type Source = Chunks;

    async fn asked(&self, plan: &Plan) -> Result<String, Failure> {
        self.ask(plan.call, params(plan)?).await
    }

    async fn opened(&self, plan: &Plan) -> Result<Opened<Chunks>, Failure> {
        let params = params(plan)?;
        // A whole response comes when the turn has paused or ended.
        let limit = if plan.call.streams() && self.protocol.protocol().capabilities().has_whole_answers() {
            self.idle_timeout
        } else {
            self.connect_timeout
        };
        let opened = async {
            let (response, connection) = self.send(plan.call, params.clone()).await?;
            let content_type = response.headers().get("content-type").unwrap_or_default();
            let answer =
                Answer { status: response.status(), status_text: "", content_type: &content_type, body: "" };
            if answer.is_stream() {
                let no_body = || Error::new(ErrorCode::Network, "the response has no body");
                let body = response.body().ok_or_else(no_body)?;
                let log = response.headers().get(relay::LOG).filter(|_| self.is_relayed());
                return Ok(Opened::Stream(Chunks {
                    head: log.map(|log| relay::head_of(&log)),
                    reader: body.get_reader().unchecked_into(),
                    silence: self.idle_timeout,
                    page: Returns::new(),
                    _connection: connection,
                }));
            }
            let read = self.read(plan.call, &params, &response).await;
            read.map(Opened::Answer).map_err(|error| failure(error, &response))
        };
        in_time(limit, opened).await
    }
}

/// The connection of a request. Dropping it closes it.
struct Connection(AbortController);

impl Connection {
    fn new() -> Result<Self> {
        let controller = AbortController::new();
        let problem = |_| Error::new(ErrorCode::Unsupported, "this platform has no `AbortController`");
        Ok(Self(controller.map_err(problem)?))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The error of a response, with the delay in its `Retry-After`: seconds, or a date.
fn failure(error: Error, response: &Response) -> Failure {
    let asked = response.headers().get("retry-after").unwrap_or_default();
    let millis = match asked.parse::<u32>() {
        Ok(seconds) => f64::from(seconds) * 1000.0,
        Err(_) => Date::parse(&asked) - Date::now(),
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast saturates, and NaN is 0"
    )]
    let retry_after = millis as u32;
    Failure { retry_after, ..error.into() }
}

/// The chunks of a stream. Dropping it closes the connection.
pub(super) struct Chunks {
    /// The head of the response, as a frame.
    head: Option<String>,
    reader: ReadableStreamDefaultReader,
    silence: u32,
    page: Returns,
    _connection: Connection,
}

async fn read(reader: &ReadableStreamDefaultReader) -> Result<Option<Vec<u8>>> {
    let Ok(read) = JsFuture::from(reader.read()).await else {
        return Err(Error::new(ErrorCode::Network, "the connection broke"));
    };
    let field = |name: &str| Reflect::get(&read, &JsValue::from_str(name)).unwrap_or_default();
    Ok((!field("done").is_truthy()).then(|| Uint8Array::new(&field("value")).to_vec()))
}

impl Source for Chunks {
    async fn next(&mut self) -> Result<Option<Came>, Failure> {
        if let Some(head) = self.head.take() {
            return Ok(Some(Came::Chunk(head.into_bytes())));
        }
        let Self { reader, silence, page, .. } = self;
        match select(pin!(in_time(*silence, read(reader))), page.away()).await {
            Either::Left((chunk, _)) => Ok(chunk?.map(Came::Chunk)),
            Either::Right((error, _)) => Err(error.into()),
        }
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        // An error while closing an unused stream has no effect.
        let _ = self.reader.cancel();
    }
}

/// Browsers do not reveal the cause.
fn unreachable(error: &gloo_net::Error) -> Error {
    let causes = ". The server may be down, the base URL wrong, or CORS headers missing for this page";
    Error::new(
        ErrorCode::Network,
        &["the request did not get through: ", &error.to_string(), causes].concat(),
    )
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn network(error: gloo_net::Error) -> Error {
    Error::new(ErrorCode::Network, &error.to_string())
}
