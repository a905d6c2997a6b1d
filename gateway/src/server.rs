//! The server: routes of all protocols, CORS, static files, and what they share.

use std::convert::Infallible;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path as UrlPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use tokio::net::TcpListener;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeader;

use crate::aap;
use crate::agent_event::{self, Threads};
use crate::config::Config;
use crate::faults::{self, Connection, FaultState, Sockets, follow, inject};
use crate::http::access::{REQUEST_ID, access};
use crate::store::Store;
use crate::truefoundry::{self, ApiError};
use crate::turn_rpc;

/// A handler without state, as a service.
type HandlerService = MethodRouter<(), Infallible>;

/// What every handler can reach.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

/// The one state of a running gateway.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) faults: FaultState,
    pub(crate) threads: Threads,
    pub(crate) aap: aap::Sessions,
    pub(crate) turn_rpc: turn_rpc::Threads,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// Serves until the process ends.
pub async fn serve(listener: TcpListener, config: Config) -> std::io::Result<()> {
    let faults = FaultState::new(config.chaos);
    let store = Store::default();
    turn_rpc::prepare(&store);
    let app = App(Arc::new(Shared {
        config,
        store,
        faults,
        threads: Threads::default(),
        aap: aap::Sessions::default(),
        turn_rpc: turn_rpc::Threads::default(),
    }));
    let sockets = Sockets::new(listener, app.faults.connections.clone());
    let service = router(app).into_make_service_with_connect_info::<Connection>();
    axum::serve(sockets, service).await
}

/// All routes of the gateway.
fn router(app: App) -> Router {
    let routes = truefoundry::routes()
        .route("/authorize/{server}", get(authorize))
        .method_not_allowed_fallback(no_route);
    let routes = match &app.config.www {
        Some(directory) => routes.fallback_service(files(directory)),
        None => routes.route("/", get(welcome)).fallback(no_route),
    };
    routes
        .merge(agent_event::routes())
        .merge(aap::routes())
        .merge(turn_rpc::routes())
        .layer(from_fn_with_state(app.clone(), inject))
        .merge(faults::routes().method_not_allowed_fallback(no_route))
        .layer(from_fn_with_state(app.clone(), access))
        .layer(cors())
        .layer(from_fn_with_state(app.clone(), follow))
        .with_state(app)
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
        .expose_headers([header::RETRY_AFTER, REQUEST_ID])
        .allow_private_network(true)
        .max_age(Duration::from_mins(10))
}

async fn no_route(request: Request) -> Response {
    ApiError::no_route(request.method().as_str(), request.uri().path()).into_response()
}

async fn welcome(State(app): State<App>) -> String {
    let lock = if app.config.token.is_some() { "the given" } else { "any" };
    format!(
        "turnwire development gateway\n\n\
         TrueFoundry agent protocol: base URL /{{tenant}}, for example /acme\n\
         TrueForge dialect:          base URL /api/v1\n\
         AgentEvent, tirea:          base URL /tirea\n\
         AgentEvent, awaken:         base URL /awaken, or /awaken-plain without an event store\n\
         Agent Application Protocol: base URL /aap\n\
         turn-rpc:                   WebSocket at /turn-rpc\n\
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
