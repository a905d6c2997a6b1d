//! Scripts of what only this protocol has: native tools, recovery, retries, limits. Every other word
//! leads to the scripts that all protocols share.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::recovery::{RETRIED_TOOL, RecoveryEvent};
use super::tool::Outcome;
use crate::agents::{self, MAIN, Message, MessageKey, Play, Prompt, Step, Steps, SubAgent, Tool, call_id};
use crate::turns::Cue;

/// The acts of a turn, created on demand.
pub(super) type Acts = Box<dyn Iterator<Item = Act> + Send>;

/// An act of a scripted agent. Most acts exist only in this protocol.
#[derive(Debug)]
pub(super) enum Act {
    Step(Step),
    /// The conversation so far is compressed.
    Compress,
    /// A call has output.
    Output {
        call: String,
        stream: &'static str,
        text: String,
    },
    /// A call has ended.
    Return {
        call: String,
        outcome: Outcome,
    },
    /// The model's connection breaks, and with it the attempt.
    Break,
    Recover(RecoveryEvent),
}

/// The steps of a script that all protocols share.
pub(super) fn steps(steps: Steps) -> Acts {
    Box::new(steps.map(Act::Step))
}

impl From<Act> for Cue<Act> {
    fn from(act: Act) -> Self {
        match act {
            Act::Step(Step::Wait(beats)) => Self::Wait(beats),
            Act::Step(Step::End(ending)) => Self::End(ending),
            act => Self::Act(act),
        }
    }
}

impl Act {
    /// Whether it is visible on the wire, so that the turn's pace applies to it.
    pub(super) fn is_seen(&self) -> bool {
        match self {
            Self::Step(step) => step.is_event(),
            _ => true,
        }
    }
}

/// A script that was chosen.
pub(super) struct Chosen {
    pub(super) acts: Acts,
    pub(super) beat: Option<Duration>,
    /// How many notifications come before the response.
    pub(super) early: u32,
}

/// A script of this protocol: its word, and what it does.
type Script = (&'static str, fn(&Prompt) -> Vec<Act>);

const SCRIPTS: [Script; 13] = [
    ("compact", compact),
    ("shell", shell),
    ("edit", edit),
    ("search", search),
    ("fetch", fetch),
    ("download", download),
    ("recover", recover),
    ("exhaust", exhaust),
    ("stuck", stuck),
    ("timeout", time_out),
    ("give-up", give_up),
    ("budget", budget),
    ("task", task),
];

/// The script for a message.
pub(super) fn choose(prompt: &Prompt) -> Chosen {
    let word = prompt.first_word();
    if let Some((name, play)) = SCRIPTS.iter().find(|(name, _)| *name == word) {
        let early = if *name == "compact" { 2 } else { 0 };
        return Chosen { acts: Box::new(play(prompt).into_iter()), beat: None, early };
    }
    let (play, beat) = agents::perform(prompt);
    Chosen { acts: steps(play), beat, early: 0 }
}

/// Acts in the order in which they are added.
#[derive(Default)]
struct Scene(Vec<Act>);

impl Scene {
    fn act(mut self, act: Act) -> Self {
        self.0.push(act);
        self
    }

    fn steps(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.0.extend(steps.into_iter().map(Act::Step));
        self
    }

    fn wait(self, beats: u32) -> Self {
        self.steps([Step::Wait(beats)])
    }

    fn say(self, text: &str) -> Self {
        self.steps(Play::silent().say(text).into_steps())
    }

    /// A round that makes one call.
    fn call(self, call: &str, tool: &'static str, arguments: &Value) -> Self {
        self.steps(Message::new(MAIN).call(call, Tool::System { name: tool }, arguments).finish())
    }

    fn output(self, call: &str, stream: &'static str, text: &str) -> Self {
        self.act(Act::Output { call: call.to_owned(), stream, text: text.to_owned() })
    }

    fn answer(self, call: &str, outcome: Outcome) -> Self {
        self.act(Act::Return { call: call.to_owned(), outcome })
    }

    fn recover(self, news: RecoveryEvent) -> Self {
        self.act(Act::Recover(news))
    }

    fn fail(self, error: &str) -> Vec<Act> {
        self.steps([Step::End(agents::Ending::Failed(error.to_owned()))]).0
    }
}

/// A success, with the members of its item's type.
fn done(line: &str, details: Value) -> Outcome {
    let details = match details {
        Value::Object(details) => details,
        _ => Map::new(),
    };
    Outcome { lines: vec![line.to_owned()], details, ..Outcome::default() }
}

fn compact(_: &Prompt) -> Vec<Act> {
    Scene::default().act(Act::Compress).say("Going on, with a shorter memory of what came before.").0
}

fn shell(_: &Prompt) -> Vec<Act> {
    let call = call_id();
    Scene::default()
        .call(&call, "exec_command", &json!({"cmd": "echo one; echo two >&2"}))
        .wait(10)
        .output(&call, "stdout", "one\n")
        .output(&call, "stderr", "two\n")
        .answer(&call, Outcome::default())
        .say("The command printed two lines.")
        .0
}

fn edit(_: &Prompt) -> Vec<Act> {
    let call = call_id();
    let patch = "--- a/shop.toml\n+++ b/shop.toml\n-memory = 512\n+memory = 768\n";
    let files = json!(["shop.toml"]);
    Scene::default()
        .call(&call, "apply_patch", &json!({"patch": patch, "files": files}))
        .wait(10)
        .output(&call, "file_change", "-memory = 512\n")
        .output(&call, "file_change", "+memory = 768\n")
        .answer(&call, done("M shop.toml", json!({"changedFiles": files, "exitCode": 0, "stdout": ""})))
        .say("`shop.toml` gives the shop **768 MiB** now.")
        .0
}

fn search(_: &Prompt) -> Vec<Act> {
    let call = call_id();
    let result = json!({
        "rank": 1,
        "title": "Out of memory",
        "url": "https://help.example/out-of-memory",
        "snippet": "When a service reaches its limit …",
        "source": "help.example",
    });
    Scene::default()
        .call(&call, "web_search", &json!({"query": "out of memory"}))
        .output(&call, "tool_progress", "asking the search engine")
        .wait(10)
        .answer(
            &call,
            done(
                "1 result",
                json!({
                    "query": "out of memory", "provider": "scripted", "tookMs": 31, "resultCount": 1,
                    "results": [result],
                }),
            ),
        )
        .say("The [help page](https://help.example/out-of-memory) says what to do.")
        .0
}

fn fetch(_: &Prompt) -> Vec<Act> {
    let call = call_id();
    let url = "https://help.example/out-of-memory";
    Scene::default()
        .call(&call, "web_fetch", &json!({"url": url}))
        .output(&call, "tool_progress", "2 KB")
        .wait(10)
        .output(&call, "tool_progress", ", 4 KB")
        .answer(
            &call,
            done(
                "Out of memory",
                json!({
                    "finalUrl": url, "statusCode": 200, "contentType": "text/html", "extractMode": "markdown",
                    "resolvedMode": "markdown", "bytesReceived": 4096, "elapsedMs": 52, "truncated": false,
                    "title": "Out of memory", "wordCount": 512,
                    "links": [{"text": "Limits", "url": "https://help.example/limits"}],
                }),
            ),
        )
        .say("The page recommends a higher limit.")
        .0
}

fn download(_: &Prompt) -> Vec<Act> {
    let call = call_id();
    let url = "https://files.example/report.csv";
    Scene::default()
        .call(&call, "download_url", &json!({"url": url}))
        .output(&call, "tool_progress", "50 %")
        .wait(10)
        .answer(
            &call,
            done(
                "report.csv",
                json!({
                    "finalUrl": url, "statusCode": 200, "path": "/workspace/report.csv", "bytesWritten": 2048,
                    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "contentType": "text/csv", "elapsedMs": 87, "truncated": false,
                }),
            ),
        )
        .say("The report is in `/workspace/report.csv`.")
        .0
}

/// The beginning of an answer that breaks off.
fn broken(text: &str) -> Vec<Step> {
    Message::new(MAIN).text(text).unfinished()
}

fn recover(_: &Prompt) -> Vec<Act> {
    Scene::default()
        .steps(broken("Hel"))
        .act(Act::Break)
        .recover(RecoveryEvent::Attempt)
        .recover(RecoveryEvent::Again("provider stream error: 503"))
        .say("Hello again.")
        .recover(RecoveryEvent::Succeeded)
        .0
}

fn exhaust(_: &Prompt) -> Vec<Act> {
    let message = MessageKey::next();
    Scene::default()
        .steps([Step::BeginMessage { message, thread: MAIN.to_owned() }])
        .fail("provider stream error: 500")
}

fn stuck(prompt: &Prompt) -> Vec<Act> {
    let call = call_id();
    let scene = Scene::default()
        .call(&call, "exec_command", &json!({"cmd": "sleep 600"}))
        .wait(20)
        .recover(RecoveryEvent::Timeout(call.clone()))
        .recover(RecoveryEvent::Attempt);
    if prompt.text.split_whitespace().nth(1) == Some("fail") {
        let error = "no output for 60 s";
        return scene
            .recover(RecoveryEvent::Again(error))
            .recover(RecoveryEvent::Exhausted(error.to_owned()))
            .answer(&call, Outcome::failed("timeout"))
            .fail(error);
    }
    scene
        .output(&call, "stdout", "awake\n")
        .answer(&call, Outcome::default())
        .recover(RecoveryEvent::Succeeded)
        .say("The second attempt went through.")
        .0
}

fn time_out(_: &Prompt) -> Vec<Act> {
    let (first, second) = (call_id(), call_id());
    Scene::default()
        .call(&first, RETRIED_TOOL, &json!({"u": 1}))
        .wait(20)
        .recover(RecoveryEvent::TimeoutAttached(first.clone()))
        .answer(&first, Outcome::failed("timeout"))
        .recover(RecoveryEvent::ToolRetry(first))
        .call(&second, RETRIED_TOOL, &json!({"u": 2}))
        .wait(10)
        .answer(&second, done("done", json!({})))
        .recover(RecoveryEvent::ToolResolved(second))
        .recover(RecoveryEvent::Budget)
        .say("That is all that could be found in time.")
        .0
}

fn give_up(_: &Prompt) -> Vec<Act> {
    let calls = [call_id(), call_id(), call_id()];
    let mut scene = Scene::default();
    for (number, call) in calls.iter().enumerate() {
        scene =
            scene.call(call, RETRIED_TOOL, &json!({"u": number})).answer(call, Outcome::failed("timeout"));
        let news = if number < 2 { RecoveryEvent::ToolRetry } else { RecoveryEvent::ToolExhausted };
        scene = scene.recover(news(call.clone()));
    }
    scene.say("The page does not answer. I have tried three times.").0
}

fn budget(_: &Prompt) -> Vec<Act> {
    let mut scene = Scene::default();
    for number in 1..=8 {
        let call = call_id();
        scene = scene.call(&call, "read_file", &json!({"path": format!("log.{number}")}));
        scene = scene.answer(&call, done("1 line", json!({})));
    }
    scene.recover(RecoveryEvent::Budget).say("I have read eight files, and may read no more.").0
}

/// One sub-agent.
fn task(_: &Prompt) -> Vec<Act> {
    let agent = SubAgent {
        thread: uuid::Uuid::new_v4().to_string(),
        title: "Look it up".to_owned(),
        name: "reader".to_owned(),
        input: "Find the first error of today.".to_owned(),
        model: None,
        parent_thread: MAIN.to_owned(),
        parent_call: call_id(),
    };
    let words = Message::new(&agent.thread).text("Found it.");
    Scene::default()
        .steps([Step::BeginThread(agent.clone())])
        .wait(10)
        .steps(words.finish())
        .steps([Step::EndThread { agent, failure: None }])
        .say("Found it.")
        .0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_this_protocol_and_of_all_lead_to_scripts() {
        let acts = |text: &str| {
            choose(&Prompt { text: text.to_owned(), ..Prompt::default() }).acts.collect::<Vec<_>>()
        };
        for (name, _) in SCRIPTS {
            assert!(!acts(name).is_empty(), "{name}");
        }
        assert!(matches!(acts("compact")[0], Act::Compress));
        assert!(matches!(acts("plain").last(), Some(Act::Step(Step::End(_)))));
    }
}
