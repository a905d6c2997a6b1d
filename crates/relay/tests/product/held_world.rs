//! The two ends of a held socket: an agent whose every message the test writes, and pages that speak the relay's subprotocol.

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, accept_hdr_async, connect_async};

use crate::wire::within;

/// An agent's server. It accepts every socket by itself: a page's socket opens after the agent's.
pub(crate) struct Agent {
    opened: Mutex<mpsc::UnboundedReceiver<Upstream>>,
    accepting: JoinHandle<()>,
    /// Its address.
    pub(crate) url: String,
}

/// A socket of the agent's.
pub(crate) struct Upstream {
    socket: WebSocketStream<TcpStream>,
    /// The head of its request: the target, and the headers.
    pub(crate) head: String,
}

impl Agent {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("ws://{}", listener.local_addr().expect("an address"));
        let (accepted, opened) = mpsc::unbounded_channel();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut head = String::new();
                #[allow(clippy::result_large_err, reason = "the library's own type")]
                let seen = |request: &Request, response: Response| {
                    head = format!("{} {:?}", request.uri(), request.headers());
                    Ok(response)
                };
                let socket = within(accept_hdr_async(stream, seen)).await.expect("a socket");
                if accepted.send(Upstream { socket, head }).is_err() {
                    return;
                }
            }
        });
        Self { opened: Mutex::new(opened), accepting, url }
    }

    /// The next socket that was opened.
    pub(crate) async fn accept(&self) -> Upstream {
        within(self.opened.lock().await.recv()).await.expect("a socket")
    }

    /// Nothing listens at its address any more.
    pub(crate) async fn stop(self) {
        self.accepting.abort();
        assert!(self.accepting.await.is_err_and(|error| error.is_cancelled()));
    }
}

impl Upstream {
    /// The next message. `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            match within(self.socket.next()).await {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).expect("JSON")),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return None,
            }
        }
    }

    pub(crate) async fn hear(&mut self) -> Value {
        self.next().await.expect("a message")
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        within(self.socket.send(Message::text(message.to_string()))).await.expect("sent");
    }

    /// Answers the next request, which must be of this method. Returns it.
    pub(crate) async fn answer(&mut self, method: &str, result: &Value) -> Value {
        let request = self.hear().await;
        assert_eq!(request["method"], method, "{request}");
        self.say(&serde_json::json!({ "id": request["id"], "result": result })).await;
        request
    }
}

/// What a page receives.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    /// A message with its number.
    Message(u64, Value),
    /// The relay's own, without one.
    Own(Value),
    /// The end: the code and the reason. 1006 if the connection broke.
    Closed(u16, String),
}

/// A page.
pub(crate) struct Page {
    socket: Option<WebSocketStream<MaybeTlsStream<TcpStream>>>,
    /// What the relay has said to it first.
    pub(crate) attached: Value,
    /// The number of the last message.
    pub(crate) last: u64,
}

/// Opens a socket that offers the subprotocol, and attaches to nothing yet. An error has the status.
pub(crate) async fn open(
    address: &str,
    query: &str,
) -> Result<WebSocketStream<MaybeTlsStream<TcpStream>>, u16> {
    let mut request = format!("ws://{address}/a{query}").into_client_request().expect("a request");
    let head = request.headers_mut();
    head.insert("sec-websocket-protocol", "turnwire.v1".parse().expect("a value"));
    match within(connect_async(request)).await {
        Ok((socket, response)) => {
            assert_eq!(response.headers()["sec-websocket-protocol"], "turnwire.v1");
            Ok(socket)
        }
        Err(tokio_tungstenite::tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

impl Page {
    /// A page of this name comes for the first time.
    pub(crate) async fn come(address: &str, query: &str, name: &str) -> Self {
        Self::attach(address, query, serde_json::json!({ "turnwire": "attach", "reader": name })).await
    }

    /// Reconnects at its last place.
    pub(crate) async fn again(&self, address: &str, query: &str, name: &str) -> Self {
        let place = serde_json::json!({
            "turnwire": "attach", "reader": name, "log": self.attached["log"], "after": self.last,
        });
        Self::attach(address, query, place).await
    }

    async fn attach(address: &str, query: &str, first: Value) -> Self {
        let socket = open(address, query).await.expect("a socket");
        let mut page = Self { socket: Some(socket), attached: Value::Null, last: 0 };
        page.say(&first).await;
        let Heard::Own(attached) = page.hear().await else { panic!("not attached") };
        assert_eq!(attached["turnwire"], "attached", "{attached}");
        page.last = attached["after"].as_u64().expect("a number");
        page.attached = attached;
        page
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.say_text(&message.to_string()).await;
    }

    pub(crate) async fn say_text(&mut self, text: &str) {
        say(self.socket.as_mut().expect("a connection"), text).await;
    }

    /// Its connection is gone, without a word.
    pub(crate) fn cut(&mut self) {
        self.socket = None;
    }

    pub(crate) async fn hear(&mut self) -> Heard {
        let heard = heard(self.socket.as_mut().expect("a connection")).await;
        if let Heard::Message(number, _) = heard {
            assert!(number > self.last, "{number} after {}", self.last);
            self.last = number;
        }
        heard
    }

    /// The next message with a number.
    pub(crate) async fn message(&mut self) -> Value {
        match self.hear().await {
            Heard::Message(_, message) => message,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a request.
    pub(crate) async fn ask(&mut self, id: u64, method: &str) {
        self.say(&serde_json::json!({ "id": id, "method": method })).await;
    }

    /// Receives the end of the socket, and is closed.
    pub(crate) async fn ends(&mut self, reason: &str) {
        let end = serde_json::json!({ "turnwire": "ended", "reason": reason });
        assert_eq!(self.hear().await, Heard::Own(end));
        assert_eq!(self.hear().await, Heard::Closed(4001, "ended".to_owned()));
    }
}

pub(crate) async fn say(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>, text: &str) {
    within(socket.send(Message::text(text))).await.expect("sent");
}

/// The next message on a socket.
pub(crate) async fn heard(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> Heard {
    loop {
        match within(socket.next()).await {
            Some(Ok(Message::Text(text))) if text.starts_with('{') => {
                return Heard::Own(serde_json::from_str(&text).expect("JSON"));
            }
            Some(Ok(Message::Text(text))) => {
                let (number, message) = text.split_once(' ').expect("a number and a message");
                let message = serde_json::from_str(message).expect("JSON");
                return Heard::Message(number.parse().expect("a number"), message);
            }
            Some(Ok(Message::Close(Some(frame)))) => {
                return Heard::Closed(frame.code.into(), frame.reason.to_string());
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            _ => return Heard::Closed(1006, String::new()),
        }
    }
}
