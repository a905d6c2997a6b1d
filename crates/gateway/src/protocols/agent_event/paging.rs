//! Pages by offset. A cursor is an offset in disguise.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use super::error::Refusal;
use super::server::Dialect;

/// The most items of a page.
const MOST: usize = 200;

/// The default number of items in a page.
fn fifty() -> usize {
    50
}

/// `offset` or `cursor`, and `limit`.
#[derive(Debug, Deserialize)]
pub(super) struct Paging {
    #[serde(default)]
    offset: usize,
    pub(super) cursor: Option<String>,
    #[serde(default = "fifty")]
    limit: usize,
}

/// One page of a list.
#[derive(Debug)]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) offset: usize,
    pub(super) limit: usize,
    pub(super) total: usize,
    pub(super) more: bool,
    pub(super) next: Option<String>,
}

impl Paging {
    pub(super) fn limit(&self) -> usize {
        self.limit.clamp(1, MOST)
    }

    /// The page at the cursor, or else at the offset.
    pub(super) fn page<T>(&self, items: Vec<T>) -> Result<Page<T>, Refusal> {
        let offset = match self.cursor.as_deref().map(str::trim).filter(|cursor| !cursor.is_empty()) {
            Some(cursor) => decode(cursor).ok_or_else(|| Refusal::bad(Dialect::Awaken, "invalid cursor"))?,
            None => self.offset,
        };
        Ok(self.page_from(offset, items))
    }

    /// The page at the offset.
    pub(super) fn page_at_offset<T>(&self, items: Vec<T>) -> Page<T> {
        self.page_from(self.offset, items)
    }

    fn page_from<T>(&self, offset: usize, items: Vec<T>) -> Page<T> {
        let (total, limit) = (items.len(), self.limit());
        let items: Vec<T> = items.into_iter().skip(offset).take(limit).collect();
        let end = offset.min(total) + items.len();
        let more = end < total;
        let next = more.then(|| URL_SAFE_NO_PAD.encode(format!("offset:{end}")));
        Page { items, offset, limit, total, more, next }
    }
}

fn decode(cursor: &str) -> Option<usize> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    std::str::from_utf8(&bytes).ok()?.strip_prefix("offset:")?.parse().ok()
}
