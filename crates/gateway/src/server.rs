//! The server: routes of all protocols, CORS, static files, and what they share.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use tokio::net::TcpListener;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeader;
use turnwire_relay::Upstream;
use turnwire_relay::connection::{Connection, Listener};

use crate::access::{REQUEST_ID, access};
use crate::config::Config;
use crate::context::App;
use crate::error::no_route;
use crate::faults::{FaultState, follow, inject};
use crate::protocol::Protocol;
use crate::{control, protocols, relayed};

/// A handler without state, as a service.
type HandlerService = MethodRouter<(), Infallible>;

/// All that is spoken here, in the order in which the faults look for the protocol of a path.
fn spoken(relays: &[Upstream]) -> Vec<Protocol> {
    std::iter::once(relayed::protocol(relays)).chain(protocols::all()).collect()
}

/// All faults as text, a line each: how it is written, and what it does.
pub fn fault_catalog() -> String {
    let surfaces = spoken(&[]).into_iter().map(|protocol| protocol.surface);
    FaultState::new(surfaces.collect(), None).grammar.catalog()
}

/// Serves until the process ends.
pub async fn serve(listener: TcpListener, config: Config) -> std::io::Result<()> {
    let (mut surfaces, mut routes) = (Vec::new(), Vec::new());
    for protocol in spoken(&config.relays) {
        surfaces.push(protocol.surface);
        routes.push(protocol.routes);
    }
    let faults = FaultState::new(surfaces, config.chaos);
    let listener = Listener::new(listener, faults.connections.clone());
    let app = App::new(config, faults);
    let protocols = routes.into_iter().fold(Router::new(), |all, routes| all.merge(routes(&app)));
    let service = router(&app, protocols).into_make_service_with_connect_info::<Connection>();
    axum::serve(listener, service).await
}

/// All routes of the gateway.
fn router(app: &App, protocols: Router) -> Router {
    let own =
        Router::new().route("/authorize/{server}", get(authorize)).method_not_allowed_fallback(no_route);
    let own = match &app.config.www {
        Some(directory) => own.fallback_service(files(directory)),
        None => own.route("/", get(welcome)).fallback(no_route),
    };
    let control = control::routes().method_not_allowed_fallback(no_route);
    own.with_state(app.clone())
        .merge(protocols)
        .layer(from_fn_with_state(Arc::clone(&app.faults), inject))
        .merge(control.with_state(app.clone()))
        .layer(from_fn_with_state(app.clone(), access))
        .layer(cors())
        .layer(from_fn_with_state(Arc::clone(&app.faults), follow))
}

/// The files of a directory. A browser asks again each time, since they change while one works.
fn files(directory: &Path) -> SetResponseHeader<ServeDir<HandlerService>, HeaderValue> {
    let missing: HandlerService = get(no_route).fallback(no_route);
    let files = ServeDir::new(directory).call_fallback_on_method_not_allowed(true).fallback(missing);
    let always_ask = HeaderValue::from_static("no-cache");
    SetResponseHeader::if_not_present(files, header::CACHE_CONTROL, always_ask)
}

/// Any page may call, with any headers: this is a server for development.
fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::any())
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([&[header::RETRY_AFTER, REQUEST_ID], &relayed::HEADERS[..]].concat())
        .allow_private_network(true)
        .max_age(Duration::from_mins(10))
}

async fn welcome(State(app): State<App>) -> String {
    let lock = if app.config.token.is_some() { "the configured" } else { "any" };
    let addresses: String = spoken(&[]).iter().rev().map(|protocol| protocol.addresses).collect();
    format!(
        "turnwire development gateway\n\n\
         {addresses}\
         Authorization:              {lock} bearer token\n\
         Faults on request:          header x-turnwire-fault, see the README\n\n\
         The first word of a message chooses the script:\n\n{}",
        crate::agents::catalog()
    )
}

/// Where the links of `mcp.auth_required` lead: the last page of a made-up sign-in.
async fn authorize(UrlPath(server): UrlPath<String>) -> Response {
    let known = crate::agents::knows_server(&server);
    let status = if known { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let text = if known {
        format!("You have connected <b>{server}</b>. Close this window and continue the conversation.")
    } else {
        "There is no such tool server.".to_owned()
    };
    let page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Authorization</title>\
         <body style=\"font:16px/1.5 system-ui;max-width:30em;margin:20vh auto;padding:0 1em\">\
         <p>{text}</p></body></html>"
    );
    (status, Html(page)).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::faults::{On, Surface};

    fn surface(path: &str) -> Box<dyn Surface> {
        let mut surfaces = spoken(&[]).into_iter().map(|protocol| protocol.surface);
        surfaces.find(|surface| surface.speaks(path)).expect("a protocol")
    }

    #[test]
    fn routes_of_all_protocols_are_known() {
        for (method, route, on) in [
            ("POST", "/{tenant}/v1/agents/sessions/{session}/turns", Some(On::Create)),
            ("GET", "/api/v1/sessions/{session}/turns/{turn}/subscribe", Some(On::Subscribe)),
            ("GET", "/{tenant}/v1/agents/draft-sessions/{session}", Some(On::Session)),
            ("DELETE", "/api/v1/sessions/{session}", None),
            ("POST", "/{tenant}/v1/agents/sessions", None),
            ("POST", "/tirea/v1/runs", Some(On::Create)),
            ("POST", "/tirea/v1/runs/{turn}/inputs", Some(On::Answer)),
            ("GET", "/tirea/v1/threads/{session}/messages", Some(On::SessionEvents)),
            ("GET", "/awaken/v1/threads/{session}/events", Some(On::TurnEvents)),
            ("GET", "/awaken/v1/runs/{turn}/events/stream", Some(On::Subscribe)),
            ("POST", "/awaken/v1/threads/{session}/interrupt", Some(On::Cancel)),
            ("POST", "/aap/sessions/{session}/turns", Some(On::Create)),
            ("GET", "/aap/sessions/{session}/history", Some(On::SessionEvents)),
            ("GET", "/aap/sessions/{session}", Some(On::Session)),
            ("GET", "/turn-rpc", Some(On::Connect)),
            ("POST", "/relay/{agent}/sessions/{session}/turns", Some(On::Create)),
            ("POST", "/relay/{agent}/v1/runs", Some(On::Create)),
            ("GET", "/relay/{agent}/_turnwire/v1/turns/{turn}/events", Some(On::Subscribe)),
            ("DELETE", "/relay/{agent}/_turnwire/v1/turns/{turn}", Some(On::Cancel)),
            ("POST", "/ag-ui", Some(On::Create)),
            ("POST", "/ag-ui/copilotkit/agent/{agent}/connect", Some(On::Subscribe)),
            ("POST", "/ag-ui/copilotkit/agent/{agent}/stop/{session}", Some(On::Cancel)),
            ("GET", "/ag-ui", None),
        ] {
            let method = method.parse().expect("a method");
            assert_eq!(surface(route).classify(&method, route), on, "{method} {route}");
        }
    }

    #[test]
    fn every_kind_of_the_catalog_is_understood() {
        let surfaces = spoken(&[]).into_iter().map(|protocol| protocol.surface);
        let grammar = FaultState::new(surfaces.collect(), None).grammar;
        let catalog = fault_catalog();
        let forms = catalog.lines().filter_map(|line| line.split_whitespace().next());
        for form in forms.filter(|form| *form != "KIND+KIND") {
            let full = form.replace(['[', ']'], "");
            let kind = if form.starts_with("malformed") { "batch" } else { "huge" };
            let arguments = [
                ("RETRY_AFTER", "2"),
                ("CODE", "503"),
                ("TYPE", "text/html"),
                ("KIND", kind),
                ("BYTES", "100"),
                ("COUNT", "3"),
                ("FIRST", "4"),
                ("MS", "5"),
                ("N", "6"),
            ];
            let written = arguments.iter().fold(full, |text, (name, value)| text.replace(name, value));
            let faults = grammar.parse(&written).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(faults.list.len(), usize::from(form != "none"), "{written}");
        }
        assert_eq!(catalog.lines().count(), 106);
    }

    #[test]
    fn a_stream_is_wanted_by_a_flag_a_mode_or_by_silence() {
        let streams = |stream: &str, path: &str| {
            let stream: Option<Value> = serde_json::from_str(stream).expect("JSON");
            surface(path).streams(stream.as_ref())
        };
        let (tenant, turns) = ("/acme/v1/agents/sessions/s/turns", "/aap/sessions/s/turns");
        assert!(streams("null", tenant));
        assert!(!streams("false", tenant));
        assert!(!streams("null", turns));
        for (mode, streaming) in [("delta", true), ("message", true), ("none", false), ("weird", false)] {
            assert_eq!(streams(&format!("\"{mode}\""), turns), streaming, "{mode}");
        }
    }
}
