//! The owners of sessions: a stream for each session, whose first line is the user, and a list of all for purges.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::super::LogError;
use super::names::{self, digest};
use super::server::{BEGINNING, Posted, Server, Turnstile};

/// A session in the list.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    session: String,
    /// A digest.
    subject: String,
}

/// The owner of a session.
pub(super) async fn owner(server: &Server, session: &str) -> Result<Option<String>, LogError> {
    let Some((pieces, _)) = server.rest(&names::session(session), BEGINNING).await? else { return Ok(None) };
    let bytes = pieces.concat();
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    Ok(lines.next().and_then(|line| serde_json::from_slice(line).ok()))
}

/// Records the owner of a session, unless it has one, and returns its owner.
pub(super) async fn own(server: &Server, session: &str, subject: &str) -> Result<String, LogError> {
    let unreadable = |error: serde_json::Error| LogError::Unreachable(error.to_string());
    let line = |mut bytes: Vec<u8>| {
        bytes.push(b'\n');
        Bytes::from(bytes)
    };
    if let Some(owner) = owner(server, session).await? {
        return Ok(owner);
    }
    // The list comes first: a listed session that does not exist does no harm.
    let listed = Line { session: session.to_owned(), subject: digest(&[subject]) };
    let listed = line(serde_json::to_vec(&listed).map_err(unreadable)?);
    if server.post(names::SESSIONS, None, false, listed.clone()).await? == Posted::Gone {
        server.make(names::SESSIONS, None, Bytes::new()).await?;
        server.post(names::SESSIONS, None, false, listed).await?;
    }
    let path = names::session(session);
    server.make(&path, None, Bytes::new()).await?;
    let owned = line(serde_json::to_vec(subject).map_err(unreadable)?);
    // If two users claim it at once, the server accepts one.
    server.post(&path, Some(Turnstile { producer: 0, epoch: 0, seq: 0 }), false, owned).await?;
    let unknown = || LogError::Unreachable("the streams' server: a session's user is not there".to_owned());
    owner(server, session).await?.ok_or_else(unknown)
}

/// Forgets the sessions of a user, or all.
pub(super) async fn purge(server: &Server, subject: Option<&str>) -> Result<(), LogError> {
    let Some((pieces, _)) = server.rest(names::SESSIONS, BEGINNING).await? else { return Ok(()) };
    let meant = subject.map(|subject| digest(&[subject]));
    for line in pieces.concat().split(|&byte| byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { continue };
        if meant.as_ref().is_some_and(|meant| *meant != line.subject) {
            continue;
        }
        if subject.is_none() || owner(server, &line.session).await?.as_deref() == subject {
            server.delete(&names::session(&line.session)).await?;
        }
    }
    if subject.is_none() {
        server.delete(names::SESSIONS).await?;
    }
    Ok(())
}
