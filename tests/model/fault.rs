//! The faults of one request, and how they are drawn.

use turnwire::protocol::Call;

use super::random::Random;
use super::time::Millis;

/// What happens to a request and its answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    None,
    /// The connection is closed without an answer; nothing is processed.
    Refuse,
    /// It is processed, then the connection is reset without an answer.
    Lost,
    /// There is no network for this long.
    Offline(Millis),
    /// The `token` function fails.
    Token,
    /// This status, and `Retry-After`. Processed first if it is late.
    Status {
        status: u16,
        retry_after: Millis,
        is_late: bool,
    },
    /// 401; the second time too, if it is final.
    Unauthorized {
        is_final: bool,
    },
    /// The answer's head comes this late.
    SlowHead(Millis),
    /// A captive portal: 200 and HTML; nothing is processed.
    Portal,
    /// The answer, with another content type.
    WrongType,
    /// JSON breaks off.
    Half(u64),
    /// The answer is a stream, and something happens to it.
    Stream(Flow),
}

/// What happens to a stream. Numbers say where, for a stream of any length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Flow {
    Cut(Place, How),
    /// Then only comments for this long.
    Comments(u64, Millis, How),
    Duplicate(u64),
    Replay(u64),
    Restart,
    Reorder(u64),
    Gap(u64, u64),
    Giant(u64),
    Numbers(u64, Numbers),
    OtherTurn(u64),
    AfterDone(u64),
    TwoDones,
    NoDone,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Event(u64),
    Byte(u64),
    /// Inside a character of several bytes.
    Character(u64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum How {
    Eof,
    Reset,
    Stall,
}

/// How the numbers of events are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Numbers {
    Backwards,
    /// Far ahead, but still a number.
    Ahead,
    Huge,
    Negative,
    Words,
    Missing,
}

impl Fault {
    /// The class of the fault, for the statistics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Refuse => "refuse",
            Self::Lost => "lost",
            Self::Offline(_) => "offline",
            Self::Token => "token",
            Self::Status { is_late: true, .. } => "late-status",
            Self::Status { status, .. } => status_name(status),
            Self::Unauthorized { .. } => "status:401",
            Self::SlowHead(_) => "slow-head",
            Self::Portal => "portal",
            Self::WrongType => "type",
            Self::Half(_) => "half",
            Self::Stream(flow) => flow.name(),
        }
    }
}

fn status_name(status: u16) -> &'static str {
    match status {
        408 | 409 | 425 | 429 => "status:408,409,425,429",
        412 => "status:412",
        400..=499 => "status:4xx",
        503 => "status:503",
        _ => "status:5xx",
    }
}

impl Flow {
    fn name(self) -> &'static str {
        match self {
            Self::Cut(Place::Event(_), How::Eof) => "eof",
            Self::Cut(Place::Event(_), How::Reset) => "reset",
            Self::Cut(Place::Event(_), How::Stall) => "stall",
            Self::Cut(Place::Byte(_), How::Eof) => "eof-bytes",
            Self::Cut(Place::Byte(_), How::Reset) => "reset-bytes",
            Self::Cut(Place::Byte(_), How::Stall) => "stall-bytes",
            Self::Cut(Place::Character(_), _) => "cut-char",
            Self::Comments(..) => "comments",
            Self::Duplicate(_) => "duplicate",
            Self::Replay(_) => "replay",
            Self::Restart => "restart",
            Self::Reorder(_) => "reorder",
            Self::Gap(..) => "gap",
            Self::Giant(_) => "giant",
            Self::Numbers(_, Numbers::Backwards) => "numbers:backwards",
            Self::Numbers(_, Numbers::Ahead) => "numbers:ahead",
            Self::Numbers(_, Numbers::Huge) => "numbers:huge",
            Self::Numbers(_, Numbers::Negative) => "numbers:negative",
            Self::Numbers(_, Numbers::Words) => "numbers:words",
            Self::Numbers(_, Numbers::Missing) => "numbers:none",
            Self::OtherTurn(_) => "other-turn",
            Self::AfterDone(_) => "after-done",
            Self::TwoDones => "two-dones",
            Self::NoDone => "no-done",
        }
    }
}

/// The wait that a server asks for.
fn retry_after(random: &mut Random) -> Millis {
    random.pick(&[0, 0, 0, 1, 1000, 7000, 120_000])
}

fn status(random: &mut Random, statuses: &[u16], is_late: bool) -> Fault {
    let status = random.pick(statuses);
    // A missing or deleted turn does not come back.
    let retry_after = if matches!(status, 412 | 501) { 0 } else { retry_after(random) };
    Fault::Status { status, retry_after, is_late }
}

/// A fault from which a turn that has begun recovers.
pub(crate) fn passing(random: &mut Random, call: Call) -> Fault {
    match call {
        Call::CreateTurn | Call::CreateTurnStream => passing_start(random),
        Call::SubscribeTurn if random.percent(60) => Fault::Stream(flow(random)),
        _ => passing_head(random, call),
    }
}

fn passing_head(random: &mut Random, call: Call) -> Fault {
    match random.below(12) {
        // Without a network the start would not arrive, either.
        3 if call != Call::ListNewestTurns => Fault::Offline(random.between(1, 60_000)),
        0 | 1 | 3 => Fault::Refuse,
        2 => Fault::Lost,
        4 => Fault::Token,
        5 if call == Call::SubscribeTurn && random.percent(30) => status(random, &[412], false),
        5..=7 => status(random, &[408, 409, 425, 429, 500, 502, 503, 504, 507], false),
        8 => Fault::Unauthorized { is_final: false },
        9 => Fault::SlowHead(random.between(1, 60_000)),
        10 => Fault::Portal,
        _ if call.streams() => Fault::WrongType,
        _ => Fault::Half(random.below(1 << 32)),
    }
}

/// A fault after which a start is carried out once, in the end.
fn passing_start(random: &mut Random) -> Fault {
    match random.below(12) {
        0..=5 => Fault::Stream(flow(random)),
        6 => Fault::Lost,
        7 => status(random, &[408, 500, 502, 503, 504], true),
        8 => status(random, &[425, 429, 503], false),
        9 => Fault::Unauthorized { is_final: false },
        10 => Fault::SlowHead(random.between(1, 60_000)),
        _ => Fault::WrongType,
    }
}

/// A fault that prevents a start, or leaves open whether it was carried out.
pub(crate) fn lost_start(random: &mut Random) -> Fault {
    match random.below(9) {
        0 => Fault::Refuse,
        1 => Fault::Portal,
        2 => status(random, &[408, 500, 501, 502, 503, 504], false),
        3 => status(random, &[400, 401, 403, 404, 409, 410, 412, 422], false),
        4 => Fault::Token,
        5 => Fault::Offline(random.between(1, 60_000)),
        6 => Fault::Unauthorized { is_final: true },
        7 => Fault::Status { status: random.pick(&[429, 503]), retry_after: 300_001, is_late: false },
        _ => passing_start(random),
    }
}

/// A fault that ends the reading of a turn at once.
pub(crate) fn fatal(random: &mut Random, call: Call) -> Fault {
    match random.below(4) {
        0 => Fault::Unauthorized { is_final: true },
        1 if call.streams() => Fault::Stream(Flow::Giant(random.below(1 << 32))),
        2 => Fault::Status { status: random.pick(&[429, 500, 503]), retry_after: 300_001, is_late: false },
        _ => Fault::Status {
            status: random.pick(&[400, 403, 404, 410, 422, 501]),
            retry_after: 0,
            is_late: false,
        },
    }
}

/// A fault that lets nothing through.
pub(crate) fn barren(random: &mut Random, call: Call) -> Fault {
    match random.below(8) {
        0 | 1 if call.streams() => {
            Fault::Stream(Flow::Cut(Place::Event(0), random.pick(&[How::Reset, How::Stall])))
        }
        0 => status(random, &[408, 409, 425, 429, 500, 502, 503, 504], false),
        1 | 2 => Fault::SlowHead(70_000),
        3 => Fault::Portal,
        4 => Fault::Token,
        5 => Fault::Lost,
        _ => Fault::Refuse,
    }
}

/// A stream that is accepted, and brings nothing.
pub(crate) fn silence() -> Fault {
    Fault::Stream(Flow::Cut(Place::Event(0), How::Stall))
}

fn flow(random: &mut Random) -> Flow {
    let at = random.below(1 << 32);
    let how = random.pick(&[How::Eof, How::Eof, How::Reset, How::Reset, How::Stall]);
    match random.below(20) {
        0..=2 => Flow::Cut(Place::Event(at), how),
        3..=5 => Flow::Cut(Place::Byte(at), how),
        6 | 7 => Flow::Cut(Place::Character(at), how),
        8 => Flow::Comments(at, random.between(1, 100_000), random.pick(&[How::Eof, How::Reset])),
        9 => Flow::Duplicate(at),
        10 => Flow::Replay(at),
        11 => Flow::Restart,
        12 => Flow::Reorder(at),
        13 => Flow::Gap(at, random.between(1, 5)),
        14 => Flow::Numbers(at, random.pick(&[Numbers::Backwards, Numbers::Ahead])),
        15 => Flow::OtherTurn(at),
        16 => Flow::AfterDone(random.between(1, 3)),
        17 => Flow::TwoDones,
        _ => Flow::NoDone,
    }
}

/// A stream with wrong numbers.
pub(crate) fn unnumbered(random: &mut Random) -> Fault {
    let kinds = [Numbers::Huge, Numbers::Negative, Numbers::Words, Numbers::Missing];
    Fault::Stream(Flow::Numbers(random.below(1 << 32), random.pick(&kinds)))
}
