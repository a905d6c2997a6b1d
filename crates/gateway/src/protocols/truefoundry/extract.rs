//! Bodies and queries, refused in the error envelope when they cannot be read.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::BytesMut;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::App;
use crate::error::ApiError;

/// The largest body that is read.
const BODY_LIMIT: usize = 30 * 1024 * 1024;
/// How much of an oversized body is read and discarded, so that its sender can read the response.
const DRAIN_LIMIT: usize = 4 * BODY_LIMIT;

/// A JSON object as the body; an empty body is an empty object.
#[derive(Debug)]
pub(crate) struct JsonObject(pub(crate) serde_json::Map<String, Value>);

impl JsonObject {
    /// Reads the object as a type.
    pub(crate) fn parse<T: DeserializeOwned>(self) -> Result<T, ApiError> {
        serde_json::from_value(Value::Object(self.0))
            .map_err(|error| ApiError::invalid(format!("Invalid request body: {error}")))
    }
}

impl FromRequest<App> for JsonObject {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &App) -> Result<Self, ApiError> {
        let bytes = read(request.into_body()).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(serde_json::Map::new()));
        }
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(object)) => Ok(Self(object)),
            Ok(_) => Err(ApiError::invalid("Invalid request body: expected a JSON object")),
            Err(error) => Err(ApiError::new(
                StatusCode::BAD_REQUEST,
                "invalid_json",
                format!("Malformed JSON in request body: {error}"),
            )),
        }
    }
}

async fn read(body: Body) -> Result<BytesMut, ApiError> {
    let mut stream = body.into_data_stream();
    let mut bytes = BytesMut::new();
    let mut length = 0;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| ApiError::invalid(format!("Unreadable body: {error}")))?;
        length += chunk.len();
        if length <= BODY_LIMIT {
            bytes.extend_from_slice(&chunk);
        } else if length > DRAIN_LIMIT {
            break;
        }
    }
    if length > BODY_LIMIT {
        return Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            "Request body is larger than 30 MB",
        ));
    }
    Ok(bytes)
}

/// Query parameters as a type.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(params)| Self(params))
            .map_err(|rejection| ApiError::invalid(rejection.body_text()))
    }
}
