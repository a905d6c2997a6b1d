//! The functions of the plan's own module. Only numbers cross the boundary; texts are in the module's memory.
//!
//! The lines of a call are written to [`plan_room`] first. A call that returns lines returns the address of their header: the
//! address of the text, and its length in bytes. They stay until the next call.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use crate::conversation::{Key, Options, Plan, Refusal, read_fact, when_busy, write_effects, write_view};

thread_local! {
    static PLANS: RefCell<Plans> = const { RefCell::new(Plans { plans: Vec::new(), input: Vec::new(), output: String::new(), header: [0; 2] }) };
}

/// All plans, and the buffers.
struct Plans {
    /// By number. The numbers of freed plans are used again.
    plans: Vec<Option<Plan>>,
    input: Vec<u8>,
    output: String,
    header: [u32; 2],
}

impl Plans {
    fn get(&mut self, plan: u32) -> Option<&mut Plan> {
        self.plans.get_mut(plan as usize)?.as_mut()
    }

    fn give(&mut self, output: String) -> u32 {
        self.output = output;
        self.header = [word(self.output.as_ptr().addr()), word(self.output.len())];
        word(self.header.as_ptr().addr())
    }
}

/// An address or a length in the wasm memory, which has no more than 2^32 bytes.
fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Makes room for `len` bytes of the next call's lines. Returns their address.
#[wasm_bindgen(js_name = planRoom)]
pub fn plan_room(len: u32) -> u32 {
    PLANS.with_borrow_mut(|plans| {
        plans.input = vec![0; len as usize];
        word(plans.input.as_ptr().addr())
    })
}

/// Opens a plan: what the protocol can as bits (1 there is a session, 2 fork, 4 live answers, 8 steer, 16 discard what
/// waits, 32 history, 64 leave what nobody shows), and what happens to an input while a turn runs (1 queue, 2 steer,
/// 3 interrupt, 4 reject). Returns its number.
#[wasm_bindgen(js_name = planOpen)]
pub fn plan_open(bits: u32, busy: u32) -> u32 {
    let options = Options {
        has_session: bits & 1 > 0,
        fork: bits & 2 > 0,
        live_answers: bits & 4 > 0,
        steer: bits & 8 > 0,
        discard_pending: bits & 16 > 0,
        history: bits & 32 > 0,
        leaves_unseen: bits & 64 > 0,
        when_busy: when_busy(busy).unwrap_or_default(),
    };
    PLANS.with_borrow_mut(|plans| {
        let free = plans.plans.iter().position(Option::is_none);
        let at = free.unwrap_or(plans.plans.len());
        if free.is_none() {
            plans.plans.push(None);
        }
        if let Some(slot) = plans.plans.get_mut(at) {
            *slot = Some(Plan::new(options));
        }
        word(at)
    })
}

/// Frees a plan. JavaScript no longer refers to it.
#[wasm_bindgen(js_name = planFree)]
pub fn plan_free(plan: u32) {
    PLANS.with_borrow_mut(|plans| {
        if let Some(slot) = plans.plans.get_mut(plan as usize) {
            *slot = None;
        }
    });
}

/// Takes a fact, as [`read_fact`] reads it. Returns the header of the effects, as [`write_effects`] writes them; or why
/// the fact was refused, which no address is: 1 unsupported, 2 calls wait, 3 busy, 4 gone, 5 sent, 6 not waiting, 7 nothing
/// to do.
#[wasm_bindgen(js_name = planTake)]
pub fn plan_take(plan: u32, kind: u32, key: u32, number: u32) -> u32 {
    PLANS.with_borrow_mut(|plans| {
        let text = String::from_utf8(std::mem::take(&mut plans.input)).unwrap_or_default();
        let taken = match (plans.get(plan), read_fact(kind, key, number, &text)) {
            (Some(plan), Some(fact)) => plan.take(fact),
            _ => Err(Refusal::Gone),
        };
        match taken {
            Ok(taken) => {
                let effects = write_effects(&taken);
                plans.give(effects)
            }
            Err(refusal) => refusal as u32 + 1,
        }
    })
}

/// Returns the header of what is shown, as [`write_view`] writes it.
#[wasm_bindgen(js_name = planView)]
pub fn plan_view(plan: u32) -> u32 {
    PLANS.with_borrow_mut(|plans| {
        let view = plans.get(plan).map(|plan| write_view(plan)).unwrap_or_default();
        plans.give(view)
    })
}

/// The key of the turn whose message this turn answers; 0 if there is none.
#[wasm_bindgen(js_name = planQuestion)]
pub fn plan_question(plan: u32, turn: u32) -> u32 {
    PLANS.with_borrow_mut(|plans| {
        let question = plans.get(plan).and_then(|plan| plan.question_of(Key(turn)));
        question.map_or(0, |key| key.0)
    })
}
