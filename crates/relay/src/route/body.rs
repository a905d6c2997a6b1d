//! What the relay reads of a request's body: its top-level keys, and the ids among them. The body passes unchanged.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::path::LONGEST;

/// The ids that a start names in its body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) session: Option<String>,
    pub(crate) parent: Option<String>,
}

/// The top-level keys of a body, without duplicates.
#[derive(Debug)]
pub(crate) struct StartBody(Vec<(String, Box<RawValue>)>);

impl StartBody {
    /// Reads a body with any keys.
    pub(crate) fn any(body: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(body).map_err(|error| format!("the body is no JSON object: {error}"))
    }

    /// Reads a body that may have only these keys. The error says what is wrong with it.
    pub(crate) fn read(body: &[u8], keys: &[&str]) -> Result<Self, String> {
        let body = Self::any(body)?;
        match body.0.iter().find(|(key, _)| !keys.contains(&key.as_str())) {
            Some(_) => Err(format!("the body may have these keys only: {}", keys.join(", "))),
            None => Ok(body),
        }
    }

    /// The ids in it.
    pub(crate) fn named(&self) -> Result<Named, String> {
        Ok(Named { session: self.text("threadId")?, parent: self.text("parentRunId")? })
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        let Some((_, value)) = self.0.iter().find(|(name, _)| name == key) else { return Ok(None) };
        let text: Option<String> =
            serde_json::from_str(value.get()).map_err(|_| format!("`{key}` must be a text"))?;
        if text.as_ref().is_some_and(|text| text.len() > LONGEST) {
            return Err(format!("`{key}` may have {LONGEST} bytes"));
        }
        Ok(text.filter(|text| !text.is_empty()))
    }
}

impl<'de> Deserialize<'de> for StartBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = StartBody;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StartBody, A::Error> {
                let mut keys: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    // Of two values, the agent may take the other one.
                    if keys.iter().any(|(name, _)| *name == key) {
                        return Err(A::Error::custom("a key comes twice"));
                    }
                    keys.push((key, value));
                }
                Ok(StartBody(keys))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}
