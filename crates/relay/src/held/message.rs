//! A message of JSON-RPC 2.0 (its specification, sections 4 and 5): its kind and its id. Everything else passes unread.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message as its members. Their values are kept as sent.
#[derive(Debug)]
pub struct Message<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Expects a response.
    Request,
    /// Expects no response.
    Notification,
    /// Answers a request.
    Response,
    /// None of these.
    Other,
}

impl<'a> Message<'a> {
    /// Reads a message. `None` if it is not an object, or has a duplicate member: parsers differ in which they take.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        let has = |name| self.get(name).is_some();
        match (self.method().is_some(), has("id")) {
            (true, true) => Kind::Request,
            (true, false) => Kind::Notification,
            (false, true) if has("result") || has("error") => Kind::Response,
            (false, _) => Kind::Other,
        }
    }

    /// A member, as JSON.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.get())
    }

    /// Its id, as JSON; empty if it has none.
    #[must_use]
    pub fn id(&self) -> &'a str {
        self.get("id").unwrap_or_default()
    }

    /// The method that it calls.
    #[must_use]
    pub fn method(&self) -> Option<Cow<'a, str>> {
        text_of(self.get("method")?)
    }

    /// The first of these names that its parameters have, as JSON.
    #[must_use]
    pub fn parameter(&self, names: &[&str]) -> Option<&'a str> {
        let parameters = Message::read(self.get("params")?)?;
        names.iter().find_map(|name| parameters.get(name))
    }

    /// The same message with another id, given as JSON.
    #[must_use]
    pub fn with_id(&self, id: &str) -> String {
        let mut text = String::from("{");
        for (name, value) in &self.0 {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&json_of(name));
            text.push(':');
            text.push_str(if name == "id" { id } else { value.get() });
        }
        text.push('}');
        text
    }
}

/// The most members of a message, and of its parameters. JSON-RPC has five; each is compared with all before it.
const MOST_MEMBERS: usize = 256;

/// The decoded text of a JSON string.
#[must_use]
pub fn text_of(json: &str) -> Option<Cow<'_, str>> {
    /// Borrows if there are no escapes.
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str(json).ok().map(|Text(text)| text)
}

/// A value as JSON. Strings and numbers can always be serialized.
pub(super) fn json_of(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl<'de: 'a, 'a> Deserialize<'de> for Message<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Collects the members.
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Message<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    if members.len() == MOST_MEMBERS {
                        return Err(A::Error::custom("it has too many members"));
                    }
                    if members.iter().any(|(known, _)| *known == name) {
                        return Err(A::Error::custom("a member is there twice"));
                    }
                    members.push((name, map.next_value()?));
                }
                Ok(Message(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
