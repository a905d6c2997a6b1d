//! libFuzzer's entry to the target `relay_config`.
#![no_main]

use turnwire_fuzz::{relay, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("relay_config"), |input: &[u8]| relay::config(input));
