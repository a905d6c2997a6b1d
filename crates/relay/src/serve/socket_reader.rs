//! A reader of a held socket. It uses the relay's subprotocol `turnwire.v1`, which `docs/relay.md` describes.

use std::fmt::Write;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response as HttpResponse, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::SplitStream;
use futures_util::{FutureExt, SinkExt, StreamExt};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use super::Call;
use super::delivery::{HEARTBEAT, PAGE};
use super::held::{Held, Socket};
use super::refusal::Refusal;
use super::wanted;
use crate::held::{Attached, Place, Refused, Step, Words};
use crate::limits::Kind;
use crate::tunnel::{self, Tunnel};

/// The relay's subprotocol.
const SUBPROTOCOL: &str = "turnwire.v1";
/// The query parameter with the name of a conversation.
const CONVERSATION: &str = "conversation";
/// The conversation of readers that name none.
const MAIN: &str = "main";
/// The longest name of a conversation, in bytes.
const LONGEST_NAME: usize = 128;
/// How long a reader may take to attach.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a reader may be silent. It is pinged in each heartbeat.
const SILENCE: Duration = Duration::from_mins(1);
/// How long a closing socket may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Why the relay closes a reader's socket: the code and the reason of its close frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Farewell(u16, &'static str);

const BAD_ATTACH: Farewell = Farewell(4000, "bad_attach");
const ENDED: Farewell = Farewell(4001, "ended");
const FELL_BEHIND: Farewell = Farewell(4002, "fell_behind");
const SUPERSEDED: Farewell = Farewell(4003, "superseded");
const LIFETIME: Farewell = Farewell(4004, "lifetime");
const TOO_MANY: Farewell = Farewell(4005, "too_many_readers");
const BINARY: Farewell = Farewell(1003, "only_text");

/// A reader's first message.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attach {
    /// The type of the message: `attach`.
    turnwire: String,
    reader: String,
    log: Option<String>,
    after: Option<u64>,
}

/// Whether a request for a socket offers the relay's subprotocol.
pub(super) fn is_wanted(head: &HeaderMap) -> bool {
    let offers = head.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    offers.flat_map(|offers| offers.split(',')).any(|offer| offer.trim() == SUBPROTOCOL)
}

/// Opens a reader's socket, and the agent's if necessary.
pub(super) async fn open(mut call: Call, tunnel: Tunnel, words: &'static Words) -> Result<Response, Refusal> {
    if call.app.is_draining() {
        return Err(Refusal::draining());
    }
    let key = call.head.get(header::SEC_WEBSOCKET_KEY).map(|key| derive_accept_key(key.as_bytes()));
    let accept = key.and_then(|accept| HeaderValue::from_str(&accept).ok());
    let accept = accept.ok_or_else(|| Refusal::bad("a WebSocket's request needs `sec-websocket-key`"))?;
    let named = call.query.iter().find(|(name, _)| name == CONVERSATION).map(|(_, name)| name.clone());
    call.query.retain(|(name, _)| name != CONVERSATION);
    let conversation = named.unwrap_or_else(|| MAIN.to_owned());
    if conversation.is_empty() || conversation.len() > LONGEST_NAME {
        return Err(Refusal::bad("`conversation` must have 1 to 128 bytes"));
    }
    let in_use = call.app.usage.take(Kind::Stream, &call.caller.subject)?;
    let held = call.app.sockets.open(&call, &conversation, words).await?;
    let lives = call.caller.stays();
    let client = tunnel.into_client();
    tokio::spawn(async move {
        let _in_use = in_use;
        if let Ok(client) = client.await {
            let most = Some(call.app.config.limits.body);
            let config = WebSocketConfig::default().max_message_size(most).max_frame_size(most);
            let socket =
                WebSocketStream::from_raw_socket(TokioIo::new(client), Role::Server, Some(config)).await;
            serve(&held, socket, lives).await;
        }
    });
    let mut response = HttpResponse::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    tunnel::ask_for(headers);
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    Ok(response)
}

async fn serve(held: &Held, socket: Socket, lives: Duration) {
    let (mut to, mut from) = socket.split();
    let farewell = match timeout(PATIENCE, attach(held, &mut from)).await {
        Ok(Ok(attached)) => {
            let speaking = speak(held, attached, &mut to, HEARTBEAT);
            let farewell = tokio::select! {
                farewell = listen(held, attached, &mut from) => farewell,
                farewell = speaking => farewell,
                () = sleep(lives) => Some(LIFETIME),
            };
            held.socket().detach(attached);
            farewell
        }
        Ok(Err(farewell)) => farewell,
        Err(_) => Some(BAD_ATTACH),
    };
    let Some(Farewell(code, reason)) = farewell else { return };
    let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
    let closing = async {
        if to.send(Message::Close(Some(frame))).await.is_ok() {
            // Gives the client time to answer the close frame.
            while let Some(Ok(_)) = from.next().await {}
        }
    };
    let _ = timeout(FAREWELL, closing).await;
}

/// Attaches a reader by its first message. The error says how its socket is closed; `None` if it is closed already.
async fn attach(held: &Held, from: &mut SplitStream<Socket>) -> Result<Attached, Option<Farewell>> {
    let text = loop {
        match from.next().await {
            Some(Ok(Message::Text(text))) => break text,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Binary(_))) => return Err(Some(BAD_ATTACH)),
            _ => return Err(None),
        }
    };
    let attach: Attach = serde_json::from_str(&text).map_err(|_| Some(BAD_ATTACH))?;
    if attach.turnwire != "attach" || attach.log.is_some() != attach.after.is_some() {
        return Err(Some(BAD_ATTACH));
    }
    let own = held.socket().log();
    let place = attach.after.map(|after| Place {
        // A different name means a different journal.
        log: if attach.log == Some(wanted::log_name(own)) { own } else { !own },
        after,
    });
    held.attach(&attach.reader, place).map_err(|refused| {
        Some(match refused {
            Refused::Name => BAD_ATTACH,
            Refused::Readers => TOO_MANY,
            Refused::Ended(_) => ENDED,
        })
    })
}

/// Handles a reader's messages until it leaves.
async fn listen(held: &Held, attached: Attached, from: &mut SplitStream<Socket>) -> Option<Farewell> {
    loop {
        match timeout(SILENCE, from.next()).await {
            Ok(Some(Ok(Message::Text(text)))) => held.said(attached.reader, &text).await,
            Ok(Some(Ok(Message::Binary(_)))) => return Some(BINARY),
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)))) => {}
            Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) | Err(_) => return None,
        }
    }
}

/// Sends a reader its messages as fast as it reads, and a ping at each interval.
async fn speak<W>(held: &Held, attached: Attached, to: &mut W, often: Duration) -> Option<Farewell>
where
    W: SinkExt<Message> + Unpin,
{
    let mut news = held.news();
    let mut beat = interval(often);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.reset_at(Instant::now() + often);
    let log = wanted::log_name(held.socket().log());
    let Attached { mut after, is_whole, .. } = attached;
    let hello = format!(r#"{{"turnwire":"attached","log":"{log}","after":{after},"whole":{is_whole}}}"#);
    to.send(Message::text(hello)).await.ok()?;
    loop {
        news.mark_unchanged();
        let step = held.socket().step(attached, after, PAGE);
        match step {
            Step::Read(messages, at) if at > after => {
                // Even while it catches up: that it reads does not prove that it still sends.
                if beat.tick().now_or_never().is_some() {
                    to.feed(Message::Ping(Bytes::new())).await.ok()?;
                }
                for (number, text) in messages {
                    let mut frame = String::with_capacity(text.len() + 8);
                    // Writing to a string cannot fail.
                    let _ = write!(frame, "{number} {text}");
                    to.feed(Message::text(frame)).await.ok()?;
                }
                to.flush().await.ok()?;
                after = at;
            }
            Step::Read(..) => {
                tokio::select! {
                    // The sender lives as long as the socket.
                    _ = news.changed() => {}
                    _ = beat.tick() => to.send(Message::Ping(Bytes::new())).await.ok()?,
                }
            }
            Step::FellBehind => return Some(FELL_BEHIND),
            Step::Superseded => return Some(SUPERSEDED),
            Step::Ended(reason) => {
                let end = format!(r#"{{"turnwire":"ended","reason":"{}"}}"#, reason.name());
                to.send(Message::text(end)).await.ok()?;
                return Some(ENDED);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc::channel;

    use futures_util::sink::unfold;

    use super::*;
    use crate::held::{Bounds, EndReason};
    use crate::route::Protocol;

    /// A reader that takes its time for each message.
    #[tokio::test]
    async fn a_reader_that_catches_up_is_asked_for_a_sign_of_life() {
        let words = Words::of(Protocol::Codex).expect("its words");
        let bounds = Bounds { journal: usize::MAX, readers: 1, requests: 1 };
        let (held, _for_agent) = Held::new(words, bounds).expect("a socket");
        let attached = held.attach("slow", None).expect("room");
        for _ in 0..20 {
            held.heard(&"x".repeat(PAGE)).await;
        }
        held.end(EndReason::Stopped);
        let (heard, pings) = channel();
        let reader = unfold(heard, |heard, message: Message| async move {
            sleep(Duration::from_millis(5)).await;
            heard.send(message.is_ping()).map_err(drop)?;
            Ok::<_, ()>(heard)
        });
        let farewell = speak(&held, attached, &mut pin!(reader), Duration::from_millis(10)).await;
        assert_eq!(farewell, Some(ENDED));
        assert!(pings.try_iter().any(|is_ping| is_ping));
    }
}
