//! The syntax of faults: `kind:argument:argument`, several joined by `+`.

use std::ops::RangeInclusive;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, Error};

use super::fault::{Ending, Fault, Instead, Malformed, Mark, Numbers, Refusal, Run};
use super::trap::{Trap, TrapKind, shared};

/// The longest pause, in milliseconds: a day.
const LONGEST_PAUSE: u64 = 86_400_000;
/// The largest frame that is made, and the smallest one that has room for its content.
const GIANT_BYTES: RangeInclusive<u64> = 64..=256 * 1024 * 1024;
/// The most events that are inserted.
const MOST_EVENTS: u64 = 100_000;

/// A kind of fault: its syntax, its effect, and how its arguments are read.
struct Kind {
    form: &'static str,
    about: &'static str,
    read: fn(&mut Arguments<'_>) -> Result<Fault, String>,
}

macro_rules! kinds {
    ($($form:literal, $about:literal => |$arguments:pat_param| $fault:expr;)*) => {
        /// Every kind that concerns answers and their frames.
        const KINDS: &[Kind] =
            &[$(Kind { form: $form, about: $about, read: |$arguments| Ok($fault) }),*];
    };
}

kinds! {
    "status:CODE[:RETRY_AFTER]", "this status, nothing is processed; Retry-After in seconds"
        => |a| Fault::Instead(Instead::Status(a.refusal()?));
    "text-status:CODE", "the same with a plain-text body"
        => |a| Fault::Instead(Instead::TextStatus(a.status()?));
    "late-status:CODE[:RETRY_AFTER]", "processed, then answered with this status"
        => |a| Fault::LateStatus(a.refusal()?);
    "refuse", "the connection is closed without an answer, nothing is processed"
        => |_| Fault::Instead(Instead::Nothing);
    "lost", "processed, then the connection is reset without an answer" => |_| Fault::Lost;
    "slow-head:MS", "the head comes so much later" => |a| Fault::SlowHead(Duration::from_millis(a.pause()?));
    "portal", "200 with an HTML page, nothing is processed" => |_| Fault::Instead(Instead::Portal);
    "redirect", "307 to the same address without faults" => |_| Fault::Instead(Instead::Redirect);
    "redirect-portal", "302 to an HTML page" => |_| Fault::Instead(Instead::RedirectPortal);
    "type:TYPE", "the answer has this Content-Type" => |a| Fault::Type(a.media_type()?);
    "half:BYTES", "the body breaks off after so many bytes, the connection is reset"
        => |a| Fault::Half(a.count("BYTES")?);
    "eof:N", "a clean end after N events" => |a| Fault::End(a.events()?, Ending::Eof);
    "eof-bytes:BYTES", "a clean end after so many bytes" => |a| Fault::End(a.after_bytes()?, Ending::Eof);
    "reset:N", "the connection is reset after N events" => |a| Fault::End(a.events()?, Ending::Reset);
    "reset-bytes:BYTES", "the connection is reset after so many bytes"
        => |a| Fault::End(a.after_bytes()?, Ending::Reset);
    "cut-char:N", "the connection is reset inside the N-th multi-byte character"
        => |a| Fault::End(Mark::Character(a.place()?), Ending::Reset);
    "stall:N", "silence after N events, without comments, until the client leaves"
        => |a| Fault::End(a.events()?, Ending::Stall);
    "stall-bytes:BYTES", "the same after so many bytes" => |a| Fault::End(a.after_bytes()?, Ending::Stall);
    "comments:N", "after N events only comments, every 20 ms, until the client leaves"
        => |a| Fault::End(a.events()?, Ending::Comments);
    "duplicate:N", "event N is written twice" => |a| Fault::Duplicate(a.place()?);
    "replay:N", "after event N all events of the response are written once more"
        => |a| Fault::Replay(a.place()?);
    "restart", "the cursor is ignored: the stream starts at the turn's first event" => |_| Fault::Restart;
    "reorder:N", "events N and N+1 are swapped" => |a| Fault::Reorder(a.place()?);
    "gap:N:COUNT", "events N to N+COUNT-1 are left out" => |a| Fault::Gap(a.run("N")?);
    "hole:FIRST:COUNT", "these sequence numbers are left out, on later streams of the turn too"
        => |a| Fault::Hole(a.run("FIRST")?);
    "retry:MS", "the stream begins with `retry: MS`" => |a| Fault::Retry(a.pause()?);
    "giant:N:BYTES", "after event N a frame of so many bytes"
        => |a| Fault::Giant { after: a.place()?, bytes: usize::try_from(a.size()?).unwrap_or(usize::MAX) };
    "numbers:KIND[:N]", "ids from event N on are backwards, huge, negative, words, or none"
        => |a| Fault::Numbers { kind: a.numbers()?, from: if a.rest.is_some() { a.place()? } else { 1 } };
    "other-turn:N", "after event N another turn begins, with the next number" => |a| Fault::OtherTurn(a.place()?);
    "after-done:COUNT", "so many deltas after the last event"
        => |a| Fault::AfterDone(a.number("COUNT", 1..=MOST_EVENTS)?);
    "two-dones", "the last event twice, the second time with the next number" => |_| Fault::TwoDones;
    "no-done", "a clean end where the last event would come" => |_| Fault::NoDone;
    "malformed:N[:KIND]", "turn-rpc: after frame N one that is none of the protocol"
        => |a| Fault::Malformed { after: a.place()?, kind: a.malformed()? };
}

/// The end of the catalog.
const LAST: [(&str, &str); 2] =
    [(NONE, "no fault, whatever else is planned"), ("KIND+KIND", "several at once")];
/// The word for no fault.
pub(super) const NONE: &str = "none";

/// The faults that can be requested: those of answers and frames, and the traps of protocols.
#[derive(Debug, Clone)]
pub(crate) struct Grammar {
    traps: Vec<TrapKind>,
}

/// The faults of one response, as requested.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Faults {
    pub(crate) text: String,
    pub(crate) list: Vec<Fault>,
}

impl Faults {
    /// Whether the client may get no response at all.
    pub(crate) fn leave_no_answer(&self) -> bool {
        let silent = |fault: &Fault| matches!(fault, Fault::Lost | Fault::Instead(Instead::Nothing));
        self.list.iter().any(silent)
    }
}

impl Grammar {
    /// The faults with the traps of these protocols.
    pub(crate) fn new(traps: impl IntoIterator<Item = TrapKind>) -> Self {
        Self { traps: traps.into_iter().collect() }
    }

    /// All faults as text, a line each: the syntax and the effect.
    pub(crate) fn catalog(&self) -> String {
        let owned = |(form, about): (_, &str)| (form, about.to_owned());
        let kinds = KINDS.iter().map(|kind| (kind.form, kind.about)).map(owned);
        let last = LAST.into_iter().map(owned);
        let lines =
            kinds.chain(shared(&self.traps)).chain(last).map(|(form, about)| format!("  {form:<31} {about}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Reads faults. The error is a sentence that says what is wrong.
    pub(crate) fn parse(&self, text: &str) -> Result<Faults, String> {
        // In a query an unescaped `+` arrives as a space.
        let parts: Vec<&str> = text.trim().split(['+', ' ']).collect();
        let faults = parts.iter().filter(|part| **part != NONE).map(|part| self.fault(part));
        let list = faults.collect::<Result<Vec<Fault>, _>>()?;
        let answers =
            |fault: &&Fault| matches!(fault, Fault::Instead(_) | Fault::LateStatus(_) | Fault::Lost);
        if list.iter().filter(answers).count() > 1 {
            return Err(format!("Only one of the faults of `{text}` can stand for the answer"));
        }
        Ok(Faults { text: parts.join("+"), list })
    }

    fn fault(&self, text: &str) -> Result<Fault, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let read = |form| Arguments { form, text, rest };
        let (fault, arguments) = if let Some(kind) = KINDS.iter().find(|kind| name_of(kind.form) == name) {
            let mut arguments = read(kind.form);
            ((kind.read)(&mut arguments)?, arguments)
        } else if let Some(kind) = self.traps.iter().find(|kind| kind.name() == name) {
            let mut arguments = read(kind.form);
            (Fault::Trap(arguments.trap(*kind)?), arguments)
        } else {
            return Err(self.unknown(text));
        };
        match arguments.rest {
            None => Ok(fault),
            Some(_) => {
                Err(format!("Fault `{text}` has too many arguments: it is written `{}`", arguments.form))
            }
        }
    }

    fn unknown(&self, text: &str) -> String {
        let traps = self.traps.iter().map(TrapKind::name);
        let names: Vec<&str> =
            KINDS.iter().map(|kind| name_of(kind.form)).chain(traps).chain([NONE]).collect();
        format!("There is no fault `{text}`; there are {}", names.join(", "))
    }
}

/// The name that a form begins with.
fn name_of(form: &'static str) -> &'static str {
    form.split([':', '[']).next().unwrap_or_default()
}

/// The arguments of one fault that are still to be read.
struct Arguments<'a> {
    form: &'static str,
    text: &'a str,
    rest: Option<&'a str>,
}

impl<'a> Arguments<'a> {
    /// Reads the arguments that a trap's form names.
    fn trap(&mut self, kind: TrapKind) -> Result<Trap, String> {
        let mut trap = Trap { name: kind.name(), number: 1, word: false };
        for argument in kind.form.split(':').skip(1) {
            if argument.ends_with(']') && self.rest.is_none() {
                continue;
            }
            match argument.trim_matches(['[', ']']) {
                "N" => trap.number = self.place()?,
                "MS" => trap.number = self.pause()?,
                "BYTES" => trap.number = self.size()?,
                word if self.word(word)? == word => trap.word = true,
                word => return Err(self.wrong(word, &format!("be `{word}` or left out"))),
            }
        }
        Ok(trap)
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

    fn size(&mut self) -> Result<u64, String> {
        self.number("BYTES", GIANT_BYTES)
    }

    fn pause(&mut self) -> Result<u64, String> {
        self.number("MS", 0..=LONGEST_PAUSE)
    }

    fn events(&mut self) -> Result<Mark, String> {
        self.count("N").map(Mark::Events)
    }

    fn after_bytes(&mut self) -> Result<Mark, String> {
        self.count("BYTES").map(Mark::Bytes)
    }

    fn malformed(&mut self) -> Result<Malformed, String> {
        if self.rest.is_none() {
            return Ok(Malformed::Json);
        }
        let names = "json, number, batch, no-version, no-params, binary, empty";
        self.kind(&format!("be one of {names}"))
    }

    fn numbers(&mut self) -> Result<Numbers, String> {
        self.kind("be backwards, huge, negative, words, or none")
    }

    /// One of several words.
    fn kind<T: Deserialize<'a>>(&mut self, rule: &str) -> Result<T, String> {
        let word = BorrowedStrDeserializer::<'a, Error>::new(self.word("KIND")?);
        T::deserialize(word).map_err(|_| self.wrong("KIND", rule))
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

    fn number(&mut self, name: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
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
    fn word(&mut self, name: &str) -> Result<&'a str, String> {
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

    fn grammar() -> Grammar {
        Grammar::new([TrapKind::new("drop[:N]", ""), TrapKind::new("step:N[:call]", "")])
    }

    fn list(text: &str) -> Vec<Fault> {
        grammar().parse(text).unwrap_or_else(|error| panic!("{error}")).list
    }

    fn error(text: &str) -> String {
        grammar().parse(text).expect_err(text)
    }

    #[test]
    fn a_form_says_how_the_arguments_of_a_trap_are_read() {
        let trap = |name, number, word| [Fault::Trap(Trap { name, number, word })];
        assert_eq!(list("drop"), trap("drop", 1, false));
        assert_eq!(list("drop:3"), trap("drop", 3, false));
        assert_eq!(list("step:2"), trap("step", 2, false));
        assert_eq!(list("step:2:call"), trap("step", 2, true));
        assert_eq!(
            error("step:2:cal"),
            "call of fault `step:2:cal` must be `call` or left out: it is written `step:N[:call]`"
        );
        assert_eq!(error("step"), "Fault `step` lacks N: it is written `step:N[:call]`");
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
    fn faults_are_joined_by_a_plus_or_by_the_space_of_a_query() {
        let both = [Fault::Retry(5), Fault::End(Mark::Events(3), Ending::Reset)];
        assert_eq!(list("retry:5+reset:3"), both);
        assert_eq!(grammar().parse("retry:5 reset:3").expect("faults").text, "retry:5+reset:3");
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
