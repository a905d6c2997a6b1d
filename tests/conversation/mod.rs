//! A model of what a conversation meets: people in two tabs, carriers that lose, refuse and delay, and a server.

pub(crate) mod carrier;
pub(crate) mod laws;
pub(crate) mod people;
#[expect(dead_code, reason = "the other model draws in more ways")]
#[path = "../model/random.rs"]
pub(crate) mod random;
pub(crate) mod replay;
pub(crate) mod schedule;
pub(crate) mod server;
pub(crate) mod tab;
pub(crate) mod world;
