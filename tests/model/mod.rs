//! A model of the surroundings of a turn's driver: a server with a turn that grows, a network that fails by
//! a schedule of faults, a page that reads, all on a simulated clock; and what must be true at the end.

pub(crate) mod case;
pub(crate) mod check;
pub(crate) mod drive;
pub(crate) mod facts;
pub(crate) mod fault;
pub(crate) mod frames;
pub(crate) mod history;
pub(crate) mod messages;
pub(crate) mod network;
pub(crate) mod page;
pub(crate) mod profile;
pub(crate) mod random;
pub(crate) mod script;
pub(crate) mod server;
pub(crate) mod time;
pub(crate) mod wire;
