//! Passes a WebSocket through, for a client that does not know the relay. Its messages pass unread.

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;

use super::Call;
use super::refusal::Refusal;
use crate::edge;
use crate::limits::Kind;
use crate::tunnel::{self, Tunnel};

pub(super) async fn open(call: &Call, tunnel: Tunnel) -> Result<Response, Refusal> {
    let in_use = call.app.usage.take(Kind::Stream, &call.caller.subject)?;
    let mut head = edge::for_agent(&call.head, true);
    tunnel::ask_for(&mut head);
    let target = call.matched.target(&call.query);
    let agent = call.agent();
    let request =
        agent.request(call.method.clone(), &target, head, Bytes::new()).ok_or_else(Refusal::not_found)?;
    let answer = agent.client.request(request).await.map_err(|_| Refusal::unsent())?;
    match answer.status() {
        StatusCode::SWITCHING_PROTOCOLS => {
            let mut response = tunnel.holding(in_use).at_most(call.caller.stays()).open(answer);
            let kept = edge::for_caller(response.headers());
            *response.headers_mut() = kept;
            tunnel::ask_for(response.headers_mut());
            Ok(response)
        }
        StatusCode::UNAUTHORIZED => Err(Refusal::key()),
        _ => Err(Refusal::no_socket()),
    }
}
