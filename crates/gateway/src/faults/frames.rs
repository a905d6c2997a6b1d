//! The frames of an event stream as bytes: where they end, and their ids.

/// Whole frames, each with its blank line. Bytes after the last blank line are a frame too.
pub(crate) fn frames(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").map_or(bytes.len(), |at| at + 2);
        let (frame, rest) = bytes.split_at(end);
        bytes = rest;
        Some(frame)
    })
}

/// Whether a frame carries an event, or else is a comment.
pub(super) fn is_event(frame: &[u8]) -> bool {
    !frame.starts_with(b":")
}

/// The sequence number of a frame.
pub(super) fn number(frame: &[u8]) -> Option<u64> {
    id(frame)?.parse().ok()
}

/// The id of a frame.
pub(crate) fn id(frame: &[u8]) -> Option<&str> {
    std::str::from_utf8(frame.split(|&byte| byte == b'\n').find_map(id_of)?).ok()
}

/// The frame with another id, or with none.
pub(crate) fn with_id(frame: &[u8], id: Option<&str>) -> Vec<u8> {
    let mut written = Vec::with_capacity(frame.len() + 24);
    for line in frame.split_inclusive(|&byte| byte == b'\n') {
        if id_of(line).is_none() {
            written.extend_from_slice(line);
        } else if let Some(id) = id {
            written.extend_from_slice(format!("id: {id}\n").as_bytes());
        }
    }
    written
}

fn id_of(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"id: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_end_with_a_blank_line() {
        let all: Vec<&[u8]> = frames(b"data: 1\nid: 1\n\n: ping\n\ndata: 2\n\n").collect();
        assert_eq!(all, [&b"data: 1\nid: 1\n\n"[..], b": ping\n\n", b"data: 2\n\n"]);
        assert_eq!(all.iter().map(|frame| is_event(frame)).collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn ids_are_read_and_replaced() {
        let frame = b"data: id: 3\nid: 12\n\n";
        assert_eq!(number(frame), Some(12));
        assert_eq!(with_id(frame, Some("-12")), b"data: id: 3\nid: -12\n\n");
        assert_eq!(with_id(frame, None), b"data: id: 3\n\n");
        assert_eq!(number(b"data: id: 3\n\n"), None);
    }
}
