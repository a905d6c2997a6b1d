//! libFuzzer's entry to the target `turn`.
#![no_main]

use turnwire_fuzz::{seeds, turn};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("turn"), |input: &[u8]| turn::run(input));
