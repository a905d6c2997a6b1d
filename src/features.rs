//! What the protocols of a build have: the only place that asks for the features of `Cargo.toml`, apart from the lists of
//! modules.
//!
//! Each feature is a marker. A build without the feature has no value of its marker, so the compiler leaves out every
//! state, field and branch that holds one; and code that `EXISTS` guards.

macro_rules! markers {
    ($($(#[$doc:meta])* $name:ident if $condition:meta;)*) => {$(
        $(#[$doc])*
        #[cfg($condition)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) struct $name(());
        $(#[$doc])*
        #[cfg(not($condition))]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name {}

        #[allow(dead_code, reason = "most code needs one of the two")]
        impl $name {
            /// Whether the build has the feature.
            pub(crate) const EXISTS: bool = cfg!($condition);

            /// How many values a [`Part`] of the feature has.
            pub(crate) const COUNT: usize = Self::EXISTS as usize;

            /// The marker, if it `holds` and the build has the feature.
            pub(crate) fn when(holds: bool) -> Option<Self> {
                #[cfg($condition)]
                return holds.then_some(Self(()));
                #[cfg(not($condition))]
                {
                    let _ = holds;
                    None
                }
            }
        }
    )*};
}

markers! {
    /// Servers are spoken to over HTTP.
    Http if feature = "http";
    /// Servers are spoken to over a socket, and list a turn's items as they store them.
    Sockets if feature = "socket";
    /// Streams resume after a sequence number.
    Cursors if any(feature = "cursors", not(any(feature = "frame-replay", feature = "transcripts")));
    /// Streams do not, so the client that starts a turn must read it.
    OtherRecoveries if any(feature = "frame-replay", feature = "transcripts");
    /// Servers record what they stream, frame by frame.
    FrameRecords if feature = "frame-replay";
    /// Servers stop a turn that has no reader.
    AttachedReaders if feature = "frame-replay";
    /// Only the session's transcript has a turn's events.
    Transcripts if feature = "transcripts";
    /// The client keeps a session's conversation, and sends all of it with each turn.
    ClientConversations if feature = "client-conversations";
    /// Servers can be asked how a turn stands.
    TurnReads if any(feature = "turn-reads", not(feature = "client-conversations"));
    /// Servers have ids for turns, and list them.
    TurnLists if any(feature = "turn-records", not(feature = "transcripts"));
    /// The client makes the ids of turns. Every family but `TrueFoundry`'s has such a protocol.
    ClientIds if feature = "client-ids";
    /// An event may have its sequence number in its JSON.
    JsonNumbers if feature = "json-numbers";
    /// Deltas keep fields that are not known.
    UnknownFields if feature = "unknown-fields";
    /// Lists of events lack reasoning and sequence numbers.
    PartialLists if feature = "partial-lists";
    /// A turn's answer may come as a whole.
    WholeAnswers if feature = "whole-answers";
    /// Calls of a turn that still runs can be answered.
    LiveAnswers if feature = "live-answers";
    /// Each answer is a separate request.
    SeparateAnswers if feature = "separate-answers";
    /// A message discards the calls that wait.
    DiscardPending if feature = "discard-pending";
    /// Calls are resumed, are cancelled, and get other arguments while a turn runs.
    CallUpdates if feature = "call-updates";
    /// Agents keep a state, and report what they do.
    AgentStates if feature = "agent-state";
    /// Calls change the agent's state.
    TrackedPatches if feature = "tracked-patches";
    /// Calls put something out while they run, and there are notices.
    ToolOutputs if feature = "tool-output";
    /// Messages have images by their address.
    Images if feature = "images";
    /// A relay can stand before the server, and keep its streams.
    Relays if feature = "relays";
    /// Errors keep the failure behind them. The npm package keeps it in JavaScript (measured: 200 brotli bytes).
    Causes if not(feature = "module");
}

/// A value that only builds with a feature have: `Part<T, { Feature::COUNT }>`. Elsewhere it has no size, and no code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part<T, const COUNT: usize>([T; COUNT]);

impl<T, const COUNT: usize> Part<T, COUNT> {
    /// The value, if the build has it.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.first()
    }

    /// The value, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.first_mut()
    }
}

impl<T: Default, const COUNT: usize> Default for Part<T, COUNT> {
    #[inline]
    fn default() -> Self {
        Self(std::array::from_fn(|_| T::default()))
    }
}
