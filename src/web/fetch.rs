//! For front ends written in Rust: calls and streams over the browser's `fetch`.
//!
//! The npm package does its requests in TypeScript; none of this is in its module. The bytes that
//! [`Server::open`] gives are what [`TurnReader::push`](crate::turn::TurnReader::push) takes:
//!
//! ```ignore
//! let mut reader = TurnReader::new(&server.protocol, TurnMachine::unstarted(), DEFAULT_LIMIT);
//! reader.machine_mut().stream(None)?;
//! let mut chunks = pin!(server.open(Call::CreateTurnStream, params).await?);
//! while let Some(chunk) = chunks.next().await {
//!     reader.push(&chunk?)?;
//!     render(reader.index());
//! }
//! reader.machine_mut().stream_ended(StreamEnd::Eof)?;
//! ```

use futures::Stream;
use futures::stream::unfold;
use gloo_net::http::{RequestBuilder, Response};
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use crate::error::{Error, ErrorCode, Result};
use crate::json::Object;
use crate::protocol::{Answer, Call, Method, Protocol};

/// A server, as a Rust front end reaches it.
#[derive(Debug)]
pub struct Server<P> {
    /// Without a slash at its end.
    pub base_url: String,
    /// What the server speaks.
    pub protocol: P,
    /// The bearer token. It is kept out of errors.
    pub token: Option<String>,
}

impl<P: Protocol> Server<P> {
    /// Asks for JSON; gives it in turnwire's form.
    pub async fn ask(&self, call: Call, params: Object<'_>) -> Result<String> {
        let response = self.send(call, params).await?;
        self.read(call, &response).await
    }

    /// Asks for a stream; gives its bytes as they come. To drop it is to close the connection.
    pub async fn open(
        &self,
        call: Call,
        params: Object<'_>,
    ) -> Result<impl Stream<Item = Result<Vec<u8>>> + use<P>> {
        let response = self.send(call, params).await?;
        let content_type = response.headers().get("content-type").unwrap_or_default();
        let answer =
            Answer { status: response.status(), status_text: "", content_type: &content_type, body: "" };
        if !answer.is_stream() {
            self.read(call, &response).await?;
        }
        let body = response.body().ok_or_else(|| Error::new(ErrorCode::Network, "the answer has no body"))?;
        let reader = Reader(body.get_reader().unchecked_into());
        Ok(unfold(reader, |reader| async { reader.next().await.map(|chunk| (chunk, reader)) }))
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
        sent.map_err(network)
    }

    async fn read(&self, call: Call, response: &Response) -> Result<String> {
        let body = response.text().await.map_err(network)?;
        let content_type = response.headers().get("content-type").unwrap_or_default();
        let status_text = response.status_text();
        let answer = Answer {
            status: response.status(),
            status_text: &status_text,
            content_type: &content_type,
            body: &body,
        };
        answer.read(&self.protocol, call)
    }
}

/// Reads a stream's chunks; gives the connection back when it is dropped.
struct Reader(ReadableStreamDefaultReader);

impl Reader {
    async fn next(&self) -> Option<Result<Vec<u8>>> {
        let Ok(read) = JsFuture::from(self.0.read()).await else {
            return Some(Err(Error::new(ErrorCode::Network, "the connection broke")));
        };
        let field = |name: &str| Reflect::get(&read, &JsValue::from_str(name)).unwrap_or_default();
        (!field("done").is_truthy()).then(|| Ok(Uint8Array::new(&field("value")).to_vec()))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // How the closing of a stream that nobody reads goes concerns nobody.
        let _ = self.0.cancel();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn network(error: gloo_net::Error) -> Error {
    Error::new(ErrorCode::Network, &error.to_string())
}
