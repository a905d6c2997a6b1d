//! Sockets that a relay holds: what continues on the next connection, and what does not.

use super::*;

const NONE: &[&str] = &[];
const DELTA: &str = r#"{"workspace_id":"ws_1","thread_id":"s1","turn_id":"u","item_id":"m","delta":"x"}"#;
const GET: &str = r#"{"sessionId":"s1"}"#;

/// A client behind a relay that numbers its messages.
struct Relayed {
    play: Play,
    number: u64,
}

impl Relayed {
    fn of(dialect: Dialect) -> Self {
        let protocol = TurnRpc::new(dialect).behind_relay().expect("a relay can hold its socket");
        Self { play: Play::over(protocol), number: 0 }
    }

    /// A client that has attached to the relay and greeted the server.
    fn connected(dialect: Dialect) -> Self {
        let mut relayed = Self::of(dialect);
        assert_eq!(relayed.play.asks(1, Call::GetSession, GET), ["connect"]);
        assert_eq!(relayed.play.hears(Input::Opened), ["attach"]);
        let (greeting, read) = match dialect {
            Dialect::Gateway => ("workspace/default", "thread/get"),
            Dialect::Codex => ("initialize", "thread/read"),
        };
        assert_eq!(relayed.attached("c0", true)[0], greeting);
        relayed.replies(greeting, HELLO);
        assert_eq!(relayed.replies(read, &thread("s1", 1)), ["answer 1"]);
        relayed
    }

    /// The same while a turn of thread `s1` is read, as call 2, after some time.
    fn streaming() -> Self {
        let mut relayed = Self::connected(Dialect::Gateway);
        assert_eq!(relayed.play.starts(2), ["thread/start"]);
        assert_eq!(relayed.replies("thread/start", &thread("s1", 1)), ["turn/start"]);
        assert_eq!(relayed.replies("turn/start", r#"{"turn":{"id":"u"}}"#), ["answer 2"]);
        relayed.play.hears(Input::Read(2));
        assert_eq!(relayed.play.passes(600), NONE);
        relayed
    }

    /// The relay's next message.
    fn says(&mut self, message: &str) -> Vec<String> {
        self.number += 1;
        self.play.hears(Input::Message(&format!("{} {message}", self.number)))
    }

    fn attached(&mut self, log: &str, is_whole: bool) -> Vec<String> {
        let after = self.number;
        let hello = format!(r#"{{"turnwire":"attached","log":"{log}","after":{after},"whole":{is_whole}}}"#);
        self.play.hears(Input::Message(&hello))
    }

    /// The server's response to the oldest open request of this method.
    fn replies(&mut self, method: &str, result: &str) -> Vec<String> {
        let at = self.play.requests.iter().position(|(_, asked)| asked == method).expect(method);
        let (id, _) = self.play.requests.remove(at);
        self.says(&format!(r#"{{"id":"{id}","result":{result}}}"#))
    }

    /// The page approves Codex's request with this id.
    fn approves(&mut self, call: u32, id: &str) {
        let asked = format!(r#"{{"id":"{id}","action":"item/commandExecution/requestApproval"}}"#);
        let item = r#"{"type":"user.tool_approval","tool_call_id":"c","approval":{"status":"allow"}"#;
        let params = format!(r#"{{"sessionId":"s1","turnId":"u","input":[{item},"suspension":{asked}}}]}}"#);
        let done = self.play.asks(call, Call::AnswerTurn, &params);
        assert_eq!(done, ["respond".to_owned(), format!("answer {call}")]);
    }

    fn delta(&mut self) -> Vec<String> {
        self.says(&format!(r#"{{"method":"item/agent_message/delta","params":{DELTA}}}"#))
    }

    /// The client reconnects; the relay accepts it with this number as the last one.
    fn comes_again(&mut self, after: u64) -> Vec<String> {
        assert_eq!(self.play.hears(Input::Opened), ["attach"]);
        let place = format!(r#"{{"turnwire":"attach","reader":"ABCDEFGHIJKLM","log":"c0","after":{after}}}"#);
        assert_eq!(self.play.sent.last(), Some(&place));
        self.attached("c0", true)
    }
}

#[test]
fn a_client_names_itself_first_and_then_greets_the_server() {
    let mut relayed = Relayed::of(Dialect::Codex);
    relayed.play.asks(1, Call::ListAgents, "{}");
    assert_eq!(relayed.play.hears(Input::Opened), ["attach"]);
    assert_eq!(relayed.play.sent, [r#"{"turnwire":"attach","reader":"ABCDEFGHIJKLM"}"#]);
    assert_eq!(relayed.attached("c0", true), ["initialize", "initialized"]);
    assert_eq!(relayed.replies("initialize", "{}"), ["model/list"]);
}

#[test]
fn a_stream_goes_on_after_the_last_message_as_if_nothing_had_happened() {
    let mut relayed = Relayed::streaming();
    assert_eq!(relayed.delta(), ["deliver 2 kept 1"]);
    let last = relayed.number;
    assert_eq!(relayed.play.hears(Input::Closed(1006, "")), ["close", "connect"]);
    assert_eq!(relayed.comes_again(last), NONE, "nothing has to be read again");
    assert_eq!(relayed.delta(), ["deliver 2 kept 1"]);
    assert_eq!(relayed.play.told.iter().filter(|told| told.contains("delta")).count(), 2);
    let again = format!(r#"{last} {{"method":"item/agent_message/delta","params":{DELTA}}}"#);
    assert_eq!(relayed.play.hears(Input::Message(&again)), NONE, "that one has come");
}

#[test]
fn a_request_without_a_response_is_sent_again_under_its_id_at_every_step() {
    let mut relayed = Relayed::connected(Dialect::Gateway);
    relayed.play.passes(600);
    let sent_again = |relayed: &mut Relayed, method: &str| {
        let text = relayed.play.sent.last().cloned();
        assert_eq!(relayed.play.hears(Input::Broken), ["close", "connect"], "{method}");
        relayed.play.requests.clear();
        let last = relayed.number;
        assert_eq!(relayed.comes_again(last), [method]);
        assert_eq!(relayed.play.sent.last(), text.as_ref());
        relayed.play.passes(600);
    };
    let endless = |id, call, params| Input::Ask { id, call, params, timeout: 0, idle_timeout: 0 };
    assert_eq!(relayed.play.hears(endless(2, Call::GetSession, GET)), ["thread/get"]);
    sent_again(&mut relayed, "thread/get");
    assert_eq!(relayed.replies("thread/get", &thread("s1", 1)), ["answer 2"]);
    let start = r#"{"sessionId":"s1","turnId":"u","input":[{"type":"user.message","content":"Hi"}]}"#;
    assert_eq!(relayed.play.hears(endless(3, Call::CreateTurnStream, start)), ["thread/start"]);
    sent_again(&mut relayed, "thread/start");
    assert_eq!(relayed.replies("thread/start", &thread("s1", 1)), ["turn/start"]);
    sent_again(&mut relayed, "turn/start");
    assert_eq!(relayed.replies("turn/start", r#"{"turn":{"id":"u"}}"#), ["answer 3"]);
    // A subscription to a running turn, which also reads the earlier part.
    relayed.play.hears(Input::Forget { id: 3, is_overdue: false });
    relayed.play.hears(endless(4, Call::SubscribeTurn, r#"{"sessionId":"s1","turnId":"u"}"#));
    sent_again(&mut relayed, "thread/start");
    let reads = ["turn/get", "turn/items", "turn/timeline"];
    assert_eq!(relayed.replies("thread/start", &thread("s1", 1))[1..], reads);
    relayed.play.hears(Input::Read(4));
    assert_eq!(relayed.replies("turn/items", "{}"), ["deliver 4 kept 1"]);
    assert_eq!(relayed.play.hears(Input::Broken), ["close", "connect"]);
    let last = relayed.number;
    let mut again = relayed.comes_again(last);
    again.sort();
    assert_eq!(again, ["turn/get", "turn/timeline"]);
    relayed.play.requests.drain(..2);
    assert_eq!(relayed.replies("turn/timeline", "{}"), ["deliver 4 kept 1"]);
    assert!(
        relayed.play.told.last().is_some_and(|told| told.starts_with(r#"{"response_to":"turn/timeline""#))
    );
}

#[test]
fn an_aborted_call_is_not_sent_again() {
    let mut relayed = Relayed::streaming();
    relayed.play.asks(3, Call::CancelTurn, r#"{"sessionId":"s1","turnId":"u"}"#);
    relayed.play.hears(Input::Broken);
    relayed.play.hears(Input::Forget { id: 3, is_overdue: false });
    let last = relayed.number;
    assert_eq!(relayed.comes_again(last), NONE);
}

#[test]
fn calls_that_are_made_meanwhile_wait() {
    let mut relayed = Relayed::streaming();
    relayed.play.hears(Input::Broken);
    assert_eq!(relayed.play.asks(3, Call::GetSession, GET), NONE);
    let last = relayed.number;
    assert_eq!(relayed.comes_again(last), ["thread/get"]);
}

#[test]
fn an_answer_is_sent_again_until_the_relay_confirms_it() {
    let mut relayed = Relayed::connected(Dialect::Codex);
    relayed.play.passes(600);
    relayed.approves(2, "0");
    relayed.approves(3, r#"\"r\\/1\""#);
    assert!(relayed.play.sent.last().is_some_and(|text| text.contains(r#""id":"r\/1","result""#)));
    assert_eq!(relayed.play.hears(Input::Broken), ["close", "connect"]);
    let last = relayed.number;
    assert_eq!(relayed.comes_again(last), ["respond", "respond"]);
    assert_eq!(relayed.says(r#"{"turnwire":"answered","id":7}"#), NONE);
    assert_eq!(relayed.says(r#"{"turnwire":"late","id":"r/1"}"#), NONE);
    relayed.play.passes(600);
    assert_eq!(relayed.play.hears(Input::Broken), ["close", "connect"]);
    let last = relayed.number;
    assert_eq!(relayed.comes_again(last), ["respond"]);
    assert_eq!(relayed.says(r#"{"turnwire":"answered","id":0}"#), NONE);
    assert_eq!(relayed.play.hears(Input::Broken), ["close"], "nothing is awaited");
}

#[test]
fn an_answer_is_sent_again_however_late_while_the_relay_has_the_same_socket() {
    for (log, is_same) in [("c0", true), ("c1", false)] {
        let mut relayed = Relayed::connected(Dialect::Codex);
        relayed.play.passes(600);
        relayed.approves(2, "0");
        let answer = relayed.play.sent.last().cloned().expect("the answer");
        assert_eq!(relayed.play.hears(Input::Broken), ["close", "connect"]);
        while relayed.play.hears(Input::Broken) == ["close"] && relayed.play.connection.is_interrupted() {
            while relayed.play.passes(100) != ["connect"] {}
        }
        assert_eq!(relayed.play.asks(3, Call::GetSession, GET), ["connect"]);
        assert_eq!(relayed.play.hears(Input::Opened), ["attach"]);
        assert!(relayed.play.sent.last().is_some_and(|attach| !attach.contains("log")));
        relayed.attached(log, true);
        let mut done = relayed.replies("initialize", HELLO);
        done.sort();
        assert_eq!(done, if is_same { vec!["respond", "thread/read"] } else { vec!["thread/read"] }, "{log}");
        assert_eq!(
            relayed.play.sent.iter().filter(|sent| **sent == answer).count(),
            1 + usize::from(is_same)
        );
    }
}

#[test]
fn a_connection_that_hangs_is_given_up_after_ten_seconds() {
    for timeout in [0, 30_000] {
        let mut relayed = Relayed::streaming();
        relayed.play.connection.limits.connect_timeout = timeout;
        assert_eq!(relayed.play.hears(Input::Broken), ["close", "connect"]);
        assert_eq!(relayed.play.passes(9_999), NONE);
        assert_eq!(relayed.play.passes(1), ["close", "end 2 network"]);
    }
    let mut relayed = Relayed::streaming();
    assert_eq!(relayed.play.hears(Input::Broken), ["close", "connect"]);
    assert_eq!(relayed.play.passes(1000), ["close"], "the `connectTimeout` is shorter");
    assert_eq!(relayed.play.passes(1000), ["connect"], "another one may open");
    let last = relayed.number;
    assert_eq!(relayed.comes_again(last), NONE);
}

#[test]
fn an_older_connection_of_its_own_drives_a_client_away_once() {
    let mut relayed = Relayed::streaming();
    relayed.play.hears(Input::Broken);
    let last = relayed.number;
    assert_eq!(relayed.comes_again(last), NONE);
    assert_eq!(relayed.play.hears(Input::Closed(4003, "superseded")), ["close"]);
    assert_eq!(relayed.play.passes(265), ["connect"]);
    assert_eq!(relayed.comes_again(last), NONE);
    assert_eq!(relayed.delta(), ["deliver 2 kept 1"]);
    relayed.play.passes(1000);
    assert_eq!(relayed.play.hears(Input::Closed(4003, "superseded")), ["close", "connect"]);
    let last = relayed.number;
    assert_eq!(relayed.comes_again(last), NONE);
    let began = relayed.play.now;
    while relayed.play.now - began < 10_000 {
        relayed.play.passes(400);
        relayed.delta();
    }
    assert_eq!(relayed.play.hears(Input::Closed(4003, "superseded")), ["close", "end 2 rpc"]);
}

#[test]
fn a_connection_that_is_not_made_in_time_costs_what_was_sent() {
    let mut relayed = Relayed::streaming();
    assert_eq!(relayed.play.hears(Input::Broken), ["close", "connect"]);
    assert_eq!(relayed.play.hears(Input::Broken), ["close"], "the relay is away");
    assert_eq!(relayed.play.passes(264), NONE);
    assert_eq!(relayed.play.passes(1), ["connect"]);
    let began = relayed.play.now;
    loop {
        let done = relayed.play.hears(Input::Closed(1006, ""));
        if done != ["close"] {
            assert_eq!(done, ["close", "end 2 network"]);
            break;
        }
        while relayed.play.passes(200) != ["connect"] {
            assert!(relayed.play.now - began < 20_000, "it is not made again");
        }
    }
    assert!(relayed.play.told.iter().any(|told| told.contains("did not open")));
    // The next call starts over.
    assert_eq!(relayed.play.resumes(4), ["connect"]);
    assert_eq!(relayed.play.hears(Input::Opened), ["attach"]);
    assert!(relayed.play.sent.last().is_some_and(|attach| !attach.contains("log")));
    assert_eq!(relayed.attached("c0", true), ["workspace/default"]);
}

#[test]
fn what_the_relay_has_forgotten_is_read_from_the_server() {
    for log in ["c0", "c1"] {
        let mut relayed = Relayed::streaming();
        relayed.play.hears(Input::Broken);
        relayed.play.asks(3, Call::GetSession, GET);
        relayed.play.hears(Input::Opened);
        relayed.number += 5;
        let lost = relayed.attached(log, false);
        assert_eq!(lost, ["workspace/default", "end 2 network"], "call 3 was not sent, and waits");
        assert_eq!(relayed.replies("workspace/default", HELLO), ["thread/get"]);
        relayed.play.resumes(4);
        assert_eq!(relayed.play.requests.last().expect("one").1, "thread/start", "it subscribes anew");
    }
}

#[test]
fn how_the_relay_closes_the_connection_says_what_to_do() {
    for (code, expected) in [
        (1001, vec!["close", "connect"]),
        (4000, vec!["close", "end 2 network"]),
        (4001, vec!["close", "end 2 network"]),
        (4002, vec!["close", "connect"]),
        (4003, vec!["close", "end 2 rpc"]),
        (4004, vec!["close", "connect"]),
        (4005, vec!["close", "end 2 network"]),
    ] {
        let mut relayed = Relayed::streaming();
        assert_eq!(relayed.play.hears(Input::Closed(code, "why")), expected, "{code}");
    }
    let mut relayed = Relayed::streaming();
    let ended = relayed.play.hears(Input::Message(r#"{"turnwire":"ended","reason":"upstream_lost"}"#));
    assert_eq!(ended, ["close", "end 2 network"]);
    assert!(relayed.play.told.last().is_some_and(|told| told.ends_with("upstream_lost")));
}

#[test]
fn a_server_that_is_no_relay_is_told_apart() {
    for first in [r#"{"id":1,"error":{"code":-32601}}"#, "1 {}", ""] {
        let mut relayed = Relayed::of(Dialect::Gateway);
        relayed.play.asks(1, Call::GetSession, GET);
        relayed.play.hears(Input::Opened);
        let refused = relayed.play.hears(Input::Message(first));
        assert_eq!(refused, ["close", "fail 1 unexpected_response"], "{first}");
    }
}

#[test]
fn the_relays_own_refusals_are_no_answers_of_the_server() {
    let mut relayed = Relayed::connected(Dialect::Gateway);
    for (code, expected) in [(-32050, "fail 2 rpc 503"), (-32051, "fail 2 network")] {
        relayed.play.asks(2, Call::GetSession, GET);
        let (id, _) = relayed.play.requests.pop().expect("a request");
        let refused = relayed.says(&format!(r#"{{"id":"{id}","error":{{"code":{code},"message":"no"}}}}"#));
        assert_eq!(refused, [expected]);
    }
    assert_eq!(relayed.says(r#"{"id":null,"error":{"code":-32700,"message":"no"}}"#), NONE);
}

#[test]
fn a_server_that_stays_silent_on_the_next_connection_is_silent() {
    let mut relayed = Relayed::streaming();
    for times in 0..10 {
        let done = loop {
            let mut done = relayed.play.passes(250);
            done.retain(|done| done != "workspace/default");
            if !done.is_empty() {
                break done;
            }
        };
        if done != ["close", "connect"] {
            assert_eq!(done, ["close", "end 2 timeout after 2000"]);
            assert!(times > 0, "the connection may have been dead");
            return;
        }
        let last = relayed.number;
        assert_eq!(relayed.comes_again(last), NONE);
    }
    panic!("nothing says that the server is silent");
}

#[test]
fn closing_the_client_ends_also_what_waits_for_a_connection() {
    let mut relayed = Relayed::streaming();
    relayed.play.hears(Input::Broken);
    relayed.play.hears(Input::Broken);
    assert_eq!(relayed.play.hears(Input::Away), NONE);
    assert_eq!(relayed.play.hears(Input::Close), ["close", "end 2 network"]);
    assert_eq!(relayed.play.passes(20_000), NONE);
}

#[test]
fn a_page_that_was_away_comes_again() {
    let mut relayed = Relayed::streaming();
    assert_eq!(relayed.play.hears(Input::Away), ["close", "connect"]);
    let last = relayed.number;
    assert_eq!(relayed.comes_again(last), NONE);
    assert_eq!(relayed.delta(), ["deliver 2 kept 1"]);
}

#[test]
fn connections_that_break_at_once_are_made_ever_more_rarely() {
    let mut relayed = Relayed::streaming();
    relayed.play.hears(Input::Broken);
    for made in 1..200 {
        let last = relayed.number;
        relayed.comes_again(last);
        let mut done = relayed.play.hears(Input::Broken);
        while !done.contains(&"connect".to_owned()) {
            if done.iter().any(|done| done.starts_with("end")) {
                assert!(made < 10, "{made} connections");
                return;
            }
            done = relayed.play.passes(10);
        }
    }
    panic!("it never gives up");
}

#[test]
fn connections_that_each_bring_something_are_made_for_as_long_as_it_takes() {
    let mut relayed = Relayed::streaming();
    relayed.play.hears(Input::Broken);
    for _ in 0..200 {
        let last = relayed.number;
        relayed.comes_again(last);
        assert_eq!(relayed.delta(), ["deliver 2 kept 1"]);
        // They break before they have lasted, so there is a pause; it does not grow.
        assert_eq!(relayed.play.hears(Input::Broken), ["close"]);
        assert_eq!(relayed.play.passes(400), ["connect"]);
    }
}
