//! Ids: lower-case ULIDs that sort in the order in which they were made.

use std::sync::Mutex;

use ulid::Generator;

use crate::lock::lock;

/// The source of all ids of a gateway.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    generator: Mutex<Generator>,
}

impl Ids {
    /// The next id, greater than all before.
    pub(crate) fn next(&self) -> String {
        let mut generator = lock(&self.generator);
        loop {
            // It fails only when this millisecond's random part is used up: the next one has more.
            if let Ok(ulid) = generator.generate() {
                return ulid.to_string().to_lowercase();
            }
        }
    }
}

/// A short random suffix of lower-case letters and digits.
pub(crate) fn random_suffix(letters: usize) -> String {
    let mut text = uuid::Uuid::new_v4().simple().to_string();
    text.truncate(letters);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow() {
        let ids = Ids::default();
        let made: Vec<String> = (0..1000).map(|_| ids.next()).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(made.iter().all(|id| id.len() == 26 && *id == id.to_lowercase()));
    }
}
