//! One WebSocket: hands incoming messages to the methods, and writes the outgoing ones, until it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use tokio::time::{sleep, timeout};
use turnwire_relay::connection::ActiveRequest;

use super::envelope::{Failure, ends_turn, error};
use super::methods::answer;
use super::outbox::Out;
use super::peer::Peer;
use super::thread::App;
use crate::faults::{Ending, MessageEditor, OpenStream, OutFrame};
use crate::http::Output;

/// The largest message that is read. Larger ones end the socket.
pub(super) const LARGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// How long a client may take to answer the close frame.
const CLOSING_LIMIT: Duration = Duration::from_secs(1);
/// How long written bytes have to arrive before a reset, which discards bytes in flight.
const GRACE: Duration = Duration::from_millis(30);
/// How long a silent socket stays open if it is not cut.
const SILENCE: Duration = Duration::from_mins(10);

/// Serves a socket until it ends.
pub(super) async fn serve(app: App, socket: WebSocket, output: Output, _under_way: ActiveRequest) {
    static SOCKETS: AtomicU64 = AtomicU64::new(0);
    let number = SOCKETS.fetch_add(1, Ordering::Relaxed) + 1;
    let connection = output.injection.connection.clone();
    let faults = output.injection.faults;
    let open = app.faults.streams.open(super::SOCKETS.to_owned(), connection);
    let editors = vec![MessageEditor::new(faults.clone())];
    let peer = Arc::new(Peer { number, outbox: Arc::default(), delivery: output.delivery, faults });
    let mut line = Line { socket, open, editors };
    let ending = line.run(&app, &peer).await;
    peer.outbox.close();
    if let Some(ending) = ending {
        line.end(ending).await;
    }
    app.own.leave_all(number);
}

struct Line {
    socket: WebSocket,
    open: OpenStream,
    /// What applies faults to the frames, one after another.
    editors: Vec<MessageEditor>,
}

/// What happens next on a socket.
enum Next {
    Came(Option<Result<Message, axum::Error>>),
    Out(Out),
}

impl Line {
    /// Reads and writes. Returns how to end the socket; `None` if it has ended by itself.
    async fn run(&mut self, app: &App, peer: &Arc<Peer>) -> Option<Ending> {
        if let Some(ending) = self.editors.iter().find_map(MessageEditor::begin) {
            return Some(ending);
        }
        loop {
            let next = tokio::select! {
                ending = self.open.order() => return Some(ending),
                came = self.socket.recv() => Next::Came(came),
                out = peer.outbox.next() => Next::Out(out),
            };
            match next {
                Next::Came(Some(Ok(message))) => self.came(app, peer, &message),
                Next::Came(Some(Err(error))) => {
                    self.refuse(&error).await;
                    return None;
                }
                Next::Came(None) => return None,
                Next::Out(Out::End(ending)) => return Some(ending),
                Next::Out(Out::Apply(editor)) => self.editors.push(editor),
                Next::Out(Out::Frame(frame)) => {
                    if let Some(ending) = self.write(frame).await? {
                        return Some(ending);
                    }
                }
            }
        }
    }

    fn came(&mut self, app: &App, peer: &Arc<Peer>, message: &Message) {
        match message {
            Message::Text(text) => answer(app, peer, &self.open, text),
            Message::Binary(_) => {
                let failure = Failure::invalid_request("no upload is open for a binary frame");
                peer.outbox.send(error(None, &failure));
            }
            // Pings were answered when they were read.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => {}
        }
    }

    /// Writes what the faults make of a frame. Returns how to end the socket after it, if at all; `None` if the socket
    /// has ended.
    async fn write(&mut self, frame: OutFrame) -> Option<Option<Ending>> {
        let mut frames = vec![frame];
        let mut ending = None;
        for editor in &mut self.editors {
            let mut edited = Vec::new();
            for frame in frames {
                let (more, end) = editor.edit(frame, ends_turn);
                edited.extend(more);
                if end.is_some() {
                    ending = end;
                    break;
                }
            }
            frames = edited;
        }
        for frame in frames {
            let message = match frame {
                OutFrame::Text(text) => Message::Text(text),
                OutFrame::Bytes(bytes) => Message::Binary(bytes),
            };
            self.socket.send(message).await.ok()?;
        }
        Some(ending)
    }

    /// Ends a socket that received an invalid or too large message.
    async fn refuse(&mut self, error: &axum::Error) {
        let is_too_large = error.to_string().contains("too long");
        let code = if is_too_large { close_code::SIZE } else { close_code::PROTOCOL };
        self.close(code, "the message cannot be read").await;
    }

    async fn end(&mut self, how: Ending) {
        match how {
            Ending::Eof => self.close(close_code::AWAY, "on purpose").await,
            Ending::Reset => {
                sleep(GRACE).await;
                self.open.connection.reset();
            }
            // Nothing is read, so pings get no response either.
            Ending::Stall | Ending::Comments => {
                if let Ok(ending @ (Ending::Eof | Ending::Reset)) = timeout(SILENCE, self.open.order()).await
                {
                    Box::pin(self.end(ending)).await;
                }
            }
        }
    }

    /// Closes with a handshake: waits for the client's close frame.
    async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame { code, reason: reason.into() };
        let farewell = async {
            if self.socket.send(Message::Close(Some(frame))).await.is_ok() {
                while let Some(Ok(_)) = self.socket.recv().await {}
            }
        };
        // A client that does not answer is dropped.
        let _ = timeout(CLOSING_LIMIT, farewell).await;
    }
}
