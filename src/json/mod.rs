//! A small JSON reader and writer (RFC 8259). It knows nothing else of turnwire.
//!
//! There are three ways to read, from the cheapest: a [`Scanner`] walks a text in place and lends strings and numbers
//! as slices; [`RawStr`] decodes a string's escapes on demand; a [`Value`] is the whole document in memory, mostly
//! borrowed. [`ObjectWriter`] and [`Value::write`] write compact JSON.
//!
//! Reading is strict: no comments, trailing commas or raw control characters. The standard leaves two choices open:
//! here `\u` escapes of lone surrogates read as U+FFFD, and the last of several members with one name counts.

mod error;
mod number;
mod object;
mod patch;
mod raw_str;
mod same;
mod scan;
mod special;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod write;

pub use error::{JsonError, JsonErrorKind};
pub(crate) use number::parse_u64;
pub use object::Object;
pub(crate) use patch::patch;
pub use raw_str::RawStr;
pub(crate) use same::is_same;
pub use scan::{MAX_DEPTH, Scanner};
pub use text::Text;
pub use value::Value;
pub(crate) use write::write_hex;
pub use write::{ObjectWriter, write_str, write_u64};
