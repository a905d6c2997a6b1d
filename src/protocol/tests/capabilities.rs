//! Capabilities agree with the calls that a protocol has, and the page about protocols has their table.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::ErrorCode;
use crate::json::Value;
use crate::protocol::{AnyProtocol, Call, Capabilities, Capability, Protocol};

/// The document with the table, and what marks its place there.
const FILE: &str = "docs/protocols.md";
const BEGIN: &str = "<!-- capabilities: begin, written by `UPDATE_GOLDEN=1 cargo test -p turnwire --lib protocol::tests` -->\n";
const END: &str = "<!-- capabilities: end -->\n";

/// The calls that a capability promises. Others are facts about the server.
const CALLS: &[(Capability, &[Call])] = &[
    (Capability::Cancel, &[Call::CancelTurn]),
    (Capability::Interrupt, &[Call::InterruptSession]),
    (Capability::CancelSession, &[Call::CancelSession]),
    (Capability::History, &[Call::ListTurns, Call::ListSessionEvents, Call::ListTurnEvents]),
    (Capability::Messages, &[Call::ListMessages]),
    (Capability::Detached, &[Call::CreateTurn]),
    (Capability::Steer, &[Call::SteerTurn]),
    (Capability::LiveAnswers, &[Call::AnswerTurn]),
    (Capability::Agents, &[Call::ListAgents]),
    (Capability::ListSessions, &[Call::ListSessions]),
    (Capability::Rename, &[Call::RenameSession]),
    (Capability::Delete, &[Call::DeleteSession]),
    (Capability::State, &[Call::GetSessionState]),
    (
        Capability::Drafts,
        &[Call::CreateDraftSession, Call::ListDraftSessions, Call::GetDraftSession, Call::UpdateDraftSession],
    ),
    (Capability::Search, &[Call::SearchSessions]),
    (Capability::SandboxFiles, &[Call::DownloadSandboxFile]),
];

fn all() -> impl Iterator<Item = (&'static str, AnyProtocol)> {
    AnyProtocol::NAMES.iter().enumerate().map(|(number, (name, _))| {
        let number = u8::try_from(number).expect("there are few");
        (*name, AnyProtocol::numbered(number).expect("this build has all"))
    })
}

/// Whether the protocol has the call, by what it answers to a request for it.
fn has(protocol: &dyn Protocol, call: Call) -> bool {
    let text = r#"{"session_id": "s", "turn_id": "t", "id": "s"}"#;
    let Value::Object(params) = Value::parse(text).expect("JSON") else { unreachable!("an object") };
    if protocol.local(call, &params).is_some() {
        return true;
    }
    let error = if protocol.capabilities().has_socket() {
        protocol.messages(call, params).err()
    } else {
        protocol.request(call, params).err()
    };
    error.is_none_or(|error| error.code != ErrorCode::Unsupported)
}

#[test]
fn a_protocol_has_the_calls_that_its_capabilities_promise_and_no_others() {
    for (name, known) in all() {
        let protocol = known.protocol();
        for (capability, calls) in CALLS {
            let expected = protocol.capabilities().has(*capability);
            // Their turns are cancelled by closing the stream.
            let is_by_disconnect = matches!(name, "aap" | "ag-ui") && *capability == Capability::Cancel;
            for call in *calls {
                assert_eq!(has(protocol, *call), expected && !is_by_disconnect, "{name}: {call:?}");
            }
        }
    }
}

#[test]
fn capabilities_have_the_order_of_their_numbers_and_names_of_their_own() {
    for (at, (capability, name, _)) in Capability::PUBLISHED.iter().enumerate() {
        assert_eq!(*capability as usize, at);
        assert_eq!(Capability::PUBLISHED.iter().filter(|other| other.1 == *name).count(), 1, "{name}");
    }
    // `pkg/src/boundary/capabilities.ts` reads what follows by its place.
    let next = [Capability::ClientIds, Capability::SeparateAnswers, Capability::Socket];
    for (at, capability) in next.into_iter().enumerate() {
        assert_eq!(capability as usize, Capability::PUBLISHED.len() + at);
    }
}

#[test]
fn sets_are_written_in_the_order_of_their_numbers() {
    let some = Capabilities::of(&[Capability::Cancel, Capability::Held]);
    let rest = "0".repeat(Capability::Held as usize - 1);
    assert_eq!(some.to_text(), format!("none 60000 1{rest}1"));
    let fewer = some.only_if(false, Capability::Held).only_if(true, Capability::Cancel);
    assert_eq!(fewer, Capabilities::of(&[Capability::Cancel]));
}

#[test]
fn the_document_has_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let document = std::fs::read_to_string(&path).expect("the document is there");
    let (head, rest) = document.split_once(BEGIN).expect("the document marks the table's beginning");
    let (given, tail) = rest.split_once(END).expect("the document marks the table's end");
    let table = table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, [head, BEGIN, &table, END, tail].concat()).expect("the file can be written");
    } else {
        assert!(given == table, "{FILE} has another table; UPDATE_GOLDEN=1 writes it anew");
    }
}

/// Terms that declare all or nothing, for the protocols whose agents, or sessions, decide.
const TERMS: [&str; 2] = [
    r#"{"history": "full", "stream": "none", "images": ["data", "http"], "page_tools": true, "recovery": "connect"}"#,
    r#"{"history": null, "stream": "delta", "page_tools": false}"#,
];

fn table() -> String {
    let with = |known: AnyProtocol, terms| known.with_terms(terms).protocol().capabilities();
    let known: Vec<_> = all().map(|(name, known)| (name, TERMS.map(|terms| with(known, terms)))).collect();
    let mut text = "| capability | what it means |".to_owned();
    for (name, _) in &known {
        write!(text, " {name} |").expect("a string takes any text");
    }
    writeln!(text, "\n|---|---|{}", "---|".repeat(known.len())).expect("a string takes any text");
    text += "| `resume` | what happens to a turn whose connection drops |";
    for (_, [most, least]) in &known {
        let is_fixed = most.resume == least.resume;
        write!(text, " {} |", if is_fixed { most.resume.as_str() } else { "by agent" })
            .expect("a string takes any text");
    }
    text.push('\n');
    for (capability, name, about) in Capability::PUBLISHED {
        write!(text, "| `{name}` | {} |", about.trim().replace("\n ", " ")).expect("a string takes any text");
        for (_, [most, least]) in &known {
            text += match (most.has(*capability), least.has(*capability)) {
                (true, true) => " yes |",
                (true, false) => " by agent |",
                (false, _) => " – |",
            };
        }
        text.push('\n');
    }
    text
}
