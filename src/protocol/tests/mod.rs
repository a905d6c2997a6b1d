//! All protocols, held to what they say of themselves; and what the tests of each share.

mod capabilities;
pub(crate) mod damage;
mod routes;
pub(crate) mod seen;
pub(crate) mod streams;
