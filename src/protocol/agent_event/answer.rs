//! Answers → records.

use crate::error::Result;
use crate::json::Value;
use crate::protocol::Call;

use super::Dialect;

/// Normalizes the answer to `call`.
pub(super) fn normalize(dialect: Dialect, call: Call, body: Value<'_>) -> Result<Value<'_>> {
    let _ = (dialect, call);
    Ok(body)
}

/// The message of an error's body.
pub(super) fn error_message(body: &str) -> Option<String> {
    Some(body.to_owned())
}
