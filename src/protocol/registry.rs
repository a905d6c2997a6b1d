//! The protocols of this package. The line of a protocol is all that generic code says of it.

use crate::error::{Error, ErrorCode, Result};

use super::Protocol;
#[cfg(feature = "aap")]
use super::aap::Aap;
#[cfg(feature = "agent-event")]
use super::agent_event::{self, AgentEvent};
#[cfg(feature = "truefoundry")]
use super::truefoundry::{self, TrueFoundry};
#[cfg(feature = "turn-rpc")]
use super::turn_rpc::{self, TurnRpc};

/// Lists families: the feature, the type, and the protocols in the order of their numbers.
macro_rules! families {
    ($($feature:literal $family:ident { $($number:ident $name:literal $protocol:expr;)+ })+) => {
        /// The numbers of the protocols. They are the same in builds that lack some of them.
        enum Number {
            $($($number,)+)+
        }

        /// A protocol that this build has.
        #[derive(Debug, Clone, Copy)]
        pub enum AnyProtocol {
            $(#[doc = concat!("A protocol of the family `", $feature, "`.")]
            #[cfg(feature = $feature)]
            $family($family),)+
        }

        impl AnyProtocol {
            /// The name of each protocol and of its family, in the order of their numbers.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$($(($name, $feature),)+)+];

            /// The protocol of this number: its place in [`NAMES`](Self::NAMES). `unsupported` if this build lacks it.
            pub fn numbered(number: u8) -> Result<Self> {
                $($(#[cfg(feature = $feature)]
                if number == Number::$number as u8 {
                    return Ok(Self::$family($protocol));
                })+)+
                Err(Error::new(ErrorCode::Unsupported, "this core does not speak the protocol"))
            }

            /// The protocol in a session with these terms (JSON).
            #[must_use]
            pub fn with_terms(self, terms: &str) -> Self {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$family(protocol) => Self::$family(protocol.with_terms(terms)),)+
                }
            }

            /// What it says. In a build with one family, the compiler knows the type (measured: 240 brotli bytes).
            #[must_use]
            pub fn protocol(&self) -> &dyn Protocol {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$family(protocol) => protocol,)+
                }
            }
        }
    };
}

families! {
    "truefoundry" TrueFoundry {
        TrueFoundry "truefoundry" TrueFoundry::new(truefoundry::Dialect::Gateway);
        TrueForge "trueforge" TrueFoundry::new(truefoundry::Dialect::TrueForge);
    }
    "agent-event" AgentEvent {
        Tirea "tirea" AgentEvent::new(agent_event::Dialect::Tirea);
        Awaken "awaken" AgentEvent::new(agent_event::Dialect::Awaken);
    }
    "aap" Aap {
        Aap "aap" Aap::new();
    }
    "turn-rpc" TurnRpc {
        TurnRpc "turn-rpc" TurnRpc::new(turn_rpc::Dialect::Gateway);
        Codex "codex" TurnRpc::new(turn_rpc::Dialect::Codex);
    }
}
