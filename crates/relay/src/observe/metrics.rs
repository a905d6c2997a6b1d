//! Counts and durations of the whole process.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// The collector of the whole process.
static METRICS: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Starts collecting.
pub(crate) fn begin() {
    METRICS.get_or_init(|| PrometheusBuilder::new().install_recorder().ok());
    // Rare and alarming events are present from the beginning, so that the first one is an increase.
    metrics::counter!("turnwire_relay_takeovers_total").increment(0);
    metrics::counter!("turnwire_relay_fenced_total").increment(0);
    metrics::counter!("turnwire_relay_repairs_total").increment(0);
    metrics::counter!("turnwire_relay_position_repairs_total").increment(0);
}

/// Aggregates what was collected since the last call. Until then each duration takes memory, even if never read.
pub(crate) fn add_up() {
    if let Some(handle) = METRICS.get().and_then(Option::as_ref) {
        handle.run_upkeep();
    }
}

/// The metrics in the format of Prometheus.
pub(crate) fn rendered() -> String {
    add_up();
    METRICS.get().and_then(Option::as_ref).map(PrometheusHandle::render).unwrap_or_default()
}
