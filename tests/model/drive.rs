//! Carries out the driver's steps as the package's TypeScript does, against the simulated network and its clocks: steps
//! in, outcomes out.

use turnwire::json::{Object, Value};
use turnwire::protocol::truefoundry::{Dialect, TrueFoundry};
use turnwire::protocol::{Answer, Call, Protocol};
use turnwire::turn::{Failure, Moment, Outcome, Pause, Plan, Reconnect, Step, TurnDriver, Waiting};
use turnwire::{Error, ErrorCode};

use super::facts::{Facts, Went};
use super::fault::Fault;
use super::frames::Part;
use super::network::{Head, Network, Reply};
use super::page::Page;
use super::profile::{Schedule, Situation};
use super::random::Random;
use super::time::{Millis, moment, whole};

/// The time limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks {
    pub(crate) connect: Millis,
    pub(crate) idle: Millis,
}

/// No case needs more.
const MOST_STEPS: u32 = 20_000;
const LONGEST_CASE: Millis = 7 * 86_400_000;

#[derive(Debug)]
pub(crate) struct Drive {
    pub(crate) driver: TurnDriver,
    pub(crate) page: Page,
    pub(crate) network: Network,
    pub(crate) facts: Facts,
    pub(crate) schedule: Schedule,
    pub(crate) clocks: Clocks,
    pub(crate) reconnect: Reconnect,
    pub(crate) now: Millis,
    /// When the caller stops listening.
    pub(crate) abort_at: Option<Millis>,
    /// Whether the caller stops listening while the turn's events are listed.
    pub(crate) leaves_list: bool,
    pub(crate) random: Random,
}

/// An outcome that owns its data.
enum Done {
    Ended,
    Answered(String),
    Failed(Failure),
    Aborted,
    Unsent,
}

impl Drive {
    /// Continues from a first step to the end. Returns what the driver reports.
    pub(crate) fn run(&mut self, first: Step) -> Result<(), Error> {
        self.facts.begin();
        let mut step = first;
        for _ in 0..MOST_STEPS {
            assert!(self.now < LONGEST_CASE, "it takes for ever");
            let random = self.random.unit();
            step = match step {
                Step::End(ended) => {
                    let is_over = self.driver.reader().machine().status().is_terminal();
                    self.facts.list.was_used |= is_over && self.facts.asks_list();
                    self.facts.note(self.now, &format!("ends: {ended:?}"));
                    self.look();
                    return ended;
                }
                Step::Retry(pause) => {
                    let outcome = self.pause(&pause);
                    self.driver.next(outcome, Moment { now: moment(self.now), random })
                }
                Step::Wait(waiting) => {
                    let outcome = self.wait(waiting);
                    self.driver.next(outcome, Moment { now: moment(self.now), random })
                }
                Step::Open(plan) | Step::Ask(plan) => {
                    let done = self.request(&plan);
                    let outcome = match &done {
                        Done::Ended => Outcome::Ended,
                        Done::Answered(json) => Outcome::Answered(json),
                        Done::Failed(failure) => Outcome::Failed(failure.clone()),
                        Done::Aborted => Outcome::Aborted,
                        Done::Unsent => Outcome::Unsent,
                    };
                    let had_id = self.driver.reader().machine().id().is_some();
                    let is_listing = plan.call == Call::ListTurnEvents;
                    if is_listing {
                        self.look();
                        self.page.is_listing = true;
                    }
                    let step = self.driver.next(outcome, Moment { now: moment(self.now), random });
                    if is_listing {
                        self.look();
                        self.page.is_listing = false;
                    }
                    if plan.call == Call::ListTurns
                        && !had_id
                        && self.driver.reader().machine().id().is_some()
                    {
                        self.facts.found();
                    }
                    step
                }
            };
            if self.random.percent(50) {
                self.look();
            }
        }
        panic!("it never ends");
    }

    /// The page reads new events, and draws changes.
    fn look(&mut self) {
        self.page.read(self.driver.reader_mut());
        self.page.follow(self.driver.reader_mut());
    }

    /// Waits for the server to have more.
    fn wait(&mut self, waiting: Waiting) -> Outcome<'static> {
        let is_unsure = self.driver.reader().machine().cursor().is_unsure();
        self.facts.waits(waiting, is_unsure, self.reconnect);
        self.facts.note(self.now, &format!("waits {} ms for {:?}", waiting.delay, waiting.awaited));
        self.waited(whole(waiting.delay))
    }

    /// Waits before the next try.
    fn pause(&mut self, pause: &Pause) -> Outcome<'static> {
        self.facts.retries(pause, self.reconnect);
        let mut delay = whole(pause.delay);
        // The page or the network returns.
        if self.random.percent(10) || self.network.online_at() > self.now {
            let back = self.network.online_at().saturating_sub(self.now);
            delay = delay.min(whole(pause.least).max(back));
        }
        // Without a network there may be many attempts.
        if !self.facts.last.is_offline {
            let waits = format!("waits {delay} ms, try {}: {}", pause.attempt, pause.cause.message);
            self.facts.note(self.now, &waits);
        }
        self.waited(delay)
    }

    fn waited(&mut self, delay: Millis) -> Outcome<'static> {
        if self.passes(self.now + delay) { Outcome::Waited } else { Outcome::Aborted }
    }

    /// Lets time pass. Returns whether the caller has not stopped it by then.
    fn passes(&mut self, until: Millis) -> bool {
        let stopped = self.abort_at.filter(|at| *at <= until);
        self.now = self.now.max(stopped.unwrap_or(until));
        stopped.is_none()
    }

    fn request(&mut self, plan: &Plan) -> Done {
        let call = plan.call;
        let machine = self.driver.reader().machine();
        let last = machine.cursor().last();
        let (is_over, is_unsure) = (machine.status().is_terminal(), machine.cursor().is_unsure());
        if call.streams() {
            assert_eq!(plan.resumes_after.unwrap_or(last), last, "it resumes where it stands");
            assert_eq!(after(plan), last, "it asks for what comes next");
        }
        self.facts.asks(call, self.now, is_over, is_unsure, self.reconnect);
        if call == Call::ListTurnEvents && self.leaves_list {
            self.abort_at = Some(self.now + self.random.below(100));
        }
        // The caller may stop it while it waits for its token.
        let is_early = self.abort_at.is_some_and(|at| at < self.now + 60);
        if is_early && self.random.percent(40) {
            self.now = self.now.max(self.abort_at.unwrap_or_default());
            self.facts.last = Went { is_unsent: true, ..Went::default() };
            return Done::Unsent;
        }
        let mut went = Went::default();
        let mut done = self.exchange(plan, &mut went);
        if let Done::Failed(failure) = &mut done {
            let is_connection = matches!(failure.error.code, ErrorCode::Network | ErrorCode::Timeout);
            failure.is_offline = is_connection && self.network.is_offline(self.now);
        }
        let machine = self.driver.reader().machine();
        went.stood = went.opened_at.map_or(0, |opened_at| self.now - opened_at);
        went.has_failed = !matches!(done, Done::Answered(_));
        went.is_progress = machine.cursor().last() != last
            || call.streams() && machine.cursor().is_unsure()
            || call == Call::ListTurnEvents && matches!(done, Done::Answered(_));
        if let Done::Failed(failure) = &done {
            went.status = failure.error.status.unwrap_or_default();
            went.retry_after = failure.retry_after.into();
            went.is_offline = failure.is_offline;
            went.is_unsent = failure.error.code == ErrorCode::Token;
        }
        if let (Call::ListTurns | Call::ListTurnEvents, Done::Answered(page)) = (call, &done) {
            let page: serde_json::Value = serde_json::from_str(page).expect("JSON");
            went.has_more = !page["next"].is_null();
            self.facts.list.was_used |= call == Call::ListTurnEvents && !is_over;
            self.facts.list.was_read_whole |= call == Call::ListTurnEvents && !went.has_more;
        }
        let retry = self.driver.reader().retry();
        let has_ended = self.network.server.has_ended(self.now);
        self.facts.went(call, went, self.now, retry, has_ended, self.reconnect);
        done
    }

    /// Sends a request; if its token is refused, with another one.
    fn exchange(&mut self, plan: &Plan, went: &mut Went) -> Done {
        let protocol = TrueFoundry::new(Dialect::Gateway);
        let params = Value::parse(&plan.params).expect("JSON");
        let params = params.as_object().expect("an object").clone();
        let request = protocol.request(plan.call, params).expect("the driver asks for what there is");
        let is_at_limit = self.reconnect.max_attempts > 0 && self.facts.is_exhausted(self.reconnect);
        // A request that is not sent can have no other fault.
        let is_offline = self.network.is_offline(self.now);
        let situation = Situation { call: plan.call, is_at_limit };
        let mut fault = if is_offline { Fault::None } else { self.schedule.next(situation) };
        if fault != Fault::None {
            *self.facts.record.faults.entry(fault.name()).or_default() += 1;
        }
        if !is_offline {
            self.facts.note(self.now, &format!("{:?} {} {fault:?}", plan.call, plan.params));
        }
        let mut has_asked_again = false;
        loop {
            let reply = self.network.send(plan.call, &request, fault, self.now);
            let head = match reply {
                Reply::NoToken => return Done::Failed(Error::new(ErrorCode::Token, "no token").into()),
                Reply::Failed { at } => {
                    return match self.arrives(at, self.now) {
                        Err(done) => done,
                        Ok(()) => Done::Failed(network()),
                    };
                }
                Reply::Head(head) => head,
            };
            if let Err(done) = self.arrives(head.at, self.now) {
                return done;
            }
            if head.status == 401 && !has_asked_again {
                has_asked_again = true;
                if fault == (Fault::Unauthorized { is_final: false }) {
                    fault = Fault::None;
                }
                continue;
            }
            let is_stream = head.status == 200 && plan.call.streams();
            if is_stream && head.content_type.starts_with("text/event-stream") {
                return self.pump(head, went);
            }
            return self.read(plan.call, head, protocol);
        }
    }

    /// Waits for the answer's head, up to the time limit.
    fn arrives(&mut self, at: Millis, sent: Millis) -> Result<(), Done> {
        let late = sent + self.clocks.connect;
        if !self.passes(at.min(late)) {
            return Err(Done::Aborted);
        }
        if at > late { Err(Done::Failed(timeout())) } else { Ok(()) }
    }

    /// Reads a stream to its end, or as far as the driver wants.
    fn pump(&mut self, head: Head, went: &mut Went) -> Done {
        self.driver.opened(moment(self.now));
        went.opened_at = Some(self.now);
        let mut last = self.now;
        for (at, part) in head.parts {
            if let Err(done) = self.comes(at, last) {
                return done;
            }
            last = at;
            match part {
                Part::Bytes(bytes) => {
                    let reader = self.driver.reader_mut();
                    let pushed = reader.push(&bytes);
                    let is_wanted = pushed.is_ok() && !reader.machine().status().is_terminal();
                    self.facts.was_unnumbered |= reader.machine().cursor().is_unsure();
                    if self.random.percent(30) {
                        self.look();
                    }
                    if !is_wanted {
                        return Done::Ended;
                    }
                }
                Part::Eof => {
                    went.is_clean = true;
                    return Done::Ended;
                }
                Part::Reset => return Done::Failed(network()),
            }
        }
        self.silence(last)
    }

    /// Reads the body of an answer that is not a stream.
    fn read(&mut self, call: Call, head: Head, protocol: TrueFoundry) -> Done {
        let mut body = Vec::new();
        let mut last = self.now;
        for (at, part) in head.parts {
            if let Err(done) = self.comes(at, last) {
                return done;
            }
            last = at;
            match part {
                Part::Bytes(bytes) => body.extend(bytes),
                Part::Eof => {
                    let body = String::from_utf8_lossy(&body);
                    let answer = Answer {
                        status: head.status,
                        status_text: "",
                        content_type: head.content_type,
                        body: &body,
                    };
                    return match answer.read(&protocol, call, &Object::new()) {
                        Ok(json) => Done::Answered(json),
                        Err(error) => Done::Failed(told(&error, head.retry_after)),
                    };
                }
                Part::Reset => return Done::Failed(network()),
            }
        }
        self.silence(last)
    }

    /// Waits for the next part, up to the longest silence allowed.
    fn comes(&mut self, at: Millis, last: Millis) -> Result<(), Done> {
        let idle = last + self.clocks.idle;
        if !self.passes(at.min(idle)) {
            return Err(Done::Aborted);
        }
        if at > idle { Err(Done::Failed(timeout())) } else { Ok(()) }
    }

    fn silence(&mut self, last: Millis) -> Done {
        if self.passes(last + self.clocks.idle) { Done::Failed(timeout()) } else { Done::Aborted }
    }
}

/// The number after which a plan asks for events.
fn after(plan: &Plan) -> u64 {
    let params: serde_json::Value = serde_json::from_str(&plan.params).expect("JSON");
    params["after_sequence_number"].as_u64().unwrap_or_default()
}

fn network() -> Failure {
    Error::new(ErrorCode::Network, "it broke").into()
}

fn timeout() -> Failure {
    Error::new(ErrorCode::Timeout, "it took too long").into()
}

/// The parts of an error that cross the boundary: its code, its message, the status.
fn told(error: &Error, retry_after: Millis) -> Failure {
    let plain = Error::new(error.code, &error.message).with_status(error.status);
    Failure { retry_after: u32::try_from(retry_after).expect("it was cut"), ..plain.into() }
}
