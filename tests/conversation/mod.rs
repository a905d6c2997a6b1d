//! A model of what a conversation meets: people in two tabs, carriers that lose, refuse and delay, and a server.

pub(crate) mod laws;
#[path = "../model/random.rs"]
pub(crate) mod random;
pub(crate) mod schedule;
pub(crate) mod server;
pub(crate) mod tab;
pub(crate) mod world;
