//! Whether a server still has the conversation that a thread's id stands for.

use crate::error::{Error, ErrorCode};
use crate::json::Value;

/// When threads were created, as the server says.
///
/// A server that has lost a thread may create an empty one of the same id when it is subscribed to. It is told from
/// the earlier one by the time of its creation.
#[derive(Debug, Default)]
pub(super) struct CreationTimes(Vec<(String, String)>);

impl CreationTimes {
    /// Takes a thread as a response has it: JSON in turnwire's form. Returns whether it is not the one that was known.
    /// `recreates`: the request creates a thread that the server does not have, without what was said in it.
    pub(super) fn is_another(&mut self, session: &str, recreates: bool) -> bool {
        let session = Value::parse(session).unwrap_or_default();
        let Some(session) = session.as_object() else { return false };
        let (id, created_at) = (session.text("id"), session.text("created_at"));
        let known = self.0.iter_mut().find(|(known, _)| known == id);
        match known {
            Some((_, known)) if recreates && !known.is_empty() => {
                !created_at.is_empty() && known != created_at
            }
            Some((_, known)) => {
                created_at.clone_into(known);
                false
            }
            None => {
                self.0.push((id.to_owned(), created_at.to_owned()));
                false
            }
        }
    }
}

/// Why a call fails whose conversation is gone.
pub(super) fn lost() -> Error {
    let problem = "the server no longer has this conversation: create another session";
    Error::new(ErrorCode::Rpc, problem).with_status(Some(404))
}
