//! The text form in which the npm package stores a core's WebAssembly module: a script can hold it, and any bundler passes it on.
//!
//! Web servers compress the text with brotli, which works better if similar data is adjacent. So the instructions, and each
//! kind of number after them, are separate streams: see `form`. Measured, the text of the core of `truefoundry` sent as brotli:
//! 37.1 KB; the module itself 42.8 KB. Compressed here it would be larger: web servers' brotli does it better than the gzip that
//! browsers can undo (base64 of gzip 49.1 KB). A decoder of its own, with adaptive probabilities in place of brotli's, would take
//! off another 3 KB, and take ten times as long.
//!
//! [`pack`] writes the text when the package is built. A page makes the module of it again with `unpack`, which is a small
//! WebAssembly module itself: as JavaScript, the same loops took 15 ms of a page's start in place of 2, since an engine
//! interprets what it runs for the first time.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a module's numbers have 32 bits, with a sign or without, and their parts fewer"
)]

mod form;
mod memory;
#[cfg(not(target_arch = "wasm32"))]
mod pack;
#[cfg(not(target_arch = "wasm32"))]
mod reader;
#[cfg(test)]
mod tests;
mod unpack;
#[cfg(target_arch = "wasm32")]
mod wasm;

#[cfg(not(target_arch = "wasm32"))]
pub use pack::{PackError, aligned, pack};
