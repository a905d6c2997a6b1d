//! libFuzzer's entry to the target `protocol`.
#![no_main]

use turnwire_fuzz::{protocol, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("protocol"), |input: &[u8]| protocol::run(input));
