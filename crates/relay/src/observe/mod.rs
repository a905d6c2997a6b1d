//! What the process tells of itself: `metrics`, for Prometheus, and `traces`, for a collector of OpenTelemetry. No label, no span
//! and no line names a user, a session or a turn.

mod metrics;
mod traces;

pub(crate) use metrics::{add_up, begin, rendered};
pub(crate) use traces::{Linked, Span, Traces};
