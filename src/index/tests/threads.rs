//! The tree of threads, and messages in it (sections 3.1 and 3.4).

use serde_json::{Value as Json, json};

use super::mirror::Mirror;
use super::{base, content, feed, finish, index_of, response, thread_created, thread_done};
use crate::event::MAIN_THREAD;
use crate::index::ThreadStatus;

fn thread_ids(mirror: &Mirror) -> Vec<&str> {
    let threads = mirror.threads.as_array().expect("a list");
    threads.iter().map(|thread| thread["id"].as_str().expect("an id")).collect()
}

#[test]
fn the_main_thread_is_always_there_and_first() {
    assert_eq!(thread_ids(&Mirror::of(index_of(&[]))), [MAIN_THREAD]);
    let index =
        index_of(&[content("t1", "m1", "a"), thread_created("t2", "main", "c"), content("main", "m", "b")]);
    assert_eq!(thread_ids(&Mirror::of(index)), ["main", "t1", "t2"]);
}

#[test]
fn a_thread_says_who_started_it() {
    let index = index_of(&[thread_created("t1", "main", "a"), thread_created("t2", "t1", "b")]);
    let expected = json!([
        {"id": "main", "title": null, "parent": null, "agent_info": null, "status": "running", "error": null,
         "tool_responses": []},
        {"id": "t1", "title": "title of t1", "parent": {"thread_id": "main", "tool_call_id": "a"},
         "agent_info": {"type": "dynamic", "name": "t1", "input": "go"}, "status": "running", "error": null,
         "tool_responses": []},
        {"id": "t2", "title": "title of t2", "parent": {"thread_id": "t1", "tool_call_id": "b"},
         "agent_info": {"type": "dynamic", "name": "t2", "input": "go"}, "status": "running", "error": null,
         "tool_responses": []},
    ]);
    assert_eq!(Mirror::of(index).threads, expected);
}

#[test]
fn messages_belong_to_their_threads() {
    let index = index_of(&[base("t1", "m1"), content("main", "m0", "a"), content("t1", "m1", "b")]);
    let found: Vec<_> = index
        .messages()
        .iter()
        .map(|message| (message.id.as_str(), index.threads()[message.thread].id.as_str(), message.content()))
        .collect();
    assert_eq!(found, [("m1", "t1", "b"), ("m0", "main", "a")]);
    let mirror = Mirror::of(index);
    assert_eq!(mirror.messages[0].head["thread_id"], "t1");
}

#[test]
fn threads_end_normally_or_with_a_failure() {
    let cases = [
        (json!({"status": "done"}), ThreadStatus::Done),
        (json!({"status": "error", "error": "refused"}), ThreadStatus::Error("refused".into())),
        (json!({"status": "error"}), ThreadStatus::Error("error".into())),
        // Whatever else ends a thread is not success.
        (
            json!({"status": "evicted"}),
            ThreadStatus::Error("it ended with the unknown status `evicted`".into()),
        ),
    ];
    for (state, expected) in cases {
        let index = index_of(&[thread_created("t1", "main", "a"), thread_done("t1", &state)]);
        assert_eq!(index.thread("t1").expect("the thread").status, expected, "{state}");
        assert_eq!(index.thread("main").expect("the thread").status, ThreadStatus::Running);
        let thread = &Mirror::of(index).threads[1];
        let (status, error) = match &expected {
            ThreadStatus::Error(error) => ("error", Json::from(error.as_str())),
            _ => ("done", Json::Null),
        };
        assert_eq!((&thread["status"], &thread["error"]), (&json!(status), &error));
        assert_eq!(thread["agent_info"]["name"], "t1", "what an end leaves out stays");
    }
}

/// Section 3.6: the reference pages have a thread's end flat.
#[test]
fn a_flat_end_is_an_end() {
    let flat =
        json!({"type": "thread.done", "id": "e", "thread_id": "t1", "status": "error", "message": "refused"});
    let index = index_of(&[flat]);
    assert_eq!(index.thread("t1").expect("the thread").status, ThreadStatus::Error("refused".into()));
}

/// Section 3.4: a sub-agent lives on into the next turn, which has no `thread.created` for it.
#[test]
fn a_thread_that_began_earlier_appears_with_its_first_event() {
    let events = [response("t1", "a", "x"), base("t1", "m1"), finish("t1", "m1", "stop")];
    for count in 1..=events.len() {
        assert_eq!(thread_ids(&Mirror::of(index_of(&events[..count]))), ["main", "t1"]);
    }
    let mut index = index_of(&events);
    feed(&mut index, [&thread_done("t1", &json!({"status": "done"}))]);
    assert_eq!(index.thread("t1").expect("the thread").status, ThreadStatus::Done);
}

/// The output of a thread or turn whose stream was joined late.
#[test]
fn an_output_completes_what_was_not_streamed() {
    let mut output = base("t1", "m1");
    output["content"] = json!("whole");
    output["finish_reason"] = json!("stop");
    let done = thread_done("t1", &json!({"status": "done", "output": output}));
    for before in [vec![], vec![content("t1", "m1", "le")]] {
        let mut events = before;
        events.push(done.clone());
        assert_eq!(index_of(&events).message("m1").expect("the message").content(), "whole");
    }
    // What was streamed from its beginning is known better than its output says.
    let index = index_of(&[base("t1", "m1"), content("t1", "m1", "streamed"), done]);
    assert_eq!(index.message("m1").expect("the message").content(), "streamed");
    // Some servers give an output no id.
    let nameless = thread_done("t1", &json!({"status": "done", "output": {"content": "a"}}));
    assert_eq!(index_of(&[nameless]).messages().len(), 0);
}
