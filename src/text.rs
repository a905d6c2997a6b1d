//! Small functions for texts.

/// The text before the first occurrence of this ASCII byte, and the text after it, which is empty if there is none.
///
/// The standard library's searches would each bring a searcher into the module.
pub(crate) fn cut(text: &str, at: u8) -> (&str, &str) {
    let end = text.bytes().position(|byte| byte == at).unwrap_or(text.len());
    (text.get(..end).unwrap_or_default(), text.get(end + 1..).unwrap_or_default())
}

/// Whether a text has at most so many characters.
pub(crate) fn is_at_most(text: &str, most: usize) -> bool {
    let is_first = |byte: &u8| byte & 0xC0 != 0x80;
    text.bytes().filter(is_first).count() <= most
}

/// Whether a name is in a list: `one, other`. A list of strings takes eight bytes more for each.
pub(crate) fn is_among(name: &str, names: &str) -> bool {
    let mut rest = names;
    while !rest.is_empty() {
        let (first, others) = cut(rest, b',');
        if first.trim_ascii_start() == name {
            return true;
        }
        rest = others;
    }
    false
}
