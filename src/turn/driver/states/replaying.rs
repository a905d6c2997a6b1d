//! A stream that cannot resume after a sequence number but was recorded by the server: the record is read from its
//! beginning, and the stream resumes after it. Delivered events are not delivered again.

use crate::features::FrameRecords;
use crate::json::{Object, ObjectWriter};
use crate::protocol::Call;
use crate::turn::Failure;

use super::super::context::Context;
use super::super::pager::Pager;
use super::super::retry::Awaited;
use super::listing::backfill;
use super::streaming::detached;
use super::{State, Then, Transition, follow};

/// Frames per page: the maximum that servers return (`AgentEvent`, section 5).
const PAGE: u64 = 200;

/// The reading of a record of frames.
#[derive(Debug)]
pub(in super::super) struct Replaying {
    _by: FrameRecords,
    pager: Pager,
}

impl Replaying {
    pub(in super::super) fn new(by: FrameRecords) -> Self {
        Self { _by: by, pager: Pager::default() }
    }

    pub(super) fn write(&self, cx: &Context, params: &mut ObjectWriter<'_>) -> Call {
        cx.request.write_turn(&cx.reader, params);
        write(&self.pager, params)
    }

    pub(super) fn answered(&mut self, cx: &mut Context, page: &Object<'_>) -> Transition {
        if self.pager.is_first() {
            cx.reader.replay();
        }
        let before = cx.machine().cursor().last();
        for frame in page.array("items") {
            if let Err(error) = cx.reader.push_frame(&frame.to_json()) {
                return detached(cx, error.into(), false);
            }
        }
        let has_next = self.pager.advance(page);
        if !has_next {
            cx.reader.end_replay();
        }
        if cx.machine().status().is_terminal() {
            return backfill(cx);
        }
        if cx.machine().cursor().last() != before {
            cx.retry.answered();
        }
        if has_next {
            return Transition::stay(Then::Ask);
        }
        let cursor = page.text("cursor");
        cx.reader.set_frame_cursor(cursor);
        if !cursor.is_empty() {
            return Transition::to(State::Streaming);
        }
        if cx.ended.is_empty() {
            // The record of a running turn may still be empty.
            let state = cx.turn_reads().map_or(State::Streaming, State::Checking);
            return Transition::with(state, Then::Wait(Awaited::Turn));
        }
        unrecorded(cx)
    }
}

/// Continues without the record, which is unusable.
pub(super) fn unrecorded(cx: &mut Context) -> Transition {
    cx.reader.give_up_frame_record();
    Transition::to(follow(cx, None))
}

/// Writes the parameters of a page of the record.
pub(super) fn write(pager: &Pager, params: &mut ObjectWriter<'_>) -> Call {
    pager.write_as("cursor", params, PAGE);
    Call::ListTurnFrames
}

/// Whether the server has no record of frames.
pub(super) fn is_unrecorded(failure: &Failure) -> bool {
    matches!(failure.error.status, Some(404 | 405 | 410 | 501))
}
