//! The options and inputs that JavaScript passes.

use std::collections::BTreeMap;

use js_sys::{Function, JsString};
use serde::Deserialize;
use tsify::Tsify;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::error::{Error, ErrorCode, Result};
use crate::event::TurnInputItem;
use crate::turn::Reconnect;
use crate::web::client::{ConnectOptions, TurnOptions};
use crate::web::token::Token;

use super::values::{thrown, to_error};

/// The names of the options: from an object, only fields that are known are read.
const NAMES: [&str; 10] = [
    "baseUrl",
    "protocol",
    "relay",
    "token",
    "tokenInQuery",
    "headers",
    "connectTimeout",
    "idleTimeout",
    "maxFrameBytes",
    "reconnect",
];

/// The options of a client.
#[derive(Debug, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientOptions {
    /// The URL of the server, with the tenant if it has one.
    base_url: String,
    /// The server's protocol; `"truefoundry"` by default.
    protocol: Option<String>,
    /// Whether the server stands behind a turnwire relay (`"aap"`, `"tirea"`, `"turn-rpc"`, `"codex"`). By default `false`.
    #[serde(default)]
    #[tsify(optional)]
    relay: bool,
    /// The bearer token, or a function that returns it, also as a promise.
    #[serde(with = "serde_wasm_bindgen::preserve", default)]
    #[tsify(optional, type = "string | (() => string | Promise<string>)")]
    token: JsValue,
    /// Over a WebSocket: sends the token in the URL. By default `false`.
    #[serde(default)]
    #[tsify(optional)]
    token_in_query: bool,
    /// Headers of every request.
    #[serde(default)]
    #[tsify(optional)]
    headers: BTreeMap<String, String>,
    /// The limit from a request to the head of its response, in milliseconds; 30,000 by default, 0 for none.
    connect_timeout: Option<u32>,
    /// The longest silence of a stream, in milliseconds; 0 for any.
    idle_timeout: Option<u32>,
    /// The largest event, in bytes.
    max_frame_bytes: Option<usize>,
    /// How a lost connection is recovered; `false` for not at all.
    #[serde(default)]
    #[tsify(optional)]
    reconnect: Option<ReconnectOptions>,
}

#[derive(Debug, Deserialize, Tsify)]
#[serde(untagged)]
enum ReconnectOptions {
    Switch(bool),
    #[serde(rename_all = "camelCase")]
    Limits {
        max_attempts: Option<u32>,
        base_delay: Option<u32>,
        max_delay: Option<u32>,
    },
}

impl ClientOptions {
    pub(super) fn read(options: JsValue) -> Result<ConnectOptions, JsValue> {
        let names = js_sys::Object::keys(options.unchecked_ref::<js_sys::Object>());
        for name in names.iter().filter_map(|name| name.as_string()) {
            if !NAMES.contains(&&*name) {
                let problem = ["`", &name, "` is not an option; there are ", &NAMES.join(", ")].concat();
                return Err(to_error(&Error::new(ErrorCode::InvalidOption, &problem)));
            }
        }
        let given: Self = serde_wasm_bindgen::from_value(options).map_err(|error| refused(&error))?;
        let defaults = ConnectOptions::new(given.base_url);
        let reconnect = match given.reconnect {
            None | Some(ReconnectOptions::Switch(true)) => defaults.reconnect,
            Some(ReconnectOptions::Switch(false)) => Reconnect::OFF,
            Some(ReconnectOptions::Limits { max_attempts, base_delay, max_delay }) => Reconnect {
                max_attempts: max_attempts.unwrap_or(defaults.reconnect.max_attempts),
                base_delay: base_delay.unwrap_or(defaults.reconnect.base_delay),
                max_delay: max_delay.unwrap_or(defaults.reconnect.max_delay),
            },
        };
        Ok(ConnectOptions {
            protocol: given.protocol.unwrap_or(defaults.protocol),
            relay: given.relay,
            token: token(given.token)?,
            token_in_query: given.token_in_query,
            headers: given.headers.into_iter().collect(),
            connect_timeout: given.connect_timeout.unwrap_or(defaults.connect_timeout),
            idle_timeout: given.idle_timeout,
            max_frame_bytes: given.max_frame_bytes,
            reconnect,
            base_url: defaults.base_url,
        })
    }
}

fn refused(error: &serde_wasm_bindgen::Error) -> JsValue {
    to_error(&Error::new(ErrorCode::InvalidOption, &error.to_string()))
}

fn token(given: JsValue) -> Result<Option<Token>, JsValue> {
    if given.is_null() || given.is_undefined() {
        return Ok(None);
    }
    if let Some(token) = given.as_string() {
        return Ok(Some(Token::Fixed(token)));
    }
    let Ok(ask) = given.dyn_into::<Function>() else {
        let problem = "`token` must be a string, or a function that returns one";
        return Err(to_error(&Error::new(ErrorCode::InvalidOption, problem)));
    };
    Ok(Some(Token::renewed(move || {
        let asked = ask.call0(&JsValue::NULL);
        async move {
            let failed = |_| Error::new(ErrorCode::Token, "the `token` function failed");
            let promise = js_sys::Promise::resolve(&asked.map_err(failed)?);
            let token = JsFuture::from(promise).await.map_err(failed)?;
            let none = || Error::new(ErrorCode::Token, "the `token` function returned no string");
            token.as_string().ok_or_else(none)
        }
    })))
}

/// The input of a turn: a text, items, or nothing.
pub(super) fn turn_options(input: JsValue) -> Result<TurnOptions, JsValue> {
    if let Some(text) = input.dyn_ref::<JsString>() {
        return Ok(String::from(text).into());
    }
    items(input).map(TurnOptions::from)
}

/// Items of an input.
pub(super) fn items(input: JsValue) -> Result<Vec<TurnInputItem>, JsValue> {
    if input.is_null() || input.is_undefined() {
        return Ok(Vec::new());
    }
    let items = serde_wasm_bindgen::from_value(input);
    thrown(items.map_err(|error| Error::new(ErrorCode::InvalidInput, &error.to_string())))
}
