//! Answers as they come out of a socket, below any HTTP client.

use std::io::ErrorKind;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::LONG;
use crate::client::Gateway;

/// A connection on which requests are sent and bytes are read.
pub(super) struct Raw {
    socket: TcpStream,
    pub(super) bytes: Vec<u8>,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// In good order, for the transport at least.
    Closed,
    Reset,
}

impl Raw {
    pub(super) async fn connect(gateway: &Gateway) -> Self {
        let socket = TcpStream::connect(&gateway.address).await.expect("a connection");
        Self { socket, bytes: Vec::new() }
    }

    /// Sends a request on a new connection.
    pub(super) async fn send(gateway: &Gateway, method: &str, path: &str, fault: &str, body: &Value) -> Self {
        let mut raw = Self::connect(gateway).await;
        raw.request(method, path, fault, body).await;
        raw
    }

    pub(super) async fn request(&mut self, method: &str, path: &str, fault: &str, body: &Value) {
        let body = body.to_string();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             x-turnwire-fault: {fault}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.plain(&request).await;
    }

    /// Sends a request as it is written here.
    pub(super) async fn plain(&mut self, request: &str) {
        self.socket.write_all(request.as_bytes()).await.expect("sent");
    }

    /// Reads until the connection ends.
    pub(super) async fn end(&mut self) -> End {
        match timeout(LONG, self.socket.read_to_end(&mut self.bytes)).await.expect("an end in time") {
            Ok(_) => End::Closed,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => End::Reset,
            Err(error) => panic!("{error}"),
        }
    }

    /// Reads until nothing has come for this long.
    pub(super) async fn silence(&mut self, length: Duration) {
        while let Ok(read) = timeout(length, self.socket.read_buf(&mut self.bytes)).await {
            assert_ne!(read.expect("readable"), 0, "the connection ended");
        }
    }

    /// Reads until this text has come.
    pub(super) async fn until(&mut self, wanted: &str) {
        self.until_times(wanted, 1).await;
    }

    /// Reads until this text has come so many times.
    pub(super) async fn until_times(&mut self, wanted: &str, times: usize) {
        let reads = async {
            while self.text().matches(wanted).count() < times {
                let read = self.socket.read_buf(&mut self.bytes).await.expect("readable");
                assert_ne!(read, 0, "the connection ended: {}", self.text());
            }
        };
        timeout(LONG, reads).await.unwrap_or_else(|_| panic!("`{wanted}` never came"));
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The head of the answer, in lower case.
    pub(super) fn head(&self) -> String {
        let text = self.text();
        text.split("\r\n\r\n").next().expect("a head").to_lowercase()
    }

    /// The content of a chunked body, and whether it was brought to its end.
    pub(super) fn body(&self) -> (Vec<u8>, bool) {
        assert!(self.head().contains("transfer-encoding: chunked"), "{}", self.head());
        let mut rest = &self.bytes[self.head().len() + 4..];
        let mut body = Vec::new();
        while let Some(line) = rest.windows(2).position(|pair| pair == b"\r\n") {
            let size = std::str::from_utf8(&rest[..line]).expect("text");
            let size = usize::from_str_radix(size, 16).expect("a size");
            if size == 0 {
                return (body, true);
            }
            let chunk = &rest[line + 2..];
            body.extend_from_slice(&chunk[..size.min(chunk.len())]);
            rest = chunk.get(size + 2..).unwrap_or_default();
        }
        (body, false)
    }
}
