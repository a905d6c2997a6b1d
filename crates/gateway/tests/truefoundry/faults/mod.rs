//! Faults on purpose: each kind, and each way to ask for it.

mod raw;

mod chaos;
mod control;
mod edits;
mod ends;
mod heads;
mod schedule;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Gateway, Numbered, text};

/// Longer than anything takes that is not meant to take for ever.
const LONG: Duration = Duration::from_secs(10);

/// A turn of ten events: created, connected, the empty message, five words, its end, done.
fn ten_events() -> Value {
    json!({"input": [{"type": "user.message", "content": "long 5"}]})
}

/// The id of the session behind the path of its turns.
fn id_of(session: &str) -> &str {
    session.rsplit('/').next().expect("an id")
}

impl Gateway {
    /// An answer to a request that asks for a fault in its header.
    async fn faulty(&self, fault: &str, method: Method, path: &str, body: &Value) -> Answer {
        Answer::read(self.request(method, path).header("x-turnwire-fault", fault).json(body)).await
    }

    /// The stream of a new turn of ten events that asks for a fault, and what the turn was.
    async fn faulty_turn(&self, session: &str, fault: &str) -> (String, Vec<Numbered>) {
        let answer = self.faulty(fault, Method::POST, &format!("{session}/turns"), &ten_events()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        (answer.text, self.ended(session).await)
    }

    /// The log of the session's last turn when it has ended.
    async fn ended(&self, session: &str) -> Vec<Numbered> {
        let turn = self.end_of_turn(session).await;
        self.log(&turn).await
    }

    /// Waits until the session's last turn has ended, and returns its id.
    async fn end_of_turn(&self, session: &str) -> String {
        loop {
            let turn = self.get(&format!("{session}/turns?limit=1")).await.data()[0].take();
            if turn["state"]["status"] != "running" {
                return text(&turn["id"]);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn log(&self, turn: &str) -> Vec<Numbered> {
        let answer = self.get(&format!("/_gateway/turns/{turn}/log")).await;
        assert_eq!(answer.headers["content-type"], "text/event-stream");
        let events = answer.events();
        assert!(events.iter().zip(1..).all(|(event, number)| event.number == number));
        events
    }

    async fn plan(&self, session: &str, plan: Value) -> Answer {
        self.send(Method::PUT, &format!("/_gateway/sessions/{}/faults", id_of(session)), plan).await
    }

    /// The journal of a session: its requests in order.
    async fn journal(&self, session: &str) -> Vec<Value> {
        let answer = self.get(&format!("/_gateway/sessions/{}/requests", id_of(session))).await;
        serde_json::from_str(&answer.text).expect("a list")
    }

    /// Waits until so many streams are open.
    async fn open_streams(&self, count: u64) {
        let all = async {
            while self.get("/_gateway/streams").await.json()["open"] != count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(LONG, all).await.unwrap_or_else(|_| panic!("never {count} open streams"));
    }
}
