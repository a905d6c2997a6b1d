//! One frame of an event stream as it is written.

use serde::Serialize;

/// Writes a frame: the lines before its data, the data as JSON, and the lines after it.
pub(crate) fn write_frame(bytes: &mut Vec<u8>, before: &str, data: &impl Serialize, after: &str) {
    bytes.extend_from_slice(before.as_bytes());
    bytes.extend_from_slice(b"data: ");
    // Writing our own types into memory cannot fail.
    let _ = serde_json::to_writer(&mut *bytes, data);
    bytes.push(b'\n');
    bytes.extend_from_slice(after.as_bytes());
    bytes.push(b'\n');
}

/// A frame by itself.
pub(crate) fn frame(before: &str, data: &impl Serialize, after: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, before, data, after);
    bytes
}
