//! The caller, the dialect and the tenant of a request.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use serde::Serialize;

use crate::context::{App, bearer};
use crate::error::ApiError;
use crate::store::{Session, random_suffix};

/// The subject of every token that names none. It manages every agent.
const DEVELOPER: &str = "developer";

/// Two surfaces over the same turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The hosted gateway: `/{tenant}/v1/…`.
    Gateway,
    /// Its open-source sibling: `/api/v1/…`.
    TrueForge,
}

impl Dialect {
    /// The id of a new session, made of a ULID.
    pub(crate) fn session_id(self, ulid: String) -> String {
        match self {
            Self::Gateway => format!("{ulid}.g"),
            Self::TrueForge => ulid,
        }
    }

    /// The id of a new turn, made of a ULID: the gateway adds its zone and executor.
    pub(crate) fn turn_id(self, ulid: String) -> String {
        match self {
            Self::Gateway => format!("{ulid}.g.{}", random_suffix(6)),
            Self::TrueForge => ulid,
        }
    }
}

/// A user or service account (TrueFoundry objects, `Subject`).
#[derive(Debug, Clone, Serialize)]
#[allow(clippy::struct_field_names)] // the names of the wire
pub(crate) struct Subject {
    subject_id: String,
    subject_type: &'static str,
    subject_slug: String,
}

impl Subject {
    pub(crate) fn of(id: &str) -> Self {
        Self { subject_id: id.to_owned(), subject_type: "user", subject_slug: format!("{id}@example.com") }
    }
}

/// The authenticated caller of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) app: App,
    pub(crate) dialect: Dialect,
    /// Sessions of one space are not visible in another.
    pub(crate) space: String,
    pub(crate) subject: String,
}

impl Caller {
    /// Whether the caller made the session.
    pub(crate) fn owns(&self, session: &Session) -> bool {
        session.owner == self.subject
    }

    /// Whether the caller may see the session: it is theirs, or they manage its agent.
    pub(crate) fn sees(&self, session: &Session) -> bool {
        self.owns(session) || self.subject == DEVELOPER
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        app.admit(&parts.headers)?;
        let params = RawPathParams::from_request_parts(parts, app).await;
        let params = params.map_err(|rejection| ApiError::invalid(rejection.body_text()))?;
        let tenant = params.iter().find_map(|(name, value)| (name == "tenant").then(|| value.to_owned()));
        let dialect = match tenant {
            Some(_) => Dialect::Gateway,
            None => Dialect::TrueForge,
        };
        // A token such as `user:ana` lets a test act as several users.
        let name = bearer(&parts.headers).and_then(|token| token.strip_prefix("user:"));
        let subject = name.unwrap_or(DEVELOPER).to_owned();
        Ok(Self {
            dialect,
            space: tenant.map_or_else(|| "trueforge".to_owned(), |tenant| format!("gateway/{tenant}")),
            subject,
            app: app.clone(),
        })
    }
}
