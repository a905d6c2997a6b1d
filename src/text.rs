//! Small things done with texts.

/// What stands before the first of this byte, an ASCII one, and what after it: nothing if there is none.
///
/// The standard library's searches bring a searcher each into the module.
#[cfg(any(target_arch = "wasm32", feature = "truefoundry", feature = "agent-event", feature = "aap"))]
pub(crate) fn cut(text: &str, at: u8) -> (&str, &str) {
    let end = text.bytes().position(|byte| byte == at).unwrap_or(text.len());
    (text.get(..end).unwrap_or_default(), text.get(end + 1..).unwrap_or_default())
}
