//! The one loop that plays a script, whatever the protocol.

use std::iter::Peekable;

use super::clock::{Clock, Flow};
use crate::agents::{Ending, Resume, Step};

/// What is still to be played of a turn.
pub(crate) type Script<A = Step> = Peekable<Box<dyn Iterator<Item = A> + Send>>;

/// What an act of a script means for the loop.
pub(crate) enum Cue<A> {
    /// Nothing happens for this many beats.
    Wait(u32),
    /// Something to be recorded.
    Act(A),
    /// The script ends.
    End(Ending),
}

impl From<Step> for Cue<Step> {
    fn from(step: Step) -> Self {
        match step {
            Step::Wait(beats) => Self::Wait(beats),
            Step::End(ending) => Self::End(ending),
            step => Self::Act(step),
        }
    }
}

/// Turns the acts of a script into the events of one protocol.
pub(crate) trait Player: Send {
    /// A step that all protocols know, or one that only this protocol has.
    type Act: Into<Cue<Self::Act>>;

    fn clock(&mut self) -> &mut Clock;

    /// Lets time pass before what follows.
    async fn wait(&mut self, beats: u32, _: &mut Script<Self::Act>) -> Flow {
        self.clock().pass(beats).await
    }

    /// Records an act, at its time. It may change what follows.
    async fn act(&mut self, act: Self::Act, script: &mut Script<Self::Act>) -> Flow;

    /// The script waits for answers: decides what follows.
    async fn pause(&mut self, resume: Resume, script: &mut Script<Self::Act>) -> Flow;

    /// The script is through, or the agent failed.
    async fn end(&mut self, failure: Option<String>) -> Flow;
}

/// Plays a script to its end, or until it is stopped.
pub(crate) async fn play<P: Player>(player: &mut P, mut script: Script<P::Act>) -> Flow {
    loop {
        match script.next().map(Into::into) {
            Some(Cue::Wait(beats)) => player.wait(beats, &mut script).await?,
            Some(Cue::Act(act)) => player.act(act, &mut script).await?,
            Some(Cue::End(Ending::Paused(resume))) => player.pause(resume, &mut script).await?,
            Some(Cue::End(Ending::Failed(message))) => return player.end(Some(message)).await,
            Some(Cue::End(Ending::Done)) | None => return player.end(None).await,
        }
    }
}
