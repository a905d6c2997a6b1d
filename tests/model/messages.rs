//! Messages as a model writes them: a beginning, pieces of text and of calls, and an end.

use serde_json::{Value as Json, json};

use super::random::Random;

/// An event that the list of the turn's events has, and its number on the stream.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) number: u64,
    pub(crate) event: Json,
}

/// A message to be streamed.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) id: String,
    pub(crate) events: Vec<Json>,
    /// The ids of its calls.
    pub(crate) calls: Vec<String>,
}

/// A piece of text: often a word, sometimes text that is hard to cut.
pub(crate) fn text(random: &mut Random) -> String {
    const PIECES: [&str; 12] = [
        "hello",
        " world",
        "a",
        "\n\n",
        "data: x",
        "é",
        "日本語",
        "\u{1f600}",
        "\"quoted\" \\ back",
        "\u{2028}",
        "id: 7\n",
        " ",
    ];
    match random.below(30) {
        0 => "long ".repeat(random.index(60)),
        1 => (0..4).map(|_| random.pick(&PIECES)).collect::<Vec<_>>().concat(),
        _ => random.pick(&PIECES).to_owned(),
    }
}

impl Draft {
    /// A message that makes calls `call-N`, from `first_call` on.
    pub(crate) fn draw(random: &mut Random, thread: &str, id: &str, first_call: u64, calls: u64) -> Self {
        let calls: Vec<String> =
            (first_call..first_call + calls).map(|call| format!("call-{call}")).collect();
        let events = if random.percent(4) {
            vec![whole(random, thread, id, &calls)]
        } else {
            pieces(random, thread, id, &calls)
        };
        Self { id: id.to_owned(), events, calls }
    }
}

/// All at once.
fn whole(random: &mut Random, thread: &str, id: &str, calls: &[String]) -> Json {
    let calls: Vec<Json> = calls
        .iter()
        .map(|call| {
            json!({"id": call, "type": "function", "function": {"name": "find", "arguments": "{}"},
                   "tool_info": {"type": "truefoundry-system", "name": "find"}})
        })
        .collect();
    let content = match random.below(3) {
        0 => json!([{"type": "text", "text": text(random)}, {"type": "refusal", "refusal": "no"}]),
        _ => json!(text(random)),
    };
    json!({"type": "model.message", "id": id, "thread_id": thread, "created_at": "2026-07-10T12:00:02.000Z",
           "content": content, "tool_calls": calls, "finish_reason": "stop"})
}

fn pieces(random: &mut Random, thread: &str, id: &str, calls: &[String]) -> Vec<Json> {
    let delta = |fields: Json| {
        let mut event = json!({"type": "model.message.delta", "id": id, "thread_id": thread});
        event.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        event
    };
    let mut base = json!({"type": "model.message", "id": id, "thread_id": thread,
                          "created_at": "2026-07-10T12:00:02.000Z"});
    match random.below(6) {
        0 => base["content"] = "".into(),
        1 => base["content"] = text(random).into(),
        _ => {}
    }
    let mut events = vec![base];
    for _ in 0..random.below(4) {
        events.push(delta(json!({"reasoning_content": text(random)})));
    }
    let most = random.pick(&[1, 5, 12, 40]);
    for _ in 0..=random.below(most) {
        let mut piece = delta(json!({"content": text(random)}));
        if random.percent(10) {
            piece["created_at"] = "2026-07-10T12:00:03.000Z".into();
        }
        events.push(piece);
    }
    for (index, call) in calls.iter().enumerate() {
        events.push(delta(json!({"tool_calls": [{
            "index": index, "id": call, "type": "function", "function": {"name": "find", "arguments": ""},
            "tool_info": {"type": "mcp", "server_id": "s", "server_name": "tools", "name": "find"},
        }]})));
        for piece in ["{\"query\":", "\"日本", " ✓\"", "}"] {
            if random.percent(80) {
                events
                    .push(delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})));
            }
        }
    }
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let usage = json!({"input_tokens": 10, "output_tokens": random.below(1000)});
    events.push(delta(json!({"finish_reason": reason, "usage": usage})));
    events
}
