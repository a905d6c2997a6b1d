//! All protocols, held to what they say of themselves.

mod capabilities;
mod routes;
