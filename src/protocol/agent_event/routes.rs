//! Calls → requests.

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::{Call, Request};

use super::Dialect;

/// The request for `call` in `dialect`.
pub(super) fn request(dialect: Dialect, call: Call, params: &Object<'_>) -> Result<Request> {
    let _ = (dialect, call, params);
    Err(Error::new(ErrorCode::Unsupported, "this protocol has no such request"))
}

/// The answer to a call that needs no server.
pub(super) fn local<'a>(call: Call, params: &Object<'a>) -> Option<Value<'a>> {
    let _ = (call, params);
    None
}
