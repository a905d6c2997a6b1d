//! Who may open a WebSocket.

use tokio_tungstenite::tungstenite::Error;
use turnwire_gateway::Config;

use super::client::{Gateway, fast};

async fn refusal(gateway: &Gateway, query: &str, headers: &[(&'static str, &str)]) -> (u16, String) {
    match gateway.open(query, headers).await {
        Err(Error::Http(response)) => {
            let body = response.body().clone().unwrap_or_default();
            (response.status().as_u16(), String::from_utf8(body).expect("text"))
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{query} {headers:?} was let in"),
    }
}

#[tokio::test]
async fn a_token_is_wanted_where_there_is_one() {
    let config = Config { token: Some("secret".to_owned()), ..Config::default() };
    let gateway = Gateway::start(config.clone()).await;
    let unauthorized = (401, "missing or invalid bearer token".to_owned());
    assert_eq!(refusal(&gateway, "", &[]).await, unauthorized);
    assert_eq!(refusal(&gateway, "", &[("authorization", "Bearer other")]).await, unauthorized);
    assert_eq!(refusal(&gateway, "", &[("authorization", "Basic secret")]).await, unauthorized);
    // Unless it is switched on, the address is no place for a token.
    assert_eq!(refusal(&gateway, "?access_token=secret", &[]).await, unauthorized);
    assert!(gateway.open("", &[("authorization", "Bearer secret")]).await.is_ok());
    let gateway = Gateway::start(Config { token_in_query: true, ..config }).await;
    assert!(gateway.open("?access_token=secret", &[]).await.is_ok());
    assert_eq!(refusal(&gateway, "?access_token=other", &[]).await, unauthorized);
    assert_eq!(refusal(&gateway, "", &[]).await, unauthorized);
}

#[tokio::test]
async fn pages_of_any_origin_may_connect() {
    let gateway = fast().await;
    let (mut client, response) =
        gateway.open("", &[("origin", "https://page.example")]).await.expect("a socket");
    assert_eq!(response.status(), 101);
    client.call("workspace/default", serde_json::json!({})).await;
}

#[tokio::test]
async fn faults_of_the_head_come_in_place_of_a_socket() {
    let gateway = fast().await;
    assert_eq!(
        refusal(&gateway, "?fault=status:503", &[]).await,
        (503, "503 Service Unavailable, on purpose".to_owned())
    );
    assert_eq!(refusal(&gateway, "", &[("x-turnwire-fault", "text-status:403")]).await.0, 403);
    for fault in ["refuse", "lost"] {
        let error = gateway.open(&format!("?fault={fault}"), &[]).await.err().expect("no socket");
        assert!(!matches!(error, Error::Http(_)), "{fault}: {error}");
    }
    gateway.plan("turn-rpc", serde_json::json!([{"on": "connect", "fault": "status:502"}])).await;
    assert_eq!(refusal(&gateway, "", &[]).await.0, 502);
    assert!(gateway.open("", &[]).await.is_ok());
}

#[tokio::test]
async fn a_request_that_is_no_websocket_is_refused() {
    let gateway = fast().await;
    let answer = reqwest::get(format!("http://{}/turn-rpc", gateway.address)).await.expect("an answer");
    assert!(answer.status().is_client_error(), "{answer:?}");
}
