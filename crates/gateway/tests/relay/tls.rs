//! An encrypted server, whose certificate the system trusts or does not.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use crate::program::Running;
use crate::world::{Wire, get, within};

#[tokio::test]
async fn an_encrypted_server_is_reached_if_it_is_trusted() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![cert.der().clone()], key.into()).expect("a server");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(greet(listener, TlsAcceptor::from(Arc::new(config))));

    let file = std::env::temp_dir().join(format!("turnwire-relay-{}.pem", std::process::id()));
    std::fs::write(&file, cert.pem()).expect("written");
    let trusted = ask(port, Some(&file)).await;
    assert!(trusted.starts_with("HTTP/1.1 200 ") && trusted.ends_with("encrypted"), "{trusted}");
    let refused = ask(port, None).await;
    assert!(refused.starts_with("HTTP/1.1 502 ") && refused.contains("certificate"), "{refused}");
    std::fs::remove_file(&file).expect("removed");
}

/// The answer through a relay to this port that trusts what is in the file.
async fn ask(port: u16, trusted: Option<&Path>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnwire-gateway"));
    command.args(["relay", "--listen", "127.0.0.1:0", "--upstream", &format!("https://localhost:{port}")]);
    if let Some(file) = trusted {
        command.env("SSL_CERT_FILE", file);
    }
    let (_running, address) = Running::start(&mut command);
    let mut page = Wire::open(&address, &get("/", "Connection: close\r\n")).await;
    page.read_to_end().await.expect("an answer")
}

/// Answers every request with one word.
async fn greet(listener: TcpListener, tls: TlsAcceptor) {
    loop {
        let (stream, _) = within(listener.accept()).await.expect("a connection");
        // A client that does not trust the certificate leaves here.
        let Ok(mut stream) = tls.accept(stream).await else { continue };
        let mut head = [0; 1024];
        let read = stream.read(&mut head).await.expect("a request");
        assert!(head[..read].starts_with(b"GET / HTTP/1.1\r\n"));
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nencrypted";
        stream.write_all(answer).await.expect("written");
        stream.flush().await.expect("written");
    }
}
