//! The content of a message as protocols have it: a text, or a list of parts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A text, or parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Content<P> {
    Text(String),
    Parts(Vec<P>),
}

/// By hand, since an untagged enum would not say which part is wrong.
impl<'de, P: DeserializeOwned> Deserialize<'de> for Content<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Array(parts) => {
                let parts =
                    parts.into_iter().map(|part| serde_json::from_value(part).map_err(D::Error::custom));
                parts.collect::<Result<_, _>>().map(Self::Parts)
            }
            _ => Err(D::Error::custom("content must be a string or a list of parts")),
        }
    }
}

impl<P> Content<P> {
    /// The parts; a text has none.
    pub(crate) fn parts(&self) -> &[P] {
        match self {
            Self::Text(_) => &[],
            Self::Parts(parts) => parts,
        }
    }

    /// All text. `of` is that of a part; texts of parts are joined by blank lines.
    pub(crate) fn text_by(&self, of: impl Fn(&P) -> Option<&str>) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => parts.iter().filter_map(of).collect::<Vec<_>>().join("\n\n"),
        }
    }
}

/// The media type of a `data:` URL in base64, and the size of its data if that can be decoded.
pub(crate) fn data_url(url: &str) -> Option<(&str, Option<usize>)> {
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some((mime, STANDARD.decode(data).ok().map(|bytes| bytes.len())))
}
