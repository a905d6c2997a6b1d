//! Lists that are read page by page.

use crate::json::{Object, ObjectWriter, Value};

/// Turns per page: the maximum that servers return (sections 1.2 and #5).
pub(super) const PAGE: u64 = 25;
/// The maximum number of pages of a list. A server with more pages repeats them.
const MOST_PAGES: u32 = 4000;

/// The position in a list.
#[derive(Debug, Default)]
pub(super) struct Pager {
    /// The token of the next page; empty for the first one.
    token: String,
    /// The number of pages read.
    pages: u32,
}

impl Pager {
    pub(super) fn is_first(&self) -> bool {
        self.token.is_empty()
    }

    /// The number of pages read.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Moves past this page. Returns whether there is another one; if not, the list starts over.
    pub(super) fn advance(&mut self, page: &Object<'_>) -> bool {
        self.pages += 1;
        let token = page.text("next");
        let has_next = !token.is_empty() && token != self.token && self.pages < MOST_PAGES;
        if has_next {
            token.clone_into(&mut self.token);
        } else {
            *self = Self::default();
        }
        has_next
    }

    /// Writes the page's token and limit.
    pub(super) fn write(&self, params: &mut ObjectWriter<'_>, limit: u64) {
        self.write_as("page_token", params, limit);
    }

    /// Writes them, with the name that this list uses for the token.
    pub(super) fn write_as(&self, name: &str, params: &mut ObjectWriter<'_>, limit: u64) {
        params.u64("limit", limit);
        if !self.token.is_empty() {
            params.str(name, &self.token);
        }
    }
}

/// A session's turns read so far.
#[derive(Debug, Default)]
pub(super) struct TurnPages {
    pub(super) turns: Vec<Value<'static>>,
    pub(super) pager: Pager,
}

impl TurnPages {
    /// The maximum number of pages to read to find one turn.
    const MOST: u32 = 40;

    /// Takes a page. Returns whether there is another one.
    pub(super) fn add(&mut self, page: &Object<'_>) -> bool {
        self.turns.extend(page.array("items").iter().map(|turn| turn.clone().into_owned()));
        self.pager.advance(page)
    }

    /// Whether the maximum number of pages was read.
    pub(super) fn is_full(&self) -> bool {
        self.pager.pages() >= Self::MOST
    }
}
