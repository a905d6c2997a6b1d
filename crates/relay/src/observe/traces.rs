//! Spans for a collector, over OTLP in JSON: `start`, a kept turn from its request to its end; `attach`, a further
//! reader or a repeated start, which links to the turn; `takeover`, when a turn without an owner gets one or ends.
//!
//! The spans continue the trace in the request's `traceparent` (W3C Trace Context), and pass on the turn's span.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Request, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{
    Link, Span as _, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HeaderExtractor, HeaderInjector, HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::client::{self, UpstreamClient};
use crate::config::{Secret, TracesConfig};
use crate::say::say;
use crate::turn::End;

/// How long the collector may take to accept spans, and how long the process waits for the last ones when it ends.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest response.
const LARGEST: usize = 64 << 10;

/// The span of a turn, for links. Empty if the turn is not traced, or runs in another relay.
pub(crate) type Linked = OnceLock<SpanContext>;

/// Makes spans, if the config names a collector.
#[derive(Debug, Default)]
pub(crate) struct Traces(Option<Collector>);

#[derive(Debug)]
struct Collector {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

impl Traces {
    /// Starts sending spans, on the current runtime.
    pub(crate) fn begin(config: Option<&TracesConfig>) -> Self {
        let Some(config) = config else { return Self::default() };
        let sender = Sender {
            client: client::client(&config.url),
            headers: config.headers.clone(),
            runtime: Handle::current(),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(sender)
            .with_protocol(Protocol::HttpJson)
            .with_endpoint(config.url.uri().to_string())
            .with_timeout(PATIENCE)
            .build();
        let exporter = match exporter {
            Ok(exporter) => exporter,
            Err(error) => {
                say(format_args!("no traces: {error}"));
                return Self::default();
            }
        };
        let chosen = Sampler::TraceIdRatioBased(1.0 / f64::from(config.one_in));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(Sampler::ParentBased(Box::new(chosen)))
            .with_resource(Resource::builder().with_service_name("turnwire-relay").build())
            .build();
        let tracer = provider.tracer("turnwire-relay");
        Self(Some(Collector { provider, tracer, propagator: TraceContextPropagator::new() }))
    }

    /// The span of a turn that is about to be sent to its agent with this head.
    pub(crate) fn start(&self, upstream: &str, head: &mut HeaderMap) -> Span {
        let span = self.span("start", SpanKind::Server, upstream, Some(head), None);
        if let (Some(collector), Some(span)) = (&self.0, &span.0) {
            let context = Context::new().with_remote_span_context(span.span_context().clone());
            collector.propagator.inject_context(&context, &mut HeaderInjector(head));
        }
        span
    }

    /// The span of a further reader.
    pub(crate) fn attach(&self, upstream: &str, head: &HeaderMap, turn: Option<&Linked>) -> Span {
        let turn = turn.and_then(Linked::get);
        self.span("attach", SpanKind::Server, upstream, Some(head), turn)
    }

    /// Records that this relay has ended a turn in place of its owner, or continues it.
    pub(crate) fn takeover(&self, upstream: &str, end: Option<End>) {
        let span = self.span("takeover", SpanKind::Internal, upstream, None, None);
        if let Some(end) = end {
            span.end(end);
        }
    }

    fn span(
        &self,
        name: &'static str,
        kind: SpanKind,
        upstream: &str,
        head: Option<&HeaderMap>,
        link: Option<&SpanContext>,
    ) -> Span {
        let Some(Collector { tracer, propagator, .. }) = &self.0 else { return Span(None) };
        let parent = head.map_or_else(Context::new, |head| {
            propagator.extract_with_context(&Context::new(), &HeaderExtractor(head))
        });
        let links = link.map(|turn| Link::with_context(turn.clone())).into_iter().collect();
        let span = SpanBuilder::from_name(name)
            .with_kind(kind)
            .with_attributes([KeyValue::new("turnwire.upstream", upstream.to_owned())])
            .with_links(links)
            .start_with_context(tracer, &parent);
        Span(Some(Box::new(span)))
    }

    /// Sends the remaining spans. Those that the collector does not accept in time are lost.
    pub(crate) async fn flush(&self) {
        let Some(provider) = self.0.as_ref().map(|collector| collector.provider.clone()) else { return };
        let flushing = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(PATIENCE));
        let _ = timeout(PATIENCE, flushing).await;
    }
}

/// An operation in progress. It ends when dropped. Boxed, as every reader has one, and most have none.
#[derive(Debug, Default)]
pub(crate) struct Span(Option<Box<opentelemetry_sdk::trace::Span>>);

impl Span {
    /// Makes the span available for links.
    pub(crate) fn link(&self, linked: &Linked) {
        if let Some(span) = &self.0 {
            let _ = linked.set(span.span_context().clone());
        }
    }

    /// Ends it without the turn's end: nothing was sent to the agent, or another relay has the turn.
    pub(crate) fn give_up(self, why: &'static str) {
        let Some(mut span) = self.0 else { return };
        span.set_attribute(KeyValue::new("turnwire.end", why));
        span.set_status(Status::error(why));
    }

    /// Ends it with the turn's end.
    pub(crate) fn end(self, end: End) {
        let Some(mut span) = self.0 else { return };
        span.set_attribute(KeyValue::new("turnwire.end", end.name()));
        if let End::Cut { reason, .. } = end {
            span.set_attribute(KeyValue::new("turnwire.reason", reason.name()));
            span.set_status(Status::error(reason.name()));
        }
    }
}

/// Sends spans through the relay's own client. The exporter has its own thread, where nothing would drive connections.
struct Sender {
    client: UpstreamClient,
    headers: Vec<(HeaderName, Secret)>,
    runtime: Handle,
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // Set here, so that environment variables cannot override them.
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.value());
        }
        let client = self.client.clone();
        let sending = async move {
            let (head, body) = client.request(request.map(Body::from)).await?.into_parts();
            let body = Limited::new(body, LARGEST).collect().await?.to_bytes();
            Ok(Response::from_parts(head, body))
        };
        self.runtime.spawn(async { timeout(PATIENCE, sending).await }).await??
    }
}
