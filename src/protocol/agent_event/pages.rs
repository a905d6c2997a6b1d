//! Lists whose pages are told apart by their place only (section 2): `offset` and `limit`. The token of a page is
//! its offset.

use crate::json::{Object, Value, parse_u64, write_u64};

/// The most that the servers give at once.
pub(super) const LONGEST: u64 = 200;

/// Where the page begins that these parameters ask for; nothing if its token is none.
pub(super) fn offset(params: &Object<'_>) -> Option<u64> {
    match params.get("page_token").or_else(|| params.get("pageToken")) {
        None | Some(Value::Null) => Some(0),
        Some(token) => token.as_str().and_then(|token| parse_u64(token.as_bytes())),
    }
}

/// The token of the page that begins there.
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
