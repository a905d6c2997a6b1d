//! Names for data in logs on servers. They reveal nothing about users and sessions.

use sha2::{Digest, Sha256};

use super::TurnKey;

/// The name of a turn.
pub(super) fn tag(key: &TurnKey) -> String {
    digest(&[&key.upstream, &key.subject, &key.turn])
}

/// A digest of texts, which includes their lengths so that different lists have different digests.
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
