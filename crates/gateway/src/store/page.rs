//! Pages of a list: a token names the item at which a page begins or ends.
//!
//! Naming an item instead of a position keeps pages whole while new items arrive at the front.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// What an opaque page token says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageToken {
    /// The key of an item of the list.
    pub(crate) key: String,
    /// Whether the page lies before that item, or else after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) before: bool,
}

impl PageToken {
    pub(crate) fn encode(&self) -> String {
        // A struct of a string and a flag always serializes.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    pub(crate) fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

/// One page of a list, and the tokens of its neighbours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
    pub(crate) previous: Option<String>,
}

/// Cuts one page out of a list. `None` if the token names an item that is not in the list.
pub(crate) fn paginate<T>(
    mut items: Vec<T>,
    key: impl Fn(&T) -> String,
    token: Option<&PageToken>,
    limit: usize,
) -> Option<Page<T>> {
    let start = match token {
        None => 0,
        Some(token) => {
            let position = items.iter().position(|item| key(item) == token.key)?;
            if token.before { position.saturating_sub(limit) } else { position + 1 }
        }
    };
    let end = (start + limit).min(items.len());
    let token = |index: usize, before| {
        let key = key(&items[index]);
        PageToken { key, before }.encode()
    };
    let next = (end < items.len() && end > 0).then(|| token(end - 1, false));
    let previous = (start > 0 && start < items.len()).then(|| token(start, true));
    items.truncate(end);
    items.drain(..start);
    Some(Page { items, next, previous })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(token: Option<&str>, limit: usize) -> Page<u32> {
        let token = token.map(|text| PageToken::decode(text).expect("a token"));
        paginate((1..=7).collect(), u32::to_string, token.as_ref(), limit).expect("a page")
    }

    #[test]
    fn pages_lead_forward_and_back() {
        let first = page(None, 3);
        assert_eq!(first.items, [1, 2, 3]);
        assert_eq!(first.previous, None);
        let second = page(first.next.as_deref(), 3);
        assert_eq!(second.items, [4, 5, 6]);
        let third = page(second.next.as_deref(), 3);
        assert_eq!((third.items, third.next), (vec![7], None));
        let back = page(second.previous.as_deref(), 3);
        assert_eq!((back.items, back.previous), (vec![1, 2, 3], None));
    }

    #[test]
    fn foreign_tokens_are_refused() {
        assert_eq!(PageToken::decode("%%%"), None);
        let token = PageToken { key: "99".to_owned(), before: false };
        assert_eq!(paginate(vec![1, 2], i32::to_string, Some(&token), 3), None);
    }
}
