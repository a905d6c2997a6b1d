//! libFuzzer's entry to the target `relay_frames`.
#![no_main]

use turnwire_fuzz::{relay, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("relay_frames"), |input: &[u8]| relay::frames(input));
