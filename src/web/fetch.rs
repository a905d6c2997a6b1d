//! Calls and streams over the browser's `fetch`, for front ends written in Rust.
//!
//! The npm package sends its requests in TypeScript, and its module contains none of this. [`Server::run`] carries
//! out the steps of a [`TurnDriver`], which recovers a broken connection as in the package:
//!
//! ```ignore
//! let reader = TurnReader::new(&server.protocol, TurnMachine::unstarted(), DEFAULT_LIMIT);
//! let mut driver = TurnDriver::new(reader, &session_id, "");
//! driver.set_input(TurnInput::read("Hello".into(), &driver.reader().capabilities())?);
//! let first = driver.stream(None, Reconnect::default(), StartTrace::default())?;
//! server.run(&mut driver, first, &mut |driver| render(driver.reader().index())).await?;
//! ```
//!
//! When a page returns from the back/forward cache, from being frozen or from being offline, its turns are read on
//! new connections at once. Attempts while it is offline do not count.

use std::pin::pin;

use futures::Stream;
use futures::future::{Either, select};
use futures::stream::unfold;
use gloo_net::http::{RequestBuilder, Response};
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use crate::error::{Error, ErrorCode, Result};
use crate::json::Object;
use crate::protocol::{Answer, Call, Method, Protocol};
use crate::turn::{Failure, Plan, Step, TurnDriver};

use super::page::Returns;
use super::steps::{self, CONNECT_TIMEOUT, Came, Source, Transport, in_time, params};

/// A server, for a Rust front end.
#[derive(Debug)]
pub struct Server<P> {
    /// Without a slash at its end.
    pub base_url: String,
    /// The server's protocol.
    pub protocol: P,
    /// The bearer token. Errors never contain it.
    pub token: Option<String>,
}

impl<P: Protocol> Server<P> {
    /// Carries out the steps of a turn, to its end. Calls `came` after each that may have brought events. Dropping
    /// the future stops only the reading; the turn goes on.
    pub async fn run(
        &self,
        driver: &mut TurnDriver,
        first: Step,
        came: &mut dyn FnMut(&mut TurnDriver),
    ) -> Result<()> {
        steps::run(self, driver, first, came).await
    }

    /// Requests JSON. Returns it in turnwire's form.
    pub async fn ask(&self, call: Call, params: Object<'_>) -> Result<String> {
        if let Some(answer) = self.protocol.local(call, &params) {
            return Ok(answer.to_json());
        }
        let response = self.send(call, params.clone()).await?;
        self.read(call, &params, &response).await
    }

    /// Requests a stream. Returns its bytes in chunks. Dropping it closes the connection.
    pub async fn open(
        &self,
        call: Call,
        params: Object<'_>,
    ) -> Result<impl Stream<Item = Result<Vec<u8>>> + use<P>> {
        let response = self.send(call, params.clone()).await?;
        let chunks = self.chunks(call, &params, response).await.map_err(|failure| failure.error)?;
        Ok(unfold(chunks, |chunks| async {
            read(&chunks.reader).await.transpose().map(|chunk| (chunk, chunks))
        }))
    }

    /// The bytes of a stream, in chunks.
    async fn chunks(&self, call: Call, params: &Object<'_>, response: Response) -> Result<Chunks, Failure> {
        let content_type = response.headers().get("content-type").unwrap_or_default();
        let answer =
            Answer { status: response.status(), status_text: "", content_type: &content_type, body: "" };
        if !answer.is_stream() {
            self.read(call, params, &response).await.map_err(|error| failure(error, &response))?;
        }
        let body =
            response.body().ok_or_else(|| Error::new(ErrorCode::Network, "the response has no body"))?;
        let silence = self.protocol.capabilities().silence;
        Ok(Chunks { reader: body.get_reader().unchecked_into(), silence, page: Returns::new() })
    }

    async fn send(&self, call: Call, params: Object<'_>) -> Result<Response> {
        let request = self.protocol.request(call, params)?;
        let method = match request.method {
            Method::Get => gloo_net::http::Method::GET,
            Method::Post => gloo_net::http::Method::POST,
            Method::Patch => gloo_net::http::Method::PATCH,
            Method::Delete => gloo_net::http::Method::DELETE,
        };
        let url = [&*self.base_url, "/", &request.path].concat();
        let mut builder = RequestBuilder::new(&url).method(method);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        if let Some(token) = &self.token {
            builder = builder.header("authorization", &["Bearer ", token].concat());
        }
        let sent = match request.body {
            Some(body) => builder.body(body).map_err(network)?.send().await,
            None => builder.send().await,
        };
        sent.map_err(|error| unreachable(&error).with_url(&url))
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
        answer.read(&self.protocol, call, params).map_err(|error| error.with_url(&response.url()))
    }
}

impl<P: Protocol> Transport for Server<P> {
    type Source = Chunks;

    async fn asked(&self, plan: &Plan) -> Result<String, Failure> {
        let params = params(plan)?;
        let asked = async {
            let response = self.send(plan.call, params.clone()).await?;
            let read = self.read(plan.call, &params, &response).await;
            read.map_err(|error| failure(error, &response))
        };
        in_time(CONNECT_TIMEOUT, asked).await
    }

    async fn opened(&self, plan: &Plan) -> Result<Chunks, Failure> {
        let params = params(plan)?;
        let response = in_time(CONNECT_TIMEOUT, self.send(plan.call, params.clone())).await?;
        self.chunks(plan.call, &params, response).await
    }
}

/// The error of a response, with the seconds of its `Retry-After`.
fn failure(error: Error, response: &Response) -> Failure {
    let seconds: Option<u32> = response.headers().get("retry-after").and_then(|asked| asked.parse().ok());
    let retry_after = seconds.unwrap_or_default().saturating_mul(1000);
    Failure { retry_after, ..error.into() }
}

/// The chunks of a stream. Dropping it closes the connection.
pub(super) struct Chunks {
    reader: ReadableStreamDefaultReader,
    /// The longest accepted silence, in milliseconds. Comments end a silence, too.
    silence: u32,
    page: Returns,
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
        let Self { reader, silence, page } = self;
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

/// Browsers do not tell the causes apart.
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
