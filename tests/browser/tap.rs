//! The page's own sockets, with a tap in them while it lives: messages can be held back, others be sent
//! that the client would not send, and a socket be full.

use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Function, Object as JsObject, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// Returns a tap in the sockets that are made from then on.
const TAP: &str = r#"
    const tap = { sockets: [], heard: [], hides: [], fullAfter: "", isDown: false };
    const Platform = globalThis.WebSocket;
    globalThis.WebSocket = class extends Platform {
        isFull = false;
        constructor(...given) {
            if (tap.isDown) throw new Error("there is no network");
            super(...given);
            tap.sockets.push(this);
            this.addEventListener("message", (event) => {
                tap.heard.push(event.data);
                if (tap.hides.some((hidden) => event.data.includes(hidden))) event.stopImmediatePropagation();
            });
        }
        get bufferedAmount() { return this.isFull ? 17 * 1024 * 1024 : super.bufferedAmount; }
        send(text) {
            super.send(text);
            if (tap.fullAfter !== "" && text.includes(tap.fullAfter)) {
                tap.fullAfter = "";
                this.isFull = true;
            }
        }
    };
    return tap;"#;

/// Dropping it removes the tap.
pub(super) struct Tap {
    platform: JsValue,
    tap: JsObject,
}

impl Tap {
    pub(super) fn new() -> Self {
        let platform =
            Reflect::get(&js_sys::global(), &"WebSocket".into()).expect("there is a global object");
        let tap = Function::new_no_args(TAP).call0(&JsValue::NULL).expect("it is a script");
        Self { platform, tap: tap.unchecked_into() }
    }

    fn get(&self, name: &str) -> JsValue {
        Reflect::get(&self.tap, &name.into()).expect("it is an object")
    }

    /// Messages that contain this do not arrive.
    pub(super) fn hide(&self, part: &str) {
        self.get("hides").unchecked_into::<Array>().push(&part.into());
    }

    /// A socket on which a message with this text is sent accepts nothing more.
    pub(super) fn fill_after(&self, part: &str) {
        Reflect::set(&self.tap, &"fullAfter".into(), &part.into()).expect("it is an object");
    }

    /// Whether connections can be made.
    pub(super) fn set_down(&self, is_down: bool) {
        Reflect::set(&self.tap, &"isDown".into(), &is_down.into()).expect("it is an object");
    }

    /// Sends a message on the newest socket, and waits for one that contains `answer`.
    pub(super) async fn say(&self, text: &str, answer: &str) {
        let heard: Array = self.get("heard").unchecked_into();
        let before = heard.length();
        let socket: web_sys::WebSocket = self.get("sockets").unchecked_into::<Array>().pop().unchecked_into();
        socket.send_with_str(text).expect("it is open");
        self.get("sockets").unchecked_into::<Array>().push(&socket);
        let has_come = || {
            let news = (before..heard.length()).filter_map(|at| heard.get(at).as_string());
            news.into_iter().any(|message| message.contains(answer))
        };
        while !has_come() {
            TimeoutFuture::new(2).await;
        }
        // The listeners have processed it by then.
        TimeoutFuture::new(2).await;
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        Reflect::set(&js_sys::global(), &"WebSocket".into(), &self.platform).expect("it is put back");
    }
}
