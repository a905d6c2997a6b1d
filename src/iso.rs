//! Times as texts.

use crate::json::write_u64;

/// Milliseconds since 1970 as ISO 8601 in UTC: `2026-11-21T10:02:07.046Z`. Times after the year 9999 become the end
/// of that year, so that the order of the texts is that of the times.
///
/// Dates are of the proleptic Gregorian calendar: 400 years have 146 097 days, and a year that begins in March ends
/// with the leap day.
pub(crate) fn iso(ms: u64) -> String {
    const YEAR_9999_END: u64 = 253_402_300_799_999;
    const DAY: u64 = 86_400_000;
    let ms = ms.min(YEAR_9999_END);
    // Days since 0000-03-01, where a period of 400 years begins.
    let days = ms / DAY + 719_468;
    let period = days / 146_097;
    let day = days % 146_097;
    // A leap day every 4 years, none every 100, one every 400.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, each five months have 153 days.
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, turns_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };

    let mut text = String::with_capacity(24);
    let parts = [
        (400 * period + year + turns_year, 1000, "-"),
        (month, 10, "-"),
        (date, 10, "T"),
        (ms / 3_600_000 % 24, 10, ":"),
        (ms / 60_000 % 60, 10, ":"),
        (ms / 1000 % 60, 10, "."),
        (ms % 1000, 100, "Z"),
    ];
    for (number, mut least, end) in parts {
        while number < least && least > 1 {
            text.push('0');
            least /= 10;
        }
        write_u64(&mut text, number);
        text.push_str(end);
    }
    text
}

/// The milliseconds since 1970 of such a text, without the fraction of the last second.
pub(crate) fn millis(text: &str) -> Option<u64> {
    let mut numbers = [0_u64; 6];
    // Each has two digits, except the year with four.
    for (at, byte) in text.bytes().take("2026-11-21T10:02:07".len()).enumerate() {
        let number = numbers.get_mut(at.saturating_sub(2) / 3)?;
        if byte.is_ascii_digit() {
            *number = *number * 10 + u64::from(byte - b'0');
        }
    }
    let [year, month, date, hour, minute, second] = numbers;
    // Days since 0000-03-01, as above.
    let is_late = month > 2;
    let year = year.checked_sub(u64::from(!is_late))?;
    let month = if is_late { month - 3 } else { month + 9 };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date;
    let days = days.checked_sub(719_469)?;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

/// The same of a text that says its zone: `Z`, or how far its clocks are ahead (`+05:30`).
pub(crate) fn moment(text: &str) -> Option<u64> {
    let local = millis(text)?;
    let (mut sign, mut ahead, mut digits) = (b' ', 0, 0);
    for byte in text.bytes().skip("2026-11-21T10:02:07".len()) {
        match byte {
            b'.' | b'0'..=b'9' if sign == b' ' => {}
            b'Z' | b'+' | b'-' if sign == b' ' => sign = byte,
            b'0'..=b'9' if digits < 4 => {
                ahead = ahead * 10 + u64::from(byte - b'0');
                digits += 1;
            }
            b':' => {}
            _ => return None,
        }
    }
    let minutes = match digits {
        2 => ahead * 60,
        4 => ahead / 100 * 60 + ahead % 100,
        _ => 0,
    };
    match (sign, digits) {
        (b'Z', 0) | (b'-', 2 | 4) => Some(local + minutes * 60_000),
        (b'+', 2 | 4) => local.checked_sub(minutes * 60_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{iso, millis, moment};

    #[test]
    fn texts_of_other_lengths_are_read() {
        let second = 1_795_255_327_000;
        let cases = [
            ("2026-11-21T10:02:07Z", Some(second)),
            ("2026-11-21T10:02:07", Some(second)),
            ("2026-11-21T10:02:07.5Z", Some(second)),
            ("2026-11-21T10:02:07.046912Z", Some(second)),
            ("2026-11-21 10:02:07.046+00:00", Some(second)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1969-12-31T23:59:59Z", None),
            ("now", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(millis(text), expected, "{text}");
        }
    }

    #[test]
    fn a_moment_has_a_zone() {
        let second = 1_795_255_327_000;
        let cases = [
            ("2026-11-21T10:02:07Z", Some(second)),
            ("2026-11-21T10:02:07.046912+00:00", Some(second)),
            ("2026-11-21 15:32:07+05:30", Some(second)),
            ("2026-11-21T15:32:07.5+0530", Some(second)),
            ("2026-11-21T02:02:07-08", Some(second)),
            ("2026-11-21T10:02:07", None),
            ("2026-11-21T10:02:07+", None),
            ("2026-11-21T10:02:07+xx:yy", None),
            ("1970-01-01T00:00:00+01:00", None),
            ("1969-12-31T23:59:59-01:00", None),
            ("2026-11-21", None),
            ("-", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(moment(text), expected, "{text}");
        }
    }

    #[test]
    fn known_times() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (1, "1970-01-01T00:00:00.001Z"),
            (1_000_000_000_000, "2001-09-09T01:46:40.000Z"),
            (1_795_255_327_046, "2026-11-21T10:02:07.046Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ];
        for (ms, text) in cases {
            assert_eq!(iso(ms), text, "{ms}");
        }
    }

    /// Every day of 800 years, counted.
    #[test]
    fn days_follow_each_other() {
        let (mut year, mut month, mut date) = (1970, 1, 1);
        for day in 0..292_194_u64 {
            let expected = format!("{year:04}-{month:02}-{date:02}T12:00:00.000Z");
            assert_eq!(iso(day * 86_400_000 + 43_200_000), expected);
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 if is_leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            date += 1;
            if date > length {
                (month, date) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(ms in 0..253_402_300_799_999_u64, garbage in ".{0,40}") {
            prop_assert_eq!(millis(&iso(ms)), Some(ms / 1000 * 1000));
            let _ = (millis(&garbage), moment(&garbage), moment(&(iso(ms) + &garbage)));
        }

        #[test]
        fn times_are_in_order_as_texts(a: u64, b in 0..300_000_000_000_000_u64) {
            let a = a % 300_000_000_000_000;
            prop_assert!(iso(a).len() == 24);
            prop_assert!(a > b || iso(a) <= iso(b));
        }
    }
}
