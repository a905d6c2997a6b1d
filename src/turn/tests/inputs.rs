//! The rules of a turn's input (section 4.4): which item breaks which rule, and what is sent.

use serde_json::{Value as Json, json};

use crate::error::{Error, ErrorCode};
use crate::event::{EventKind, EventRef};
use crate::index::{EventIndex, PendingAction};
use crate::json::Value;
use crate::protocol::truefoundry::{self, TrueFoundry};
use crate::protocol::{Capabilities, Protocol as _};
use crate::turn::{Pending, TurnInput};

const URI: &str = "data:text/plain;base64,YQ==";

fn read(input: &Json) -> Result<TurnInput, Error> {
    read_for(TrueFoundry::new(truefoundry::Dialect::Gateway).capabilities(), input)
}

/// The input as a protocol with these capabilities reads it.
fn read_for(capabilities: Capabilities, input: &Json) -> Result<TurnInput, Error> {
    let text = input.to_string();
    TurnInput::read(Value::parse(&text).expect("JSON"), &capabilities)
}

fn sent(input: &Json) -> Option<Json> {
    sent_of(input, &read(input))
}

fn sent_of(given: &Json, read: &Result<TurnInput, Error>) -> Option<Json> {
    let input = read.as_ref().unwrap_or_else(|error| panic!("{given}: {error}"));
    input.json().map(|json| serde_json::from_str(json).expect("JSON"))
}

fn message(content: &Json) -> Json {
    json!({"type": "user.message", "content": content})
}

fn allow(thread: &str, call: &str) -> Json {
    json!({"type": "user.tool_approval", "thread_id": thread, "tool_call_id": call,
           "approval": {"status": "allow"}})
}

fn respond(thread: &str, call: &str) -> Json {
    json!({"type": "user.tool_response", "thread_id": thread, "tool_call_id": call, "content": "yes"})
}

#[test]
fn texts_items_and_lists_are_sent_as_lists_of_items() {
    let hi = message(&json!("Hi"));
    let deny = json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c",
                      "approval": {"status": "deny", "reason": "no"}});
    let cases = [
        (json!(null), None),
        (json!([]), None),
        (json!("Hi"), Some(json!([hi]))),
        (hi.clone(), Some(json!([hi]))),
        (json!([hi]), Some(json!([hi]))),
        (json!([hi, hi]), Some(json!([hi, hi]))),
        (deny.clone(), Some(json!([deny]))),
        (
            json!([allow("main", "a"), respond("main", "b"), allow("t", "a")]),
            Some(json!([allow("main", "a"), respond("main", "b"), allow("t", "a")])),
        ),
        (
            message(&json!([{"type": "text", "text": ""}])),
            Some(json!([message(&json!([{"type": "text", "text": ""}]))])),
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(sent(&input), expected, "{input}");
    }
}

#[test]
fn section_3_6_a_file_is_sent_as_servers_spell_it() {
    let expected = json!({"type": "file", "name": "a", "data": URI});
    let spellings = [
        json!({"type": "file", "name": "a", "data": URI}),
        json!({"type": "file_upload", "file": {"filename": "a", "file_data": URI}}),
        json!({"type": "file", "file": {"filename": "a", "file_data": URI}}),
        json!({"type": "file_upload", "name": "a", "data": URI}),
        // As in an event, with both spellings.
        json!({"type": "file", "name": "a", "data": URI, "file": {"filename": "a", "file_data": URI}}),
    ];
    for part in spellings {
        let input = message(&json!([{"type": "text", "text": "see"}, part]));
        let sent = sent(&input).expect("an item");
        assert_eq!(sent[0]["content"], json!([{"type": "text", "text": "see"}, expected]), "{part}");
    }
}

/// An input with a field that it does not take, and words that name the field and the fields that exist.
#[test]
fn a_field_that_an_item_does_not_take_is_named() {
    let with = |mut item: Json, at: &str, name: &str| {
        item.pointer_mut(at).expect("an object")[name] = json!(true);
        item
    };
    let hi = message(&json!("Hi"));
    let text = message(&json!([{"type": "text", "text": "a"}]));
    let file = message(&json!([{"type": "file", "name": "a", "data": URI}]));
    let upload = message(&json!([{"type": "file_upload", "file": {"filename": "a", "file_data": URI}}]));
    let allow = allow("main", "c");
    let answer = "type, thread_id, tool_call_id";
    let cases = [
        (with(hi.clone(), "", "x_new"), "`user.message` takes no `x_new`: it takes type, content".to_owned()),
        (with(hi.clone(), "", ""), "`user.message` takes no ``".to_owned()),
        (with(hi.clone(), "", "thread_id"), "`user.message` takes no `thread_id`".to_owned()),
        (with(hi.clone(), "", "suspension"), "`user.message` takes no `suspension`".to_owned()),
        (
            with(allow.clone(), "", "remember"),
            format!("`user.tool_approval` takes no `remember`: it takes {answer}, approval"),
        ),
        (with(allow.clone(), "", "content"), "`user.tool_approval` takes no `content`".to_owned()),
        (
            with(respond("main", "c"), "", "tool_callid"),
            format!("`user.tool_response` takes no `tool_callid`: it takes {answer}, content"),
        ),
        (
            with(allow.clone(), "/approval", "remeber"),
            "`allow` takes no `remeber`: it takes status".to_owned(),
        ),
        (with(allow, "/approval", "type"), "`allow` takes no `type`".to_owned()),
        (with(text, "/content/0", "texts"), "`text` takes no `texts`: it takes type, text".to_owned()),
        (
            with(file.clone(), "/content/0", "mime"),
            "`file` takes no `mime`: it takes type, name, data, file".to_owned(),
        ),
        (with(upload.clone(), "/content/0", "filename"), "`file_upload` takes no `filename`".to_owned()),
        (
            with(upload, "/content/0/file", "name"),
            "`file` takes no `name`: it takes filename, file_data".to_owned(),
        ),
        // The error names the misspelt field, not the one that is missing because of it.
        (
            json!({"type": "user.tool_approval", "thread_id": "main", "tool_callid": "c", "approval": {"status": "allow"}}),
            "`user.tool_approval` takes no `tool_callid`".to_owned(),
        ),
        (
            message(&json!([{"type": "file", "filename": "a", "data": URI}])),
            "`file` takes no `filename`".to_owned(),
        ),
    ];
    for (input, rule) in &cases {
        let error = read(&json!([hi, input])).expect_err("a field too many");
        assert_eq!(error.code, ErrorCode::InvalidInput, "{input}");
        let rule = format!("input[1]: {rule}");
        assert!(error.message.starts_with(&rule), "{input}: {} says {rule}", error.message);
    }
}

/// Items of other protocols are refused; where an item is supported, nothing is.
#[test]
fn each_protocol_has_its_own_fields_and_parts() {
    let approval = |name: &str, value: Json| {
        json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c",
               "approval": {"status": "allow", name: value}})
    };
    let part = |part: Json| message(&json!([part]));
    let image = || part(json!({"type": "image", "url": "https://files.example/a"}));
    let skill = || part(json!({"type": "skill", "name": "a", "path": "b"}));
    let elements = || part(json!({"type": "text", "text": "a", "text_elements": []}));
    let truefoundry = TrueFoundry::new(truefoundry::Dialect::Gateway).capabilities();
    let mut cases = vec![
        (truefoundry, approval("reason", json!("fine")), "`allow` takes no `reason`: it takes status"),
        (truefoundry, approval("remember", json!(true)), "`allow` takes no `remember`: it takes status"),
        (truefoundry, approval("result", json!({})), "`allow` takes no `result`"),
        (truefoundry, approval("cancel", json!(true)), "`allow` takes no `cancel`"),
        (truefoundry, elements(), "`text` takes no `text_elements`: it takes type, text"),
        (truefoundry, image(), "`type` cannot be `image` with this protocol"),
        (truefoundry, skill(), "`type` cannot be `skill` with this protocol"),
    ];
    {
        let aap = crate::protocol::aap::Aap::new().capabilities();
        cases.extend([
            (aap, approval("remember", json!(true)), ""),
            (aap, approval("reason", json!("fine")), ""),
            (
                aap,
                approval("result", json!({})),
                "`approval` takes no `result`: it takes status, reason, remember",
            ),
            (aap, elements(), "`text` takes no `text_elements`: it takes type, text"),
            (aap, image(), ""),
            (aap, skill(), "`type` cannot be `skill` with this protocol"),
        ]);
    }
    {
        use crate::protocol::agent_event::{AgentEvent, Dialect};
        for dialect in [Dialect::Tirea, Dialect::Awaken] {
            let agent_event = AgentEvent::new(dialect).capabilities();
            cases.extend([
                (agent_event, approval("remember", json!(true)), ""),
                (agent_event, approval("result", json!({})), ""),
                (agent_event, approval("cancel", json!(true)), "`approval` takes no `cancel`"),
                (agent_event, image(), "`type` cannot be `image` with this protocol"),
            ]);
        }
    }
    {
        let turn_rpc = turn_rpc();
        cases.extend([
            (turn_rpc, approval("cancel", json!(true)), ""),
            (turn_rpc, approval("remeber", json!(true)), "`approval` takes no `remeber`"),
            // Its dialects check the parts.
            (turn_rpc, elements(), ""),
            (turn_rpc, image(), ""),
            (turn_rpc, skill(), ""),
        ]);
    }
    for (capabilities, item, rule) in cases {
        let read = read_for(capabilities, &json!([item]));
        let problem = read.err().map(|error| error.message.clone()).unwrap_or_default();
        assert_eq!(problem.is_empty(), rule.is_empty(), "{item}: {problem}");
        assert!(problem.contains(rule), "{item}: {problem} says {rule}");
    }
}

/// A protocol with its own kinds of parts.
fn turn_rpc() -> Capabilities {
    use crate::protocol::turn_rpc::{Dialect, TurnRpc};
    TurnRpc::new(Dialect::Gateway).capabilities()
}

/// `{ ...action, type, approval }`: the other fields of a snapshot's action are not part of the answer.
#[test]
fn an_answer_can_be_made_of_the_action_that_asked() {
    let action = json!({"name": "f", "arguments": "{}", "tool_info": null, "suspension": {"id": "7"}});
    for answer in [allow("main", "c"), respond("main", "c")] {
        let mut item = answer.clone();
        for (name, value) in action.as_object().expect("an object") {
            item[name] = value.clone();
        }
        assert_eq!(sent(&item), Some(json!([answer])), "{item}");
    }
}

/// An input, the item that breaks a rule, and words from the rule.
#[test]
fn broken_rules_are_told_with_the_item() {
    let hi = message(&json!("Hi"));
    let part = |part: Json| json!([hi, message(&json!([{"type": "text", "text": "a"}, part]))]);
    let file = |data: &str| part(json!({"type": "file", "name": "a", "data": data}));
    let approval = |approval: Json| json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c", "approval": approval});
    let without = |mut item: Json, name: &str| {
        item.as_object_mut().expect("an object").remove(name);
        item
    };
    let with = |mut item: Json, name: &str, value: Json| {
        item[name] = value;
        item
    };
    let cases = [
        // Wrong types.
        (json!(5), 0, "an object"),
        (json!(true), 0, "an object"),
        (json!({}), 0, "`type`"),
        (json!([hi, "text"]), 1, "an object"),
        (json!([null]), 0, "an object"),
        (json!([hi, {"type": "user.wish"}]), 1, "`type`"),
        (json!({"type": 5}), 0, "`type`"),
        (json!({"type": "user.message"}), 0, "`content`"),
        (message(&json!(null)), 0, "`content`"),
        (message(&json!(5)), 0, "`content`"),
        (message(&json!({"type": "text", "text": "a"})), 0, "`content`"),
        (json!([hi, message(&json!(["a"]))]), 1, "a part"),
        (part(json!({"url": "https://files.example/a"})), 1, "`type`"),
        (part(json!({"type": "text"})), 1, "`text`"),
        (part(json!({"type": "text", "text": 5})), 1, "`text`"),
        // Empty.
        (json!(""), 0, "must not be empty"),
        (json!(" \n\t"), 0, "must not be empty"),
        (json!([hi, message(&json!("  "))]), 1, "must not be empty"),
        (message(&json!([])), 0, "a part"),
        // Files.
        (file("ftp://files.example/a"), 1, "data URI"),
        (file("data:text/plain,YQ=="), 1, "data URI"),
        (file("data:text/plain;base64"), 1, "data URI"),
        (file(""), 1, "data URI"),
        (part(json!({"type": "file", "name": "a"})), 1, "data URI"),
        (part(json!({"type": "file", "name": "a", "data": 5})), 1, "data URI"),
        (part(json!({"type": "file", "data": URI})), 1, "`name`"),
        (part(json!({"type": "file_upload", "file": {"file_data": URI}})), 1, "`name`"),
        (part(json!({"type": "file_upload", "file": {"filename": "a"}})), 1, "data URI"),
        (part(json!({"type": "file_upload"})), 1, "`name`"),
        // Answers.
        (approval(json!({"status": "maybe"})), 0, "`approval.status`"),
        (approval(json!({})), 0, "`approval.status`"),
        (approval(json!("allow")), 0, "`approval.status`"),
        (without(allow("main", "c"), "approval"), 0, "`approval.status`"),
        (without(respond("main", "c"), "content"), 0, "`content`"),
        (with(respond("main", "c"), "content", json!("")), 0, "`content`"),
        (with(respond("main", "c"), "content", json!([])), 0, "`content`"),
        (without(respond("main", "c"), "thread_id"), 0, "`thread_id`"),
        (without(allow("main", "c"), "thread_id"), 0, "`thread_id`"),
        (without(allow("main", "c"), "tool_call_id"), 0, "`tool_call_id`"),
        (allow("", "c"), 0, "`thread_id`"),
        (respond("main", ""), 0, "`tool_call_id`"),
        (with(allow("main", "c"), "tool_call_id", json!(5)), 0, "`tool_call_id`"),
        // Mixed and repeated items.
        (json!([hi, allow("main", "c")]), 1, "mixed"),
        (json!([allow("main", "c"), hi]), 1, "mixed"),
        (json!([respond("main", "c"), allow("main", "d"), hi]), 2, "mixed"),
        (json!([allow("main", "c"), allow("main", "c")]), 1, "`c` is answered twice"),
        (json!([allow("main", "c"), respond("t", "c"), respond("main", "c")]), 2, "`c` is answered twice"),
    ];
    for (input, at, rule) in cases {
        let Err(error) = read(&input) else { panic!("{input} is not refused") };
        assert_eq!(error.code, ErrorCode::InvalidInput, "{input}");
        assert!(error.message.starts_with(&format!("input[{at}]: ")), "{input}: {}", error.message);
        assert!(error.message.contains(rule), "{input}: {} says {rule}", error.message);
    }
}

/// Parts of other kinds are checked by their protocols.
#[test]
fn parts_that_only_some_protocols_have_are_let_through() {
    let sent = |input: &Json| sent_of(input, &read_for(turn_rpc(), input));
    let parts = [
        json!({"type": "text", "text": "a"}),
        json!({"type": "image", "url": "https://files.example/a"}),
        json!({"type": "file", "name": "a", "data": URI}),
        json!({"type": "file", "name": "a", "data": "https://files.example/a"}),
        json!({"type": "localImage", "path": "/a"}),
        json!({"type": "newer"}),
    ];
    for part in parts {
        let input = message(&json!([part]));
        assert_eq!(sent(&input), Some(json!([input])));
    }
    // Images have URLs.
    for url in [json!(null), json!(""), json!(["https://a.example/b.png"])] {
        let input = message(&json!([{"type": "image", "url": url}]));
        let error = read_for(turn_rpc(), &input).expect_err("no address");
        assert!(error.message.contains("an image part must have a `url`"), "{}", error.message);
    }
    // Their servers do not keep the names of files.
    let unnamed = message(&json!([{"type": "file", "name": "", "data": URI}]));
    assert_eq!(sent(&unnamed), Some(json!([unnamed])));
    let file = message(&json!([{"type": "file", "url": "https://files.example/a.pdf"}]));
    let named = json!({"type": "file", "name": "a.pdf", "data": "https://files.example/a.pdf"});
    assert_eq!(sent(&file), Some(json!([message(&json!([named]))])));
}

/// If the server asked in a message, an answer names that message.
#[test]
fn an_answer_carries_what_was_asked() {
    let call = json!({"id": "c", "suspension": {"id": "7", "action": "a"}});
    let asked = json!({"type": "tool.approval_required", "thread_id": "main", "tool_calls": [call]});
    let actions = pending(&[asked]);
    let input = read(&allow("main", "c")).expect("an input");
    let sent: Json = serde_json::from_str(&input.with_suspensions(&actions)).expect("JSON");
    assert_eq!(sent[0]["suspension"], json!({"id": "7", "action": "a"}));
    assert_eq!(sent[0]["approval"]["status"], "allow");
}

/// The actions that are pending after these events.
fn pending(events: &[Json]) -> Vec<PendingAction> {
    let mut index = EventIndex::new();
    for event in events {
        let text = event.to_string();
        let json = Value::parse(&text).expect("JSON");
        let event = EventRef::of(json.as_object().expect("an object"));
        assert_ne!(event.kind, EventKind::Unknown);
        index.apply(event);
    }
    index.pending().to_vec()
}

fn waits(kind: &str, thread: &str, calls: &[&str]) -> Json {
    let calls: Vec<Json> = calls.iter().map(|call| json!({"id": call, "source_event_id": "m"})).collect();
    json!({"type": kind, "id": "e", "thread_id": thread, "tool_calls": calls})
}

#[test]
fn section_4_4_everything_that_waits_is_answered_in_one_turn() {
    let approval = |thread, calls| waits("tool.approval_required", thread, calls);
    let response = |thread, calls| waits("tool.response_required", thread, calls);
    let auth = json!({"type": "mcp.auth_required", "id": "e", "thread_id": null,
                      "mcp_servers": [{"id": "s", "name": "n", "auth_url": "u"}]});
    let nothing: Vec<Json> = Vec::new();
    let one = vec![approval("main", &["a"])];
    let both = vec![approval("main", &["a", "b"]), response("t", &["a"])];
    let signing_in = vec![auth.clone()];
    let everything = vec![approval("main", &["a"]), auth];
    let hi = message(&json!("Hi"));
    // The pending actions, the input, and words from the rule, if any.
    let cases: Vec<(&[Json], Json, Option<&str>)> = vec![
        (&nothing, json!(null), None),
        (&nothing, json!("Hi"), None),
        (&nothing, json!([hi, hi]), None),
        // Another client may since have started a turn that waits for it.
        (&nothing, allow("main", "a"), None),
        (&one, allow("main", "a"), None),
        (&one, json!(null), Some("missing: a")),
        (&one, json!([]), Some("missing: a")),
        (&one, json!("Hi"), Some("input[0]: a user message cannot be sent while")),
        (&one, respond("main", "a"), Some("input[0]: call `a` waits for an approval")),
        (&one, allow("t", "a"), Some("input[0]: no call `a` waits in thread `t`")),
        (&one, json!([allow("main", "a"), allow("main", "x")]), Some("input[1]: no call `x` waits")),
        (&both, json!([allow("main", "a"), allow("main", "b"), respond("t", "a")]), None),
        (&both, json!([respond("t", "a"), allow("main", "b"), allow("main", "a")]), None),
        (&both, json!([allow("main", "a")]), Some("missing: b, a")),
        (&both, json!([allow("main", "a"), respond("t", "a")]), Some("missing: b")),
        (&both, json!([allow("main", "a"), allow("t", "a")]), Some("input[1]: call `a` waits for a result")),
        // Sections 3.4 and 4.4: a sign-in is answered by an empty input, or by a new message.
        (&signing_in, json!(null), None),
        (&signing_in, json!("Hi"), None),
        (&signing_in, allow("main", "s"), None),
        (&everything, json!(null), Some("missing: a")),
        (&everything, allow("main", "a"), None),
    ];
    for (events, input, rule) in cases {
        let known = Pending::Known(pending(events));
        let checked = read(&input).expect("an input").check_pending(&known, false);
        match (checked, rule) {
            (Ok(()), None) => {}
            (Err(error), Some(rule)) => {
                assert_eq!(error.code, ErrorCode::InvalidInput);
                assert!(error.message.contains(rule), "{input}: {} says {rule}", error.message);
            }
            (checked, rule) => panic!("{input}: {checked:?} instead of {rule:?}"),
        }
    }
}

#[test]
fn what_is_not_known_to_wait_is_left_to_the_server() {
    for input in [json!(null), json!("Hi"), allow("main", "a")] {
        assert_eq!(read(&input).expect("an input").check_pending(&Pending::Unknown, true), Ok(()));
    }
}

/// A server that would take an answer for a question gets none when nothing is pending.
#[test]
fn an_answer_to_nothing_is_refused_if_strict() {
    let approval = json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c",
                          "approval": {"status": "allow"}});
    let nothing = Pending::Known(Vec::new());
    let input = read(&approval).expect("an input");
    assert_eq!(input.check_pending(&nothing, false), Ok(()));
    let error = input.check_pending(&nothing, true).expect_err("nothing waits");
    assert_eq!(error.code, ErrorCode::InvalidInput);
    assert!(error.message.contains("`c`"), "{}", error.message);
}

#[test]
fn what_comes_with_a_verdict_is_checked() {
    for (approval, problem) in [
        (json!({"status": "allow", "remember": "yes"}), "`approval.remember`"),
        (json!({"status": "deny", "remember": 1}), "`approval.remember`"),
        (json!({"status": "allow", "result": "x"}), "`approval.result`"),
        (json!({"status": "deny", "cancel": 1}), "`approval.cancel`"),
    ] {
        let item = json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c", "approval": approval});
        assert!(read_for(turn_rpc(), &item).expect_err("a rule").message.contains(problem));
    }
}
