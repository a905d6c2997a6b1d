//! libFuzzer's entry to the target `json`.
#![no_main]

use turnwire_fuzz::{json, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("json"), |input: &[u8]| json::run(input));
