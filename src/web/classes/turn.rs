//! A turn for JavaScript, with callbacks.

use std::cell::RefCell;

use futures::StreamExt;
use futures::future::{AbortHandle, Abortable};
use js_sys::{Function, Promise, Reflect};
use serde_json::json;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::web::client::{self, ConnectionEvent};

use super::options::items;
use super::values::{Thrown, stopped, to_error, to_js};

/// One request to the agent, and everything that it answers.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Turn {
    turn: client::Turn,
    /// Ends the stream and the wait.
    stops: RefCell<Vec<AbortHandle>>,
}

#[wasm_bindgen]
impl Turn {
    pub(super) fn new(turn: client::Turn) -> Self {
        Self { turn, stops: RefCell::default() }
    }

    /// The turn's id; `undefined` until it has started.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> Option<String> {
        self.turn.id()
    }

    /// The turn's status, as this client knows it.
    #[wasm_bindgen(getter, unchecked_return_type = "TurnSnapshot[\"status\"]")]
    pub fn status(&self) -> String {
        self.turn.status().as_str().to_owned()
    }

    /// Starts the turn, or attaches to it, and calls `listener` with each event; if that returns a promise, the next event
    /// waits for it. Resolves at the end of the stream, and rejects if it cannot be recovered, or with `code` `"aborted"`
    /// after `stop()`.
    #[wasm_bindgen(unchecked_return_type = "Promise<void>")]
    pub fn stream(
        &self,
        #[wasm_bindgen(unchecked_param_type = "(event: Event & { sequence_number: number }) => unknown")]
        listener: Function,
    ) -> Result<Promise, JsValue> {
        let mut events = self.turn.stream().thrown()?.numbered();
        let deliver = async move {
            while let Some(next) = events.next().await {
                let (number, event) = next.thrown()?;
                let event = to_js(&event)?;
                #[expect(clippy::cast_precision_loss, reason = "numbers are below 2^53")]
                Reflect::set(&event, &"sequence_number".into(), &JsValue::from_f64(number as f64))?;
                let returned = listener.call1(&JsValue::NULL, &event)?;
                if returned.is_instance_of::<Promise>() {
                    JsFuture::from(Promise::from(returned)).await?;
                }
            }
            Ok(JsValue::UNDEFINED)
        };
        Ok(self.promise(deliver))
    }

    /// Waits until the turn has ended, and returns how. Starts the turn if it has not started.
    #[wasm_bindgen(js_name = waitForCompletion, unchecked_return_type = "Promise<TerminalState>")]
    pub fn wait_for_completion(&self) -> Promise {
        let turn = self.turn.clone();
        self.promise(async move { to_js(&turn.wait_for_completion().await.thrown()?) })
    }

    /// Ends `stream()` and `waitForCompletion()`. The turn itself continues.
    pub fn stop(&self) {
        self.stops.borrow_mut().drain(..).for_each(|stop| stop.abort());
    }

    /// The turn at this moment.
    #[wasm_bindgen(unchecked_return_type = "TurnSnapshot")]
    pub fn snapshot(&self) -> Result<JsValue, JsValue> {
        let snapshot = self.turn.snapshot();
        let js = to_js(&snapshot)?;
        if let Some(error) = &snapshot.error {
            Reflect::set(&js, &"error".into(), &to_error(error))?;
        }
        Ok(js)
    }

    /// Calls `listener` with a snapshot now and after each change, at most one per 16 milliseconds, until the turn is
    /// at rest.
    pub fn subscribe(
        &self,
        #[wasm_bindgen(unchecked_param_type = "(snapshot: TurnSnapshot) => void")] listener: Function,
    ) {
        let mut snapshots = Box::pin(self.turn.snapshots());
        spawn_local(async move {
            while let Some(snapshot) = snapshots.next().await {
                if let Ok(snapshot) = to_js(&snapshot) {
                    // A listener that throws does not affect the turn.
                    let _ = listener.call1(&JsValue::NULL, &snapshot);
                }
            }
        });
    }

    /// Calls `listener` with what happens to the connection: `"reconnecting"`, `"waiting"`, `"resumed"`, `"gap"` or
    /// `"mismatch"`, and what is known of it.
    #[wasm_bindgen(js_name = onConnection)]
    pub fn on_connection(
        &self,
        #[wasm_bindgen(unchecked_param_type = "(topic: string, detail: object) => void")] listener: Function,
    ) {
        self.turn.on_connection(move |event| {
            let (topic, detail) = match event {
                ConnectionEvent::Reconnecting { attempt, delay, .. } => {
                    ("reconnecting", json!({ "attempt": attempt, "delay": delay }))
                }
                ConnectionEvent::Waiting(waiting) => ("waiting", json!(waiting)),
                ConnectionEvent::Resumed { after } => ("resumed", json!({ "after": after })),
                ConnectionEvent::Gap { after, next } => ("gap", json!({ "after": after, "next": next })),
                ConnectionEvent::Mismatch { id, sequence_number } => {
                    ("mismatch", json!({ "id": id, "sequence_number": sequence_number }))
                }
            };
            let Ok(detail) = to_js(&detail) else { return };
            if let ConnectionEvent::Reconnecting { cause, .. } = event {
                let _ = Reflect::set(&detail, &"cause".into(), &to_error(cause));
            }
            let _ = listener.call2(&JsValue::NULL, &topic.into(), &detail);
        });
    }

    /// Stops the turn on the server.
    pub async fn cancel(&self) -> Result<(), JsValue> {
        self.turn.clone().cancel().await.thrown()
    }

    /// Answers waiting calls while the turn still runs, if the protocol can.
    pub async fn answer(
        &self,
        #[wasm_bindgen(unchecked_param_type = "TurnInputItem[]")] answers: JsValue,
    ) -> Result<(), JsValue> {
        self.turn.clone().answer(items(answers)?).await.thrown()
    }

    /// Sends the agent another message while the turn runs, if the protocol can.
    pub async fn steer(&self, text: String) -> Result<(), JsValue> {
        self.turn.clone().steer(&text).await.thrown()
    }

    fn promise(&self, work: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
        let (stop, registration) = AbortHandle::new_pair();
        let stops = &mut *self.stops.borrow_mut();
        stops.retain(|stop| !stop.is_aborted());
        stops.push(stop);
        wasm_bindgen_futures::future_to_promise(async {
            Abortable::new(work, registration).await.unwrap_or_else(|_| Err(stopped()))
        })
    }
}
