//! Two tabs and a server: what a schedule does, and what comes of the effects.

use std::collections::BTreeMap;

use turnwire::conversation::{
    Activity, Delivery, Effect, End, Fact, Key, ListedState, Options, QueuedState, Refusal, Sent, ShownState,
    WhenBusy, Who, write_view,
};

use super::laws::{Laws, Seen};
use super::schedule::Action;
use super::server::{Protocol, Server};
use super::tab::{InFlight, Request, Response, Tab};

const TABS: usize = 2;

pub(crate) struct World {
    pub(crate) protocol: Protocol,
    options: Options,
    pub(crate) server: Server,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) laws: Laws,
    pub(crate) log: Vec<String>,
    /// Requests of which the carrier has given up: they may still arrive.
    late: Vec<(usize, Request)>,
    texts: u32,
    is_calm: bool,
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

    fn text(&mut self) -> String {
        self.texts += 1;
        format!("\"{}\"", self.texts)
    }

    /// Tells a plan a fact, and takes up what follows.
    fn tell(&mut self, at: usize, fact: Fact) -> Result<Option<Key>, Refusal> {
        let before = (write_view(&self.tabs[at].plan), self.tabs[at].plan.queue().to_vec());
        let taken = self.tabs[at].plan.take(fact.clone());
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

    fn carry_out(&mut self, at: usize, effect: Effect) {
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

    fn attach(&mut self, at: usize) {
        self.tabs[at].is_shown = true;
        let _ = self.tell(at, Fact::Attach);
    }

    fn lead(&mut self, leader: usize) {
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

    fn send(&mut self, at: usize, one: u32, two: usize) {
        let text = self.text();
        let when_busy = [
            None,
            None,
            Some(WhenBusy::Queue),
            Some(WhenBusy::Steer),
            Some(WhenBusy::Interrupt),
            Some(WhenBusy::Reject),
        ][two % 6];
        let discard = one % 8 == 7;
        self.laws.sends(&text);
        if self.tell(at, Fact::Send { input: text.clone(), when_busy, discard }).is_err() {
            self.laws.unsent(&text);
        }
    }

    fn answer(&mut self, at: usize, one: u32, two: usize) {
        let pending: Vec<_> =
            self.tabs[at].plan.pending().iter().map(|asked| (asked.turn, asked.call.to_owned())).collect();
        if pending.is_empty() {
            return;
        }
        let (turn, call) = pending[two % pending.len()].clone();
        let answer = (one % 8 != 7).then(|| self.text());
        let _ = self.tell(at, Fact::Answer { turn, call, answer });
    }

    /// Retries, asks again, edits or dismisses.
    fn again(&mut self, at: usize, one: u32, two: usize) {
        let shown: Vec<_> = self.tabs[at].plan.path().iter().map(|shown| shown.key).collect();
        if shown.is_empty() {
            return;
        }
        let turn = shown[shown.len() - 1 - two % shown.len().min(4)];
        let plan = &self.tabs[at].plan;
        let question = plan.question_of(turn);
        let here = plan
            .turns()
            .iter()
            .find(|shown| shown.key == turn)
            .map(|shown| shown.input.to_owned())
            .unwrap_or_default();
        let input = question
            .and_then(|key| self.server.find(plan.id_of(key)).map(|turn| turn.input.clone()))
            .filter(|input| !input.is_empty())
            .unwrap_or_else(|| here.clone());
        let is_here = !here.is_empty();
        if input.is_empty() {
            return;
        }
        let before = self.laws.sent(&input);
        match one % 8 {
            0..=2 => {
                self.laws.sends(&input);
                if !is_here {
                    self.laws.copies(&input);
                }
                let was = plan.turns().iter().find(|shown| shown.key == turn).map(|shown| shown.state);
                let taken = self.tell(at, Fact::Retry { turn, input: input.clone() });
                let looks = matches!(was, Some(ShownState::Incomplete | ShownState::Here(Sent::Unknown)));
                if taken.is_err() || looks {
                    self.laws.set(&input, before);
                } else if !is_here {
                    self.tabs[at].has_branched = true;
                }
            }
            3..=4 => {
                self.laws.sends(&input);
                self.laws.copies(&input);
                match self.tell(at, Fact::Regenerate { turn, input: input.clone() }) {
                    Err(_) => self.laws.set(&input, before),
                    Ok(_) => self.tabs[at].has_branched = true,
                }
            }
            5..=6 => {
                let text = self.text();
                self.laws.sends(&text);
                self.laws.replaced(&here, is_here);
                match self.tell(at, Fact::Edit { turn, input: text.clone() }) {
                    Err(_) => {
                        self.laws.unsent(&text);
                        self.laws.replaced(&here, false);
                    }
                    Ok(_) => self.tabs[at].has_branched |= !is_here,
                }
            }
            _ => drop(self.tell(at, Fact::Dismiss { turn })),
        }
    }

    fn show(&mut self, at: usize, two: usize) {
        let turns: Vec<_> = self.tabs[at].plan.turns().iter().map(|turn| turn.key).collect();
        if !turns.is_empty() {
            let turn = turns[two % turns.len()];
            self.tabs[at].has_branched = true;
            let _ = self.tell(at, Fact::Show { turn });
        }
    }

    fn change_queue(&mut self, at: usize, one: u32, two: usize) {
        let queue = self.tabs[at].plan.queue().to_vec();
        if queue.is_empty() {
            return;
        }
        let item = &queue[two % queue.len()];
        let key = item.key;
        match one % 8 {
            0 => {
                let text = self.text();
                self.laws.sends(&text);
                self.laws.replaced(&item.input, true);
                if self.tell(at, Fact::EditQueued { key, input: text.clone() }).is_err() {
                    self.laws.unsent(&text);
                    self.laws.replaced(&item.input, false);
                }
            }
            1 => drop(self.tell(at, Fact::RemoveQueued { key })),
            2 => drop(self.tell(at, Fact::MoveQueued { key, to: u32::try_from(two % 4).expect("small") })),
            3 => {
                let is_again = matches!(item.state, QueuedState::Unknown(_));
                let before = self.laws.sent(&item.input);
                if is_again {
                    self.laws.sends(&item.input);
                }
                if self.tell(at, Fact::SendNow { key }).is_err() {
                    self.laws.set(&item.input, before);
                }
            }
            4 => drop(self.tell(at, Fact::SteerQueued { key })),
            5 => drop(self.tell(at, Fact::Hold { on: true })),
            _ => drop(self.tell(at, Fact::Hold { on: false })),
        }
    }

    /// What cannot be done is refused, or harmless.
    fn bad_use(&mut self, at: usize, one: u32, two: usize) {
        let none = Key(1_000_000 + u32::try_from(two).expect("small"));
        let fact = match one % 12 {
            0 => Fact::Answer { turn: none, call: "c0".to_owned(), answer: Some("\"?\"".to_owned()) },
            1 => Fact::Retry { turn: none, input: "\"?\"".to_owned() },
            2 => Fact::Edit { turn: none, input: "\"?\"".to_owned() },
            3 => Fact::Show { turn: none },
            4 => Fact::Dismiss { turn: none },
            5 => Fact::SendNow { key: none },
            6 => Fact::EditQueued { key: none, input: "\"?\"".to_owned() },
            7 => Fact::Send { input: String::new(), when_busy: None, discard: false },
            8 => Fact::Regenerate { turn: none, input: "\"?\"".to_owned() },
            9 => Fact::RemoveQueued { key: none },
            10 => {
                // Late facts of a turn that is gone.
                let facts = [
                    Fact::Named { turn: none, id: "s0".to_owned(), previous: None },
                    Fact::Ended { turn: none, end: End::Done, calls: vec![] },
                    Fact::Refused { turn: none },
                    Fact::Lost { turn: none },
                    Fact::Steered { key: none, delivery: Delivery::Taken },
                    Fact::ToolEnded { turn: none, call: "c0".to_owned(), result: None },
                ];
                for fact in facts {
                    assert!(self.tell(at, fact).is_ok(), "a late fact was refused");
                }
                return;
            }
            _ => Fact::MoveQueued { key: none, to: 0 },
        };
        assert!(self.tell(at, fact).is_err(), "bad use was not refused");
    }

    /// The page goes away, and comes back with what was stored.
    fn reload(&mut self, at: usize, two: usize) {
        self.log.push(format!("tab {at}: reload"));
        let stored = self.tabs[at].stored.clone();
        for (place, InFlight { request, response }) in
            std::mem::take(&mut self.tabs[at].flying).into_iter().enumerate()
        {
            // What is sent again is what the server's list does not have.
            match &request {
                Request::Answer { answer, .. } => self.laws.answer_failed(answer),
                Request::Start { turn, .. } => self.laws.failed(at, *turn),
                _ => {}
            }
            if response.is_none() && two >> place & 1 == 1 {
                self.late.push((at, request));
            }
        }
        let options = Options { has_session: self.server.has_session, ..self.options };
        let is_leading = self.tabs[at].is_leading;
        self.tabs[at] = Tab::new(options);
        self.tabs[at].stored.clone_from(&stored);
        self.laws.tabs[at] = Seen::default();
        if !stored.is_empty() {
            let _ = self.tell(at, Fact::Restored { text: stored });
        }
        self.attach(at);
        if is_leading {
            self.tabs[at].is_leading = true;
            let _ = self.tell(at, Fact::Leading { on: true });
        }
    }

    /// A request or a response makes one step, or is lost.
    fn carry(&mut self, at: usize, one: u32, two: usize) {
        let count = self.tabs[at].flying.len();
        if count == 0 {
            return;
        }
        let InFlight { request, response } = self.tabs[at].flying.remove(two % count);
        let chance = if self.is_calm { 0 } else { one % 16 };
        if let Request::Cancel { turn } = &request {
            let here =
                self.tabs[at].plan.turns().iter().find(|shown| shown.key == *turn).map(|shown| shown.state);
            // While the turn starts, the carrier waits.
            if here == Some(ShownState::Here(Sent::Sending)) {
                self.tabs[at].flying.push(InFlight { request, response });
                return;
            }
        }
        match (response, chance) {
            (None, 15) => {
                self.log.push(format!("tab {at}: refused or not sent: {request:?}"));
                self.fail(at, request, Delivery::Refused);
            }
            (None, 14) => {
                self.log.push(format!("tab {at}: given up: {request:?}"));
                // It may arrive later.
                self.late.push((at, request.clone()));
                self.fail(at, request, Delivery::Lost);
            }
            (None, 13) => {
                self.log.push(format!("tab {at}: lost: {request:?}"));
                self.fail(at, request, Delivery::Lost);
            }
            (None, _) => {
                let response = self.arrive(at, &request);
                self.log.push(format!("server: {request:?} -> {response:?}"));
                self.tabs[at].flying.push(InFlight { request, response: Some(response) });
            }
            (Some(_), 13..=15) => {
                self.log.push(format!("tab {at}: response lost: {request:?}"));
                self.fail(at, request, Delivery::Lost);
            }
            (Some(response), _) => self.respond(at, request, response),
        }
    }

    /// What a request does at the server.
    fn arrive(&mut self, at: usize, request: &Request) -> Response {
        match request {
            Request::CreateSession => {
                self.server.has_session = true;
                Response::Done(true)
            }
            Request::Start { after, asking, input, discard, .. } => {
                Response::Started(self.server.start(self.protocol, after, asking, input, *discard))
            }
            Request::Steer { turn, text, .. } => {
                let id = self.tabs[at].id_of(*turn).unwrap_or_default();
                Response::Done(self.server.steer(&id, text))
            }
            Request::Cancel { turn } => {
                if let Some(id) = self.tabs[at].id_of(*turn) {
                    self.server.end(&id, End::Cancelled);
                }
                Response::Done(true)
            }
            Request::Answer { turn, call, answer } => {
                let id = self.tabs[at].id_of(*turn).unwrap_or_default();
                Response::Done(self.server.answer(&id, call, answer))
            }
            Request::Tool { .. } => Response::Done(true),
            Request::Load { before } => Response::Page(self.server.page(self.protocol, before.as_deref())),
        }
    }

    fn respond(&mut self, at: usize, request: Request, response: Response) {
        let fact = match (request, response) {
            (Request::CreateSession, _) => {
                self.tabs[at].knows_session = true;
                Fact::SessionReady
            }
            (Request::Start { turn, .. }, Response::Started(Some((id, previous)))) => {
                self.tabs[at].ids.push((turn, id.clone()));
                self.tabs[at].watch(turn, id.clone());
                Fact::Named { turn, id, previous: self.protocol.fork.then_some(previous) }
            }
            (Request::Start { turn, .. }, _) => {
                self.laws.failed(at, turn);
                Fact::Refused { turn }
            }
            (Request::Steer { key, .. }, response) => Fact::Steered { key, delivery: delivery(&response) },
            (Request::Cancel { .. }, _) => return,
            (Request::Answer { turn, call, answer }, response) => {
                let delivery = delivery(&response);
                if delivery == Delivery::Refused {
                    self.laws.answer_failed(&answer);
                }
                Fact::Answered { turn, call, delivery }
            }
            (Request::Tool { turn, call }, _) => {
                let result = Some(self.text());
                Fact::ToolEnded { turn, call, result }
            }
            (Request::Load { .. }, Response::Page(page)) => Fact::Page(page),
            (Request::Load { .. }, _) => Fact::PageFailed,
        };
        let _ = self.tell(at, fact);
    }

    fn fail(&mut self, at: usize, request: Request, delivery: Delivery) {
        let fact = match request {
            Request::CreateSession => Fact::SessionFailed,
            Request::Start { turn, .. } => {
                self.laws.failed(at, turn);
                if delivery == Delivery::Refused { Fact::Refused { turn } } else { Fact::Lost { turn } }
            }
            Request::Steer { key, .. } => Fact::Steered { key, delivery },
            Request::Cancel { turn } => Fact::CancelFailed { turn },
            Request::Answer { turn, call, answer } => {
                self.laws.answer_failed(&answer);
                Fact::Answered { turn, call, delivery }
            }
            Request::Tool { turn, call } => Fact::ToolEnded { turn, call, result: None },
            Request::Load { .. } => Fact::PageFailed,
        };
        let _ = self.tell(at, fact);
    }

    fn arrive_late(&mut self, two: usize) {
        if !self.late.is_empty() {
            let (at, request) = self.late.remove(two % self.late.len());
            let response = self.arrive(at, &request);
            self.log.push(format!("server, late: {request:?} -> {response:?}"));
            if let Request::Start { input: turnwire::conversation::StartInput::Message(text), .. }
            | Request::Steer { text, .. } = &request
            {
                self.laws.came_late(text);
            }
        }
    }

    /// A turn's stream tells its news, or breaks for good.
    fn watch(&mut self, at: usize, one: u32, two: usize) {
        let count = self.tabs[at].watched.len();
        if count == 0 {
            return;
        }
        let place = two % count;
        let watched = self.tabs[at].watched[place].clone();
        let turn = watched.turn;
        let Some(served) = self.server.find(&watched.id).cloned() else { return };
        if !self.is_calm && one % 16 == 15 {
            self.tabs[at].watched.remove(place);
            let _ = self.tell(at, Fact::Incomplete { turn });
            return;
        }
        self.tabs[at].watched[place].said = served.said.len();
        for input in &served.said[watched.said.min(served.said.len())..] {
            let _ = self.tell(at, Fact::Said { turn, input: input.clone() });
        }
        let calls: Vec<String> = served.calls.iter().map(|call| call.id.clone()).collect();
        match served.state {
            ListedState::Running => {
                if calls != watched.calls && self.protocol.live_answers {
                    self.tabs[at].watched[place].calls = calls;
                    let _ = self.tell(at, Fact::Waits { turn, calls: served.calls });
                } else {
                    let activity =
                        [Activity::Thinking, Activity::Answering, Activity::Working, Activity::Reconnecting]
                            [two % 4];
                    let _ = self.tell(at, Fact::Active { turn, activity });
                }
            }
            ListedState::Ended(end) => {
                self.tabs[at].watched.retain(|watched| watched.turn != turn);
                let _ = self.tell(at, Fact::Ended { turn, end, calls: served.calls });
            }
        }
    }

    /// A running turn goes on at the server.
    fn serve(&mut self, one: u32, two: usize) {
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
            3 if two % 4 == 0 => self.server.ask(&id, Who::SignIn),
            4 if two % 3 == 0 => self.server.end(&id, End::Failed),
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

    fn come_to_rest(&mut self) {
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

fn delivery(response: &Response) -> Delivery {
    match response {
        Response::Done(true) => Delivery::Taken,
        _ => Delivery::Refused,
    }
}

/// How often something was done with a text.
pub(crate) type Counts = BTreeMap<String, usize>;
