//! The families of protocols that the gateway speaks: a folder and a line for each.

mod aap;
mod ag_ui;
mod agent_event;
mod truefoundry;
mod turn_rpc;

use crate::protocol::Protocol;

/// All families. TrueFoundry's is the last: its tenants can have any path.
pub(crate) fn all() -> [Protocol; 5] {
    [
        agent_event::protocol(),
        aap::protocol(),
        ag_ui::protocol(),
        turn_rpc::protocol(),
        truefoundry::protocol(),
    ]
}
