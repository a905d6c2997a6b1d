//! Ids that the client makes.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// It has the same name in pages and workers.
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn fill_at_random(bytes: &mut [u8]);
}

/// Returns `count` random letters, digits, `-` and `_`.
pub(super) fn random_letters(count: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = vec![0; count];
    fill_at_random(&mut bytes);
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)])).collect()
}

/// A new random id of 21 letters, digits, `-` and `_`.
pub(super) fn new_id() -> String {
    random_letters(21)
}
