//! WebSockets through the relay, to a server that refuses every page.

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async, client_async};
use turnwire_relay::development::{Origins, RelayConfig, SecretHeaders};

use super::world::{named, start, within};

/// What the server does on a socket.
#[derive(Clone, Copy)]
enum Conduct {
    /// It says everything back.
    Echo,
    /// It says one thing and closes.
    Close,
    /// It says one thing and breaks off.
    Reset,
}

/// A server that accepts requests with the key and without an origin.
async fn server(conduct: Conduct) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, conduct));
        }
    });
    address
}

#[allow(clippy::result_large_err)] // the form that the library wants
fn judge(request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    let refused = |status: u16| {
        let mut response = ErrorResponse::new(None);
        *response.status_mut() = status.try_into().expect("a status");
        response
    };
    if request.headers().contains_key("origin") {
        return Err(refused(403));
    }
    if request.headers().get("authorization").is_none_or(|value| value != "Bearer very-secret") {
        return Err(refused(401));
    }
    if let Some(protocol) = request.headers().get("sec-websocket-protocol") {
        response.headers_mut().insert("sec-websocket-protocol", protocol.clone());
    }
    let path = request.uri().path().parse().expect("a value");
    response.headers_mut().insert("x-path", path);
    Ok(response)
}

async fn serve(stream: TcpStream, conduct: Conduct) {
    let Ok(mut socket) = accept_hdr_async(stream, judge).await else { return };
    if !matches!(conduct, Conduct::Echo) {
        socket.send(Message::text("the last word")).await.expect("sent");
    }
    match conduct {
        Conduct::Echo => {
            while let Some(Ok(message)) = socket.next().await {
                if (message.is_text() || message.is_binary()) && socket.send(message).await.is_err() {
                    return;
                }
            }
        }
        Conduct::Close => socket.close(None).await.expect("closed"),
        Conduct::Reset => {
            // What was said has to arrive before.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            socket.get_ref().set_zero_linger().expect("set");
        }
    }
}

async fn relay(server: &str, key: bool, origins: Origins) -> String {
    let variables = [("TURNWIRE_RELAY_AUTHORIZATION".into(), "Bearer very-secret".into())];
    let secrets = SecretHeaders::from_environment(variables.into_iter().filter(|_| key)).expect("headers");
    let upstream = format!("ws://{server}/rpc").parse().expect("an address");
    start(RelayConfig { upstream, origins, secrets, log: false }).await
}

/// A socket, the status that opened it, and the path that the server saw.
type Opened = Result<(WebSocketStream<TcpStream>, u16, Option<String>), Error>;

async fn open(address: &str, headers: &[(&'static str, &str)]) -> Opened {
    let mut request = format!("ws://{address}/turns?x=1").into_client_request().expect("a request");
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().expect("a value"));
    }
    let stream = within(TcpStream::connect(address)).await.expect("a connection");
    let (socket, response) = within(client_async(request, stream)).await?;
    let path = response.headers().get("x-path").map(|path| path.to_str().expect("text").to_owned());
    Ok((socket, response.status().as_u16(), path))
}

fn status(refused: Opened) -> u16 {
    match refused {
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was let in"),
    }
}

const PAGE: (&str, &str) = ("origin", "http://localhost:5173");

#[tokio::test]
async fn a_page_reaches_a_server_that_refuses_pages() {
    let server = server(Conduct::Echo).await;
    // Directly it does not, though it had the key.
    let key = ("authorization", "Bearer very-secret");
    assert_eq!(status(open(&server, &[PAGE, key]).await), 403);
    let relay = relay(&server, true, Origins::ThisMachine).await;
    let (mut socket, status, path) = open(&relay, &[PAGE]).await.expect("a socket");
    assert_eq!((status, path.as_deref()), (101, Some("/rpc/turns")));
    for text in ["one", "two", &"x".repeat(1_000_000)] {
        socket.send(Message::text(text)).await.expect("sent");
        let echo = within(socket.next()).await.expect("a message").expect("no error");
        assert_eq!(echo.to_text().expect("text"), text);
    }
    socket.send(Message::Ping("hello".into())).await.expect("sent");
    assert_eq!(
        within(socket.next()).await.expect("a message").expect("no error"),
        Message::Pong("hello".into())
    );
    socket.close(None).await.expect("closed");
    assert!(matches!(within(socket.next()).await, Some(Ok(Message::Close(_))) | None));
}

#[tokio::test]
async fn pages_of_others_are_refused() {
    let server = server(Conduct::Echo).await;
    let careful = relay(&server, true, Origins::ThisMachine).await;
    assert_eq!(status(open(&careful, &[("origin", "https://evil.example")]).await), 403);
    assert_eq!(status(open(&careful, &[("origin", "null")]).await), 403);
    // A page whose name leads here, but is no name of this machine.
    assert_eq!(status(open(&careful, &[("host", "evil.example:8791")]).await), 403);
    let named = relay(&server, true, named(&["https://app.example"])).await;
    assert!(open(&named, &[("origin", "https://app.example")]).await.is_ok());
    assert_eq!(status(open(&named, &[PAGE]).await), 403);
}

#[tokio::test]
async fn what_any_page_can_be_opens_no_socket() {
    let server = server(Conduct::Echo).await;
    for (origins, page) in [
        (&["null"][..], "null"),
        (&["*"], "null"),
        (&["*"], "https://evil.example"),
        (&["*"], "http://localhost:5173"),
        (&["*", "null", "https://app.example"], "null"),
        (&["*", "null", "https://app.example"], "https://evil.example"),
    ] {
        let relay = relay(&server, true, named(origins)).await;
        // With the key, the server would have let it in.
        let refused = match open(&relay, &[("origin", page)]).await {
            Err(Error::Http(refused)) => refused,
            other => panic!("{origins:?} {page}: {:?}", other.map(|(_, status, _)| status)),
        };
        assert_eq!(refused.status(), 403, "{origins:?} {page}");
        let text = String::from_utf8_lossy(refused.body().as_deref().unwrap_or_default()).into_owned();
        assert!(text.is_empty() || text.contains("--allow-origin"), "{text}");
    }
    let relay = relay(&server, true, named(&["*", "null", "https://app.example"])).await;
    assert!(open(&relay, &[("origin", "https://app.example")]).await.is_ok());
    // A program, which has no origin.
    assert!(open(&relay, &[]).await.is_ok());
    // A browser without one is none that there is.
    assert_eq!(status(open(&relay, &[("sec-fetch-site", "same-origin")]).await), 403);
}

#[tokio::test]
async fn an_origin_that_only_looks_like_this_machine_opens_no_socket() {
    let server = server(Conduct::Echo).await;
    let relay = relay(&server, true, Origins::ThisMachine).await;
    for origin in [
        "ftp://localhost",
        "http://x@localhost",
        "http://localhost.",
        "http://localhost.evil.example",
        "http://localhost:5173, https://evil.example",
        "http://localhost/evil",
        "",
    ] {
        assert_eq!(status(open(&relay, &[("origin", origin)]).await), 403, "{origin}");
    }
    for origin in ["http://localhost", "https://127.0.0.1:5173", "http://[::1]:5173"] {
        assert!(open(&relay, &[("origin", origin), ("sec-fetch-site", "cross-site")]).await.is_ok());
    }
}

#[tokio::test]
async fn refusals_of_the_server_pass() {
    let server = server(Conduct::Echo).await;
    let relay = relay(&server, false, Origins::ThisMachine).await;
    assert_eq!(status(open(&relay, &[PAGE]).await), 401);
    let gone = relay_to_nobody().await;
    assert_eq!(status(open(&gone, &[PAGE]).await), 502);
}

async fn relay_to_nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    relay(&address, true, Origins::ThisMachine).await
}

#[tokio::test]
async fn subprotocols_pass() {
    let server = server(Conduct::Echo).await;
    let relay = relay(&server, true, Origins::ThisMachine).await;
    let mut request = format!("ws://{relay}/").into_client_request().expect("a request");
    request.headers_mut().insert("sec-websocket-protocol", "v1.example".parse().expect("a value"));
    let stream = within(TcpStream::connect(&relay)).await.expect("a connection");
    let (_, response) = within(client_async(request, stream)).await.expect("a socket");
    assert_eq!(response.headers()["sec-websocket-protocol"], "v1.example");
}

#[tokio::test]
async fn ends_pass_as_what_they_are() {
    for (conduct, is_orderly) in [(Conduct::Close, true), (Conduct::Reset, false)] {
        let server = server(conduct).await;
        let relay = relay(&server, true, Origins::ThisMachine).await;
        let (mut socket, ..) = open(&relay, &[]).await.expect("a socket");
        let word = within(socket.next()).await.expect("a message").expect("no error");
        assert_eq!(word.to_text().expect("text"), "the last word");
        let end = within(socket.next()).await;
        assert_eq!(matches!(end, Some(Ok(Message::Close(_)))), is_orderly, "{end:?}");
    }
}

#[tokio::test]
async fn the_server_learns_that_the_client_has_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let relay = relay(&address, true, Origins::ThisMachine).await;
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        let mut socket = accept_hdr_async(stream, judge).await.expect("a socket");
        while let Some(Ok(_)) = socket.next().await {}
    });
    let (socket, ..) = open(&relay, &[PAGE]).await.expect("a socket");
    drop(socket);
    within(served).await.expect("it ends");
}
