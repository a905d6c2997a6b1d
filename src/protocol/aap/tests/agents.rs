//! What a server says of its agents, and the terms that follow from it (sections 1 and 3).

use serde_json::{Value as Json, json};

use super::{answer, is_unexpected, read};
use crate::error::ErrorCode;
use crate::protocol::aap::Aap;
use crate::protocol::{Call, Capability, Protocol, Resume};

use super::with_params;

fn listed(agents: &Json) -> Json {
    read(Call::ListAgents, &json!({}), &json!({"version": 3, "agents": agents}))
}

#[test]
fn section_3_an_agent_with_its_terms() {
    let agent = json!({"name": "basic", "version": "1", "title": "Basic", "x_new": [1],
        "tools": [{"name": "web_fetch", "description": "d", "parameters": {}}],
        "options": [{"type": "secret", "name": "apiKey", "default": ""}],
        "capabilities": {"history": {"full": {}}, "stream": {"delta": {}, "message": {}, "none": {}},
            "application": {"tools": {}}, "image": {"http": {}, "data": {}}}});
    let page = listed(&json!([agent]));
    let mut expected = agent;
    expected["terms"] = json!({"history": "full", "stream": "delta", "images": ["data", "http"], "modes": ["delta", "message", "none"], "page_tools": true});
    assert_eq!(page, json!({"items": [expected], "next": null}));
    assert_eq!(listed(&json!([])), json!({"items": [], "next": null}));
}

/// What an agent declares is there if its key is.
#[test]
fn section_3_terms() {
    let nothing =
        json!({"history": null, "stream": "none", "modes": ["none"], "images": [], "page_tools": false});
    let with = |name: &str, value: Json| {
        let mut terms = nothing.clone();
        terms[name] = value;
        terms
    };
    let streaming = |modes: &[&str]| {
        let mut terms = with("modes", json!(modes));
        terms["stream"] = json!(modes[0]);
        terms
    };
    for (capabilities, terms) in [
        (json!(null), nothing.clone()),
        (json!({}), nothing.clone()),
        (json!("all"), nothing.clone()),
        (json!({"history": {}, "stream": {}, "image": {}}), nothing.clone()),
        (json!({"history": {"compacted": {}}}), with("history", json!("compacted"))),
        (json!({"history": {"compacted": {}, "full": {}}}), with("history", json!("full"))),
        (json!({"history": {"full": null, "compacted": true}}), with("history", json!("compacted"))),
        (json!({"history": {"full": false}}), nothing.clone()),
        (json!({"history": "full"}), nothing.clone()),
        (json!({"stream": {"none": {}}}), nothing.clone()),
        (json!({"stream": {"message": {}, "none": {}}}), streaming(&["message", "none"])),
        (json!({"stream": {"message": {}, "delta": {"x": 1}}}), streaming(&["delta", "message"])),
        (json!({"image": {"http": {}}}), with("images", json!(["http"]))),
        (json!({"image": {"data": true, "svg": {}}}), with("images", json!(["data"]))),
        (json!({"application": {"tools": {}}}), with("page_tools", json!(true))),
        (json!({"application": {"tools": false}}), nothing.clone()),
    ] {
        let page = listed(&json!([{"name": "a", "capabilities": capabilities}]));
        assert_eq!(page["items"][0]["terms"], terms, "{capabilities}");
    }
}

/// Terms as the server has them stand for nothing.
#[test]
fn terms_are_made_here() {
    let page = listed(&json!([{"name": "a", "terms": {"stream": "delta"}}]));
    assert_eq!(page["items"][0]["terms"]["stream"], "none");
}

#[test]
fn section_1_versions() {
    for (version, message) in [
        (json!(2), "the server speaks version 2 of the Agent Application Protocol; this client speaks 3"),
        (json!(4), "the server speaks version 4 of the Agent Application Protocol; this client speaks 3"),
        (json!("v2"), "the server speaks version v2 of the Agent Application Protocol; this client speaks 3"),
        (json!(-3), "the server speaks version -3 of the Agent Application Protocol; this client speaks 3"),
        (json!(null), "the server does not say which version"),
        (json!([3]), "the server does not say which version"),
        (json!("3".repeat(50)), "the server does not say which version"),
    ] {
        let meta = json!({"version": version, "agents": []});
        let error = answer(Call::ListAgents, &json!({}), &meta).expect_err("another version");
        assert_eq!(error.code, ErrorCode::UnexpectedResponse);
        assert!(error.message.starts_with(message), "{version}: {}", error.message);
    }
}

#[test]
fn a_version_as_a_text_is_told_as_that() {
    let error =
        answer(Call::ListAgents, &json!({}), &json!({"version": "3", "agents": []})).expect_err("a text");
    assert!(error.message.contains("as a text"), "{}", error.message);
}

#[test]
fn agents_that_are_none_are_unexpected() {
    for meta in [
        json!(null),
        json!([]),
        json!("Unauthorized"),
        json!({"version": 3}),
        json!({"version": 3, "agents": {}}),
        json!({"version": 3, "agents": ["a"]}),
        json!({"version": 3, "agents": [{}]}),
        json!({"version": 3, "agents": [{"name": "a"}, {"name": ""}]}),
        json!({"version": 3, "agents": [{"name": 5}]}),
    ] {
        assert!(is_unexpected(&answer(Call::ListAgents, &json!({}), &meta)), "{meta}");
    }
}

#[test]
fn capabilities_are_those_of_the_terms() {
    let of = |terms: Json| with_params(&terms, Aap::of_terms).capabilities();
    let known = [Capability::History, Capability::Files, Capability::Images, Capability::PageTools];
    let has = |terms: Json| known.map(|capability| of(terms.clone()).has(capability));
    let all = json!({"history": "full", "stream": "delta", "images": ["data", "http"], "page_tools": true});
    assert_eq!((of(all.clone()).resume, has(all)), (Resume::History, [true; 4]));
    let compacted = json!({"history": "compacted", "images": ["data"], "page_tools": false});
    assert_eq!((of(compacted.clone()).resume, has(compacted)), (Resume::History, [true, true, false, false]));
    for none in [json!({"history": null}), json!({"history": "none", "images": ["svg", 5]})] {
        assert_eq!((of(none.clone()).resume, has(none)), (Resume::None, [false, false, false, true]));
    }
    assert_eq!(of(json!({})), Aap::new().capabilities());
    assert_eq!(Aap::default(), Aap::new());
}
