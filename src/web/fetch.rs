//! For front ends written in Rust: calls and streams over the browser's `fetch`.
//!
//! The npm package does its requests in TypeScript; none of this is in its module. [`Server::run`] carries
//! out the steps of a [`TurnDriver`], so that a connection that breaks is recovered as in the package:
//!
//! ```ignore
//! let reader = TurnReader::new(&server.protocol, TurnMachine::unstarted(), DEFAULT_LIMIT);
//! let mut driver = TurnDriver::new(reader, &session_id, "");
//! driver.set_input(TurnInput::read("Hello".into())?);
//! let first = driver.stream(None, Reconnect::default(), StartTrace::default())?;
//! server.run(&mut driver, first, &mut |driver| render(driver.reader().index())).await?;
//! ```

use std::pin::pin;

use futures::future::{Either, select};
use futures::stream::unfold;
use futures::{Stream, StreamExt};
use gloo_net::http::{RequestBuilder, Response};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Date, Math, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::{Answer, Call, Method, Protocol};
use crate::turn::{Failure, Moment, Outcome, Pause, Plan, Step, TurnDriver};

/// From a request to the head of its answer, in milliseconds.
const CONNECT_TIMEOUT: u32 = 30_000;
/// Between two chunks of a stream, in milliseconds. Comments count.
const IDLE_TIMEOUT: u32 = 60_000;

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
    /// Carries out a turn's steps until there is none. Calls `came` whenever something may have come. To drop
    /// the future is to stop listening; the turn itself goes on.
    pub async fn run(
        &self,
        driver: &mut TurnDriver,
        first: Step,
        came: &mut dyn FnMut(&mut TurnDriver),
    ) -> Result<()> {
        let mut step = first;
        loop {
            let answer;
            let outcome = match step {
                Step::End(ended) => return ended,
                Step::Wait(Pause { delay, .. }) => {
                    // Waits are at most some minutes long.
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
                    TimeoutFuture::new(delay as u32).await;
                    Outcome::Waited
                }
                Step::Ask(plan) => {
                    answer = in_time(CONNECT_TIMEOUT, self.asked(&plan)).await;
                    match &answer {
                        Ok(json) => Outcome::Answered(json),
                        Err(failure) => Outcome::Failed(failure.clone()),
                    }
                }
                Step::Open(plan) => match self.read_stream(&plan, driver, came).await {
                    Ok(()) => Outcome::Ended,
                    Err(failure) => Outcome::Failed(failure),
                },
            };
            step = driver.next(outcome, Moment { now: Date::now(), random: Math::random() });
            came(driver);
        }
    }

    async fn read_stream(
        &self,
        plan: &Plan,
        driver: &mut TurnDriver,
        came: &mut dyn FnMut(&mut TurnDriver),
    ) -> Result<(), Failure> {
        let response = in_time(CONNECT_TIMEOUT, self.sent(plan)).await?;
        let mut chunks = pin!(self.chunks(plan.call, &Object::new(), response).await?);
        driver.opened(Date::now());
        loop {
            let next = async { Ok::<_, Failure>(chunks.next().await) };
            let Some(chunk) = in_time(IDLE_TIMEOUT, next).await? else {
                return Ok(());
            };
            // What cannot be read the driver knows.
            let pushed = driver.reader_mut().push(&chunk?);
            came(driver);
            if pushed.is_err() || driver.reader().machine().status().is_terminal() {
                return Ok(());
            }
        }
    }

    async fn sent(&self, plan: &Plan) -> Result<Response, Failure> {
        Ok(self.send(plan.call, params(plan)?).await?)
    }

    async fn asked(&self, plan: &Plan) -> Result<String, Failure> {
        let response = self.sent(plan).await?;
        let read = self.read(plan.call, &params(plan)?, &response).await;
        read.map_err(|error| failure(error, &response))
    }

    /// Asks for JSON; gives it in turnwire's form.
    pub async fn ask(&self, call: Call, params: Object<'_>) -> Result<String> {
        if let Some(answer) = self.protocol.local(call, &params) {
            return Ok(answer.to_json());
        }
        let response = self.send(call, params.clone()).await?;
        self.read(call, &params, &response).await
    }

    /// Asks for a stream; gives its bytes as they come. To drop it is to close the connection.
    pub async fn open(
        &self,
        call: Call,
        params: Object<'_>,
    ) -> Result<impl Stream<Item = Result<Vec<u8>>> + use<P>> {
        let response = self.send(call, params.clone()).await?;
        self.chunks(call, &params, response).await.map_err(|failure| failure.error)
    }

    /// The bytes of a stream, as they come.
    async fn chunks(
        &self,
        call: Call,
        params: &Object<'_>,
        response: Response,
    ) -> Result<impl Stream<Item = Result<Vec<u8>>> + use<P>, Failure> {
        let content_type = response.headers().get("content-type").unwrap_or_default();
        let answer =
            Answer { status: response.status(), status_text: "", content_type: &content_type, body: "" };
        if !answer.is_stream() {
            self.read(call, params, &response).await.map_err(|error| failure(error, &response))?;
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
        answer.read(&self.protocol, call, params)
    }
}

/// A plan's parameters.
fn params(plan: &Plan) -> Result<Object<'_>> {
    match Value::parse(&plan.params) {
        Ok(Value::Object(params)) => Ok(params),
        _ => Err(Error::new(ErrorCode::InvalidOption, "parameters must be an object")),
    }
}

/// What becomes of `work`, unless it takes longer than `limit` milliseconds.
async fn in_time<T>(limit: u32, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    match select(pin!(work), TimeoutFuture::new(limit)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => Err(Error::new(ErrorCode::Timeout, "nothing came in time").into()),
    }
}

/// An answer that is an error, with what the server asks for by `Retry-After` in seconds.
fn failure(error: Error, response: &Response) -> Failure {
    let seconds: Option<u32> = response.headers().get("retry-after").and_then(|asked| asked.parse().ok());
    let retry_after = seconds.unwrap_or_default().saturating_mul(1000);
    Failure { retry_after, ..error.into() }
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
