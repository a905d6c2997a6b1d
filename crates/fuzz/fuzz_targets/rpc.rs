//! libFuzzer's entry to the target `rpc`.
#![no_main]

use turnwire_fuzz::{rpc, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("rpc"), |input: &[u8]| rpc::run(input));
