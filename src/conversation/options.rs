//! What a plan is told at its beginning, and what it refuses.

/// What the protocol can, and what the page wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of the protocol")]
pub struct Options {
    /// The conversation has a session. Else the first message creates it.
    pub has_session: bool,
    /// A new turn may follow any turn.
    pub fork: bool,
    /// Calls can be answered while their turn runs.
    pub live_answers: bool,
    /// A running turn takes messages.
    pub steer: bool,
    /// A message can throw away what waits.
    pub discard_pending: bool,
    /// The server lists its turns.
    pub history: bool,
    /// A turn that nobody shows is not read on.
    pub leaves_unseen: bool,
    /// What happens to an input while a turn runs.
    pub when_busy: WhenBusy,
}

/// What happens to an input while a turn runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenBusy {
    /// It waits in the queue.
    #[default]
    Queue,
    /// The running turn takes it; where the protocol cannot, it waits in the queue.
    Steer,
    /// The running turn is cancelled for it.
    Interrupt,
    /// It is refused.
    Reject,
}

/// Why a fact was not taken. It has changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The protocol cannot do it.
    Unsupported,
    /// Calls wait for an answer, and a message would not reach the agent before that.
    CallsWait,
    /// A turn runs.
    Busy,
    /// The key is none, or not any more.
    Gone,
    /// It was sent, and cannot be changed.
    Sent,
    /// The call does not wait.
    NotWaiting,
    /// There is nothing to do.
    Nothing,
}
