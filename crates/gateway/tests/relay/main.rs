//! The command `relay` of the program: its arguments, its environment, and what it trusts.

#[path = "../../../relay/tests/development/world.rs"]
#[allow(dead_code)] // the relay's own tests use the rest
mod world;

mod program;
mod tls;
