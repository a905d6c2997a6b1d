//! The protocols of this build, by number. The npm package has one build for each family.

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

/// A protocol of this build.
#[derive(Debug, Clone, Copy)]
pub enum KnownProtocol {
    /// The protocols of `TrueFoundry`.
    #[cfg(feature = "truefoundry")]
    TrueFoundry(TrueFoundry),
    /// The protocols of tirea and awaken.
    #[cfg(feature = "agent-event")]
    AgentEvent(AgentEvent),
    /// The Agent Application Protocol.
    #[cfg(feature = "aap")]
    Aap(Aap),
    /// The protocols over a socket.
    #[cfg(feature = "turn-rpc")]
    TurnRpc(TurnRpc),
}

impl KnownProtocol {
    /// The protocol with this number, its place in the package's list `PROTOCOLS`. Returns an error of code
    /// `unsupported` if this build does not have it.
    pub fn numbered(number: u8) -> Result<Self> {
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

    /// The same protocol for a session with these terms: a JSON object that each of its calls has as parameter `terms`.
    #[must_use]
    pub fn with_terms(self, terms: &str) -> Self {
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

    /// The protocol itself. In a build with one family, the compiler knows its type (measured: 240 brotli bytes).
    pub fn protocol(&self) -> &dyn Protocol {
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
