//! Observability: `metrics`, for Prometheus, and `traces`, for an OpenTelemetry collector. No label, span or log line
//! names a user, a session or a turn.

mod metrics;
mod traces;

pub(crate) use metrics::{add_up, begin, rendered};
pub(crate) use traces::{Linked, Span, Traces};
