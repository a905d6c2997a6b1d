//! The same dialog in each of the three modes, and as the server's history has it: the same messages, results and
//! questions, under the same ids.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{Seen, Wire, call, play, result, says, start, stop, thinks, whole};
use crate::event::EventRef;
use crate::json::Value;
use crate::protocol::aap::Aap;
use crate::protocol::{Call, EventSink, Protocol};

#[derive(Debug, Clone)]
enum Step {
    Think(String),
    Say(String),
    Call(String, &'static str),
    Result(String),
}

/// A round: what one message says and calls, and the results after it.
#[derive(Debug, Default)]
struct Round {
    steps: Vec<Step>,
    calls: Vec<String>,
    results: Vec<String>,
}

/// The rounds of a dialog. All but the last are answered to the end.
fn rounds(steps: &[Step]) -> Vec<Round> {
    let mut rounds = vec![Round::default()];
    for step in steps {
        let last = rounds.last_mut().expect("a round");
        match step {
            Step::Result(id) => {
                if last.calls.contains(id) && !last.results.contains(id) {
                    last.results.push(id.clone());
                }
                continue;
            }
            Step::Call(id, _) if last.results.is_empty() && last.calls.contains(id) => continue,
            _ => {}
        }
        if !last.results.is_empty() {
            let missing: Vec<_> =
                last.calls.iter().filter(|id| !last.results.contains(id)).cloned().collect();
            last.results.extend(missing);
            rounds.push(Round::default());
        }
        let last = rounds.last_mut().expect("a round");
        if let Step::Call(id, _) = step {
            last.calls.push(id.clone());
        }
        last.steps.push(step.clone());
    }
    rounds
}

fn said(of: &str) -> String {
    format!("result of {of}")
}

fn in_deltas(rounds: &[Round]) -> Vec<Wire> {
    let mut frames = vec![start()];
    for round in rounds {
        frames.extend(round.steps.iter().map(|step| match step {
            Step::Think(text) => thinks(text),
            Step::Say(text) => says(text),
            Step::Call(id, name) => call(id, name),
            Step::Result(_) => unreachable!("rounds keep results apart"),
        }));
        frames.extend(round.results.iter().map(|id| result(id, said(id))));
    }
    frames.push(stop("tool_use"));
    frames
}

/// Text before thinking, and each of them once (finding 8).
fn in_messages(rounds: &[Round]) -> Vec<Wire> {
    let mut frames = vec![start()];
    for Round { steps, results, .. } in rounds {
        let text: String = steps
            .iter()
            .filter_map(|step| if let Step::Say(text) = step { Some(&**text) } else { None })
            .collect();
        let thinking: String = steps
            .iter()
            .filter_map(|step| if let Step::Think(text) = step { Some(&**text) } else { None })
            .collect();
        frames.push(("text", json!({"text": text})));
        frames.push(("thinking", json!({"thinking": thinking})));
        frames.extend(
            steps
                .iter()
                .filter_map(|step| if let Step::Call(id, name) = step { Some(call(id, name)) } else { None }),
        );
        frames.extend(results.iter().map(|id| result(id, said(id))));
    }
    frames.push(stop("tool_use"));
    frames
}

fn messages(rounds: &[Round]) -> Vec<Json> {
    let mut messages = Vec::new();
    for round in rounds {
        let blocks: Vec<_> = round
            .steps
            .iter()
            .map(|step| match step {
                Step::Think(text) => json!({"type": "thinking", "thinking": text}),
                Step::Say(text) => json!({"type": "text", "text": text}),
                Step::Call(id, name) => {
                    json!({"type": "tool_use", "toolCallId": id, "name": name, "input": {"of": id}})
                }
                Step::Result(_) => unreachable!("rounds keep results apart"),
            })
            .collect();
        messages.push(json!({"role": "assistant", "content": blocks}));
        for id in &round.results {
            // Servers may have it twice (finding 3).
            let result = json!({"role": "tool", "toolCallId": id, "content": said(id)});
            messages.extend([result.clone(), result]);
        }
    }
    messages
}

fn in_history(rounds: &[Round]) -> Seen {
    let mut all = vec![
        json!({"role": "user", "content": "Before"}),
        json!({"role": "assistant", "content": "Yes?"}),
        json!({"role": "user", "content": "Hi"}),
    ];
    all.extend(messages(rounds));
    let params = json!({"turnId": "t", "sessionId": "s", "said": 1, "input": [{"type": "user.message", "content": "Hi"}],
        "terms": {"tools": ["mine", "ours"]}}).to_string();
    let params = Value::parse(&params).expect("JSON");
    let body = json!({"history": {"full": all}}).to_string();
    let body = Value::parse(&body).expect("JSON");
    let answer = Aap::new().answer(Call::ListTurnEvents, params.as_object().expect("an object"), body);
    let answer = answer.expect("the turn is there");
    let mut seen = Seen::default();
    for (number, event) in (1..).zip(answer.get("items").and_then(Value::as_array).expect("a list")) {
        seen.event(number, EventRef::of(event.as_object().expect("an object")));
    }
    seen
}

/// What is the same, however it came.
fn summary(seen: &Seen) -> Json {
    let mut responses: Vec<_> = seen.of("tool.response").into_iter().cloned().collect();
    responses.sort_by_key(|response| response["id"].to_string());
    let questions = ["tool.response_required", "tool.approval_required"].map(|kind| json!(seen.of(kind)));
    assert!(seen.unknown().is_empty(), "{:?}", seen.unknown());
    json!({"messages": seen.messages(), "responses": responses, "questions": questions, "pending": seen.pending()})
}

fn any_step() -> impl Strategy<Value = Step> {
    let id = prop::sample::select(vec!["0", "1", "a:b", "é"]).prop_map(str::to_owned);
    prop_oneof![
        "[ab\\n\"é]{0,4}".prop_map(Step::Think),
        "[ab\\n\"é]{0,4}".prop_map(Step::Say),
        (id.clone(), prop::sample::select(vec!["mine", "theirs"]))
            .prop_map(|(id, name)| Step::Call(id, name)),
        id.prop_map(Step::Result),
    ]
}

proptest! {
    #[test]
    fn modes_and_history_tell_the_same(steps in prop::collection::vec(any_step(), 0..24)) {
        let rounds = rounds(&steps);
        let expected = summary(&play(&in_deltas(&rounds)));
        prop_assert_eq!(&summary(&play(&in_messages(&rounds))), &expected);
        let answer = whole(&json!({"stopReason": "tool_use", "messages": no_twins(messages(&rounds))}));
        prop_assert_eq!(&summary(&answer), &expected);
        prop_assert_eq!(&summary(&in_history(&rounds)), &expected);
    }
}

/// An answer has each result once.
fn no_twins(mut messages: Vec<Json>) -> Vec<Json> {
    messages.dedup_by(|one, other| one["role"] == "tool" && one == other);
    messages
}
