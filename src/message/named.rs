//! JSON by name.

use super::message::Json;

/// JSON by name, in the order in which each came last.
#[derive(Debug, Clone, Default)]
pub(super) struct NamedJson(Vec<(String, Json)>);

impl NamedJson {
    /// Sets what is known under a name.
    pub(super) fn set(&mut self, name: &str, json: Json) {
        if let Some(at) = self.0.iter().position(|(known, _)| known == name) {
            self.0.remove(at);
        }
        self.0.push((name.to_owned(), json));
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, (String, Json)> {
        self.0.iter()
    }
}
