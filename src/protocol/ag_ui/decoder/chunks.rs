//! Chunks: pieces that implicitly begin a message or call, and end the one before in their lane (section 3.2).
//!
//! A lane is the parent agent, or one subagent.

use crate::json::Object;
use crate::protocol::EventSink;

use super::frames::Kind;
use super::{Problem, REASONING, Run, key};

/// The open message or call of a lane.
#[derive(Debug)]
pub(super) struct Chunk {
    lane: String,
    kind: ChunkKind,
    id: String,
}

/// What a chunk belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkKind {
    /// A message of this role.
    Message(&'static str),
    Call,
}

impl Run {
    /// Ends what a frame of this type implicitly ends. Chunks decide this themselves.
    pub(super) fn close_chunks(&mut self, kind: Kind, fields: &Object<'_>, sink: &mut dyn EventSink) {
        if self.chunks.is_empty() {
            return;
        }
        match kind {
            Kind::Raw
            | Kind::Activity
            | Kind::Encrypted
            | Kind::SubagentStarted
            | Kind::Chunk
            | Kind::Unknown => {}
            Kind::RunStarted | Kind::RunFinished | Kind::RunError | Kind::MessagesSnapshot => {
                self.close_all_chunks(sink);
            }
            _ => self.close_lane(fields.text("subagentRunId"), sink),
        }
    }

    pub(super) fn close_all_chunks(&mut self, sink: &mut dyn EventSink) {
        while let Some(chunk) = self.chunks.pop() {
            self.close_chunk(&chunk, sink);
        }
    }

    fn close_lane(&mut self, lane: &str, sink: &mut dyn EventSink) {
        if let Some(at) = self.chunks.iter().position(|chunk| chunk.lane == lane) {
            let chunk = self.chunks.remove(at);
            self.close_chunk(&chunk, sink);
        }
    }

    fn close_chunk(&mut self, chunk: &Chunk, sink: &mut dyn EventSink) {
        const NONE: &Object<'_> = &Object::new();
        match chunk.kind {
            ChunkKind::Message(role) => self.close(&key(role, &chunk.id), NONE, sink),
            ChunkKind::Call => {
                let end = super::with_text("toolCallId", &chunk.id);
                self.call_end(&end, sink);
            }
        }
    }

    /// A chunk.
    pub(super) fn chunk(
        &mut self,
        wire_type: &str,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let (kind, name) = match wire_type {
            "TEXT_MESSAGE_CHUNK" => (ChunkKind::Message("assistant"), "messageId"),
            "REASONING_MESSAGE_CHUNK" => (ChunkKind::Message(REASONING), "messageId"),
            _ => (ChunkKind::Call, "toolCallId"),
        };
        let [said, lane] = [name, "subagentRunId"].map(|name| fields.text(name).to_owned());
        let open = self.open_chunk(kind, &said, &lane)?;
        let (id, is_new) = match open {
            Some((id, of_lane)) => {
                fields.set("subagentRunId", of_lane.into());
                (id, false)
            }
            None if said.is_empty() => return Err(super::missing(name)),
            None => (said, true),
        };
        if is_new {
            if kind == ChunkKind::Call {
                super::text(fields, "toolCallName")?;
            }
            self.close_lane(&lane, sink);
            self.chunks.push(Chunk { lane, kind, id: id.clone() });
        } else {
            self.check_chunk(kind, &id, fields, sink);
        }
        fields.set(name, id.clone().into());
        if fields.text("delta").is_empty() {
            fields.set("delta", "".into());
        }
        match kind {
            ChunkKind::Message(role) => {
                if is_new {
                    self.message_start(role, fields, sink);
                }
                self.message_content(role, fields, sink);
                Ok(())
            }
            ChunkKind::Call => {
                if is_new {
                    self.call_chunk_start(&id, fields, sink)?;
                }
                self.call_arguments(fields, sink)
            }
        }
    }

    /// The open message or call that a chunk continues, by id and lane: the one it names, or else the one of its lane,
    /// or the only one of its kind.
    fn open_chunk(&self, kind: ChunkKind, id: &str, lane: &str) -> Result<Option<(String, String)>, Problem> {
        let of_kind = || self.chunks.iter().filter(|chunk| chunk.kind == kind);
        let found = if id.is_empty() {
            match of_kind().find(|chunk| chunk.lane == lane) {
                Some(chunk) => Some(chunk),
                None if lane.is_empty() && of_kind().count() == 1 => of_kind().next(),
                None if lane.is_empty() && of_kind().count() > 1 => {
                    return Err("it may belong to several messages".to_owned());
                }
                None => None,
            }
        } else {
            of_kind().find(|chunk| chunk.id == id && (lane.is_empty() || chunk.lane == lane))
        };
        Ok(found.map(|chunk| (chunk.id.clone(), chunk.lane.clone())))
    }

    /// Checks that the fields repeated by a later chunk are unchanged.
    fn check_chunk(&mut self, kind: ChunkKind, id: &str, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let differs = match kind {
            ChunkKind::Call => {
                let name = fields.text("toolCallName");
                !name.is_empty() && self.call(id).is_some_and(|call| call.name != name)
            }
            ChunkKind::Message(REASONING) => false,
            ChunkKind::Message(_) => {
                let role = fields.text("role");
                let number = self.names.get(id).map(|number| number as usize);
                let known = number.and_then(|number| self.kept(number));
                !role.is_empty() && known.is_some_and(|message| message.role() != role)
            }
        };
        if differs {
            self.violation("conflicting_chunk", id, sink);
        }
    }
}
