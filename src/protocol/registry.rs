//! What is made of the list of families in `mod.rs`.

/// Lists families: the feature, the type, and the protocols in the order of their numbers.
macro_rules! families {
    ($($feature:literal $family:ident($type:path) { $($number:ident $name:literal $protocol:expr;)+ })+) => {
        /// The numbers of the protocols. They are the same in builds that lack some of them.
        enum Number {
            $($($number,)+)+
        }

        /// A protocol that this build has.
        #[derive(Debug, Clone, Copy)]
        pub enum AnyProtocol {
            $(#[doc = concat!("A protocol of the family `", $feature, "`.")]
            #[cfg(feature = $feature)]
            $family($type),)+
        }

        $(#[cfg(feature = $feature)]
        impl From<$type> for AnyProtocol {
            fn from(protocol: $type) -> Self {
                Self::$family(protocol)
            }
        })+

        /// Whether a relay can stand before a server of this build.
        const CAN_BE_RELAYED: bool = $crate::features::Relays::EXISTS || $crate::features::Sockets::EXISTS;

        impl AnyProtocol {
            /// The name of each protocol and of its family, in the order of their numbers.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$($(($name, $feature),)+)+];

            /// Is added to the number of a protocol whose server stands behind a relay.
            pub const RELAYED: u8 = 1 << 7;

            /// The protocol of this number: its place in [`NAMES`](Self::NAMES). `unsupported` if this build lacks it.
            ///
            /// With [`RELAYED`](Self::RELAYED) added, the protocol with a relay before its server; `unsupported` if none
            /// can stand there.
            pub fn numbered(number: u8) -> Result<Self> {
                if CAN_BE_RELAYED && number & Self::RELAYED != 0 {
                    return Self::numbered(number & !Self::RELAYED)?.behind_relay();
                }
                $($(#[cfg(feature = $feature)]
                if number == Number::$number as u8 {
                    return Ok(Self::$family($protocol));
                })+)+
                Err(Error::new($crate::ErrorCode::Unsupported, "this core does not speak the protocol"))
            }

            /// The protocol with this name: one of [`NAMES`](Self::NAMES). `unsupported` if this build lacks it, and
            /// `invalid_option` if there is none.
            pub fn named(name: &str) -> Result<Self> {
                match (0..).zip(Self::NAMES).find(|(_, (known, _))| *known == name) {
                    Some((number, _)) => Self::numbered(number),
                    None => Err(Error::new(
                        $crate::ErrorCode::InvalidOption,
                        concat!("`protocol` must be one of", $($(" ", $name,)+)+),
                    )),
                }
            }

            /// The protocol with a relay before its server. `unsupported` if none can stand there.
            pub fn behind_relay(self) -> Result<Self> {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$family(protocol) => protocol.behind_relay().map(Self::$family),)+
                }
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
pub(super) use families;
