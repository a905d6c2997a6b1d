//! The parameters of calls: checked by name, and written into messages.

use crate::error::{Result, sentence};
use crate::json::{Object, Value};
use crate::protocol::options::{option_error, wire, wire_name};
use crate::protocol::route::words;
use crate::rpc::Messages;
use crate::text::is_among;

/// The parameters of a call, under their wire names.
pub(super) struct Params<'a>(Object<'a>);

impl<'a> Params<'a> {
    /// Takes parameters. Allowed are `names`, and those that every call has.
    pub(super) fn of(params: &Object<'a>, names: &'static str) -> Result<Self> {
        const EVERYWHERE: [&str; 3] = ["session_id", "connection", "terms"];
        let params = wire(params);
        for (name, _) in params.iter() {
            if !EVERYWHERE.contains(&name) && !words(names).any(|known| known == name) {
                return Err(option_error(name, " is not an option of this call"));
            }
        }
        Ok(Self(params))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.0.get(name)
    }

    /// A text; empty if it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.text(name)
    }

    /// A required id.
    pub(super) fn id(&self, name: &str) -> Result<&str> {
        let id = self.0.text(name);
        if id.is_empty() {
            return Err(option_error(name, " must be a non-empty id"));
        }
        Ok(id)
    }

    /// An object of further options; empty if it is missing.
    pub(super) fn options(&self, name: &str) -> Result<Object<'a>> {
        match self.0.get(name) {
            None => Ok(Object::new()),
            Some(Value::Object(options)) => Ok(options.clone()),
            Some(_) => Err(option_error(name, " must be an object")),
        }
    }

    /// A known property of the session.
    pub(super) fn term(&self, name: &str) -> &str {
        self.0.object("terms").map_or("", |terms| terms.text(name))
    }

    /// The options with which the session was created, while it has no turns.
    pub(super) fn creation(&self) -> Option<Self> {
        self.0.object("terms")?.object("creation").map(|creation| Self(wire(creation)))
    }

    /// The response to the connection's first message.
    pub(super) fn connection(&self, name: &str) -> &str {
        self.0.object("connection").map_or("", |connection| connection.text(name))
    }
}

/// A request about a thread.
pub(super) fn about(thread: &str, method: &'static str, params: &Object<'_>) -> Messages {
    let mut messages = Messages::request(method, params.to_json());
    thread.clone_into(&mut messages.thread);
    messages
}

/// Options under their wire names. Names that are not among `names` are errors.
pub(super) fn renamed<'a>(of: &str, options: Object<'a>, names: &str) -> Result<Object<'a>> {
    let mut renamed = Object::new();
    for (name, value) in options {
        let wire = wire_name(&name);
        if !is_among(&wire, names) {
            return Err(option_error(of, &sentence(&[" has no member `", &name, "`"])));
        }
        renamed.insert(wire, value);
    }
    Ok(renamed)
}
