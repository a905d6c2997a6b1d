//! Simulated time: milliseconds from the beginning of a case, and as a server writes them.

/// Milliseconds.
pub(crate) type Millis = u64;

/// As the driver receives it.
pub(crate) fn moment(at: Millis) -> f64 {
    f64::from(u32::try_from(at).expect("a case lasts days at most"))
}

/// Whole milliseconds, as the binding passes them on.
pub(crate) fn whole(delay: f64) -> Millis {
    assert!(delay.is_finite() && delay >= 0.0, "a wait of {delay} ms");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was checked")]
    let millis = delay as u64;
    millis
}

/// The beginning of a case: a day and an hour that leave room on both sides.
const BEGINNING: Millis = (9 * 24 + 12) * 3_600_000;

/// The time as machines count it: in milliseconds since 1970.
pub(crate) fn epoch(at: Millis) -> u64 {
    /// 2026-07-01.
    const MONTH: u64 = 1_782_864_000_000;
    MONTH + BEGINNING + at
}

/// The time on a clock that is `skew` milliseconds ahead, as ISO 8601 in UTC.
pub(crate) fn iso(at: Millis, skew: i64) -> String {
    let at = (BEGINNING + at).checked_add_signed(skew).expect("the clock is not that wrong");
    let (day, second, millis) = (at / 86_400_000, at / 1000 % 86_400, at % 1000);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    assert!(day < 31, "a case lasts days at most");
    format!("2026-07-{:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z", day + 1)
}
