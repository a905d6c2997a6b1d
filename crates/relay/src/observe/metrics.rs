//! Counts and durations of the whole process.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Where metrics are collected, in the whole process.
static METRICS: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Begins to collect.
pub(crate) fn begin() {
    METRICS.get_or_init(|| PrometheusBuilder::new().install_recorder().ok());
    // What is rare and alarming is there from the beginning: the first one is then an increase.
    metrics::counter!("turnwire_relay_takeovers_total").increment(0);
    metrics::counter!("turnwire_relay_fenced_total").increment(0);
    metrics::counter!("turnwire_relay_repairs_total").increment(0);
    metrics::counter!("turnwire_relay_position_repairs_total").increment(0);
}

/// Adds up what was collected since the last time. Until then every single duration takes memory, whether anyone asks for it or not.
pub(crate) fn add_up() {
    if let Some(handle) = METRICS.get().and_then(Option::as_ref) {
        handle.run_upkeep();
    }
}

/// What was collected, as Prometheus reads it.
pub(crate) fn rendered() -> String {
    add_up();
    METRICS.get().and_then(Option::as_ref).map(PrometheusHandle::render).unwrap_or_default()
}
