//! Identification by another server. Tokens are tested through the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;

use super::*;
use crate::config::ForwardConfig;

/// A server that knows users by their cookies, and a count of its requests.
async fn asked() -> (Forward, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let answer = async move |head: HeaderMap| {
        counted.fetch_add(1, Ordering::SeqCst);
        match head.get(header::COOKIE).map(HeaderValue::as_bytes) {
            Some(b"s=ann") => (StatusCode::OK, [("x-user", "ann")]).into_response(),
            Some(b"s=form") => (StatusCode::FOUND, [("location", "/sign-in")]).into_response(),
            Some(b"s=silent") => StatusCode::OK.into_response(),
            Some(b"s=broken") => StatusCode::BAD_GATEWAY.into_response(),
            _ => StatusCode::UNAUTHORIZED.into_response(),
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/whoami", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/whoami", get(answer))).await });
    let config =
        ForwardConfig { url: url.parse().expect("an address"), header: "x-user".parse().expect("a name") };
    (Forward::new(config), count)
}

fn cookie(value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(value))])
}

#[tokio::test]
async fn a_user_is_whom_the_other_server_names() {
    let (forward, count) = asked().await;
    for _ in 0..3 {
        let caller = forward.identify(&cookie("s=ann"), None).await.expect("a user");
        assert_eq!(&*caller.subject, "ann");
    }
    assert_eq!(count.load(Ordering::SeqCst), 1, "it holds for a while");
    for (value, expected) in [
        ("s=eve", Unknown::Invalid),
        ("s=form", Unknown::Invalid),
        ("s=silent", Unknown::Invalid),
        ("s=broken", Unknown::Unavailable),
    ] {
        assert_eq!(forward.identify(&cookie(value), None).await, Err(expected), "{value}");
    }
    // What the caller claims about itself is not forwarded, and has no effect.
    let mut head = HeaderMap::new();
    head.insert("x-user", HeaderValue::from_static("ann"));
    assert_eq!(forward.identify(&head, Some("token")).await, Err(Unknown::Missing));
    head.insert(header::COOKIE, HeaderValue::from_static("s=eve"));
    assert_eq!(forward.identify(&head, None).await, Err(Unknown::Invalid));
}

#[tokio::test]
async fn a_server_that_is_away_lets_no_caller_in() {
    let config = ForwardConfig {
        url: "http://127.0.0.1:9/whoami".parse().expect("an address"),
        header: "x-user".parse().expect("a name"),
    };
    let forward = Forward::new(config);
    assert_eq!(forward.identify(&cookie("s=ann"), None).await, Err(Unknown::Unavailable));
    assert!(!forward.is_ready().await);
    assert!(asked().await.0.is_ready().await, "it is there, and says that no one calls");
}
