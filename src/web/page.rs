//! The page's own life: it is hidden and shown, frozen, kept in the back/forward cache, and without a network.

use std::future::poll_fn;
use std::task::{Context, Poll};

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use js_sys::{Reflect, global};
use wasm_bindgen::prelude::*;
use web_sys::{Event, EventTarget};

use crate::error::{Error, ErrorCode};

/// How a page comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Return {
    /// It is shown. Timers may have been held back.
    Shown,
    /// From the back/forward cache, from being frozen, or from having no network: a connection from before may be dead
    /// without anybody knowing.
    Away,
}

/// Tells when the page comes back, as long as it is there. Outside of pages that does not happen.
pub(super) struct Returns {
    heeded: Vec<(EventTarget, &'static str)>,
    heed: Closure<dyn FnMut(Event)>,
    came: UnboundedReceiver<Return>,
}

impl Returns {
    pub(super) fn new() -> Self {
        let (tell, came) = unbounded();
        let heed = Closure::<dyn FnMut(Event)>::new(move |event| {
            if let Some(how) = how(&event) {
                // Nobody may wait for it any more.
                let _ = tell.unbounded_send(how);
            }
        });
        let (page, document) = (JsValue::from(global()), of(&global(), "document"));
        let events =
            [(&page, "online"), (&page, "pageshow"), (&document, "resume"), (&document, "visibilitychange")];
        let listen = |(target, name): (&JsValue, &'static str)| {
            let target = target.dyn_ref::<EventTarget>()?.clone();
            target.add_event_listener_with_callback(name, heed.as_ref().unchecked_ref()).ok()?;
            Some((target, name))
        };
        Self { heeded: events.into_iter().filter_map(listen).collect(), heed, came }
    }

    /// Whether it has come back.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Return> {
        match self.came.poll_next_unpin(context) {
            Poll::Ready(Some(how)) => Poll::Ready(how),
            // The listener, which tells it, lives as long as this.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Resolves when it has come back, however.
    pub(super) fn any(&mut self) -> impl Future<Output = Return> + Unpin {
        poll_fn(|context| self.poll(context))
    }

    /// Resolves when it has been away, with what that means for a connection.
    pub(super) fn away(&mut self) -> impl Future<Output = Error> + Unpin {
        poll_fn(|context| {
            loop {
                match self.poll(context) {
                    Poll::Ready(Return::Away) => return Poll::Ready(was_away()),
                    Poll::Ready(Return::Shown) => {}
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
    }
}

impl Drop for Returns {
    fn drop(&mut self) {
        for (target, name) in &self.heeded {
            // Whoever takes listeners takes them back.
            let _ = target.remove_event_listener_with_callback(name, self.heed.as_ref().unchecked_ref());
        }
    }
}

/// Why a connection from before the page was away is given up.
pub(super) fn was_away() -> Error {
    Error::new(ErrorCode::Network, "the page was suspended or offline")
}

/// Whether there is no network at all, as far as the browser knows.
pub(super) fn is_offline() -> bool {
    of(&of(&global(), "navigator"), "onLine").as_bool() == Some(false)
}

fn how(event: &Event) -> Option<Return> {
    match &*event.type_() {
        "visibilitychange" => {
            let state = of(&of(&global(), "document"), "visibilityState");
            (state == "visible").then_some(Return::Shown)
        }
        "pageshow" => of(event, "persisted").is_truthy().then_some(Return::Away),
        _ => Some(Return::Away),
    }
}

/// A member of an object, or of nothing.
fn of(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or_default()
}
