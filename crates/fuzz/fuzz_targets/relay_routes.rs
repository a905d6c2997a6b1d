//! libFuzzer's entry to the target `relay_routes`.
#![no_main]

use turnwire_fuzz::{relay, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("relay_routes"), |input: &[u8]| relay::routes(input));
