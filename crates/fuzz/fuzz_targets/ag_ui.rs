//! libFuzzer's entry to the target `ag_ui`.
#![no_main]

use turnwire_fuzz::{ag_ui, seeds};

libfuzzer_sys::fuzz_target!(init: seeds::hand_out("ag_ui"), |input: &[u8]| ag_ui::run(input));
