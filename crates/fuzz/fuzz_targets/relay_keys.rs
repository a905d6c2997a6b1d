//! libFuzzer's entry to the target `relay_keys`.
#![no_main]

use turnwire_fuzz::{relay, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("relay_keys"), |input: &[u8]| relay::keys(input));
