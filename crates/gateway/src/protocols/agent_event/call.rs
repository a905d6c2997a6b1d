//! A request that was admitted, and the subject of its path.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;

use super::error::Refusal;
use super::run::Run;
use super::server::Server;
use super::start::{PlayOptions, Start, start};
use super::stream;
use super::threads::{App, Thread};
use crate::agents::exists;
use crate::context::bearer;
use crate::http::Output;

/// A request with a valid token, and the server that it came to.
#[derive(Debug)]
pub(super) struct Call {
    app: App,
    pub(super) server: Server,
}

impl Deref for Call {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRequestParts<App> for Call {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        if !app.admits(bearer(&parts.headers)) {
            let message = "unauthorized: a valid bearer token is required";
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, message));
        }
        // The routes of each server have it as an extension.
        let server = parts.extensions.get().copied().unwrap_or(Server::Tirea);
        Ok(Self { app: app.clone(), server })
    }
}

impl Call {
    pub(super) fn thread(&self, id: &str) -> Result<Arc<Thread>, Refusal> {
        self.own.thread(self.server, id).ok_or_else(|| Refusal::no_thread(id))
    }

    pub(super) fn run(&self, id: &str) -> Result<Arc<Run>, Refusal> {
        self.own.run(self.server, id).ok_or_else(|| Refusal::no_run(id))
    }

    /// A request that is invalid.
    pub(super) fn bad<T>(&self, message: impl AsRef<str>) -> Result<T, Refusal> {
        Err(Refusal::bad(self.server.dialect(), message))
    }

    /// Starts a run; its events are the answer.
    pub(super) async fn stream(&self, wanted: Start, output: Output) -> Result<Response, Refusal> {
        if !exists(&wanted.agent) {
            return Err(Refusal::no_agent(&wanted.agent));
        }
        let run = self.start(wanted, options(&output)).await;
        Ok(stream::answer(self, &run, output, self.server))
    }

    /// Starts a run.
    pub(super) async fn start(&self, wanted: Start, options: PlayOptions) -> Arc<Run> {
        start(self, self.server, wanted, options).await
    }
}

/// How a request wants its run to be played.
pub(super) fn options(output: &Output) -> PlayOptions {
    PlayOptions { traps: output.injection.traps(), delivery: output.delivery }
}
