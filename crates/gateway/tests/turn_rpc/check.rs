//! Checks a recorded dialog: the shape of each frame by the schema, and the order of all of them. It
//! finds what `check-frames.py`, which lies beside the schema, finds.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

/// A file of the recorded dialogs.
pub(crate) fn fixture(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../tests/fixtures/turn-rpc", name].iter().collect();
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&fixture("turn-rpc.schema.json")).expect("JSON"));

/// The validators that were needed so far: each takes a while to be made.
static VALIDATORS: LazyLock<Mutex<HashMap<String, &'static Validator>>> = LazyLock::new(Mutex::default);

fn validator(name: &str) -> Option<&'static Validator> {
    SCHEMA["$defs"].get(name)?;
    let mut validators = VALIDATORS.lock().expect("a lock");
    let made = validators.entry(name.to_owned()).or_insert_with(|| {
        let pointer = name.replace('~', "~0").replace('/', "~1");
        let schema = json!({
            "$schema": SCHEMA["$schema"], "$defs": SCHEMA["$defs"], "$ref": format!("#/$defs/{pointer}"),
        });
        // A test process keeps few of them, and ends soon.
        Box::leak(Box::new(jsonschema::validator_for(&schema).expect("a schema")))
    });
    Some(made)
}

/// What is wrong with a dialog, a sentence each.
pub(crate) fn check(dialog: &str) -> Vec<String> {
    let mut checker = Checker::default();
    for (index, line) in dialog.lines().enumerate() {
        let record: Value = serde_json::from_str(line).expect("a line of JSON");
        checker.line = index + 1;
        let frame = &record["frame"];
        let is_wrong_on_purpose =
            record.get("expect_error").is_some() || frame.get("raw").is_some() || !frame.is_object();
        if !is_wrong_on_purpose {
            match record["dir"].as_str() {
                Some("C->S") => checker.request(frame),
                Some("S->C") => checker.answer(frame),
                _ => {}
            }
        }
    }
    checker.findings
}

#[derive(Default)]
struct Checker {
    line: usize,
    findings: Vec<String>,
    /// The method of each request without a response.
    pending: HashMap<String, String>,
    /// Items by turn and id: whether they are reasoning.
    done: HashMap<(String, String), bool>,
    /// Turns that are over.
    over: HashSet<String>,
}

impl Checker {
    fn say(&mut self, finding: impl std::fmt::Display) {
        self.findings.push(format!("line {}: {finding}", self.line));
    }

    fn shape(&mut self, name: &str, value: &Value) {
        match validator(name) {
            None => self.say(format!("no schema for {name}")),
            Some(validator) => {
                for error in validator.iter_errors(value) {
                    let at = error.instance_path().to_string();
                    let mut message = error.to_string();
                    message.truncate(message.floor_char_boundary(300));
                    self.say(format!("{name} at `{at}`: {message}"));
                }
            }
        }
    }

    fn request(&mut self, frame: &Value) {
        self.version(frame);
        let (Some(id), Some(method)) = (frame["id"].as_str(), frame["method"].as_str()) else {
            return self.say("a request has an id and a method");
        };
        self.shape("RequestId", &frame["id"]);
        if self.pending.insert(id.to_owned(), method.to_owned()).is_some() {
            self.say("the id of a request without a response");
        }
        let none = json!({});
        self.shape(&format!("params:{method}"), frame.get("params").unwrap_or(&none));
    }

    fn version(&mut self, frame: &Value) {
        if frame["jsonrpc"] != "2.0" {
            self.say("jsonrpc must be \"2.0\"");
        }
    }

    fn answer(&mut self, frame: &Value) {
        self.version(frame);
        let Some(method) = frame["method"].as_str() else {
            return self.response(frame);
        };
        if frame.get("id").is_some() {
            self.say("a notification has no id");
        }
        let params = &frame["params"];
        self.shape(&format!("notification:{method}"), params);
        match method {
            "turn/completed" => self.end(&params["turn"], &["Completed"]),
            "turn/failed" => self.end(&params["turn"], &["Failed", "Interrupted"]),
            "item/started" | "item/completed" => self.item(method, params),
            _ => {}
        }
    }

    fn response(&mut self, frame: &Value) {
        let method = frame["id"].as_str().and_then(|id| self.pending.remove(id));
        if frame.get("error").is_some() {
            return self.shape("error", frame);
        }
        match method {
            None => self.say("a response to no request"),
            Some(method) => self.shape(&format!("result:{method}"), &frame["result"]),
        }
    }

    fn end(&mut self, turn: &Value, statuses: &[&str]) {
        let id = turn["id"].as_str().unwrap_or_default().to_owned();
        if !self.over.insert(id.clone()) {
            self.say(format!("{id} ends a second time"));
        }
        if !turn["status"].as_str().is_some_and(|status| statuses.contains(&status)) {
            self.say(format!("{id} ends as {}", turn["status"]));
        }
    }

    fn item(&mut self, method: &str, params: &Value) {
        let turn = params["turn_id"].as_str().unwrap_or_default().to_owned();
        let id = params["item"]["id"].as_str().unwrap_or_default().to_owned();
        if self.over.contains(&turn) {
            self.say(format!("{method} of {id} after the turn's end"));
        }
        let is_reasoning = params["item"]["type"] == "reasoning";
        let key = (turn, id);
        if method == "item/completed" && self.done.insert(key.clone(), is_reasoning) == Some(false) {
            self.say(format!("{} is completed twice", key.1));
        }
    }
}
