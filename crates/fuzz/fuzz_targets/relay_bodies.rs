//! libFuzzer's entry to the target `relay_bodies`.
#![no_main]

use turnwire_fuzz::{relay, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("relay_bodies"), |input: &[u8]| relay::bodies(input));
