//! The relay, between a client and a server whose every byte the tests write themselves.

mod world;

mod cors;
mod ends;
mod heads;
mod sockets;
mod streams;
