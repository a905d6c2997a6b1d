//! Memory without an allocator, of a fixed size: bytes and numbers that any code may write.
//!
//! They are atomic because a `static` has to be, and safe code may then write them. A WebAssembly module has one thread, where that
//! costs nothing.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU8, AtomicU32};

/// `N` bytes; a place beyond them is one inside. `N` is a power of two.
pub(crate) struct Bytes<const N: usize>([AtomicU8; N]);

impl<const N: usize> Bytes<N> {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU8::new(0) }; N])
    }

    pub(crate) fn get(&self, place: usize) -> u8 {
        self.0[place % N].load(Relaxed)
    }

    pub(crate) fn set(&self, place: usize, byte: u8) {
        self.0[place % N].store(byte, Relaxed);
    }

    /// Where they are.
    #[cfg(target_arch = "wasm32")]
    pub(crate) const fn address(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }
}

/// `N` numbers, likewise.
pub(crate) struct Numbers<const N: usize>([AtomicU32; N]);

impl<const N: usize> Numbers<N> {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; N])
    }

    pub(crate) fn get(&self, place: usize) -> u32 {
        self.0[place % N].load(Relaxed)
    }

    pub(crate) fn set(&self, place: usize, number: u32) {
        self.0[place % N].store(number, Relaxed);
    }
}
