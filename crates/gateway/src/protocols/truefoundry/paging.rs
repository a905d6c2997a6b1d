//! The query parameters that all lists share, with their defaults and limits.

use serde::Deserialize;

use crate::error::ApiError;
use crate::store::{Page, PageToken, paginate};

/// The query of a list of turns or events. No list uses all of it.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Paging {
    pub(crate) limit: Option<usize>,
    pub(crate) page_token: Option<String>,
    pub(crate) order: Option<Order>,
    pub(crate) last_turn_id: Option<String>,
}

/// `order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    Asc,
    Desc,
}

impl Paging {
    /// The size of a page.
    pub(crate) fn limit(&self, default: usize, most: usize) -> Result<usize, ApiError> {
        let limit = self.limit.unwrap_or(default);
        if (1..=most).contains(&limit) {
            return Ok(limit);
        }
        let message = format!("limit must be between 1 and {most}, got {limit}");
        Err(ApiError::invalid(message))
    }

    pub(crate) fn token(&self) -> Result<Option<PageToken>, ApiError> {
        // Clients send an empty token for the first page.
        let token = self.page_token.as_deref().filter(|text| !text.is_empty());
        token.map(|text| PageToken::decode(text).ok_or_else(invalid_token)).transpose()
    }

    /// The page of a list.
    pub(crate) fn page<T>(
        &self,
        items: Vec<T>,
        key: impl Fn(&T) -> String,
        limit: usize,
    ) -> Result<Page<T>, ApiError> {
        paginate(items, key, self.token()?.as_ref(), limit).ok_or_else(invalid_token)
    }
}

pub(crate) fn invalid_token() -> ApiError {
    ApiError::invalid("Invalid page token")
}
