//! The script `page`, whose tools the page runs.

use serde_json::{Value, json};

use super::client::{MODES, fast, grant, result};
use super::conversation::calls;

#[tokio::test]
async fn both_tools_are_called_at_once() {
    let gateway = fast().await;
    for mode in MODES {
        let session = gateway.session_of_page(&["clock", "calculator"]).await;
        let waiting = gateway.outcome(&session, mode, "page").await.waiting();
        let asked: Vec<(&Value, &Value)> =
            waiting.iter().map(|call| (&call["name"], &call["input"])).collect();
        let expected = [
            (&json!("clock"), &json!({"zone": "Asia/Tokyo"})),
            (&json!("calculator"), &json!({"expression": "6*7"})),
        ];
        assert_eq!(asked, expected);
        let answers = json!([result(&waiting[0], "18:30"), result(&waiting[1], "forty-two")]);
        let said = gateway.answered(&session, mode, answers).await.said();
        assert!(said.contains("18:30") && said.contains("forty-two"), "{said}");
    }
}

#[tokio::test]
async fn rounds_are_as_many_as_wanted() {
    let gateway = fast().await;
    let session = gateway.session_of_page(&["calculator"]).await;
    for (words, rounds) in [("page rounds 4", 4), ("page rounds", 3), ("page rounds 1", 1)] {
        let mut outcome = gateway.outcome(&session, "delta", words).await;
        for round in 1..=rounds {
            assert_eq!(outcome.stop_reason, "tool_use", "{words}: {round}");
            let call = calls(&outcome.messages)[0].clone();
            assert_eq!(call["input"]["expression"], format!("6*{round}"));
            let answer = json!([result(&call, &format!("result {round}"))]);
            outcome = gateway.answered(&session, "delta", answer).await;
        }
        assert_eq!(outcome.stop_reason, "end_turn", "{words}");
        for round in 1..=rounds {
            assert!(outcome.said().contains(&format!("result {round}")), "{}", outcome.said());
        }
    }
}

#[tokio::test]
async fn the_server_runs_them_if_the_page_has_not_declared_them() {
    let gateway = fast().await;
    let session = gateway.session_of_page(&["clock"]).await;
    let waiting = gateway.outcome(&session, "delta", "page").await.waiting();
    let answers = json!([result(&waiting[0], "18:30"), grant(&waiting[1])]);
    let answered = gateway.answered(&session, "delta", answers).await;
    assert_eq!(answered.messages[0]["content"], "42");
    assert!(answered.said().contains("18:30") && answered.said().contains("42"), "{}", answered.said());

    let trust = json!([{"name": "clock", "trust": true}, {"name": "calculator", "trust": true}]);
    let session = gateway.session_of_server(trust).await;
    let outcome = gateway.outcome(&session, "delta", "page").await;
    assert_eq!(outcome.stop_reason, "end_turn");
    assert!(outcome.said().contains("42"), "{}", outcome.said());
}
