//! Lists whose pages are identified by `offset` and `limit` (section 2). The token of a page is its offset.

use crate::json::{Object, Value, parse_u64, write_u64};

/// The most items that the servers return at once.
pub(super) const LONGEST: u64 = 200;

/// The offset of the requested page; `None` if its token is invalid.
pub(super) fn offset(params: &Object<'_>) -> Option<u64> {
    match params.get("page_token").or_else(|| params.get("pageToken")) {
        None | Some(Value::Null) => Some(0),
        Some(token) => token.as_str().and_then(|token| parse_u64(token.as_bytes())),
    }
}

/// The token of the page at this offset.
pub(super) fn token(offset: u64) -> Value<'static> {
    let mut token = String::new();
    write_u64(&mut token, offset);
    token.into()
}

/// The token of the page after one of this length.
pub(super) fn after(params: &Object<'_>, length: usize) -> Value<'static> {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    token(offset(params).unwrap_or_default().saturating_add(length))
}
