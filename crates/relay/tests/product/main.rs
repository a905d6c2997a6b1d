//! The program `turnwire-relay`, before an agent whose every byte the tests write, and before the development gateway.

#[path = "../redis/server.rs"]
#[allow(dead_code)] // the other tests use the rest
mod redis;
#[path = "../streams/server.rs"]
#[allow(dead_code)] // the other tests use the rest
mod streams_server;
#[path = "../development/world.rs"]
#[allow(dead_code)] // the other tests use the rest
mod wire;
mod world;

mod cursor;
mod deploy;
mod durable;
mod failover;
mod gateway;
mod guide;
mod held;
mod held_ends;
mod held_world;
mod http2;
mod operation;
mod readers;
mod redis_tls;
mod restarts;
mod secrets;
mod several;
mod smuggling;
mod sockets;
mod starts;
mod streams;
mod traces;
mod upgrade;
mod users;
