//! Random faults: the same for a seed, and none that a patient client could not get over.

use serde_json::{Value, json};
use turnwire_gateway::{Chaos, Config};

use super::raw::Raw;
use crate::client::{Gateway, Numbered, events, fast, text};

fn chaotic(seed: u64, rate: f64) -> Config {
    Config { chaos: Some(Chaos { seed, rate }), ..fast() }
}

/// The events of a stream up to where it breaks, and of them only those that go on from the last
/// one that was seen.
async fn follow(gateway: &Gateway, path: &str, body: &Value, seen: &mut Vec<Numbered>) {
    let mut raw = Raw::connect(gateway).await;
    let body = body.to_string();
    let length = body.len();
    raw.plain(&format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}")).await;
    raw.end().await;
    if !raw.head().starts_with("http/1.1 200") {
        return;
    }
    let text = String::from_utf8_lossy(&raw.body().0).into_owned();
    let text =
        text.split_once("retry: ").map_or(&*text, |(_, rest)| rest.split_once("\n\n").expect("a frame").1);
    let complete = text.rfind("\n\n").map_or("", |end| &text[..end + 2]);
    for event in events(complete) {
        if event.number == seen.len() as u64 + 1 {
            seen.push(event);
        }
    }
}

/// Reads a turn to its end, with as many reads as that takes; returns how many.
async fn persist(gateway: &Gateway, session: &str) -> (Vec<Numbered>, usize) {
    let mut seen = Vec::new();
    let body = json!({"input": [{"type": "user.message", "content": "long 200"}]});
    follow(gateway, &format!("{session}/turns"), &body, &mut seen).await;
    for tries in 1..500 {
        if seen.last().is_some_and(|event| event.event["type"] == "turn.done") {
            return (seen, tries);
        }
        let turns = gateway.get(&format!("{session}/turns?fault=none")).await.ids();
        if let Some(turn) = turns.first() {
            let cursor = json!({"after_sequence_number": seen.len()});
            follow(gateway, &format!("{session}/turns/{turn}/subscribe"), &cursor, &mut seen).await;
        } else {
            follow(gateway, &format!("{session}/turns"), &body, &mut seen).await;
        }
    }
    panic!("no end after 500 tries");
}

#[tokio::test]
async fn every_turn_can_be_read_to_its_end() {
    let gateway = Gateway::start(chaotic(42, 0.9)).await;
    let mut tries = 0;
    for _ in 0..12 {
        let session = gateway.session().await;
        let (seen, count) = persist(&gateway, &session).await;
        assert_eq!(seen, gateway.log(&text(&seen[0].event["turn_id"])).await);
        tries += count;
    }
    assert!(tries > 24, "{tries} tries for twelve turns");
}

/// The faults that a fixed order of requests meets.
async fn rolled(seed: u64) -> Vec<Value> {
    let gateway = Gateway::start(chaotic(seed, 0.5)).await;
    let session = gateway.session().await;
    for _ in 0..40 {
        let body = json!({"input": [{"type": "user.message", "content": "long 1"}]});
        follow(&gateway, &format!("{session}/turns"), &body, &mut Vec::new()).await;
    }
    gateway.journal(&session).await.into_iter().map(|mut entry| entry["fault"].take()).collect()
}

#[tokio::test]
async fn a_seed_meets_the_same_faults_again() {
    let (first, again, other) = tokio::join!(rolled(5), rolled(5), rolled(6));
    assert_eq!(first.len(), 40);
    assert_eq!(first, again);
    assert_ne!(first, other);
    let faulty = first.iter().filter(|fault| !fault.is_null()).count();
    assert!((8..=32).contains(&faulty), "{faulty} of 40 at a rate of 0.5");
}

#[tokio::test]
async fn other_requests_are_left_alone() {
    let gateway = Gateway::start(chaotic(1, 1.0)).await;
    for _ in 0..30 {
        let session = gateway.session().await;
        assert_eq!(gateway.get(&session).await.status, 200);
    }
}
