//! The life of the page: hidden and shown, frozen, in the back/forward cache, offline.

use std::future::poll_fn;
use std::task::{Context, Poll};

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use js_sys::{Reflect, global};
use wasm_bindgen::prelude::*;
use web_sys::{Event, EventTarget};

use crate::error::{Error, ErrorCode};

/// How a page returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Return {
    /// It is visible again. Its timers may have been delayed.
    Shown,
    /// It returns from the back/forward cache, from being frozen or from being offline. Its connections may be dead
    /// without an error.
    Away,
}

/// Listens for returns of the page, for as long as this object exists. Without a page there are none.
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
                // The receiver may be gone.
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

    /// Whether the page has returned.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Return> {
        match self.came.poll_next_unpin(context) {
            Poll::Ready(Some(how)) => Poll::Ready(how),
            // The sender is in the listener, which exists as long as this object.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Resolves when the page has returned in any way.
    pub(super) fn any(&mut self) -> impl Future<Output = Return> + Unpin {
        poll_fn(|context| self.poll(context))
    }

    /// Resolves when the page was suspended or offline, with the error for its connections.
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
            // An object with `addEventListener` also has `removeEventListener`.
            let _ = target.remove_event_listener_with_callback(name, self.heed.as_ref().unchecked_ref());
        }
    }
}

/// The error for connections from before the page was suspended.
pub(super) fn was_away() -> Error {
    Error::new(ErrorCode::Network, "the page was suspended or offline")
}

/// Whether the browser knows that it is offline.
pub(super) fn is_offline() -> bool {
    of(&of(&global(), "navigator"), "onLine").as_bool() == Some(false)
}

/// The origin of the page: `https://example.com`; empty without a page.
pub(super) fn origin() -> String {
    of(&of(&global(), "location"), "origin").as_string().unwrap_or_default()
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

/// A member of an object; undefined for any other value.
fn of(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or_default()
}
