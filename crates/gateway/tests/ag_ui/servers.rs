//! Servers that keep the conversation: hydration, state, and CopilotKit's `connect` and `stop`.

use serde_json::{Value, json};

use crate::client::{events, gateway, interrupts, of, only, outline, resolved, said, words};

const BASE: &str = "/ag-ui/copilotkit/agent/support-bot";

fn empty(thread: &str) -> Value {
    json!({"threadId": thread, "runId": "read", "messages": []})
}

#[tokio::test]
async fn a_stored_thread_is_sent_again() {
    let gateway = gateway(0).await;
    let nobody = gateway.send("/ag-ui/store", &empty("t")).await.events();
    assert_eq!(outline(&nobody), "RUN_STARTED RUN_FINISHED");
    let mut request = said("t", "approval");
    request["state"] = json!({"theme": "dark"});
    let asked = gateway.send("/ag-ui/store", &request).await.events();
    assert_eq!(only(&asked, "STATE_SNAPSHOT")["snapshot"], json!({"theme": "dark"}));
    let again = gateway.send("/ag-ui/store", &empty("t")).await.events();
    assert_eq!(outline(&again), "RUN_STARTED STATE_SNAPSHOT MESSAGES_SNAPSHOT RUN_FINISHED");
    assert_eq!(interrupts(&again), interrupts(&asked));
    // The new messages alone will do: here, none.
    let mut request = empty("t");
    request["resume"] = resolved(&interrupts(&asked), &json!({"approved": true}));
    let done = gateway.send("/ag-ui/store", &request).await.events();
    assert!(words(&done).contains("is running again"));
    let again = gateway.send("/ag-ui/store", &empty("t")).await.events();
    let messages = only(&again, "MESSAGES_SNAPSHOT")["messages"].as_array().expect("messages").clone();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap_or_default()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);

    let state = gateway.send("/ag-ui/agents/state", &json!({"threadId": "t"})).await.json();
    assert_eq!((&state["threadExists"], &state["state"]), (&json!(true), &json!({"theme": "dark"})));
    // They have other ids there.
    let told = state["messages"].as_array().expect("messages");
    let contents =
        |messages: &[Value]| messages.iter().map(|message| message["content"].clone()).collect::<Vec<_>>();
    assert_eq!(contents(told), contents(&messages));
    assert!(told.iter().zip(&messages).all(|(told, streamed)| told["id"] != streamed["id"]));
    let state = gateway.send("/ag-ui/agents/state", &json!({"threadId": "nobody"})).await.json();
    assert_eq!(state, json!({"threadId": "nobody", "threadExists": false, "state": {}, "messages": []}));
}

#[tokio::test]
async fn one_run_at_a_time_where_runs_go_on() {
    let gateway = gateway(20).await;
    let running = gateway.open("/ag-ui/store", &said("t", "long 5000")).await;
    let busy = gateway.send("/ag-ui/store", &said("t", "plain")).await;
    let detail = json!({"detail": "An AG-UI run is already active for this scoped thread."});
    assert_eq!((busy.status.as_u16(), busy.json()), (409, detail));
    // The thread can be read meanwhile: as it was before, or with the user's message.
    let kept = gateway.send("/ag-ui/store", &empty("t")).await.events();
    assert_eq!(outline(&kept), "RUN_STARTED RUN_FINISHED");
    let state = gateway.send("/ag-ui/agents/state", &json!({"threadId": "t"})).await.json();
    assert_eq!(state["messages"][0]["content"], "long 5000");
    assert_eq!(state["messages"].as_array().map(Vec::len), Some(1));
    drop(running);
    let running = gateway.open(&format!("{BASE}/run"), &said("t", "long 5000")).await;
    assert_eq!(gateway.send(&format!("{BASE}/run"), &said("t", "plain")).await.events().len(), 0);
    drop(running);
}

#[tokio::test]
async fn connect_tells_all_runs_and_the_live_one_from_its_beginning() {
    let gateway = gateway(20).await;
    let connect = format!("{BASE}/connect");
    assert_eq!(gateway.send(&connect, &empty("t")).await.events().len(), 0, "an unknown thread");
    let mut request = said("t", "tools");
    let first = gateway.send(&format!("{BASE}/run?delay_ms=0"), &request).await.events();
    assert_eq!(first[0]["input"]["messages"], request["messages"]);
    let messages = request["messages"].as_array_mut().expect("messages");
    messages.push(json!({"id": "second", "role": "user", "content": "plain"}));
    request["runId"] = json!("second");
    let live = gateway.open(&format!("{BASE}/run"), &request).await;
    let told = gateway.send(&connect, &empty("t")).await.events();
    let second = events(&live.text().await.expect("a stream"));
    // Of the request only the new messages are told.
    assert_eq!(second[0]["input"]["messages"], json!([request["messages"][1]]));
    let from = told.iter().position(|event| event["runId"] == "second").expect("the live run");
    assert_eq!(told[from..], second);
    let compacted = &told[..from];
    assert_eq!(of(compacted, "TEXT_MESSAGE_CONTENT").len(), 3);
    assert_eq!(of(compacted, "TOOL_CALL_ARGS").len(), 2);
    assert_eq!(words(compacted), words(&first));
}

#[tokio::test]
async fn a_run_is_stopped_where_it_is() {
    let gateway = gateway(20).await;
    let stop = format!("{BASE}/stop/t");
    assert_eq!(gateway.send(&stop, &json!({})).await.json()["stopped"], false);
    let mut running = gateway.open(&format!("{BASE}/run"), &said("t", "subagents")).await;
    let mut told = Vec::new();
    while !String::from_utf8_lossy(&told).contains("SUBAGENT_STARTED") {
        told.extend_from_slice(&running.chunk().await.expect("a chunk").expect("a chunk"));
    }
    let stopped = gateway.send(&stop, &json!({})).await.json();
    assert_eq!((&stopped["stopped"], &stopped["interrupt"]["code"]), (&json!(true), &json!("STOPPED")));
    told.extend_from_slice(running.text().await.expect("the rest").as_bytes());
    let told = events(&String::from_utf8(told).expect("UTF-8"));
    let last = told.last().expect("events").as_object().expect("an event").clone();
    assert_eq!(last.keys().collect::<Vec<_>>(), ["timestamp", "type"]);
    let started = of(&told, "SUBAGENT_STARTED").len();
    assert_eq!(started, of(&told, "SUBAGENT_ERROR").len() + of(&told, "SUBAGENT_FINISHED").len());
    let info = gateway.get("/ag-ui/copilotkit/info").await.json();
    assert!(info["agents"]["support-bot"].is_object());
}
