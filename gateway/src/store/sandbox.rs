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

/// The outcome of asking for a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileLookup {
    Found(Bytes),
    NoSuchSandbox,
    NoSuchFile,
}

impl Sandboxes {
    pub(crate) fn create(&self, sandbox: &str) {
        lock(&self.files).entry(sandbox.to_owned()).or_default();
    }

    pub(crate) fn write(&self, sandbox: &str, path: String, bytes: Vec<u8>) {
        lock(&self.files).entry(sandbox.to_owned()).or_default().insert(path, bytes.into());
    }

    pub(crate) fn file(&self, sandbox: &str, path: &str) -> FileLookup {
        match lock(&self.files).get(sandbox) {
            None => FileLookup::NoSuchSandbox,
            Some(files) => {
                files.get(path).map_or(FileLookup::NoSuchFile, |bytes| FileLookup::Found(bytes.clone()))
            }
        }
    }
}
