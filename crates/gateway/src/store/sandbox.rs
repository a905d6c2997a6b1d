//! The files that agents wrote in their sandboxes.

use std::collections::HashMap;
use std::sync::Mutex;

use bytes::Bytes;

use crate::lock::lock;

/// All sandboxes, by id; each holds files by absolute path.
#[derive(Debug, Default)]
pub(crate) struct Sandboxes {
    files: Mutex<HashMap<String, HashMap<String, Bytes>>>,
}

impl Sandboxes {
    pub(crate) fn create(&self, sandbox: &str) {
        lock(&self.files).entry(sandbox.to_owned()).or_default();
    }

    pub(crate) fn write(&self, sandbox: &str, path: String, bytes: Vec<u8>) {
        lock(&self.files).entry(sandbox.to_owned()).or_default().insert(path, bytes.into());
    }

    /// A file of a sandbox. The error names what is not there.
    pub(crate) fn file(&self, sandbox: &str, path: &str) -> Result<Bytes, String> {
        let sandboxes = lock(&self.files);
        let files = sandboxes.get(sandbox).ok_or_else(|| format!("Sandbox not found: {sandbox}"))?;
        files.get(path).cloned().ok_or_else(|| format!("File not found: {path}"))
    }
}
