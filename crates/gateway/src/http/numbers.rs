//! Where the events of a stream have their sequence numbers.

use std::str::FromStr;

use bytes::Bytes;

use crate::faults::{frames, id, with_id};

/// How far `different` numbers in the JSON are above those of the ids.
const DIFFERENCE: u64 = 1000;

/// Where events have their sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// In the `id:` of their frames, as the real servers do.
    Id,
    /// In their JSON, as `sequence_number`.
    Json,
    /// In both.
    Both,
    /// In both, those in the JSON 1000 above the others.
    Different,
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "id" => Ok(Self::Id),
            "json" => Ok(Self::Json),
            "both" => Ok(Self::Both),
            "different" => Ok(Self::Different),
            _ => Err(format!("numbers must be id, json, both, or different, got `{text}`")),
        }
    }
}

impl Numbers {
    /// The same frames with their numbers there. A frame without `id:` stays as it is, and so does one that was cut
    /// off, or whose data is no JSON object.
    pub(super) fn apply(self, bytes: Bytes) -> Bytes {
        if self == Self::Id {
            return bytes;
        }
        frames(&bytes).map(|frame| self.frame(frame)).collect::<Vec<_>>().concat().into()
    }

    fn frame(self, frame: &[u8]) -> Vec<u8> {
        let said = id(frame).and_then(|id| self.with_number(frame, id));
        match said {
            Some(said) if self == Self::Json => with_id(&said, None),
            Some(said) => said,
            None => frame.to_vec(),
        }
    }

    /// The frame with this number in its JSON, too.
    fn with_number(self, frame: &[u8], id: &str) -> Option<Vec<u8>> {
        let data = frame.strip_prefix(b"data: {").filter(|_| frame.ends_with(b"\n\n"))?;
        let line = data.iter().position(|&byte| byte == b'\n')?;
        let members = data[..line].strip_suffix(b"}")?;
        let number = match id.parse::<u64>() {
            Ok(number) if self == Self::Different => (number + DIFFERENCE).to_string(),
            // A number that a fault changed is not a string either.
            _ if id.parse::<i128>().is_ok() => id.to_owned(),
            _ => serde_json::Value::from(id).to_string(),
        };
        let comma = if members.is_empty() { "" } else { "," };
        let number = format!("{comma}\"sequence_number\":{number}}}");
        Some([b"data: {", members, number.as_bytes(), &data[line..]].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(numbers: Numbers, frames: &'static str) -> String {
        String::from_utf8(numbers.apply(Bytes::from_static(frames.as_bytes())).to_vec()).expect("UTF-8")
    }

    #[test]
    fn numbers_stand_where_requested() {
        let frame = "data: {\"type\":\"a\"}\nid: 7\n\n";
        for (numbers, expected) in [
            (Numbers::Id, frame),
            (Numbers::Json, "data: {\"type\":\"a\",\"sequence_number\":7}\n\n"),
            (Numbers::Both, "data: {\"type\":\"a\",\"sequence_number\":7}\nid: 7\n\n"),
            (Numbers::Different, "data: {\"type\":\"a\",\"sequence_number\":1007}\nid: 7\n\n"),
        ] {
            assert_eq!(written(numbers, frame), expected);
        }
    }

    #[test]
    fn numbers_changed_by_faults_are_moved_too() {
        for (id, said) in [("-7", "-7"), ("one", "\"one\""), ("1152921504606846977", "1152921504606846977")] {
            let frame = format!("data: {{\"type\":\"a\"}}\nid: {id}\n\n");
            let expected = format!("data: {{\"type\":\"a\",\"sequence_number\":{said}}}\n\n");
            assert_eq!(Numbers::Json.apply(frame.into()), expected);
        }
    }

    #[test]
    fn frames_that_cannot_carry_a_number_stay() {
        for frames in [
            ": ping\n\n",
            "data: {\"a\":1}\n\n",
            "data: [DONE]\nid: 4\n\n",
            "data: {\"a\":1}\nid: 4\n",
            "retry: 5\n\n",
        ] {
            assert_eq!(written(Numbers::Json, frames), frames);
        }
        let several = "data: {\"a\":1}\nid: 1\n\n: ping\n\ndata: {}\nid: 2\n\ndata: {\"a\":";
        let expected = "data: {\"a\":1,\"sequence_number\":1}\n\n: ping\n\ndata: {\"sequence_number\":2}\n\ndata: {\"a\":";
        assert_eq!(written(Numbers::Json, several), expected);
    }

    #[test]
    fn words_are_read() {
        assert_eq!("different".parse(), Ok(Numbers::Different));
        assert_eq!(
            "sse".parse::<Numbers>(),
            Err("numbers must be id, json, both, or different, got `sse`".to_owned())
        );
    }
}
