//! Every method in every situation, as a table.

use crate::error::{Error, ErrorCode};
use crate::event::EventRef;
use crate::json::{Object, Value};
use crate::turn::{Admission, StreamEnd, StreamPlan, TurnMachine, TurnStatus};

/// A situation that a turn can be in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum In {
    Unstarted,
    /// Started without a stream; no response yet.
    Starting,
    /// Started with a stream that has brought nothing yet.
    StartingStream,
    /// Running without a listener.
    Running,
    /// A listener has received three events.
    Streaming,
    /// Ended without a listener.
    Ended(TurnStatus),
    /// Ended on its stream.
    EndedStreamed(TurnStatus),
    /// Its stream broke after three events.
    Incomplete,
    /// Its stream broke before `turn.created`.
    Lost,
}

const ALL: [In; 13] = [
    In::Unstarted,
    In::Starting,
    In::StartingStream,
    In::Running,
    In::Streaming,
    In::Ended(TurnStatus::Done),
    In::Ended(TurnStatus::Cancelled),
    In::Ended(TurnStatus::Error),
    In::EndedStreamed(TurnStatus::Done),
    In::EndedStreamed(TurnStatus::Cancelled),
    In::EndedStreamed(TurnStatus::Error),
    In::Incomplete,
    In::Lost,
];

fn with_state(machine: &mut TurnMachine, status: &str) -> bool {
    let mut state = Object::new();
    state.insert("status", status.to_owned());
    machine.state(&state)
}

fn machine(situation: In) -> TurnMachine {
    let mut machine = TurnMachine::unstarted();
    match situation {
        In::Unstarted => {}
        In::Starting => assert_eq!(machine.start(), Ok(StreamPlan::Start)),
        In::StartingStream | In::Lost => assert_eq!(machine.stream(None), Ok(StreamPlan::Start)),
        In::Running => machine.created("t"),
        In::Streaming | In::Incomplete | In::EndedStreamed(_) => {
            assert_eq!(machine.stream(None), Ok(StreamPlan::Start));
            machine.created("t");
            assert!((1..=3).all(|number| machine.admit(number) == Admission::New));
        }
        In::Ended(status) => {
            machine.created("t");
            with_state(&mut machine, status.as_str());
        }
    }
    match situation {
        In::EndedStreamed(status) => {
            with_state(&mut machine, status.as_str());
            machine.stream_ended(StreamEnd::Eof).expect("the turn has ended");
        }
        In::Incomplete | In::Lost => {
            machine.stream_ended(StreamEnd::Eof).expect_err("the turn has not ended");
        }
        _ => {}
    }
    machine
}

fn status(situation: In) -> TurnStatus {
    match situation {
        In::Unstarted => TurnStatus::Unstarted,
        In::Starting | In::StartingStream => TurnStatus::Starting,
        In::Running | In::Streaming => TurnStatus::Running,
        In::Ended(status) | In::EndedStreamed(status) => status,
        In::Incomplete | In::Lost => TurnStatus::Incomplete,
    }
}

fn has_id(situation: In) -> bool {
    !matches!(situation, In::Unstarted | In::Starting | In::StartingStream | In::Lost)
}

/// The last sequence number that was delivered.
fn last(situation: In) -> u64 {
    match situation {
        In::Streaming | In::EndedStreamed(_) | In::Incomplete => 3,
        _ => 0,
    }
}

fn code<T>(result: Result<T, Error>) -> Result<T, ErrorCode> {
    result.map_err(|error| error.code)
}

#[test]
fn situations_have_their_status_and_id() {
    for situation in ALL {
        let machine = machine(situation);
        assert_eq!(machine.status(), status(situation), "{situation:?}");
        assert_eq!(machine.id(), has_id(situation).then_some("t"), "{situation:?}");
        let streams = matches!(situation, In::StartingStream | In::Streaming);
        assert_eq!(machine.is_streaming(), streams, "{situation:?}");
    }
}

#[test]
fn statuses_have_their_names() {
    let names = [
        (TurnStatus::Unstarted, "unstarted", false),
        (TurnStatus::Starting, "starting", false),
        (TurnStatus::Running, "running", false),
        (TurnStatus::Done, "done", true),
        (TurnStatus::Cancelled, "cancelled", true),
        (TurnStatus::Error, "error", true),
        (TurnStatus::Incomplete, "incomplete", false),
    ];
    for (status, name, is_terminal) in names {
        assert_eq!((status.as_str(), status.is_terminal()), (name, is_terminal));
    }
}

#[test]
fn a_start_without_a_stream_happens_once() {
    for situation in ALL {
        let mut machine = machine(situation);
        let expected = match situation {
            In::Unstarted => Ok(StreamPlan::Start),
            In::Lost => Ok(StreamPlan::Look),
            _ => Err(ErrorCode::TurnAlreadyStarted),
        };
        assert_eq!(code(machine.start()), expected, "{situation:?}");
        let after = if expected.is_ok() { TurnStatus::Starting } else { status(situation) };
        assert_eq!(machine.status(), after, "{situation:?}");
        assert_eq!(machine.id(), has_id(situation).then_some("t"), "{situation:?}");
    }
}

#[test]
fn a_stream_starts_resumes_or_is_refused() {
    for situation in ALL {
        let resumes = |after| (Ok(StreamPlan::Subscribe), after);
        let refused = |code| [(Err(code), last(situation)); 3];
        // Requested after nothing, after 2 and after 9: the plan, and the cursor afterwards.
        let expected = match situation {
            In::Unstarted => {
                let no = (Err(ErrorCode::InvalidOption), 0);
                [(Ok(StreamPlan::Start), 0), no, no]
            }
            In::Running => [resumes(0), resumes(2), resumes(9)],
            // Never back to before the delivered events.
            In::Incomplete => [resumes(3), resumes(3), resumes(9)],
            In::Lost => [(Ok(StreamPlan::Look), 0); 3],
            In::Starting => refused(ErrorCode::TurnAlreadyStarted),
            In::StartingStream | In::Streaming | In::EndedStreamed(_) => {
                refused(ErrorCode::TurnAlreadyStreamed)
            }
            In::Ended(_) => refused(ErrorCode::TurnNotRunning),
        };
        for (after, (plan, cursor)) in [None, Some(2), Some(9)].into_iter().zip(expected) {
            let mut machine = machine(situation);
            let was_streaming = machine.is_streaming();
            assert_eq!(code(machine.stream(after)), plan, "{situation:?} after {after:?}");
            assert_eq!(machine.cursor().last(), cursor, "{situation:?} after {after:?}");
            assert_eq!(machine.is_streaming(), was_streaming || plan.is_ok(), "{situation:?}");
            let status = match plan {
                Ok(StreamPlan::Start | StreamPlan::Look) => TurnStatus::Starting,
                Ok(StreamPlan::Subscribe) => TurnStatus::Running,
                Err(_) => status(situation),
            };
            assert_eq!(machine.status(), status, "{situation:?}");
        }
    }
}

#[test]
fn a_new_turn_may_be_streamed_after_nothing() {
    assert_eq!(TurnMachine::unstarted().stream(Some(0)), Ok(StreamPlan::Start));
}

#[test]
fn created_starts_and_never_renames() {
    for situation in ALL {
        let mut machine = machine(situation);
        machine.created("other");
        assert_eq!(machine.id(), Some(if has_id(situation) { "t" } else { "other" }), "{situation:?}");
        let expected = match situation {
            In::Unstarted | In::Starting | In::StartingStream => TurnStatus::Running,
            _ => status(situation),
        };
        assert_eq!(machine.status(), expected, "{situation:?}");
    }
    let mut nameless = machine(In::StartingStream);
    nameless.created("");
    assert_eq!(nameless.id(), None);
}

#[test]
fn a_terminal_state_ends_the_turn_wherever_it_stands() {
    for situation in ALL {
        for (name, expected) in
            [("done", TurnStatus::Done), ("cancelled", TurnStatus::Cancelled), ("error", TurnStatus::Error)]
        {
            let mut machine = machine(situation);
            assert!(with_state(&mut machine, name));
            assert_eq!(machine.status(), expected, "{situation:?}");
        }
    }
}

#[test]
fn a_state_of_running_only_mends_a_broken_stream() {
    for situation in ALL {
        for name in ["running", "paused", ""] {
            let mut machine = machine(situation);
            let has_ended = with_state(&mut machine, name);
            assert_eq!(has_ended, status(situation).is_terminal(), "{situation:?}");
            let expected = match situation {
                In::Incomplete | In::Lost => TurnStatus::Running,
                _ => status(situation),
            };
            assert_eq!(machine.status(), expected, "{situation:?}");
        }
    }
}

fn http(status: u16) -> Error {
    Error::new(ErrorCode::Http, "no").with_status(Some(status))
}

/// A stream that ends without `turn.done` is never a turn that is done.
#[test]
fn what_ends_a_stream_leaves_the_turn_where_it_stands() {
    use TurnStatus::{Incomplete, Running, Unstarted};
    let network = || StreamEnd::Failed(Error::new(ErrorCode::Network, "reset"));
    let lost = || StreamEnd::Lost(Error::new(ErrorCode::FrameTooLarge, "large"));
    // The status before and after `turn.created`; the report.
    let cases = [
        (StreamEnd::Eof, Incomplete, Incomplete, Some((ErrorCode::Incomplete, ErrorCode::Incomplete))),
        (StreamEnd::Aborted, Incomplete, Running, Some((ErrorCode::Aborted, ErrorCode::Aborted))),
        (StreamEnd::Refused, Unstarted, Running, None),
        (network(), Incomplete, Incomplete, Some((ErrorCode::Network, ErrorCode::Incomplete))),
        (lost(), Incomplete, Incomplete, Some((ErrorCode::FrameTooLarge, ErrorCode::FrameTooLarge))),
        (StreamEnd::Rejected(http(400)), Unstarted, Running, Some((ErrorCode::Http, ErrorCode::Http))),
        (StreamEnd::Rejected(http(412)), Unstarted, Running, Some((ErrorCode::Http, ErrorCode::Http))),
        (StreamEnd::Rejected(http(499)), Unstarted, Running, Some((ErrorCode::Http, ErrorCode::Http))),
        (StreamEnd::Rejected(http(408)), Incomplete, Running, Some((ErrorCode::Http, ErrorCode::Http))),
        (StreamEnd::Rejected(http(500)), Incomplete, Running, Some((ErrorCode::Http, ErrorCode::Http))),
        (StreamEnd::Rejected(http(200)), Incomplete, Running, Some((ErrorCode::Http, ErrorCode::Http))),
    ];
    for (end, before, after, codes) in cases {
        let rows = [
            (In::StartingStream, before, codes.map(|codes| codes.0)),
            (In::Streaming, after, codes.map(|codes| codes.1)),
        ];
        for (situation, status, reported) in rows {
            let mut machine = machine(situation);
            let result = code(machine.stream_ended(end.clone()));
            assert_eq!(result, reported.map_or(Ok(()), Err), "{situation:?} {end:?}");
            assert_eq!(machine.status(), status, "{situation:?} {end:?}");
            assert!(!machine.is_streaming());
            assert!(!machine.status().is_terminal());
        }
        // A turn ended by `turn.done` stays ended, whatever happens to the connection.
        let mut machine = machine(In::Streaming);
        with_state(&mut machine, "done");
        assert_eq!(code(machine.stream_ended(end)), Ok(()));
        assert_eq!(machine.status(), TurnStatus::Done);
    }
}

/// Whatever happens to a stream, an existing turn is never started a second time.
#[test]
fn a_turn_with_an_id_is_never_started_again() {
    let ends = [
        StreamEnd::Eof,
        StreamEnd::Aborted,
        StreamEnd::Refused,
        StreamEnd::Failed(Error::new(ErrorCode::Network, "reset")),
        StreamEnd::Lost(http(404)),
        StreamEnd::Rejected(http(401)),
        StreamEnd::Rejected(http(503)),
    ];
    for end in ends {
        let mut machine = machine(In::Streaming);
        let _ = machine.stream_ended(end.clone());
        assert_eq!(machine.stream(None), Ok(StreamPlan::Subscribe), "{end:?}");
        assert_eq!(machine.cursor().last(), 3, "{end:?}");
    }
}

#[test]
fn a_turn_that_may_have_begun_is_looked_for_and_not_started_again() {
    let ends = [
        StreamEnd::Eof,
        StreamEnd::Aborted,
        StreamEnd::Failed(Error::new(ErrorCode::Network, "reset")),
        StreamEnd::Rejected(http(408)),
        StreamEnd::Rejected(http(503)),
        StreamEnd::Lost(Error::new(ErrorCode::FrameTooLarge, "large")),
    ];
    for end in ends {
        for situation in [In::Starting, In::StartingStream] {
            for begin in [|machine: &mut TurnMachine| machine.stream(None), TurnMachine::start] {
                let mut machine = machine(situation);
                let _ = machine.stream_ended(end.clone());
                assert_eq!(begin(&mut machine), Ok(StreamPlan::Look), "{end:?}");
                let second = code(machine.start());
                assert_eq!(second, Err(ErrorCode::TurnAlreadyStarted), "one look at a time");
            }
        }
    }
}

#[test]
fn a_turn_that_was_refused_may_be_started_anew() {
    let ends = [
        StreamEnd::Refused,
        StreamEnd::Rejected(http(400)),
        StreamEnd::Rejected(http(429)),
        // The server has no such turn, whatever failed.
        StreamEnd::NotBegun(http(503)),
        StreamEnd::NotBegun(Error::new(ErrorCode::Network, "reset")),
    ];
    for end in ends {
        for situation in [In::Starting, In::StartingStream] {
            let mut machine = machine(situation);
            let reported = machine.stream_ended(end.clone());
            if let StreamEnd::NotBegun(error) = &end {
                assert_eq!(reported.as_ref(), Err(error));
            }
            assert_eq!(machine.status(), TurnStatus::Unstarted, "{end:?}");
            assert_eq!(machine.stream(None), Ok(StreamPlan::Start), "{end:?}");
        }
    }
}

#[test]
fn errors_say_what_is_kept() {
    let incomplete = machine(In::Streaming).stream_ended(StreamEnd::Eof).expect_err("incomplete");
    assert!(incomplete.message.contains("`turn.done`") && incomplete.message.contains("kept"));
    let broken = StreamEnd::Failed(Error::new(ErrorCode::Network, "connection reset"));
    let incomplete = machine(In::Streaming).stream_ended(broken).expect_err("incomplete");
    assert!(incomplete.message.contains("connection reset") && incomplete.message.contains("kept"));
    // Nothing can resume without a known turn.
    let lost = machine(In::StartingStream).stream_ended(StreamEnd::Eof).expect_err("incomplete");
    assert!(
        lost.message.contains("`turn.created`") && !lost.message.contains("stream()"),
        "{}",
        lost.message
    );
}

#[test]
fn events_move_the_machine() {
    let observe = |machine: &mut TurnMachine, json: &str| {
        let event = Value::parse(json).expect("JSON");
        machine.observe(EventRef::of(event.as_object().expect("an object")));
    };
    let mut machine = machine(In::StartingStream);
    observe(&mut machine, r#"{"type":"model.message","id":"m"}"#);
    assert_eq!(machine.status(), TurnStatus::Starting);
    observe(&mut machine, r#"{"type":"turn.created","turn_id":"t"}"#);
    assert_eq!((machine.status(), machine.id()), (TurnStatus::Running, Some("t")));
    observe(&mut machine, r#"{"type":"turn.done"}"#);
    assert_eq!(machine.status(), TurnStatus::Running, "a turn does not end without a state");
    observe(&mut machine, r#"{"type":"turn.done","state":{"status":"cancelled"}}"#);
    assert_eq!(machine.status(), TurnStatus::Cancelled);
}

#[test]
fn whatever_comes_after_the_end_counts_as_a_repeat() {
    for situation in ALL {
        let is_over = status(situation).is_terminal();
        for (number, expected) in
            [(0, Admission::New), (last(situation) + 1, Admission::New), (100, Admission::Gap)]
        {
            let expected = if is_over { Admission::Repeat } else { expected };
            assert_eq!(machine(situation).admit(number), expected, "{situation:?} {number}");
        }
    }
}

#[test]
fn a_gap_that_is_passed_over_moves_the_cursor() {
    let mut machine = machine(In::Streaming);
    assert_eq!(machine.admit(6), Admission::Gap);
    assert_eq!(machine.cursor().last(), 3, "a gap alone moves nothing");
    machine.pass(6);
    assert_eq!((machine.cursor().last(), machine.admit(7)), (6, Admission::New));
}
