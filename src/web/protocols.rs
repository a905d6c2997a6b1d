//! The protocols, by the numbers that the package's `protocols.ts` gives them.
//!
//! A core knows those of its own family; the npm package has one core for each.

use crate::error::{Error, ErrorCode, Result};
#[cfg(feature = "aap")]
use crate::json::Value;
use crate::protocol::Protocol;
#[cfg(feature = "aap")]
use crate::protocol::aap::Aap;
#[cfg(feature = "agent-event")]
use crate::protocol::agent_event::{self, AgentEvent};
#[cfg(feature = "truefoundry")]
use crate::protocol::truefoundry::{self, TrueFoundry};

#[cfg(feature = "turn-rpc")]
use crate::protocol::turn_rpc::{self, TurnRpc};

/// A protocol that this core speaks.
#[derive(Clone, Copy)]
pub(super) enum Spoken {
    #[cfg(feature = "truefoundry")]
    TrueFoundry(TrueFoundry),
    #[cfg(feature = "agent-event")]
    AgentEvent(AgentEvent),
    #[cfg(feature = "aap")]
    Aap(Aap),
    #[cfg(feature = "turn-rpc")]
    TurnRpc(TurnRpc),
}

impl Spoken {
    /// The protocol of this number.
    pub(super) fn numbered(number: u8) -> Result<Self> {
        Ok(match number {
            #[cfg(feature = "truefoundry")]
            0 => Self::TrueFoundry(TrueFoundry::new(truefoundry::Dialect::Gateway)),
            #[cfg(feature = "truefoundry")]
            1 => Self::TrueFoundry(TrueFoundry::new(truefoundry::Dialect::TrueForge)),
            #[cfg(feature = "agent-event")]
            2 => Self::AgentEvent(AgentEvent::new(agent_event::Dialect::Tirea)),
            #[cfg(feature = "agent-event")]
            3 => Self::AgentEvent(AgentEvent::new(agent_event::Dialect::Awaken)),
            #[cfg(feature = "aap")]
            4 => Self::Aap(Aap::new()),
            #[cfg(feature = "turn-rpc")]
            5 => Self::TurnRpc(TurnRpc::new(turn_rpc::Dialect::Gateway)),
            #[cfg(feature = "turn-rpc")]
            6 => Self::TurnRpc(TurnRpc::new(turn_rpc::Dialect::Codex)),
            _ => return Err(Error::new(ErrorCode::Unsupported, "this core does not speak the protocol")),
        })
    }

    /// The same for a session in which these terms (JSON) hold.
    pub(super) fn with_terms(self, terms: &str) -> Self {
        match self {
            #[cfg(feature = "aap")]
            Self::Aap(_) => {
                let terms = Value::parse(terms).unwrap_or_default();
                Self::Aap(terms.as_object().map_or_else(Aap::new, Aap::of_terms))
            }
            #[cfg(any(feature = "truefoundry", feature = "agent-event", feature = "turn-rpc"))]
            _ => {
                let _ = terms;
                self
            }
        }
    }

    /// What it says. Where there is one family, that is known at compile time (measured: 240 brotli bytes).
    pub(super) fn protocol(&self) -> &dyn Protocol {
        match self {
            #[cfg(feature = "truefoundry")]
            Self::TrueFoundry(protocol) => protocol,
            #[cfg(feature = "agent-event")]
            Self::AgentEvent(protocol) => protocol,
            #[cfg(feature = "aap")]
            Self::Aap(protocol) => protocol,
            #[cfg(feature = "turn-rpc")]
            Self::TurnRpc(protocol) => protocol,
        }
    }
}
