//! Target `turn`: a stream results in the same turn however it is cut into chunks.

use serde_json::Value as Json;
use turnwire::delivery::ChangeBatch;
use turnwire::protocol::Protocol;
use turnwire::protocol::truefoundry::TrueFoundry;
use turnwire::turn::{TurnMachine, TurnReader};

use crate::generate;
use crate::mirror::Mirror;
use crate::plain;
use crate::protocol::DIALECTS;
use crate::records::{Numbered, Records};

/// Longer frames end a stream.
const LIMIT: usize = 4096;

/// Runs the target.
pub fn run(input: &[u8]) {
    let (mut plan, stream) = generate::stream(input);
    let protocol = TrueFoundry::new(DIALECTS[plan.below(2)]);
    let refills = plan.once_in(2);
    let mut whole = Reading::new(&protocol, refills);
    whole.push(&stream);
    let whole = whole.end();
    for chunks in [plan.cut(&stream), plan.cut(&stream), stream.chunks(1).collect()] {
        let mut reading = Reading::new(&protocol, refills);
        for chunk in &chunks {
            reading.push(chunk);
        }
        assert_eq!(reading.end(), whole, "in {} chunks", chunks.len());
    }
}

/// A stream that is being read.
#[derive(Debug)]
pub struct Reading {
    reader: TurnReader,
    records: Records,
    mirror: Mirror,
    batch: ChangeBatch,
    failure: Option<String>,
}

/// The result of a stream.
#[derive(Debug, PartialEq)]
pub struct Story {
    /// The events.
    pub events: Vec<Numbered>,
    /// The index, by its changes.
    pub mirror: Mirror,
    /// What is known of the turn as a whole.
    pub facts: Json,
}

impl Reading {
    /// A turn that is being started. With `refills`, missing numbers end it: they would be awaited on another
    /// connection.
    pub fn new(protocol: &dyn Protocol, refills: bool) -> Self {
        let mut reader = TurnReader::new(protocol, TurnMachine::unstarted(), LIMIT);
        reader.machine_mut().stream(None).expect("it can be started");
        reader.connected(refills);
        reader.set_wants_events(true);
        let (records, mirror, batch) = (Records::default(), Mirror::default(), ChangeBatch::default());
        Self { reader, records, mirror, batch, failure: None }
    }

    /// Takes a chunk; after a failure it has no effect.
    pub fn push(&mut self, chunk: &[u8]) {
        let pushed = self.reader.push(chunk);
        assert!(self.failure.is_none() || pushed.is_err(), "what has failed stays so");
        self.failure = pushed.err().map(|error| error.to_string());
    }

    /// Whether events are wanted from now on.
    pub fn want_events(&mut self, wants_events: bool) {
        self.reader.set_wants_events(wants_events);
    }

    /// Takes the events that have come.
    pub fn take_events(&mut self) {
        self.records.take(self.reader.batch());
    }

    /// Takes what has changed.
    pub fn take_changes(&mut self) {
        self.mirror.follow(&mut self.reader, &mut self.batch);
    }

    /// Fails unless a mirror has the texts of the index.
    pub fn check(&self, mirror: &Mirror) {
        mirror.check(self.reader.index());
    }

    /// Takes what is left.
    pub fn end(mut self) -> Story {
        self.take_events();
        self.take_changes();
        let json = |json: Option<String>| json.map_or(Json::Null, |json| plain::of_json(&json));
        let (created, state) = (json(self.reader.take_created()), json(self.reader.take_state()));
        let machine = self.reader.machine();
        let facts = serde_json::json!({
            "created": created,
            "state": state,
            "id": machine.id(),
            "status": machine.status().as_str(),
            "last": machine.cursor().last(),
            "failure": self.failure,
            "pending": self.reader.index().pending().len(),
        });
        let Self { records, mirror, .. } = self;
        Story { events: records.events, mirror, facts }
    }
}
