//! Lists of tirea: runs by many filters, threads and their summaries.

use serde_json::{Value, json};

use super::client::{Gateway, fast, text, words};

async fn filled() -> Gateway {
    let gateway = fast().await;
    for (thread, run, script) in
        [("b", "r1", "plain"), ("a", "r2", "approval"), ("b", "r3", "error"), ("c", "r4", "subagents")]
    {
        let mut body = words(thread, script);
        body["runId"] = json!(run);
        if run == "r3" {
            body["parentRunId"] = json!("r1");
        }
        gateway.post("/tirea/v1/runs", body).await.frames();
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    }
    gateway
}

async fn runs(gateway: &Gateway, query: &str) -> (Vec<String>, Value) {
    let list = gateway.get(&format!("/tirea/v1/runs?{query}")).await.json();
    let items = list["items"].as_array().expect("items").iter();
    (items.map(|run| text(&run["run_id"])).collect(), list)
}

#[tokio::test]
async fn runs_are_listed_oldest_first_and_filtered() {
    let gateway = filled().await;
    for (query, expected) in [
        ("origin=user", vec!["r1", "r2", "r3", "r4"]),
        ("thread_id=b", vec!["r1", "r3"]),
        ("parent_run_id=r1", vec!["r3"]),
        ("status=waiting", vec!["r2"]),
        ("status=nonsense&thread_id=b", vec!["r1", "r3"]),
        ("origin=user&terminationCode=error", vec!["r3"]),
        ("origin=USER&termination_code=ERROR", vec!["r3"]),
        ("origin=ag-ui", vec![]),
    ] {
        assert_eq!(runs(&gateway, query).await.0, expected, "{query}");
    }
    assert_eq!(runs(&gateway, "origin=subagent&parent_run_id=r4").await.0.len(), 3);
    let (page, list) = runs(&gateway, "origin=user&limit=2&offset=1").await;
    assert_eq!(page, ["r2", "r3"]);
    assert_eq!((&list["total"], &list["has_more"]), (&json!(4), &json!(true)));
    let second = gateway.get("/tirea/v1/runs/r2").await.json();
    let from = second["created_at"].as_u64().expect("a time");
    assert_eq!(runs(&gateway, &format!("origin=user&created_at_from={from}")).await.0, ["r2", "r3", "r4"]);
    assert_eq!(runs(&gateway, &format!("origin=user&created_at_to={from}")).await.0, ["r1", "r2"]);
    let keys: Vec<&String> = second.as_object().expect("a record").keys().collect();
    let expected = [
        "agent_id",
        "created_at",
        "input_tokens",
        "origin",
        "output_tokens",
        "run_id",
        "status",
        "termination_code",
        "thread_id",
        "updated_at",
    ];
    assert_eq!(keys, expected);
}

#[tokio::test]
async fn threads_are_listed_by_id_and_summed_up_newest_first() {
    let gateway = filled().await;
    let list = gateway.get("/tirea/v1/threads").await.json();
    let ids: Vec<String> = list["items"].as_array().expect("items").iter().map(text).collect();
    assert!(ids.is_sorted());
    assert_eq!(ids.len(), 6, "with those of the sub-agents");
    assert_eq!((&list["total"], &list["has_more"]), (&json!(6), &json!(false)));
    let children = gateway.get("/tirea/v1/threads?parent_thread_id=c").await.json();
    assert_eq!(children["total"], 3);
    let page = gateway.get("/tirea/v1/threads?limit=2&offset=4").await.json();
    assert_eq!((page["items"].as_array().map(Vec::len), &page["has_more"]), (Some(2), &json!(false)));
    let summaries = gateway.get("/tirea/v1/threads/summaries").await.json();
    let ids: Vec<String> =
        summaries.as_array().expect("summaries").iter().map(|summary| text(&summary["id"])).collect();
    assert_eq!(ids, ["c", "b", "a"], "without those of the sub-agents");
    let keys: Vec<&String> = summaries[0].as_object().expect("a summary").keys().collect();
    assert_eq!(keys, ["created_at", "id", "message_count", "title", "updated_at"]);
}

#[tokio::test]
async fn surfaces_know_nothing_of_each_other() {
    let gateway = filled().await;
    gateway.ask("a", "plain").await;
    for (path, total) in
        [("/awaken/v1/threads", 1), ("/awaken-plain/v1/threads", 0), ("/tirea/v1/threads", 6)]
    {
        assert_eq!(gateway.get(path).await.json()["total"], total, "{path}");
    }
}
