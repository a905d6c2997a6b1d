//! What the handlers of every protocol share.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::config::Config;
use crate::error::ApiError;
use crate::faults::{FaultState, Injection};
use crate::http::{Delivery, Output, Ping};
use crate::store::{Store, Turn};
use crate::turns::{Clock, Gate};

/// What is written after a silence.
const PING: &[u8] = b": ping\n\n";

/// The state of a handler: the gateway's context, and the state of its protocol.
#[derive(Debug)]
pub(crate) struct App<P = ()> {
    context: Arc<Context>,
    /// What the protocol itself keeps.
    pub(crate) own: Arc<P>,
}

/// The context of a running gateway.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) faults: Arc<FaultState>,
    /// Where requests have their turns held.
    pub(crate) gate: Gate,
}

impl App {
    pub(crate) fn new(config: Config, faults: FaultState) -> Self {
        let context =
            Context { config, store: Store::default(), faults: Arc::new(faults), gate: Gate::default() };
        Self { context: Arc::new(context), own: Arc::default() }
    }

    /// The state of a protocol's handlers.
    pub(crate) fn with<P>(&self, own: Arc<P>) -> App<P> {
        App { context: Arc::clone(&self.context), own }
    }
}

impl<P> Clone for App<P> {
    fn clone(&self) -> Self {
        Self { context: Arc::clone(&self.context), own: Arc::clone(&self.own) }
    }
}

impl<P> Deref for App<P> {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl Context {
    /// Whether a request with this bearer token is admitted.
    pub(crate) fn admits(&self, token: Option<&str>) -> bool {
        self.config.token.as_deref().is_none_or(|expected| token == Some(expected))
    }

    /// The clock of a turn. The pace is the one in the request, else the script's own, else the default.
    pub(crate) fn clock(&self, turn: &Turn, delivery: Delivery, script: Option<Duration>) -> Clock {
        let beat = delivery.delay.or(script).unwrap_or(self.config.beat);
        let hold = delivery.hold.map(|beats| self.gate.hold(beats));
        Clock::new(beat, hold, self.config.turn_limit, turn.stop.subscribe())
    }

    /// Checks the bearer token of a request to the gateway's own endpoints.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        if self.admits(bearer(headers)) { Ok(()) } else { Err(ApiError::unauthorized()) }
    }
}

/// The bearer token of a request.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl<P: Send + Sync> FromRequestParts<App<P>> for Output {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App<P>) -> Result<Self, ApiError> {
        let delivery = Delivery::of(&parts.uri, &parts.headers).map_err(ApiError::invalid)?;
        Ok(Self {
            delivery: delivery.or(app.config.delivery),
            injection: Injection::of(parts),
            ping: Some(Ping { silence: app.config.silence, comment: PING }),
        })
    }
}
