//! A tab: its plan, and the requests of its carrier that are on their way.

use turnwire::conversation::{After, Key, Options, Page, Plan, StartInput};

/// A request on its way to the server, or its response on its way back.
#[derive(Debug, Clone)]
pub(crate) enum Request {
    CreateSession,
    Start { turn: Key, after: After, asking: String, input: StartInput, discard: bool },
    Steer { turn: Key, key: Key, text: String },
    Cancel { turn: Key },
    Answer { turn: Key, call: String, answer: String },
    Tool { turn: Key, call: String },
    Load { before: Option<String> },
}

/// What the server has said to a request.
#[derive(Debug, Clone)]
pub(crate) enum Response {
    Started(Option<(String, String)>),
    Done(bool),
    Page(Page),
}

#[derive(Debug, Clone)]
pub(crate) struct InFlight {
    pub(crate) request: Request,
    pub(crate) response: Option<Response>,
}

/// A turn whose stream is read: what was told of it last.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    pub(crate) turn: Key,
    pub(crate) id: String,
    pub(crate) calls: Vec<String>,
    pub(crate) said: usize,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact of the page")]
pub(crate) struct Tab {
    pub(crate) plan: Plan,
    pub(crate) stored: String,
    pub(crate) flying: Vec<InFlight>,
    pub(crate) watched: Vec<Watched>,
    /// The ids that turns got.
    pub(crate) ids: Vec<(Key, String)>,
    /// Turns that a person has sent here since the page was loaded, or has chosen: the path may be another branch's.
    pub(crate) has_branched: bool,
    pub(crate) is_shown: bool,
    pub(crate) knows_session: bool,
    pub(crate) is_leading: bool,
}

impl Tab {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            plan: Plan::new(options),
            stored: String::new(),
            flying: vec![],
            watched: vec![],
            ids: vec![],
            has_branched: false,
            is_shown: false,
            knows_session: options.has_session,
            is_leading: false,
        }
    }

    /// The id of a turn, as the carrier knows it.
    pub(crate) fn id_of(&self, turn: Key) -> Option<String> {
        let known = self.ids.iter().rfind(|(key, _)| *key == turn).map(|(_, id)| id.clone());
        known.or_else(|| Some(self.plan.id_of(turn).to_owned())).filter(|id| !id.is_empty())
    }

    pub(crate) fn watch(&mut self, turn: Key, id: String) {
        self.watched.retain(|watched| watched.turn != turn);
        self.watched.push(Watched { turn, id, calls: vec![], said: 0 });
    }
}
