//! libFuzzer's entry to the target `aap`.
#![no_main]

use turnwire_fuzz::{aap, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("aap"), |input: &[u8]| aap::run(input));
