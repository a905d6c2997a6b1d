//! Gateways on free ports.

use std::time::Duration;

use tokio::net::TcpListener;
use turnwire_gateway::{Config, Delivery, serve};

/// No test waits longer than this for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Settings with a pause between events.
pub(crate) fn paced(delay: Duration) -> Config {
    Config { delivery: Delivery { delay: Some(delay), ..Delivery::default() }, ..Config::default() }
}

/// A gateway, which ends with the test's runtime: its address, and a client for it.
pub(crate) async fn listen(config: Config) -> (String, reqwest::Client) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::spawn(serve(listener, config));
    let client = reqwest::Client::builder().timeout(PATIENCE).build();
    (address, client.expect("a client"))
}
