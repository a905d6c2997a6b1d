//! Small things done with texts.

/// What stands before the first of this byte, an ASCII one, and what after it: nothing if there is none.
///
/// The standard library's searches bring a searcher each into the module.
pub(crate) fn cut(text: &str, at: u8) -> (&str, &str) {
    let end = text.bytes().position(|byte| byte == at).unwrap_or(text.len());
    (text.get(..end).unwrap_or_default(), text.get(end + 1..).unwrap_or_default())
}

/// Whether it is one of these names: `one, other`. A list of texts weighs eight bytes a text more.
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
