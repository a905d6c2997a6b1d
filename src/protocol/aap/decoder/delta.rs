//! The hot path: a piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a piece, with a single field. All other frames go to the general reader. Both
//! must agree; a property test checks this.

use crate::json::Scanner;

/// Reads pieces of text.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    /// A buffer for decoded text.
    text: String,
}

impl DeltaReader {
    /// The text of a delta, if `data` is one in its simple form.
    #[inline]
    pub(super) fn read<'a>(&'a mut self, data: &'a str) -> Option<&'a str> {
        let value = data.strip_prefix("{\"delta\":")?;
        let mut scanner = Scanner::new(value);
        // No white space to skip: the text begins at once.
        let text = if value.starts_with('"') { scanner.string().ok()? } else { return None };
        if value.get(scanner.at()..) != Some("}") {
            return None;
        }
        if let Some(plain) = text.plain() {
            return Some(plain);
        }
        self.text.clear();
        text.unescape_into(&mut self.text);
        Some(&self.text)
    }
}
