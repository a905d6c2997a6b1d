//! Requests over `fetch`.

use gloo_net::http::Response;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, ReadableStream, RequestInit};

use crate::error::{Error, ErrorCode, sentence};
use crate::json::{Object, Value};
use crate::protocol::{Call, Protocol, Request};

use super::failure::Failure;
use super::io;
use super::options::Options;

/// The way to one server.
pub(super) struct Transport {
    pub(super) protocol: Box<dyn Protocol>,
    pub(super) max_frame_bytes: usize,
    pub(super) base_url: String,
    token: JsValue,
    headers: Vec<(String, String)>,
    fetch: Option<js_sys::Function>,
}

impl Transport {
    pub(super) fn new(options: Options, token: JsValue, fetch: &JsValue) -> crate::Result<Self> {
        let is_given = |value: &JsValue| !(value.is_undefined() || value.is_null());
        if is_given(&token) && !token.is_string() && !token.is_function() {
            let problem = "`token` must be a string, or a function that gives one";
            return Err(Error::new(ErrorCode::InvalidOption, problem));
        }
        if is_given(fetch) && !fetch.is_function() {
            return Err(Error::new(ErrorCode::InvalidOption, "`fetch` must be a function like the platform's"));
        }
        Ok(Self {
            protocol: options.protocol,
            max_frame_bytes: options.max_frame_bytes,
            base_url: options.base_url,
            headers: options.headers,
            fetch: fetch.dyn_ref().cloned(),
            token,
        })
    }

    /// Asks for JSON; gives the answer in turnwire's form.
    pub(super) async fn call(
        &self,
        call: Call,
        params: &Object<'_>,
        signal: Option<&AbortSignal>,
    ) -> Result<Value<'static>, Failure> {
        let request = self.protocol.request(call, params)?;
        let response = self.send(&request, "application/json", signal).await?;
        let status = response.status();
        let body = text(&response)
            .await
            .map_err(|failure| failure.or_aborted(signal))?;
        let json = if body.trim().is_empty() {
            Ok(Value::Null)
        } else {
            Value::parse(&body)
        };
        let json = json.map_err(|_| not_json(&response, &body))?;
        let answer = self.protocol.answer(call, json.into_owned());
        answer.map_err(|error| error.with_response(status, &body).into())
    }

    /// Asks for a stream.
    pub(super) async fn open(
        &self,
        call: Call,
        params: &Object<'_>,
        signal: Option<&AbortSignal>,
    ) -> Result<Option<ReadableStream>, Failure> {
        let request = self.protocol.request(call, params)?;
        let response = self.send(&request, "text/event-stream", signal).await?;
        let content_type = response.headers().get("content-type").unwrap_or_default();
        if !content_type
            .trim_start()
            .to_ascii_lowercase()
            .starts_with("text/event-stream")
        {
            let body = text(&response).await.unwrap_or_default();
            let parts = [
                "the answer is not an event stream but `",
                content_type.as_str(),
                "`",
            ];
            let error = Error::new(ErrorCode::UnexpectedResponse, sentence(&parts));
            return Err(error.with_response(response.status(), &body).into());
        }
        Ok(response.body())
    }

    /// Asks for a file.
    pub(super) async fn download(
        &self,
        params: &Object<'_>,
        signal: Option<&AbortSignal>,
    ) -> Result<JsValue, Failure> {
        let request = self.protocol.request(Call::DownloadSandboxFile, params)?;
        let response: web_sys::Response = self.send(&request, "*/*", signal).await?.into();
        let blob = response.blob().map_err(network)?;
        JsFuture::from(blob)
            .await
            .map_err(|cause| network(cause).or_aborted(signal))
    }

    /// Sends a request; gives a successful answer.
    async fn send(
        &self,
        request: &Request,
        accept: &str,
        signal: Option<&AbortSignal>,
    ) -> Result<Response, Failure> {
        let init = RequestInit::new();
        init.set_method(request.method.as_str());
        let headers = self.headers(request, accept).await?;
        init.set_headers(&headers);
        if let Some(body) = &request.body {
            init.set_body(&body.into());
        }
        if let Some(signal) = signal {
            // The token may have taken its time.
            if signal.aborted() {
                return Err(Failure::aborted(signal));
            }
            init.set_signal(Some(signal));
        }
        let url = sentence(&[&self.base_url, "/", &request.path]);
        let sent = match &self.fetch {
            // By `call`, not as a method: the platform's `fetch` refuses other receivers than its own.
            Some(fetch) => fetch
                .call2(&JsValue::UNDEFINED, &url.into(), &init)
                .map(|sent| js_sys::Promise::resolve(&sent)),
            None => io::global_fetch(&url, &init),
        };
        let answered = match sent {
            Ok(sent) => JsFuture::from(sent).await,
            Err(cause) => Err(cause),
        };
        let answer = answered.map_err(|cause| network(cause).or_aborted(signal))?;
        if !js_sys::Reflect::has(&answer, &"status".into()).unwrap_or(false) {
            return Err(Failure::new(
                ErrorCode::UnexpectedResponse,
                "`fetch` did not give a response",
            ));
        }
        // Not `dyn_into`: another realm's, or a custom fetch's, is not an instance of this one's class.
        let response = Response::from(answer.unchecked_into::<web_sys::Response>());
        if response.ok() {
            return Ok(response);
        }
        Err(self.refused(&response).await)
    }

    /// The headers of a request. The token is asked for each time: it may have been renewed.
    async fn headers(&self, request: &Request, accept: &str) -> Result<Headers, Failure> {
        let token = self
            .token()
            .await?
            .map(|token| sentence(&["Bearer ", &token]));
        let headers = Headers::new().map_err(network)?;
        let content_type = request
            .body
            .is_some()
            .then_some(("content-type", "application/json"));
        let own = [
            Some(("accept", accept)),
            content_type,
            token.as_ref().map(|token| ("authorization", &**token)),
        ];
        let call = request
            .headers
            .iter()
            .map(|(name, value)| (*name, &**value));
        let extra = self.headers.iter().map(|(name, value)| (&**name, &**value));
        for (name, value) in own.into_iter().flatten().chain(call).chain(extra) {
            headers.set(name, value).map_err(|cause| {
                // The value stays out of the message: it may be a secret.
                let message =
                    sentence(&["HTTP does not allow the header `", name, "`, or its value"]);
                Failure::new(ErrorCode::InvalidOption, message).caused_by(cause)
            })?;
        }
        Ok(headers)
    }

    async fn token(&self) -> Result<Option<String>, Failure> {
        let failed =
            |message: &str, cause| Failure::new(ErrorCode::Token, message).caused_by(cause);
        let token = match self.token.dyn_ref::<js_sys::Function>() {
            None => self.token.clone(),
            Some(ask) => {
                let asked = ask
                    .call0(&JsValue::UNDEFINED)
                    .map(|token| js_sys::Promise::resolve(&token));
                let asked = asked.map_err(|cause| failed("the `token` function threw", cause))?;
                JsFuture::from(asked)
                    .await
                    .map_err(|cause| failed("the `token` function failed", cause))?
            }
        };
        match token.as_string() {
            Some(token) => Ok(Some(token)),
            None if token.is_undefined() || token.is_null() => Ok(None),
            None => Err(failed(
                "the `token` function gave no string",
                JsValue::UNDEFINED,
            )),
        }
    }

    /// The error of an answer whose status means failure.
    async fn refused(&self, response: &Response) -> Failure {
        let body = text(response).await.unwrap_or_default();
        let status = response.status();
        let mut digits = String::new();
        crate::json::write_u64(&mut digits, u64::from(status));
        let said = self
            .protocol
            .error_message(&body)
            .unwrap_or_else(|| response.status_text());
        let message = match said.as_str() {
            "" => sentence(&["the server answered ", &digits]),
            said => sentence(&["the server answered ", &digits, ": ", said]),
        };
        Error::new(ErrorCode::Http, message)
            .with_response(status, &body)
            .into()
    }
}

async fn text(response: &Response) -> Result<String, Failure> {
    response.text().await.map_err(|error| match error {
        gloo_net::Error::JsError(error) => Failure::new(
            ErrorCode::Network,
            sentence(&["the answer broke off: ", &error.message]),
        ),
        _ => Failure::new(ErrorCode::Network, "the answer broke off"),
    })
}

fn network(cause: JsValue) -> Failure {
    let said = cause
        .dyn_ref::<js_sys::Error>()
        .map(|error| String::from(error.message()))
        .unwrap_or_default();
    Failure::new(
        ErrorCode::Network,
        sentence(&["the request did not get through: ", &said]),
    )
    .caused_by(cause)
}

fn not_json(response: &Response, body: &str) -> Failure {
    let content_type = response.headers().get("content-type").unwrap_or_default();
    let parts = ["the answer is not JSON but `", content_type.as_str(), "`"];
    Error::new(ErrorCode::UnexpectedResponse, sentence(&parts))
        .with_response(response.status(), body)
        .into()
}
