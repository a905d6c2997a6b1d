//! What the package calls: it writes a text to `text()`, calls `unpack()`, and reads as many bytes as that returns at `module()`.
#![allow(
    unsafe_code,
    reason = "the names of exports have to be unique in a program, which no compiler checks"
)]

use crate::unpack::{MODULE, TEXT, unpack as make};

/// Where the text goes.
// SAFETY: nothing else in this module for browsers has the name.
#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    TEXT.address()
}

/// Where the module is.
// SAFETY: nothing else in this module for browsers has the name.
#[unsafe(no_mangle)]
extern "C" fn module() -> *const u8 {
    MODULE.address()
}

/// Makes the module; returns its length in bytes.
// SAFETY: nothing else in this module for browsers has the name.
#[unsafe(no_mangle)]
extern "C" fn unpack() -> usize {
    make()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
