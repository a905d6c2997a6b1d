//! Names for what is kept, in logs on servers. They show nothing of users and sessions.

use sha2::{Digest, Sha256};

use super::TurnKey;

/// What stands for a turn.
pub(super) fn tag(key: &TurnKey) -> String {
    digest(&[&key.upstream, &key.subject, &key.turn])
}

/// A digest of texts, each with its length, so that no two lists of texts are alike.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text.as_bytes());
    }
    let mut half = [0; 16];
    half.copy_from_slice(&digest.finalize()[..16]);
    format!("{:032x}", u128::from_be_bytes(half))
}
