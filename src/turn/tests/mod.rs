//! Tests of a turn's life: the machine as a table, the rules of inputs, the reader at a stream's end.

mod inputs;
mod machine;
mod reader;
