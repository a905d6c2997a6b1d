//! The crate in headless Chromium: the raw core that the package's TypeScript uses, and recorded streams, which must
//! lead to the same index there as on the host.
//!
//! The replay runs on both; `UPDATE_GOLDEN=1 cargo test --test browser` writes the expected index.

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test_configure!(run_in_browser);

#[cfg(target_arch = "wasm32")]
#[path = "browser/ag_ui.rs"]
mod ag_ui;
#[cfg(all(target_arch = "wasm32", feature = "js-classes"))]
#[path = "browser/classes.rs"]
mod classes;
#[cfg(target_arch = "wasm32")]
#[path = "browser/client.rs"]
mod client;
#[cfg(target_arch = "wasm32")]
#[path = "browser/clocks.rs"]
mod clocks;
#[cfg(target_arch = "wasm32")]
#[path = "browser/gateway.rs"]
mod gateway;
#[cfg(target_arch = "wasm32")]
#[path = "browser/page_life.rs"]
mod page_life;
#[cfg(target_arch = "wasm32")]
#[path = "browser/scripted.rs"]
mod scripted;
#[cfg(target_arch = "wasm32")]
#[path = "browser/socket.rs"]
mod socket;
#[cfg(target_arch = "wasm32")]
#[path = "browser/table.rs"]
mod table;
#[cfg(target_arch = "wasm32")]
#[path = "browser/tap.rs"]
mod tap;
#[cfg(target_arch = "wasm32")]
#[path = "browser/threads.rs"]
mod threads;

mod replay {
    //! Recorded streams of the development gateway, in pieces, through the reader of a turn.

    use serde_json::{Map, Value as Json};
    use turnwire::index::Message;
    use turnwire::protocol::truefoundry::{Dialect, TrueFoundry};
    use turnwire::sse::DEFAULT_LIMIT;
    use turnwire::turn::{TurnMachine, TurnReader};

    /// The result of each recording, by name: the messages in their order.
    const GOLDEN: &str = include_str!("browser/index.json");

    macro_rules! recordings {
        ($($name:literal),* $(,)?) => {
            [$(($name, include_bytes!(concat!("fixtures/truefoundry/", $name, ".sse")).as_slice())),*]
        };
    }

    const RECORDINGS: [(&str, &[u8]); 6] =
        recordings!["plain", "reasoning", "parallel", "subagents", "unicode", "error"];

    /// The index of a stream that arrives in chunks of this size.
    fn index_of(stream: &[u8], chunk: usize) -> Json {
        let protocol = TrueFoundry::new(Dialect::Gateway);
        let mut reader = TurnReader::new(&protocol, TurnMachine::unstarted(), DEFAULT_LIMIT);
        reader.machine_mut().stream(None).expect("a turn can be started");
        for bytes in stream.chunks(chunk) {
            reader.push(bytes).expect("the frames are small");
        }
        assert!(reader.machine().status().is_terminal(), "the recording ends with its turn");
        let index = reader.index();
        let message = |message: &Message| -> Json {
            let thread = index.threads().get(message.thread).expect("a message has a thread");
            serde_json::from_str(&message.to_json(&thread.id)).expect("the index writes JSON")
        };
        index.messages().iter().map(message).collect()
    }

    #[cfg_attr(not(target_arch = "wasm32"), test)]
    #[cfg_attr(target_arch = "wasm32", super::wasm_bindgen_test)]
    fn recordings_lead_to_the_same_index_everywhere() {
        #[cfg(not(target_arch = "wasm32"))]
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            update();
            return;
        }
        let golden: Map<String, Json> = serde_json::from_str(GOLDEN).expect("the golden file is JSON");
        for (name, stream) in RECORDINGS {
            for chunk in [1, 7, 1000, usize::MAX] {
                let expected = golden.get(name).unwrap_or(&Json::Null);
                assert!(index_of(stream, chunk) == *expected, "{name} in chunks of {chunk} bytes");
            }
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn update() {
        let golden: Map<_, _> =
            RECORDINGS.iter().map(|(name, stream)| ((*name).to_owned(), index_of(stream, 1000))).collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/index.json");
        let text = serde_json::to_string_pretty(&golden).expect("JSON can be written");
        std::fs::write(path, text + "\n").expect("the file can be written");
    }
}

#[cfg(target_arch = "wasm32")]
mod core {
    //! The raw core, called as the package calls it.

    use js_sys::{Uint8Array, Uint32Array, WebAssembly};
    use serde_json::{Value as Json, json};
    use turnwire::delivery::{EVENT_STRIDE, kind};
    use turnwire::protocol::Call;
    use turnwire::web::module::exports;
    use wasm_bindgen::JsCast;

    use super::wasm_bindgen_test;

    const FRAME_LIMIT: u32 = 8 * 1024 * 1024;

    fn memory() -> js_sys::ArrayBuffer {
        let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
        memory.buffer().unchecked_into()
    }

    /// Writes the text that the next call reads.
    fn pass(bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).expect("little is passed");
        let address = exports::room(len);
        Uint8Array::new_with_byte_offset_and_length(&memory(), address, len).copy_from(bytes);
    }

    /// Reads the text that a call returned.
    fn given(header: u32) -> String {
        let header = Uint32Array::new_with_byte_offset_and_length(&memory(), header, 2).to_vec();
        let text = Uint8Array::new_with_byte_offset_and_length(&memory(), header[0], header[1]).to_vec();
        String::from_utf8(text).expect("the core's text is UTF-8")
    }

    /// A server that speaks the protocol with this number.
    struct Client {
        protocol: u8,
    }

    impl Client {
        fn request(&self, call: u8, params: &str) -> String {
            pass(params.as_bytes());
            given(exports::request(self.protocol, call))
        }

        fn answer(&self, call: u8, status: u16, content_type: &str, body: &str) -> String {
            pass(["", content_type, "{}", body].join("\0").as_bytes());
            given(exports::read_answer(self.protocol, call, status))
        }
    }

    /// 2026-11-20T09:00:00Z.
    const NOW: f64 = 1_795_165_200_000.0;

    struct Session(u32);

    impl Session {
        fn turn(&self) -> Turn {
            pass(b"");
            Turn(exports::turn_open(self.0, false))
        }
    }

    struct Turn(u32);

    impl Turn {
        fn take_input(&self, json: &str) -> String {
            pass(json.as_bytes());
            given(exports::turn_take_input(self.0, false))
        }

        /// Begins to stream it, with at most this many attempts to recover its connection.
        fn begin_stream(&self, max_attempts: u32) -> String {
            given(exports::turn_begin(self.0, 0, 0.0, max_attempts, 100, 1000, NOW))
        }

        fn push(&self, bytes: &[u8]) -> bool {
            let len = u32::try_from(bytes.len()).expect("little is pushed");
            let address = exports::chunk_room(len);
            Uint8Array::new_with_byte_offset_and_length(&memory(), address, len).copy_from(bytes);
            exports::turn_push(self.0, len, false) & 7 == 1
        }

        /// Reports the result of a step.
        fn next(&self, outcome: u8, text: &str) -> String {
            pass(text.as_bytes());
            given(exports::turn_next(self.0, outcome, 0, 0, false, 0.0, 0.5))
        }

        fn facts(&self) -> String {
            given(exports::turn_facts(self.0))
        }

        fn events(&self) -> u32 {
            exports::turn_events(self.0)
        }

        fn take_changes(&self) -> String {
            given(exports::turn_take_changes(self.0))
        }
    }

    fn client() -> Client {
        Client { protocol: 0 }
    }

    fn session() -> Session {
        pass(b"s1");
        Session(exports::session_open(0, FRAME_LIMIT, true))
    }

    fn turn() -> Turn {
        let turn = session().turn();
        assert_eq!(
            parsed(&turn.take_input("\"Hello\"")),
            json!([{"type": "user.message", "content": "Hello"}])
        );
        turn
    }

    fn parsed(json: &str) -> Json {
        serde_json::from_str(json).expect("the core writes JSON")
    }

    /// The error that the core reports instead of a document: JSON after a mark.
    fn refused(report: &str) -> Json {
        parsed(report.strip_prefix('!').expect("it is refused"))
    }

    /// The frames of events, numbered from 1 on.
    fn frames(events: &[Json]) -> String {
        let frames: Vec<String> = events
            .iter()
            .zip(1..)
            .map(|(event, number)| format!("data: {event}\nid: {number}\n\n"))
            .collect();
        frames.concat()
    }

    fn created() -> Json {
        json!({
            "type": "turn.created", "id": "e1", "turn_id": "t1", "previous_turn_id": null,
            "input": [], "state": {"status": "running"}, "thread_id": null,
        })
    }

    fn text(content: &str) -> Json {
        json!({"type": "model.message.delta", "id": "m1", "thread_id": "main", "content": content})
    }

    fn done() -> Json {
        let state = json!({"status": "done", "output": null, "required_actions": []});
        json!({"type": "turn.done", "id": "e9", "thread_id": null, "state": state})
    }

    /// Three pairs of address and length in this module's own memory, read as JavaScript reads them.
    struct Lent {
        records: Vec<u32>,
        ascii: Vec<u8>,
        wide: String,
    }

    fn lent(header: u32) -> Lent {
        let buffer = memory();
        let words = |at, length| Uint32Array::new_with_byte_offset_and_length(&buffer, at, length).to_vec();
        let bytes = |at, length| Uint8Array::new_with_byte_offset_and_length(&buffer, at, length).to_vec();
        let header = words(header, 6);
        Lent {
            records: words(header[0], header[1]),
            ascii: bytes(header[2], header[3]),
            wide: String::from_utf8(bytes(header[4], header[5])).expect("the core holds UTF-8"),
        }
    }

    impl Lent {
        /// Kind, sequence number and text of each record.
        fn read(&self) -> Vec<(u32, u32, String)> {
            let wide: Vec<u16> = self.wide.encode_utf16().collect();
            let record = |record: &[u32]| {
                let (start, end) = (record[5] as usize, (record[5] + record[6]) as usize);
                let text = if record[0] & kind::WIDE == 0 {
                    String::from_utf8_lossy(&self.ascii[start..end]).into_owned()
                } else {
                    String::from_utf16_lossy(&wide[start..end])
                };
                (record[0] & 0xff, record[3], text)
            };
            self.records.chunks(EVENT_STRIDE).map(record).collect()
        }
    }

    #[wasm_bindgen_test]
    fn requests_are_written_as_json() {
        let request = client().request(Call::CreateSession as u8, r#"{"agentName":"support bot"}"#);
        let request = parsed(&request);
        assert_eq!(request["path"], "v1/agents/sessions");
        assert_eq!(request["method"], "POST");
        assert_eq!(request["headers"]["content-type"], "application/json");
        assert_eq!(parsed(request["body"].as_str().expect("a body")), json!({"agent_name": "support bot"}));

        let sibling = Client { protocol: 1 };
        let request = sibling.request(Call::GetSession as u8, r#"{"sessionId":"a/b"}"#);
        assert_eq!(parsed(&request)["path"], "api/v1/sessions/a%2Fb");
    }

    #[wasm_bindgen_test]
    fn wrong_calls_and_options_are_refused() {
        let code = |call: u8, params: &str| refused(&client().request(call, params))["code"].clone();
        let create = Call::CreateSession as u8;
        assert_eq!(code(create, r#"{"agent":"x"}"#), "invalid_option");
        assert_eq!(code(create, "{}"), "invalid_option");
        assert_eq!(code(create, "5"), "invalid_option");
        assert_eq!(code(200, "{}"), "unsupported");
        let sibling = Client { protocol: 1 };
        assert_eq!(refused(&sibling.request(Call::SearchSessions as u8, "{}"))["code"], "unsupported");
    }

    #[wasm_bindgen_test]
    fn answers_are_read_or_reported_with_status_and_body() {
        let answer =
            |status, body: &str| client().answer(Call::GetSession as u8, status, "application/json", body);
        let session = parsed(&answer(200, r#"{"data":{"id":"s1"}}"#));
        assert_eq!((&session["id"], &session["type"]), (&json!("s1"), &json!("session")));
        let body = r#"{"error":{"message":"gone"}}"#;
        let error = refused(&answer(410, body));
        assert_eq!(
            (&error["code"], &error["status"], &error["body"]),
            (&json!("http"), &json!(410), &json!(body))
        );
        assert_eq!(refused(&answer(200, "<html>"))["code"], "unexpected_response");
    }

    #[wasm_bindgen_test]
    fn inputs_are_checked_before_anything_is_sent() {
        let session = session();
        let error = |input: &str| refused(&session.turn().take_input(input));
        let mixed = error(r#"[{"type":"user.message","content":"x"},5]"#);
        assert_eq!(mixed["code"], "invalid_input");
        assert!(mixed["message"].as_str().is_some_and(|message| message.starts_with("input[1]")));
        assert_eq!(error("{")["code"], "invalid_input");
        exports::session_cancelled(session.0);
        assert_eq!(error("\"Hello\"")["code"], "session_cancelled");
    }

    #[wasm_bindgen_test]
    fn bytes_become_records_and_facts() {
        let turn = turn();
        exports::turn_set_wants_events(turn.0, true);
        let plan = parsed(&turn.begin_stream(0));
        assert_eq!(plan["call"], json!(Call::CreateTurnStream as u8));
        assert_eq!(plan["params"]["session_id"], "s1");
        let bytes = frames(&[created(), text("Hel"), text("lo é🎉"), json!({"type": "brand.new"})]);
        for chunk in bytes.as_bytes().chunks(3) {
            assert!(turn.push(chunk), "it reads on");
        }
        let mut read = lent(turn.events()).read();
        assert_eq!(turn.events(), 0, "records are lent once");
        read.retain(|(kind, ..)| *kind != kind::NAME);
        let kinds: Vec<_> = read.iter().map(|(kind, number, _)| (*kind, *number)).collect();
        assert_eq!(kinds, [(kind::JSON, 1), (kind::CONTENT, 2), (kind::CONTENT, 3), (kind::JSON, 4)]);
        assert_eq!((&*read[1].2, &*read[2].2), ("Hel", "lo é🎉"));
        assert_eq!(parsed(&read[3].2)["wire_type"], "brand.new");

        let facts = parsed(&turn.facts());
        assert_eq!(
            (&facts["id"], &facts["status"], &facts["last"]),
            (&json!("t1"), &json!("running"), &json!(4))
        );
        assert_eq!(facts["created"]["turn_id"], "t1");
        assert!(parsed(&turn.facts()).get("created").is_none(), "what the server said is given once");
        let rest = frames(&[json!(null), json!(null), json!(null), json!(null), done()]);
        assert!(!turn.push(rest.as_bytes()), "the turn is over");
        assert_eq!(turn.next(0, ""), "{}");
        let facts = parsed(&turn.facts());
        assert_eq!((&facts["status"], &facts["state"]["status"]), (&json!("done"), &json!("done")));
    }

    #[wasm_bindgen_test]
    fn changes_are_taken_once() {
        let turn = turn();
        exports::turn_set_wants_events(turn.0, false);
        parsed(&turn.begin_stream(0));
        assert!(!turn.take_changes().is_empty(), "everything is new at first");
        assert!(turn.take_changes().is_empty());
        assert!(turn.push(frames(&[created(), text("Hel"), text("lo")]).as_bytes()));
        assert_eq!(turn.events(), 0, "no events were wanted");
        let changes = parsed(&turn.take_changes());
        assert_eq!(
            (&changes["messages"][0]["id"], &changes["messages"][0]["slot"]),
            (&json!("m1"), &json!(0))
        );
        assert_eq!(lent(exports::turn_change_records(turn.0)).ascii, b"Hello");
        assert!(turn.take_changes().is_empty());
    }

    #[wasm_bindgen_test]
    fn a_broken_stream_is_resumed_after_its_last_event() {
        let turn = turn();
        parsed(&turn.begin_stream(3));
        assert!(turn.push(frames(&[created(), text("Hel")]).as_bytes()));
        let wait = parsed(&turn.next(2, "network\0the line is dead"));
        assert_eq!((&wait["delay"], &wait["least"], &wait["attempt"]), (&json!(50), &json!(0), &json!(1)));
        assert_eq!(wait["error"], json!({"code": "network", "message": "the line is dead"}));
        let plan = parsed(&turn.next(5, ""));
        assert_eq!((&plan["call"], &plan["after"]), (&json!(Call::SubscribeTurn as u8), &json!(2)));
        assert_eq!(plan["params"], json!({"session_id": "s1", "turn_id": "t1", "after_sequence_number": 2}));
        assert_eq!(refused(&turn.begin_stream(3))["code"], "turn_already_streamed");
        assert_eq!(refused(&turn.next(2, "http\0gone"))["code"], "http");
    }

    #[wasm_bindgen_test]
    fn without_recovery_a_broken_stream_is_reported() {
        let turn = turn();
        parsed(&turn.begin_stream(0));
        assert!(turn.push(frames(&[created(), text("Hel")]).as_bytes()));
        assert_eq!(refused(&turn.next(0, ""))["code"], "incomplete");
        assert_eq!(parsed(&turn.begin_stream(0))["params"]["after_sequence_number"], 2);
    }

    #[wasm_bindgen_test]
    fn skipped_gaps_are_reported() {
        let turn = turn();
        parsed(&turn.begin_stream(0));
        let frames = frames(&[created(), text("Hel"), text("lo")]).replace("id: 3", "id: 7");
        assert!(!turn.push(frames.as_bytes()), "there is something to be told");
        let news = || given(exports::turn_take_news(turn.0));
        assert_eq!(parsed(&news()), json!({"gap": {"after": 2, "next": 7}}));
        assert_eq!(news(), "");
    }

    #[wasm_bindgen_test]
    fn two_numbers_of_one_event_are_reported_once() {
        let turn = turn();
        parsed(&turn.begin_stream(0));
        let numbered = |number: u64, mut event: Json| {
            event["sequence_number"] = number.into();
            event
        };
        let events = [created(), numbered(2, text("Hel")), numbered(9, text("lo")), numbered(9, text("!"))];
        assert!(!turn.push(frames(&events).as_bytes()), "there is something to be told");
        let news = || given(exports::turn_take_news(turn.0));
        assert_eq!(parsed(&news()), json!({"mismatch": {"id": 3, "sequence_number": 9}}));
        assert_eq!(news(), "");
    }
}
