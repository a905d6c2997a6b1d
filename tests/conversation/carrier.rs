//! What becomes of requests, and what streams tell.

use turnwire::conversation::{Activity, Delivery, End, Fact, ListedState, Sent, ShownState, StartInput};

use super::tab::{InFlight, Request, Response};
use super::world::World;

impl World {
    /// A request or a response makes one step, or is lost.
    pub(super) fn carry(&mut self, at: usize, one: u32, two: usize) {
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
    pub(super) fn arrive(&mut self, at: usize, request: &Request) -> Response {
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

    pub(super) fn respond(&mut self, at: usize, request: Request, response: Response) {
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
                self.laws.failed(at, turn, Delivery::Refused);
                Fact::Refused { turn }
            }
            (Request::Steer { key, .. }, response) => Fact::Steered { key, delivery: delivery(&response) },
            (Request::Cancel { .. }, _) => return,
            (Request::Answer { turn, call, answer }, response) => {
                let delivery = delivery(&response);
                if delivery == Delivery::Refused {
                    self.laws.answer_failed(&answer, delivery);
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

    pub(super) fn fail(&mut self, at: usize, request: Request, delivery: Delivery) {
        let fact = match request {
            Request::CreateSession => Fact::SessionFailed,
            Request::Start { turn, .. } => {
                self.laws.failed(at, turn, delivery);
                if delivery == Delivery::Refused { Fact::Refused { turn } } else { Fact::Lost { turn } }
            }
            Request::Steer { key, .. } => Fact::Steered { key, delivery },
            Request::Cancel { turn } => Fact::CancelFailed { turn },
            Request::Answer { turn, call, answer } => {
                // The turn's end has told already that it waits for it.
                let turns = self.tabs[at].plan.turns();
                let is_over = turns
                    .iter()
                    .any(|shown| shown.key == turn && matches!(shown.state, ShownState::Ended(_)));
                drop(turns);
                self.laws.answer_failed(&answer, if is_over { Delivery::Refused } else { delivery });
                Fact::Answered { turn, call, delivery }
            }
            Request::Tool { turn, call } => Fact::ToolEnded { turn, call, result: None },
            Request::Load { .. } => Fact::PageFailed,
        };
        let _ = self.tell(at, fact);
    }

    pub(super) fn arrive_late(&mut self, two: usize) {
        if !self.late.is_empty() {
            let (at, request) = self.late.remove(two % self.late.len());
            let response = self.arrive(at, &request);
            self.log.push(format!("server, late: {request:?} -> {response:?}"));
            if let Request::Start { input: StartInput::Message(text), .. } | Request::Steer { text, .. } =
                &request
            {
                self.laws.came_late(text);
            }
        }
    }

    /// A turn's stream tells its news, or breaks for good.
    pub(super) fn watch(&mut self, at: usize, one: u32, two: usize) {
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
}

fn delivery(response: &Response) -> Delivery {
    match response {
        Response::Done(true) => Delivery::Taken,
        _ => Delivery::Refused,
    }
}
