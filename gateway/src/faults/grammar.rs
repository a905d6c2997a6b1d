//! How faults are asked for: `kind:argument:argument`, several joined by `+`.

use std::str::FromStr;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};

use super::fault::{Ending, Fault, Instead, Malformed, Mark, Numbers, Refusal, Run};
use super::trap::{AapTrap, RpcTrap, Trap};

/// The longest pause, in milliseconds: a day.
const LONGEST_PAUSE: u64 = 86_400_000;
/// The largest frame that is made, and the smallest one that has room for its content.
const GIANT_BYTES: std::ops::RangeInclusive<u64> = 64..=256 * 1024 * 1024;
/// The most events that are made up.
const MOST_EVENTS: u64 = 100_000;

/// Every kind with its arguments, and what it does.
const KINDS: [(&str, &str); 69] = [
    ("status:CODE[:RETRY_AFTER]", "this status, nothing is processed; Retry-After in seconds"),
    ("text-status:CODE", "the same with a plain-text body"),
    ("late-status:CODE[:RETRY_AFTER]", "processed, then answered with this status"),
    ("refuse", "the connection is closed without an answer, nothing is processed"),
    ("lost", "processed, then the connection is reset without an answer"),
    ("slow-head:MS", "the head comes so much later"),
    ("portal", "200 with an HTML page, nothing is processed"),
    ("redirect", "307 to the same address without faults"),
    ("redirect-portal", "302 to an HTML page"),
    ("type:TYPE", "the answer has this Content-Type"),
    ("half:BYTES", "the body breaks off after so many bytes, the connection is reset"),
    ("eof:N", "a clean end after N events"),
    ("eof-bytes:BYTES", "a clean end after so many bytes"),
    ("reset:N", "the connection is reset after N events"),
    ("reset-bytes:BYTES", "the connection is reset after so many bytes"),
    ("cut-char:N", "the connection is reset inside the N-th multi-byte character"),
    ("stall:N", "silence after N events, without comments, until the client leaves"),
    ("stall-bytes:BYTES", "the same after so many bytes"),
    ("comments:N", "after N events only comments, every 20 ms, until the client leaves"),
    ("duplicate:N", "event N is written twice"),
    ("replay:N", "after event N all events of the response are written once more"),
    ("restart", "the cursor is ignored: the stream starts at the turn's first event"),
    ("reorder:N", "events N and N+1 are swapped"),
    ("gap:N:COUNT", "events N to N+COUNT-1 are left out"),
    ("hole:FIRST:COUNT", "these sequence numbers are left out, on later streams of the turn too"),
    ("retry:MS", "the stream begins with `retry: MS`"),
    ("giant:N:BYTES", "after event N a frame of so many bytes"),
    ("numbers:KIND[:N]", "ids from event N on are backwards, huge, negative, words, or none"),
    ("other-turn:N", "after event N another turn begins, with the next number"),
    ("after-done:COUNT", "so many deltas after the last event"),
    ("two-dones", "the last event twice, the second time with the next number"),
    ("no-done", "a clean end where the last event would come"),
    ("leak", "AgentEvent: envelopes carry the ids and numbers of other runs"),
    ("error-eof:N", "AgentEvent: after N events an error of the server's state, then a clean end"),
    ("relay-error:N", "AgentEvent: the same with a flat error of its relay"),
    (
        "retry-step:N[:call]",
        "AgentEvent: the provider drops after N deltas, or in a call; a new step goes on",
    ),
    ("retries", "AgentEvent: the provider fails three times, and so does the run"),
    ("silence:MS", "AgentEvent, AAP, turn-rpc: the provider says nothing for so long"),
    ("suspend-live", "AgentEvent: another call goes on while one waits for an answer"),
    ("stale-snapshot", "AgentEvent: after an answer comes a snapshot of the state before it"),
    ("stream-reset:N", "awaken: after N deltas of text all of them are void, and come again"),
    ("tool-cancel", "awaken: a call is begun and taken back"),
    ("unknown-type", "AgentEvent, AAP, turn-rpc: an event of a type that nobody knows"),
    ("unknown-termination", "AgentEvent, AAP: the run ends for a reason that nobody knows"),
    ("legacy-progress", "AgentEvent: tools report progress in the older form"),
    ("state-delta", "AgentEvent: the state changes by patches too"),
    ("messages-snapshot", "AgentEvent: the run begins with all messages so far"),
    ("activity-delta", "AgentEvent: an activity changes by a patch"),
    ("lost-end", "AAP: `turn_stop` gets lost, with whole messages all of the last round"),
    ("throw:N", "AAP: the model fails after N deltas: `turn_stop` twice, none at all, or a 500"),
    ("nothing", "AAP: no events, for a turn that is not even begun"),
    ("silent-grant", "AAP: a granted call runs without a `tool_result`"),
    ("twice-stored", "AAP: results of trusted tools are stored twice"),
    ("text-first", "AAP: whole messages have their text before the thinking"),
    ("abandon", "AAP: the turn ends with its reader"),
    ("use-denied", "AAP: denials as the released server words them"),
    ("plain-content", "AAP: messages of text alone have a string for content"),
    ("block-results", "AAP: results of server tools have blocks for content"),
    ("other-version", "AAP: `/meta` tells another version of the protocol"),
    ("malformed:N[:KIND]", "turn-rpc: after frame N one that is none of the protocol"),
    ("drop-deltas[:N]", "turn-rpc: all deltas get lost, or every N-th"),
    ("late-delta", "turn-rpc: a text's last delta comes after its item is complete"),
    ("early-events", "turn-rpc: the agent's first events come before the response to turn/start"),
    ("lost-response", "turn-rpc: turn/start is never answered, though the turn runs"),
    ("double-reasoning", "turn-rpc: reasoning items are completed twice, then with nothing in them"),
    ("no-markdown", "turn-rpc: deltas come without their Markdown"),
    ("huge-markdown:BYTES", "turn-rpc: the Markdown of a delta has at least so many bytes"),
    ("none", "no fault, whatever else is planned"),
    ("KIND+KIND", "several at once"),
];

/// All faults as text, a line each: how it is written, and what it does.
pub fn catalog() -> String {
    let lines = KINDS.iter().map(|(form, meaning)| format!("  {form:<31} {meaning}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The faults of one response, as they were asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Faults {
    pub(crate) text: String,
    pub(crate) list: Vec<Fault>,
}

impl Faults {
    /// Whether the client may get no answer at all.
    pub(crate) fn leave_no_answer(&self) -> bool {
        let silent = |fault: &Fault| matches!(fault, Fault::Lost | Fault::Instead(Instead::Nothing));
        self.list.iter().any(silent)
    }
}

impl FromStr for Faults {
    type Err = String;

    /// The error is a sentence that says what is wrong.
    fn from_str(text: &str) -> Result<Self, String> {
        // In a query an unescaped `+` arrives as a space.
        let parts: Vec<&str> = text.trim().split(['+', ' ']).collect();
        let faults = parts.iter().map(|part| fault(part)).collect::<Result<Vec<_>, _>>()?;
        let list: Vec<Fault> = faults.into_iter().flatten().collect();
        let answers =
            |fault: &&Fault| matches!(fault, Fault::Instead(_) | Fault::LateStatus(_) | Fault::Lost);
        if list.iter().filter(answers).count() > 1 {
            return Err(format!("Only one of the faults of `{text}` can stand for the answer"));
        }
        Ok(Self { text: parts.join("+"), list })
    }
}

/// One fault; `None` for the word that stands for none.
fn fault(text: &str) -> Result<Option<Fault>, String> {
    let (kind, rest) = match text.split_once(':') {
        Some((kind, rest)) => (kind, Some(rest)),
        None => (text, None),
    };
    let form = KINDS.iter().map(|(form, _)| *form).find(|form| form.split([':', '[']).next() == Some(kind));
    let Some(form) = form else {
        return Err(unknown(text));
    };
    let mut arguments = Arguments { form, text, rest };
    let fault = arguments.fault(kind)?;
    match arguments.rest {
        None => Ok(fault),
        Some(_) => Err(format!("Fault `{text}` has too many arguments: it is written `{form}`")),
    }
}

fn unknown(text: &str) -> String {
    let names = KINDS.iter().filter_map(|(form, _)| form.split([':', '[']).next());
    let names: Vec<&str> = names.filter(|name| *name != "KIND+KIND").collect();
    format!("There is no fault `{text}`; there are {}", names.join(", "))
}

/// The arguments of one fault that are still to be read.
struct Arguments<'a> {
    form: &'static str,
    text: &'a str,
    rest: Option<&'a str>,
}

impl Arguments<'_> {
    fn fault(&mut self, kind: &str) -> Result<Option<Fault>, String> {
        Ok(Some(match kind {
            "none" => return Ok(None),
            "status" => Fault::Instead(Instead::Status(self.refusal()?)),
            "text-status" => Fault::Instead(Instead::TextStatus(self.status()?)),
            "late-status" => Fault::LateStatus(self.refusal()?),
            "refuse" => Fault::Instead(Instead::Nothing),
            "lost" => Fault::Lost,
            "slow-head" => Fault::SlowHead(Duration::from_millis(self.number("MS", 0..=LONGEST_PAUSE)?)),
            "portal" => Fault::Instead(Instead::Portal),
            "redirect" => Fault::Instead(Instead::Redirect),
            "redirect-portal" => Fault::Instead(Instead::RedirectPortal),
            "type" => Fault::Type(self.media_type()?),
            "half" => Fault::Half(self.count("BYTES")?),
            "eof" => Fault::End(Mark::Events(self.count("N")?), Ending::Eof),
            "eof-bytes" => Fault::End(Mark::Bytes(self.count("BYTES")?), Ending::Eof),
            "reset" => Fault::End(Mark::Events(self.count("N")?), Ending::Reset),
            "reset-bytes" => Fault::End(Mark::Bytes(self.count("BYTES")?), Ending::Reset),
            "cut-char" => Fault::End(Mark::Character(self.place()?), Ending::Reset),
            "stall" => Fault::End(Mark::Events(self.count("N")?), Ending::Stall),
            "stall-bytes" => Fault::End(Mark::Bytes(self.count("BYTES")?), Ending::Stall),
            "comments" => Fault::End(Mark::Events(self.count("N")?), Ending::Comments),
            "duplicate" => Fault::Duplicate(self.place()?),
            "replay" => Fault::Replay(self.place()?),
            "restart" => Fault::Restart,
            "reorder" => Fault::Reorder(self.place()?),
            "gap" => Fault::Gap(self.run("N")?),
            "hole" => Fault::Hole(self.run("FIRST")?),
            "retry" => Fault::Retry(self.number("MS", 0..=LONGEST_PAUSE)?),
            "giant" => self.giant()?,
            "numbers" => self.numbers()?,
            "other-turn" => Fault::OtherTurn(self.place()?),
            "after-done" => Fault::AfterDone(self.number("COUNT", 1..=MOST_EVENTS)?),
            "two-dones" => Fault::TwoDones,
            "no-done" => Fault::NoDone,
            "malformed" => self.malformed()?,
            _ => return self.trap(kind).map(|trap| Some(Fault::Trap(trap))),
        }))
    }

    fn trap(&mut self, kind: &str) -> Result<Trap, String> {
        Ok(match kind {
            "leak" => Trap::Leak,
            "error-eof" => Trap::ErrorEof(self.place()?),
            "relay-error" => Trap::RelayError(self.place()?),
            "retry-step" => self.retry_step()?,
            "retries" => Trap::Retries,
            "silence" => Trap::Silence(Duration::from_millis(self.number("MS", 0..=LONGEST_PAUSE)?)),
            "suspend-live" => Trap::SuspendLive,
            "stale-snapshot" => Trap::StaleSnapshot,
            "stream-reset" => Trap::StreamReset(self.place()?),
            "tool-cancel" => Trap::ToolCancel,
            "unknown-type" => Trap::UnknownType,
            "unknown-termination" => Trap::UnknownTermination,
            "legacy-progress" => Trap::LegacyProgress,
            "state-delta" => Trap::StateDelta,
            "messages-snapshot" => Trap::MessagesSnapshot,
            "activity-delta" => Trap::ActivityDelta,
            _ => match self.rpc_trap(kind)? {
                Some(trap) => Trap::Rpc(trap),
                None => return self.aap_trap(kind).map(Trap::Aap),
            },
        })
    }

    fn rpc_trap(&mut self, kind: &str) -> Result<Option<RpcTrap>, String> {
        Ok(Some(match kind {
            "drop-deltas" if self.rest.is_none() => RpcTrap::DropDeltas(1),
            "drop-deltas" => RpcTrap::DropDeltas(self.place()?),
            "late-delta" => RpcTrap::LateDelta,
            "early-events" => RpcTrap::EarlyEvents,
            "lost-response" => RpcTrap::LostResponse,
            "double-reasoning" => RpcTrap::DoubleReasoning,
            "no-markdown" => RpcTrap::NoMarkdown,
            "huge-markdown" => RpcTrap::HugeMarkdown(self.bytes()?),
            _ => return Ok(None),
        }))
    }

    fn aap_trap(&mut self, kind: &str) -> Result<AapTrap, String> {
        Ok(match kind {
            "lost-end" => AapTrap::LostEnd,
            "throw" => AapTrap::Throw(self.place()?),
            "nothing" => AapTrap::Nothing,
            "silent-grant" => AapTrap::SilentGrant,
            "twice-stored" => AapTrap::TwiceStored,
            "text-first" => AapTrap::TextFirst,
            "abandon" => AapTrap::Abandon,
            "use-denied" => AapTrap::UseDenied,
            "plain-content" => AapTrap::PlainContent,
            "block-results" => AapTrap::BlockResults,
            "other-version" => AapTrap::OtherVersion,
            _ => return Err(unknown(self.text)),
        })
    }

    fn retry_step(&mut self) -> Result<Trap, String> {
        let after = self.place()?;
        let call = match self.rest {
            None => false,
            Some(_) => match self.word("call")? {
                "call" => true,
                _ => return Err(self.wrong("call", "be `call` or left out")),
            },
        };
        Ok(Trap::RetryStep { after, call })
    }

    fn refusal(&mut self) -> Result<Refusal, String> {
        let status = self.status()?;
        let retry_after = match self.rest {
            None => None,
            Some(_) => Some(self.count("RETRY_AFTER")?),
        };
        Ok(Refusal { status, retry_after })
    }

    fn status(&mut self) -> Result<StatusCode, String> {
        let code = self.number("CODE", 200..=599)?;
        let status = u16::try_from(code).ok().and_then(|code| StatusCode::from_u16(code).ok());
        status.ok_or_else(|| self.wrong("CODE", "be a status"))
    }

    fn media_type(&mut self) -> Result<HeaderValue, String> {
        let word = self.word("TYPE")?;
        HeaderValue::from_str(word).map_err(|_| self.wrong("TYPE", "be a media type"))
    }

    fn giant(&mut self) -> Result<Fault, String> {
        let after = self.place()?;
        Ok(Fault::Giant { after, bytes: self.bytes()? })
    }

    fn bytes(&mut self) -> Result<usize, String> {
        let bytes = self.number("BYTES", GIANT_BYTES)?;
        usize::try_from(bytes).map_err(|_| self.wrong("BYTES", "fit into memory"))
    }

    fn malformed(&mut self) -> Result<Fault, String> {
        let after = self.place()?;
        if self.rest.is_none() {
            return Ok(Fault::Malformed { after, kind: Malformed::Json });
        }
        let word = self.word("KIND")?.to_owned();
        let found = Malformed::ALL.iter().find(|(name, _)| *name == word);
        let names = Malformed::ALL.map(|(name, _)| name).join(", ");
        let (_, kind) = found.ok_or_else(|| self.wrong("KIND", &format!("be one of {names}")))?;
        Ok(Fault::Malformed { after, kind: *kind })
    }

    fn numbers(&mut self) -> Result<Fault, String> {
        let kind = match self.word("KIND")? {
            "backwards" => Numbers::Backwards,
            "huge" => Numbers::Huge,
            "negative" => Numbers::Negative,
            "words" => Numbers::Words,
            "none" => Numbers::None,
            _ => return Err(self.wrong("KIND", "be backwards, huge, negative, words, or none")),
        };
        let from = match self.rest {
            None => 1,
            Some(_) => self.place()?,
        };
        Ok(Fault::Numbers { kind, from })
    }

    fn run(&mut self, first: &str) -> Result<Run, String> {
        let first = self.number(first, 1..=u64::MAX)?;
        Ok(Run { first, count: self.number("COUNT", 1..=u64::MAX)? })
    }

    /// An event or a character, counted from 1.
    fn place(&mut self) -> Result<u64, String> {
        self.number("N", 1..=u64::MAX)
    }

    fn count(&mut self, name: &str) -> Result<u64, String> {
        self.number(name, 0..=u64::MAX)
    }

    fn number(&mut self, name: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
        let number: u64 = self
            .word(name)?
            .parse()
            .map_err(|_| self.wrong(name, "be a whole number that is not negative"))?;
        if range.contains(&number) {
            return Ok(number);
        }
        let rule = match (*range.start(), *range.end()) {
            (least, u64::MAX) => format!("be at least {least}"),
            (least, most) => format!("be from {least} to {most}"),
        };
        Err(self.wrong(name, &rule))
    }

    /// The next argument.
    fn word(&mut self, name: &str) -> Result<&str, String> {
        let Some(rest) = self.rest else {
            return Err(format!("Fault `{}` lacks {name}: it is written `{}`", self.text, self.form));
        };
        let (word, rest) = match rest.split_once(':') {
            Some((word, rest)) => (word, Some(rest)),
            None => (rest, None),
        };
        self.rest = rest;
        if word.is_empty() {
            return Err(self.wrong(name, "not be empty"));
        }
        Ok(word)
    }

    fn wrong(&self, name: &str, rule: &str) -> String {
        format!("{name} of fault `{}` must {rule}: it is written `{}`", self.text, self.form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<Fault> {
        text.parse::<Faults>().unwrap_or_else(|error| panic!("{error}")).list
    }

    fn error(text: &str) -> String {
        text.parse::<Faults>().expect_err(text)
    }

    #[test]
    fn every_kind_of_the_catalog_is_understood() {
        for (form, _) in KINDS.iter().filter(|(form, _)| *form != "KIND+KIND") {
            let full = form.replace(['[', ']'], "");
            let kind = if form.starts_with("malformed") { "batch" } else { "huge" };
            let arguments = [
                ("RETRY_AFTER", "2"),
                ("CODE", "503"),
                ("TYPE", "text/html"),
                ("KIND", kind),
                ("BYTES", "100"),
                ("COUNT", "3"),
                ("FIRST", "4"),
                ("MS", "5"),
                ("N", "6"),
            ];
            let written = arguments.iter().fold(full, |text, (name, value)| text.replace(name, value));
            let count = usize::from(*form != "none");
            assert_eq!(list(&written).len(), count, "{written}");
        }
    }

    #[test]
    fn arguments_are_read_in_order() {
        let refusal = Refusal { status: StatusCode::SERVICE_UNAVAILABLE, retry_after: Some(2) };
        assert_eq!(list("status:503:2"), [Fault::Instead(Instead::Status(refusal))]);
        assert_eq!(list("gap:3:2"), [Fault::Gap(Run { first: 3, count: 2 })]);
        assert_eq!(list("giant:2:4096"), [Fault::Giant { after: 2, bytes: 4096 }]);
        assert_eq!(list("numbers:words"), [Fault::Numbers { kind: Numbers::Words, from: 1 }]);
        assert_eq!(list("numbers:huge:7"), [Fault::Numbers { kind: Numbers::Huge, from: 7 }]);
        assert_eq!(list("type:text/html;charset=utf-8").len(), 1);
    }

    #[test]
    fn faults_are_joined_by_a_plus_also_when_a_query_ate_it() {
        let both = [Fault::Retry(5), Fault::End(Mark::Events(3), Ending::Reset)];
        assert_eq!(list("retry:5+reset:3"), both);
        assert_eq!("retry:5 reset:3".parse::<Faults>().expect("faults").text, "retry:5+reset:3");
    }

    #[test]
    fn errors_are_sentences_that_name_what_is_wrong() {
        for (text, sentence) in [
            ("rset:3", "There is no fault `rset:3`; there are status, text-status, "),
            ("eof", "Fault `eof` lacks N: it is written `eof:N`"),
            ("eof:", "N of fault `eof:` must not be empty: it is written `eof:N`"),
            (
                "eof:x",
                "N of fault `eof:x` must be a whole number that is not negative: it is written `eof:N`",
            ),
            ("reorder:0", "N of fault `reorder:0` must be at least 1: it is written `reorder:N`"),
            ("restart:1", "Fault `restart:1` has too many arguments: it is written `restart`"),
            ("gap:1:2:3", "Fault `gap:1:2:3` has too many arguments: it is written `gap:N:COUNT`"),
            ("status:99", "CODE of fault `status:99` must be from 200 to 599: "),
            (
                "numbers:odd",
                "KIND of fault `numbers:odd` must be backwards, huge, negative, words, or none: ",
            ),
            ("portal+status:500", "Only one of the faults of `portal+status:500` can stand for the answer"),
            ("lost+late-status:500", "Only one of the faults of `lost+late-status:500` can stand for "),
            ("", "There is no fault ``; there are "),
            ("eof:1++", "There is no fault ``; "),
        ] {
            let error = error(text);
            assert!(error.starts_with(sentence), "{text}: {error}");
        }
    }
}
