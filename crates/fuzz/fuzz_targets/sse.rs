//! libFuzzer's entry to the target `sse`.
#![no_main]

use turnwire_fuzz::{seeds, sse};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("sse"), |input: &[u8]| sse::run(input));
