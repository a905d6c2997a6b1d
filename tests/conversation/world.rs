//! Two tabs and a server: what a schedule does, and what comes of the effects.

use turnwire::conversation::{
    Effect, End, Fact, Key, ListedState, Options, Refusal, WhenBusy, Who, read_fact, write_view,
};

use super::laws::{Laws, Seen};
use super::replay::{Replay, lines};
use super::schedule::Action;
use super::server::{Protocol, Server};
use super::tab::{InFlight, Request, Tab};

const TABS: usize = 2;

pub(crate) struct World {
    pub(crate) protocol: Protocol,
    pub(super) options: Options,
    pub(crate) server: Server,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) laws: Laws,
    pub(crate) log: Vec<String>,
    /// The lives of the tabs' plans; the last ones are those that are loaded.
    pub(crate) replays: Vec<Replay>,
    pub(crate) past: Vec<Replay>,
    /// Requests of which the carrier has given up: they may still arrive.
    pub(super) late: Vec<(usize, Request)>,
    texts: u32,
    pub(super) is_calm: bool,
}

impl World {
    pub(crate) fn new(bits: u32) -> Self {
        let bit = |at: u32| bits >> at & 1 == 1;
        let protocol = Protocol {
            fork: bit(0),
            live_answers: bit(1),
            steer: bit(2),
            discard_pending: bit(3),
            newest_first: bit(4),
            same_ids: bit(5),
            page: if bit(6) { 3 } else { 50 },
        };
        let options = Options {
            has_session: bit(7),
            fork: protocol.fork,
            live_answers: protocol.live_answers,
            steer: protocol.steer,
            discard_pending: protocol.discard_pending,
            history: true,
            leaves_unseen: bit(8),
            when_busy: [WhenBusy::Queue, WhenBusy::Steer, WhenBusy::Interrupt, WhenBusy::Queue]
                [(bits >> 9 & 3) as usize],
        };
        let mut world = Self {
            protocol,
            options,
            server: Server { has_session: options.has_session, ..Server::default() },
            tabs: vec![],
            laws: Laws::default(),
            log: vec![],
            replays: vec![Replay::new(options); TABS],
            past: vec![],
            late: vec![],
            texts: 0,
            is_calm: false,
        };
        for at in 0..TABS {
            world.tabs.push(Tab::new(options));
            world.laws.tabs.push(Seen::default());
            if options.has_session || at == 0 {
                world.attach(at);
            }
        }
        world.lead(0);
        world
    }

    pub(super) fn text(&mut self) -> String {
        self.texts += 1;
        format!("\"{}\"", self.texts)
    }

    /// Tells a plan a fact, and takes up what follows.
    #[expect(clippy::needless_pass_by_value, reason = "facts are made where they are told")]
    pub(super) fn tell(&mut self, at: usize, fact: Fact) -> Result<Option<Key>, Refusal> {
        let before = (write_view(&self.tabs[at].plan), self.tabs[at].plan.queue().to_vec());
        let (kind, key, number, text) = lines(&fact);
        assert_eq!(
            read_fact(kind, key, number, &text).as_ref(),
            Some(&fact),
            "a fact is read otherwise than it is written"
        );
        let taken = self.tabs[at].plan.take(fact.clone());
        self.replays[at].add(&fact, &taken);
        self.log.push(format!("tab {at}: {fact:?} -> {taken:?}"));
        let taken = match taken {
            Ok(taken) => taken,
            Err(refusal) => {
                assert_eq!(before.0, write_view(&self.tabs[at].plan), "a refusal changed something");
                return Err(refusal);
            }
        };
        self.laws.took(at, &fact, &taken, &before.1);
        for effect in taken.effects {
            self.carry_out(at, effect);
        }
        let Self { laws, tabs, server, .. } = self;
        laws.check(at, &tabs[at], server);
        Ok(taken.key)
    }

    pub(super) fn carry_out(&mut self, at: usize, effect: Effect) {
        let tab = &mut self.tabs[at];
        let request = match effect {
            Effect::CreateSession => Request::CreateSession,
            Effect::Start { turn, after, input, discard } => {
                let asking = match &input {
                    turnwire::conversation::StartInput::Answers(asking, _) => {
                        tab.id_of(*asking).expect("a turn that asks has an id")
                    }
                    _ => String::new(),
                };
                Request::Start { turn, after, asking, input, discard }
            }
            Effect::Steer { turn, key, input } => {
                assert!(tab.id_of(turn).is_some(), "steered into a turn without id");
                Request::Steer { turn, key, text: input }
            }
            Effect::Cancel { turn } => Request::Cancel { turn },
            Effect::Answer { turn, call, answer } => Request::Answer { turn, call, answer },
            Effect::RunTool { turn, call } => {
                assert!(tab.is_leading, "a tool runs in a tab that does not lead");
                Request::Tool { turn, call }
            }
            Effect::StopTools => {
                tab.flying.retain(|flying| !matches!(flying.request, Request::Tool { .. }));
                return;
            }
            Effect::Watch { turn } => {
                let id = tab.id_of(turn).expect("a watched turn has an id");
                tab.watch(turn, id);
                return;
            }
            Effect::Leave { turn } => {
                tab.watched.retain(|watched| watched.turn != turn);
                return;
            }
            Effect::Load { before } => {
                let is_loading =
                    tab.flying.iter().any(|flying| matches!(flying.request, Request::Load { .. }));
                assert!(!is_loading, "two pages are read at once");
                let before = before.map(|key| tab.id_of(key).expect("a page ends before a known turn"));
                Request::Load { before }
            }
            Effect::Store { text } => {
                tab.stored = text;
                return;
            }
            Effect::GiveBack { input, .. } => {
                self.laws.gave_back(&input);
                return;
            }
            Effect::Publish => return,
        };
        tab.flying.push(InFlight { request, response: None });
    }

    pub(super) fn attach(&mut self, at: usize) {
        self.tabs[at].is_shown = true;
        let _ = self.tell(at, Fact::Attach);
    }

    pub(super) fn lead(&mut self, leader: usize) {
        for at in 0..TABS {
            if self.tabs[at].is_leading && at != leader {
                self.tabs[at].is_leading = false;
                let _ = self.tell(at, Fact::Leading { on: false });
            }
        }
        if !self.tabs[leader].is_leading {
            self.tabs[leader].is_leading = true;
            let _ = self.tell(leader, Fact::Leading { on: true });
        }
    }

    /// One action of a schedule.
    pub(crate) fn act(&mut self, [what, one, two]: Action) {
        let at = usize::from(one & 3 == 3);
        let (one, two) = (one >> 2, two as usize);
        if at == 1 && !self.tabs[at].knows_session {
            // It is opened with the session's id.
            if !self.server.has_session {
                return;
            }
            self.reload(at, 0);
        }
        match what % 64 {
            0..=6 => self.send(at, one, two),
            7..=8 => drop(self.tell(at, Fact::Stop)),
            9..=12 => self.answer(at, one, two),
            13 => drop(self.tell(at, Fact::Proceed)),
            14..=16 => self.again(at, one, two),
            17 => self.show(at, two),
            18..=20 => self.change_queue(at, one, two),
            21 => drop(self.tell(at, Fact::CatchUp)),
            22 => drop(self.tell(at, Fact::LoadEarlier)),
            23 if self.tabs[at].is_shown => {
                self.tabs[at].is_shown = false;
                let _ = self.tell(at, Fact::Detach);
            }
            23..=24 => self.attach(at),
            25 => self.reload(at, two),
            26 => self.lead(at),
            27..=42 => self.carry(at, one, two),
            43..=51 => self.watch(at, one, two),
            52..=59 => self.serve(one, two),
            60 => self.arrive_late(two),
            61 => self.bad_use(at, one, two),
            62 => drop(self.tell(at, Fact::Draft { text: format!("\"draft {two}\"") })),
            _ => self.carry(at, 0, two),
        }
    }

    /// A running turn goes on at the server.
    pub(super) fn serve(&mut self, one: u32, two: usize) {
        let Some(id) = self
            .server
            .turns
            .iter()
            .rfind(|turn| turn.state == ListedState::Running)
            .map(|turn| turn.id.clone())
        else {
            return;
        };
        match if self.is_calm { 5 } else { one % 8 } {
            0..=1 => self.server.ask(&id, Who::Person),
            2 => self.server.ask(&id, Who::Tool),
            3 if two.is_multiple_of(4) => self.server.ask(&id, Who::SignIn),
            4 if two.is_multiple_of(3) => self.server.end(&id, End::Failed),
            _ => self.server.end(&id, End::Done),
        }
    }

    /// Nothing is lost any more, and nobody does anything: everything comes to rest, and all tabs show what the server has.
    pub(crate) fn settle(&mut self) {
        self.is_calm = true;
        self.log.push("calm".to_owned());
        while !self.late.is_empty() {
            self.arrive_late(0);
        }
        for at in 0..TABS {
            if at == 1 && !self.tabs[at].knows_session && self.server.has_session {
                self.reload(at, 0);
            }
            self.attach(at);
        }
        self.come_to_rest();
        // What one tab does as it comes to rest is news for the other.
        loop {
            let (turns, answers) = (self.server.turns.len(), self.server.answers.len());
            for at in 0..TABS {
                let _ = self.tell(at, Fact::CatchUp);
            }
            self.come_to_rest();
            if (turns, answers) == (self.server.turns.len(), self.server.answers.len()) {
                break;
            }
        }
        for at in 0..TABS {
            while self.tabs[at].plan.status().has_earlier {
                let _ = self.tell(at, Fact::LoadEarlier);
                self.come_to_rest();
            }
        }
        let Self { laws, tabs, server, protocol, .. } = self;
        for (at, tab) in tabs.iter().enumerate().filter(|(_, tab)| tab.knows_session) {
            laws.check_rest(at, tab, server, *protocol);
        }
    }

    pub(super) fn come_to_rest(&mut self) {
        for _ in 0..400 {
            let is_still = self.tabs.iter().all(|tab| tab.flying.is_empty() && tab.watched.is_empty());
            if is_still && !self.server.is_busy() {
                return;
            }
            self.serve(0, 0);
            for at in 0..TABS {
                self.watch(at, 0, 0);
                self.carry(at, 0, 0);
            }
        }
        panic!(
            "it does not come to rest: {:?}",
            self.tabs.iter().map(|tab| (&tab.flying, &tab.watched)).collect::<Vec<_>>()
        );
    }
}
