//! A page's tab: starts a turn or joins it, and reconnects after its last frame until it has received the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use reqwest::{Client, Method, RequestBuilder, Response};
use tokio::time::{sleep, timeout};

use crate::history::{Connection, Heard, History, Refused, Tab};
use crate::random::Random;
use crate::upstream::{Protocol, Script, is_last};

/// The silence after which a tab closes a connection. A running turn is never silent for so long, except in stalls.
const SILENCE: Duration = Duration::from_secs(2);
/// How long a response may take. The relay closes its connection to a silent agent earlier, and waits for the owner of a
/// lost turn for a shorter time: a client with less patience would ask for such a turn again and again.
const ANSWER: Duration = Duration::from_secs(7);
/// The pause before a tab reconnects.
const PAUSE: Duration = Duration::from_millis(80);

/// How long a turn may be missing in a log that may have lost it: its owner restores it earlier.
const MISSING: Duration = Duration::from_secs(4);

/// The relay's message for a start that it has not sent.
const UNSENT: [&str; 5] = ["unreachable", "log_unavailable", "draining", "limit", "overloaded"];

/// One reader of a turn.
pub(crate) struct Page {
    history: Arc<History>,
    client: Client,
    /// Where the relay is called.
    relay: SocketAddr,
    script: Script,
    /// Whether it starts the turn, or joins it.
    starts: bool,
    /// Whether it declares that it knows the relay.
    is_ours: bool,
    /// Whether it pauses after each piece.
    is_slow: bool,
    /// The silence after which it closes a connection.
    silence: Duration,
    random: Random,
}

/// The result of a request.
enum Answer {
    Stream(String, Response),
    /// The tab knows how the turn ended.
    Heard(Heard),
    /// It reconnects later: the relay has refused with this code, or there was no answer.
    Again(Option<String>),
    /// The relay knows no such turn.
    NotThere,
    /// The log is a different one: the tab reads it from its beginning.
    Anew,
}

/// What all tabs of a schedule share.
pub(crate) struct Tabs {
    pub(crate) history: Arc<History>,
    pub(crate) client: Client,
    /// Where the relay is called.
    pub(crate) relay: SocketAddr,
    /// How many of a hundred never give up an open connection.
    pub(crate) patient: u64,
}

impl Tabs {
    pub(crate) fn page(&self, random: &mut Random, script: Script, starts: bool) -> Page {
        Page {
            history: self.history.clone(),
            client: self.client.clone(),
            relay: self.relay,
            script,
            starts,
            is_ours: random.percent(75),
            is_slow: random.percent(25),
            silence: if random.percent(self.patient) { Duration::from_mins(1) } else { SILENCE },
            random: random.fork(),
        }
    }
}

impl Page {
    /// Reads the turn to its end, and returns what it has heard of it. Everything received is recorded at once, as the
    /// schedule may give up on it.
    pub(crate) async fn read(mut self) -> Heard {
        let id = self.script.id();
        let number = self.history.with(&id, |turn| {
            turn.tabs.push(Tab { came: Some(Instant::now()), ..Tab::default() });
            turn.tabs.len() - 1
        });
        let history = self.history.clone();
        let note =
            |change: &mut dyn FnMut(&mut Tab)| history.with(&id, |turn| change(&mut turn.tabs[number]));
        let (mut log, mut cursor) = (None::<String>, 0);
        let mut must_start = self.starts;
        // Whether the relay says of everything asked so far that the agent has not received it.
        let mut is_unsent = self.starts;
        let mut missing_since = None::<Instant>;
        let heard = loop {
            let request = if must_start { self.start(cursor) } else { self.attach(cursor, log.as_deref()) };
            let answer = self.ask(request, &note).await;
            is_unsent &= matches!(&answer, Answer::Again(Some(code)) if UNSENT.contains(&code.as_str()));
            if !matches!(answer, Answer::NotThere | Answer::Again(_)) {
                missing_since = None;
            }
            match answer {
                Answer::Stream(named, response) => {
                    log = Some(named.clone());
                    note(&mut |tab| {
                        tab.connections.push(Connection {
                            after: cursor,
                            log: named.clone(),
                            frames: Vec::new(),
                        });
                    });
                    let heard = self.stream(response, &note).await;
                    // With or without the start's response: either lets it reconnect.
                    must_start = self.starts && self.random.percent(30);
                    note(&mut |tab| {
                        cursor = tab
                            .connections
                            .last()
                            .and_then(|last| last.frames.last())
                            .map_or(cursor, |last| last.0);
                    });
                    if let Some(heard) = heard {
                        break heard;
                    }
                    if let Some(heard) = self.listed(cursor).await {
                        break heard;
                    }
                }
                Answer::Heard(heard) => break heard,
                Answer::NotThere if cursor > 0 && history.is_lossy() => break Heard::Gone,
                Answer::NotThere if cursor > 0 => {
                    note(&mut |tab| {
                        tab.surprises.push(format!("the turn is gone, {cursor} frames of it were seen"));
                    });
                    break Heard::Unknown;
                }
                Answer::NotThere
                    if !self.starts
                        && history.is_lossy()
                        && missing_since.get_or_insert_with(Instant::now).elapsed() > MISSING =>
                {
                    break Heard::Gone;
                }
                Answer::NotThere => must_start = self.starts,
                Answer::Anew => (log, cursor) = (None, 0),
                Answer::Again(Some(code)) if is_unsent => {
                    let at = Instant::now();
                    note(&mut |tab| tab.refusals.push(Refused { at, code: code.clone() }));
                }
                Answer::Again(_) => {}
            }
            sleep(PAUSE).await;
        };
        note(&mut |tab| tab.heard = Some((Instant::now(), heard.clone())));
        heard
    }

    fn path(&self, rest: &str) -> String {
        let name = match self.script.protocol {
            Protocol::Aap => "aap",
            Protocol::Tirea => "tirea",
            Protocol::TrueFoundry => "truefoundry",
        };
        format!("http://{}/{name}{rest}", self.relay)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.path(path));
        if self.is_ours { request.header("turnwire-relay", "1") } else { request }
    }

    fn start(&self, cursor: u64) -> RequestBuilder {
        self.request_to_start("[]").header("last-event-id", cursor.to_string())
    }

    fn request_to_start(&self, messages: &str) -> RequestBuilder {
        let id = self.script.id();
        let (path, body) = match self.script.protocol {
            Protocol::Aap => {
                (format!("/sessions/{id}/turns"), format!("{{\"stream\":\"delta\",\"messages\":{messages}}}"))
            }
            Protocol::TrueFoundry => (
                format!("/v1/agents/sessions/{id}/turns"),
                format!("{{\"stream\":true,\"input\":{messages}}}"),
            ),
            Protocol::Tirea => (
                "/v1/runs".to_owned(),
                format!(
                    "{{\"agentId\":\"a\",\"threadId\":\"{id}\",\"runId\":\"{id}\",\"messages\":{messages}}}"
                ),
            ),
        };
        let request = self.request(Method::POST, &path).header("turnwire-turn", id);
        request.header("content-type", "application/json").body(body)
    }

    fn attach(&self, cursor: u64, log: Option<&str>) -> RequestBuilder {
        let log = log.map_or(String::new(), |log| format!("?log={log}"));
        let path = format!("/_turnwire/v1/turns/{}/events{log}", self.script.id());
        self.request(Method::GET, &path).header("last-event-id", cursor.to_string())
    }

    /// Asks the relay to end the turn.
    pub(crate) async fn stop(&self) {
        let path = format!("/_turnwire/v1/turns/{}", self.script.id());
        let _ = timeout(ANSWER, self.request(Method::DELETE, &path).send()).await;
    }

    /// Starts the same turn with another message. Returns what is wrong with the answer.
    pub(crate) async fn conflict(&self) -> Option<String> {
        let answer = timeout(ANSWER, self.request_to_start("[1]").send()).await.ok()?.ok()?;
        let status = answer.status().as_u16();
        // Refused for another reason, or because of the turn's state.
        (!matches!(status, 409 | 429 | 503))
            .then(|| format!("another start of the same turn was answered with {status}"))
    }

    /// Repeats the start after the end. Returns what is wrong with the response.
    pub(crate) async fn start_again(&self) -> Option<String> {
        let answer = timeout(ANSWER, self.start(0).send()).await.ok()?.ok()?;
        let status = answer.status().as_u16();
        let _ = timeout(ANSWER, answer.bytes()).await;
        matches!(status, 404 | 409 | 412).then(|| format!("a repeated start was answered with {status}"))
    }

    async fn ask(&self, request: RequestBuilder, note: &impl Fn(&mut dyn FnMut(&mut Tab))) -> Answer {
        let Ok(Ok(response)) = timeout(ANSWER, request.send()).await else { return Answer::Again(None) };
        let header = |name: &str| {
            let value = response.headers().get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let (status, kind, log) =
            (response.status().as_u16(), header("content-type"), header("turnwire-log"));
        if status == 200 && kind.starts_with("text/event-stream") {
            return Answer::Stream(log, response);
        }
        let Ok(Ok(text)) = timeout(ANSWER, response.text()).await else { return Answer::Again(None) };
        if !log.is_empty() {
            // The agent's own response, unchanged.
            note(&mut |tab| {
                let frames = vec![(1, text.clone())];
                tab.connections.push(Connection { after: 0, log: log.clone(), frames });
            });
            return Answer::Heard(Heard::Whole);
        }
        let code: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let code = code["code"].as_str().unwrap_or_default();
        match (status, code) {
            (503 | 429, _) => Answer::Again(Some(code.to_owned())),
            (504, _) | (502, "unanswered") => Answer::Heard(Heard::Unanswered),
            (404, _) => Answer::NotThere,
            (412, "log_changed") => Answer::Anew,
            _ => {
                note(&mut |tab| tab.surprises.push(format!("an answer {status}: {text}")));
                Answer::Heard(Heard::Unknown)
            }
        }
    }

    /// Reads a stream until it ends or has been silent for too long. Returns what it shows of the turn's end.
    async fn stream(
        &mut self,
        response: Response,
        note: &impl Fn(&mut dyn FnMut(&mut Tab)),
    ) -> Option<Heard> {
        let mut bytes = response.bytes_stream();
        let (mut read, mut heard) = (Vec::new(), None);
        while let Ok(Some(Ok(piece))) = timeout(self.silence, bytes.next()).await {
            read.extend_from_slice(&piece);
            while let Some(at) = read.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = read.drain(..at + 2).collect();
                let frame = String::from_utf8_lossy(&frame);
                heard = heard.or(told(&frame));
                if let Some((offset, frame)) = numbered(&frame) {
                    if is_last(frame) {
                        heard = Some(Heard::Done);
                    }
                    note(&mut |tab| {
                        let connection = tab.connections.last_mut().expect("it is connected");
                        connection.frames.push((offset, frame.to_owned()));
                    });
                }
            }
            if self.is_slow {
                let pause = self.random.millis(1..60);
                sleep(pause).await;
            }
        }
        heard
    }

    /// Whether the list of turns shows that the turn has ended, and this tab has all of it.
    async fn listed(&self, cursor: u64) -> Option<Heard> {
        let session = format!("/_turnwire/v1/turns?session={}", self.script.id());
        let answer = timeout(ANSWER, self.request(Method::GET, &session).send()).await.ok()?.ok()?;
        let list: serde_json::Value = timeout(ANSWER, answer.json()).await.ok()?.ok()?;
        let turn = &list["turns"][0];
        let has_ended = turn["state"] == "closed" && turn["last"].as_u64() == Some(cursor);
        has_ended.then(|| Heard::Listed(turn["end"]["end"].as_str().unwrap_or_default().to_owned()))
    }
}

fn numbered(frame: &str) -> Option<(u64, &str)> {
    let (offset, frame) = frame.strip_prefix("id: ")?.split_once('\n')?;
    Some((offset.parse().ok()?, frame))
}

/// A cut that the relay reports.
fn told(frame: &str) -> Option<Heard> {
    let data = frame.strip_prefix("event: turnwire.cut\ndata: ")?;
    let data: serde_json::Value = serde_json::from_str(data).ok()?;
    Some(Heard::Cut { reason: data["reason"].as_str()?.to_owned(), last: data["last"].as_u64()? })
}
