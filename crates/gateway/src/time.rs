//! Points in time as the protocols write them: UTC, to the millisecond.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};

/// The present, to the millisecond.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    // Never rounded up: nothing may be made after the end of a window that ends now.
    let whole = TimestampRound::new().smallest(Unit::Millisecond).mode(RoundMode::Trunc);
    // A present-day time stays in range.
    now.round(whole).unwrap_or(now)
}

/// The present in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(now().as_millisecond()).unwrap_or_default()
}

/// ISO-8601 with three decimals: `2026-07-23T09:30:00.125Z`.
pub(crate) fn iso(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// Reads ISO-8601 with an offset, or without one as UTC.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    // In a query string an unescaped `+` of an offset arrives as a space.
    let text = text.trim().replace(' ', "+");
    text.parse::<Timestamp>().ok().or_else(|| {
        let civil = text.parse::<DateTime>().ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_present_is_a_whole_millisecond_of_the_past() {
        for _ in 0..1000 {
            let time = now();
            assert!(time <= Timestamp::now());
            assert_eq!(time.as_nanosecond() % 1_000_000, 0);
        }
    }

    #[test]
    fn writes_milliseconds_and_reads_offsets() {
        let time = parse("2026-07-23T11:30:00.125+02:00").expect("a time");
        assert_eq!(iso(time), "2026-07-23T09:30:00.125Z");
        assert_eq!(parse("2026-07-23T11:30:00.125 02:00"), Some(time));
        assert_eq!(parse("2026-07-23T09:30:00.125"), Some(time));
        assert_eq!(parse("yesterday"), None);
    }
}
