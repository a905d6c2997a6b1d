//! Lists that are read page by page.

use crate::json::{Object, ObjectWriter, Value};

/// Pages of a list. A server with more repeats them.
const MOST_PAGES: u32 = 4000;

/// The place in a list.
#[derive(Debug, Default)]
pub(super) struct Pager {
    /// Names the next page; empty for the first one.
    token: String,
    /// Pages that were read.
    pages: u32,
}

impl Pager {
    pub(super) fn is_first(&self) -> bool {
        self.token.is_empty()
    }

    /// How many pages were read.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Goes on after this page. Returns whether there is another one; if not, the list begins anew.
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

    /// Writes what names the page.
    pub(super) fn write(&self, params: &mut ObjectWriter<'_>, limit: u64) {
        self.write_as("page_token", params, limit);
    }

    /// Writes what names the page, under the name that this list uses.
    pub(super) fn write_as(&self, name: &str, params: &mut ObjectWriter<'_>, limit: u64) {
        params.u64("limit", limit);
        if !self.token.is_empty() {
            params.str(name, &self.token);
        }
    }
}

/// A session's turns, as far as they were read.
#[derive(Debug, Default)]
pub(super) struct TurnPages {
    pub(super) turns: Vec<Value<'static>>,
    pub(super) pager: Pager,
}

impl TurnPages {
    /// Pages that are read to find one turn.
    const MOST: u32 = 40;

    /// Takes a page. Returns whether there is another one.
    pub(super) fn add(&mut self, page: &Object<'_>) -> bool {
        self.turns.extend(page.array("items").iter().map(|turn| turn.clone().into_owned()));
        self.pager.advance(page)
    }

    /// Whether enough pages were read.
    pub(super) fn is_full(&self) -> bool {
        self.pager.pages() >= Self::MOST
    }
}
