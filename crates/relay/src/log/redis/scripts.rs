//! The scripts. Each runs atomically: Redis decides what a turn's owner may do, as it serializes all owners.

use bytes::Bytes;
use fred::prelude::{Client, Value};
use fred::types::scripts::Script;

use super::super::LogError;
use super::connection::failed;
use crate::mutant::mutant;

/// All scripts, with their digests.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) admit: Script,
    pub(super) append: Script,
    /// The same for an end without frames, which is written even when memory is full.
    pub(super) end: Script,
    pub(super) beat: Script,
    pub(super) claim: Script,
    pub(super) create: Script,
    pub(super) head: Script,
    pub(super) keep: Script,
    pub(super) list: Script,
    pub(super) note: Script,
    pub(super) own: Script,
    pub(super) read: Script,
    pub(super) remove: Script,
    pub(super) replica: Script,
    pub(super) restore: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        let mut append = include_str!("append.lua").to_owned();
        let mut beat = include_str!("beat.lua").to_owned();
        if mutant!("zombie_heard") {
            for script in [&mut append, &mut beat] {
                *script =
                    script.replace(" or turn[2] ~= ARGV[2]", "").replace("if turn[4] then", "if false then");
            }
        }
        Self {
            end: Script::from_lua(append.replacen("#!lua", "#!lua flags=allow-oom", 1)),
            admit: Script::from_lua(include_str!("admit.lua")),
            append: Script::from_lua(append),
            beat: Script::from_lua(beat),
            claim: Script::from_lua(include_str!("claim.lua")),
            create: Script::from_lua(include_str!("create.lua")),
            head: Script::from_lua(include_str!("head.lua")),
            keep: Script::from_lua(include_str!("keep.lua")),
            list: Script::from_lua(include_str!("list.lua")),
            note: Script::from_lua(include_str!("note.lua")),
            own: Script::from_lua(include_str!("own.lua")),
            read: Script::from_lua(include_str!("read.lua")),
            remove: Script::from_lua(include_str!("remove.lua")),
            replica: Script::from_lua(include_str!("replica.lua")),
            restore: Script::from_lua(include_str!("restore.lua")),
        }
    }
}

/// Runs a script whose reply begins with its outcome, and returns the rest of the reply.
pub(super) async fn run(
    client: &Client,
    script: &Script,
    keys: Vec<String>,
    arguments: Vec<Value>,
) -> Result<Vec<Bytes>, LogError> {
    let answer: Vec<Bytes> =
        script.evalsha_with_reload(client, keys, arguments).await.map_err(|error| failed(&error))?;
    let mut answer = answer.into_iter();
    match answer.next().as_deref() {
        Some(b"ok") => Ok(answer.collect()),
        Some(b"fenced") => Err(LogError::Fenced),
        Some(b"closed") => Err(LogError::Closed),
        Some(b"gone") => Err(LogError::Gone),
        Some(b"removed") => Err(LogError::Removed),
        Some(b"tail") => Err(LogError::Tail(answer.next().and_then(|last| number(&last)).unwrap_or(0))),
        other => Err(LogError::Unreachable(format!("Redis: an unknown answer {other:?}"))),
    }
}

/// A number in a reply.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
