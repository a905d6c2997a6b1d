//! JSON values by name.

/// JSON as it came; empty if there is none.
pub(crate) type Json = String;

/// JSON values by name, in the order in which each was last set.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamedJson(Vec<(String, Json)>);

impl NamedJson {
    /// Sets the value of a name.
    pub(crate) fn set(&mut self, name: &str, json: Json) {
        if let Some(at) = self.0.iter().position(|(known, _)| known == name) {
            self.0.remove(at);
        }
        self.0.push((name.to_owned(), json));
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, (String, Json)> {
        self.0.iter()
    }
}
