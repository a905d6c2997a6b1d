//! libFuzzer's entry to the target `runs`.
#![no_main]

use turnwire_fuzz::{runs, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("runs"), |input: &[u8]| runs::run(input));
