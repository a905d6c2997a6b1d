//! The bodies of the fuzz targets, and the seeds that they begin from.
//!
//! Each body takes any bytes and panics if its claim does not hold. libFuzzer calls it (`fuzz_targets`). Where
//! libFuzzer cannot be built, `rehearse` (`examples`) calls it on the seeds and on random changes of them. `cargo xtask
//! fuzz` runs either.
//!
//! An input that was once a finding belongs in `regressions/TARGET`, with a descriptive name: it is a seed from then
//! on.

// A target reports by panicking.
#![allow(clippy::missing_panics_doc)]

pub mod aap;
pub mod ag_ui;
pub mod generate;
pub mod input;
pub mod json;
pub mod like;
pub mod mirror;
pub mod mutate;
pub mod plain;
pub mod protocol;
pub mod records;
pub mod relay;
pub mod rpc;
pub mod runs;
pub mod seeds;
pub mod sink;
pub mod sse;
pub mod turn;

use std::alloc::System;

use cap::Cap;

/// Counts what is allocated, so that targets can hold a decoder to its limit.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes that are allocated now.
pub(crate) fn allocated() -> usize {
    ALLOCATOR.allocated()
}

/// A target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, that of its file in `fuzz_targets`.
    pub name: &'static str,
    /// Its body.
    pub run: fn(&[u8]),
    /// What it begins from.
    pub seeds: fn(&[seeds::Capture]) -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 13] = [
    Target { name: "sse", run: sse::run, seeds: seeds::streams },
    Target { name: "json", run: json::run, seeds: seeds::documents },
    Target { name: "protocol", run: protocol::run, seeds: seeds::turns },
    Target { name: "runs", run: runs::run, seeds: seeds::streams },
    Target { name: "aap", run: aap::run, seeds: seeds::dialogs },
    Target { name: "ag_ui", run: ag_ui::run, seeds: seeds::streams },
    Target { name: "rpc", run: rpc::run, seeds: rpc::seeds },
    Target { name: "turn", run: turn::run, seeds: seeds::turns },
    Target { name: "relay_frames", run: relay::frames, seeds: seeds::streams },
    Target { name: "relay_routes", run: relay::routes, seeds: relay::route_seeds },
    Target { name: "relay_bodies", run: relay::bodies, seeds: relay::body_seeds },
    Target { name: "relay_config", run: relay::config, seeds: relay::config_seeds },
    Target { name: "relay_keys", run: relay::keys, seeds: relay::key_seeds },
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
