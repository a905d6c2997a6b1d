//! Converts turns to and from their fields in Redis.

use std::time::Duration;

use bytes::Bytes;
use fred::prelude::Value;

use super::super::{Head, LogError, NewTurn, ResponseHead, Sign, TurnKey};
use super::scripts::number;

/// A turn with all its fields.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) key: TurnKey,
    pub(super) head: Head,
    pub(super) sign: Sign,
}

/// A text or bytes as a script's argument.
pub(super) fn value(bytes: impl Into<Bytes>) -> Value {
    Value::Bytes(bytes.into())
}

/// A log's id.
pub(super) fn log_id(log: u64) -> Value {
    value(format!("{log:016x}"))
}

/// A time.
pub(super) fn millis(time: Duration) -> Value {
    value(time.as_millis().to_string())
}

/// The fields of a turn that never change, as names and values.
pub(super) fn fields(key: &TurnKey, new: &NewTurn) -> Vec<Value> {
    let texts = [("upstream", &key.upstream), ("subject", &key.subject), ("turn", &key.turn)];
    let mut fields: Vec<Value> =
        texts.into_iter().flat_map(|(name, text)| [value(name), value(text.clone())]).collect();
    fields.extend([value("request"), value(Bytes::copy_from_slice(&new.request))]);
    if let Some(session) = &new.session {
        fields.extend([value("session"), value(session.clone())]);
    }
    fields
}

/// Parses the reply of `head.lua`.
pub(super) fn row(answer: &[Bytes]) -> Result<Row, LogError> {
    read(answer).ok_or_else(|| LogError::Unreachable("Redis: a turn there cannot be read".to_owned()))
}

fn read(answer: &[Bytes]) -> Option<Row> {
    let field = |place: usize| answer.get(place)?.strip_prefix(b"=");
    let text = |place: usize| field(place).and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
    let last = number(field(3)?)?;
    let epoch = number(field(2)?)?;
    let end = field(8).map(serde_json::from_slice).transpose().ok()?;
    let has_frames = answer.first()?.as_ref() == b"1";
    let status = field(6).and_then(number).and_then(|status| u16::try_from(status).ok());
    Some(Row {
        key: TurnKey { upstream: text(11)?, subject: text(12)?, turn: text(13)? },
        sign: Sign { epoch, last, beats: field(5).and_then(number).unwrap_or(0) },
        head: Head {
            log: u64::from_str_radix(&text(1)?, 16).ok()?,
            epoch,
            last,
            bytes: number(field(4)?)?,
            response: status.zip(text(7)).map(|(status, content_type)| ResponseHead { status, content_type }),
            end,
            is_expired: end.is_some() && last > 0 && !has_frames,
            new: NewTurn { session: text(9), request: field(10)?.try_into().ok()? },
        },
    })
}
