//! Checks that a server implements what a log needs of the protocol, before a turn relies on it.

use std::time::Duration;

use bytes::Bytes;

use super::super::{LogError, new_log_id};
use super::server::{BEGINNING, Posted, Server, Turnstile};

/// How long the probe's stream stays if it cannot be removed.
const LIVES: Duration = Duration::from_mins(1);

/// Writes a stream, and removes it. The error says what the server does not do.
pub(super) async fn probe(server: &Server) -> Result<(), LogError> {
    let path = format!("/probe/{:016x}", new_log_id()?);
    server.make(&path, Some(LIVES), Bytes::new()).await?;
    let fits = fits(server, &path).await;
    server.delete(&path).await?;
    fits?;
    match server.tail(&path).await? {
        None => Ok(()),
        Some(_) => Err(lacking("it does not remove a stream (section 5.3)")),
    }
}

async fn fits(server: &Server, path: &str) -> Result<(), LogError> {
    let producer = 1;
    let steps = [
        (2, 0, Posted::New, "a producer's first record"),
        (2, 0, Posted::Known, "a record that comes twice is taken once"),
        (2, 2, Posted::Gap(1), "a record before the last one was there is refused"),
        (1, 0, Posted::Fenced, "a producer of an older epoch is refused"),
        (3, 0, Posted::New, "a producer of a newer epoch goes on"),
        (2, 1, Posted::Fenced, "the producer before it is refused"),
    ];
    for (epoch, seq, expected, law) in steps {
        let body = Bytes::from(format!("{epoch}.{seq} "));
        let posted = server.post(path, Some(Turnstile { producer, epoch, seq }), false, body).await?;
        if posted != expected {
            return Err(lacking(&format!("{law} (section 5.2.1), but it was {posted:?}")));
        }
    }
    let turnstile = Some(Turnstile { producer, epoch: 3, seq: 1 });
    let closed = server.post(path, turnstile, true, Bytes::from_static(b"end")).await?;
    let beyond = server
        .post(path, Some(Turnstile { producer, epoch: 4, seq: 0 }), false, Bytes::from_static(b"x"))
        .await?;
    if (closed, beyond) != (Posted::New, Posted::Closed) {
        return Err(lacking("what is closed takes nothing more"));
    }
    let read = server.rest(path, BEGINNING).await?;
    let is_whole = read.is_some_and(|(pieces, _)| pieces.concat() == b"2.0 3.0 end");
    let tail = server.tail(path).await?;
    if !is_whole || !tail.is_some_and(|tail| tail.is_closed) {
        return Err(lacking("what was appended is read as it was, and then it is closed"));
    }
    Ok(())
}

fn lacking(law: &str) -> LogError {
    LogError::Unreachable(format!("the streams' server cannot keep turns: {law}"))
}
