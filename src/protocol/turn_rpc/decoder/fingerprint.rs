//! Fingerprints of texts, kept in place of the texts.

/// The fingerprint of a text that grows: its length and its hash (FNV-1a).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) len: usize,
    pub(super) hash: u64,
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self { len: 0, hash: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Fingerprint {
    pub(super) fn of(text: &str) -> Self {
        let mut fingerprint = Self::default();
        fingerprint.push(text);
        fingerprint
    }

    pub(super) fn push(&mut self, piece: &str) {
        self.push_bytes(piece.as_bytes());
    }

    /// Adds the hash of a part.
    pub(super) fn push_hash(&mut self, hash: u64) {
        self.push_bytes(&hash.to_le_bytes());
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// Facts that are reported once, by the hashes of their names.
#[derive(Debug, Default)]
pub(super) struct Facts(Vec<u64>);

impl Facts {
    /// Whether a fact with this name was not reported before.
    pub(super) fn is_new(&mut self, name: &str) -> bool {
        self.is_new_hash(Fingerprint::of(name).hash)
    }

    /// Whether a fact with this hash was not reported before.
    pub(super) fn is_new_hash(&mut self, hash: u64) -> bool {
        const MOST: usize = 4096;
        let is_new = !self.0.contains(&hash);
        if is_new && self.0.len() < MOST {
            self.0.push(hash);
        }
        is_new
    }
}
