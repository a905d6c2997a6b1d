//! Tests of the reader and the writer: RFC 8259 as data, properties against `serde_json`.

mod acceptance;
mod objects;
mod properties;
mod scanning;
mod strategies;
