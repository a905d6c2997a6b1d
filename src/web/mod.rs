//! The browser: the only module that knows JavaScript. It may know all others.
//!
//! [`client`] and [`socket`] are for front ends written in Rust, and `module` is for the npm package. The sans-IO
//! modules make the decisions.

mod carrier;
#[cfg(feature = "js-classes")]
pub mod classes;
pub mod client;
mod fetch;
#[cfg(feature = "module")]
pub mod module;
mod page;
mod random;
pub mod socket;
mod steps;
pub mod token;
