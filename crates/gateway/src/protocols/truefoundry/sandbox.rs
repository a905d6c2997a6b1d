//! Files out of an agent's sandbox.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::caller::Caller;
use super::extract::Params;
use super::sessions::SessionPath;
use super::turns::TurnPath;
use crate::agents::SANDBOX;
use crate::error::ApiError;

type Answer = Result<Response, ApiError>;

#[derive(Debug, Deserialize)]
pub(crate) struct SandboxPath {
    sandbox: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FileQuery {
    path: Option<String>,
}

/// `GET …/agents/sandbox/{sandbox}/file?path=/…`
pub(crate) async fn file(
    caller: Caller,
    Path(sandbox): Path<SandboxPath>,
    Params(query): Params<FileQuery>,
) -> Answer {
    download(&caller, &sandbox.sandbox, query)
}

/// `GET /api/v1/…/turns/{turn}/download-sandbox-file?path=/…`
pub(crate) async fn file_of_turn(
    caller: Caller,
    Path(session): Path<SessionPath>,
    Path(turn): Path<TurnPath>,
    Params(query): Params<FileQuery>,
) -> Answer {
    let turn = turn.find(&*session.find(&caller)?)?;
    let sandbox = turn.progress().memory.get(SANDBOX).cloned();
    let none = || not_found(format!("The turn has no sandbox: {}", turn.id));
    download(&caller, &sandbox.ok_or_else(none)?, query)
}

fn download(caller: &Caller, sandbox: &str, query: FileQuery) -> Answer {
    let path = query.path.filter(|path| path.starts_with('/'));
    let path = path.ok_or_else(|| ApiError::invalid("path must be an absolute path"))?;
    let bytes = caller.app.store.sandboxes.file(sandbox, &path).map_err(not_found)?;
    let mime = mime_guess::from_path(&path).first_or_octet_stream();
    Ok(([(header::CONTENT_TYPE, mime.to_string())], bytes).into_response())
}

fn not_found(message: String) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
}
