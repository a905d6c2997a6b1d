//! Keys of what a conversation shows. They are made here, never change, and never collide.

/// Tells turns, queued inputs and steered messages of one [`Plan`](super::Plan) apart. An input keeps its key from the
/// queue to its row. A key is not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u32);

/// The next key.
#[derive(Debug, Default)]
pub(super) struct Keys(u32);

impl Keys {
    pub(super) fn make(&mut self) -> Key {
        self.0 = self.0.wrapping_add(1);
        Key(self.0)
    }
}

/// The key as the text that pages see. One that came with the server's list is made of the server's id, so that it is
/// the same after a reload. It begins with another letter than those that are made here.
pub(super) fn name(key: Key, listed_id: &str) -> String {
    let mut name = String::new();
    if listed_id.is_empty() {
        name.push('n');
        crate::json::write_u64(&mut name, u64::from(key.0));
    } else {
        name.push('t');
        name.push_str(listed_id);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_made_here_is_never_one_of_a_server() {
        let mut keys = Keys::default();
        let made = keys.make();
        assert_eq!(name(made, ""), "n1");
        assert_eq!(name(made, "n1"), "tn1");
        assert_ne!(keys.make(), made);
    }
}
