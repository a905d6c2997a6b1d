//! Exact sums of JSON numbers.
//!
//! Reading and writing floats with the standard library would take more bytes in the module than the rest of the
//! agent's state.

use crate::error::sentence;
use crate::json::write_u64;

/// The most digits after the point, and the largest exponent.
const MOST_DIGITS: i32 = 15;

/// A number: its digits without the point, and how many of them come after it.
struct Decimal {
    digits: i64,
    places: i32,
    /// Whether it was written as a fraction.
    is_fraction: bool,
}

/// The sum, or the difference, of two numbers; `None` if it has too many digits. The result is written as a fraction if
/// one of them is.
pub(super) fn add(one: &str, other: &str, is_negative: bool) -> Option<String> {
    let (one, other) = (read(one)?, read(other)?);
    let places = one.places.max(other.places);
    let scaled = |number: &Decimal| {
        let factor = 10_i64.checked_pow(u32::try_from(places - number.places).ok()?)?;
        number.digits.checked_mul(factor)
    };
    let (left, right) = (scaled(&one)?, scaled(&other)?);
    let sum = if is_negative { left.checked_sub(right)? } else { left.checked_add(right)? };
    Some(written(sum, places, one.is_fraction || other.is_fraction))
}

fn read(number: &str) -> Option<Decimal> {
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: i64 = sentence(&[whole, fraction]).parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let is_fraction = number.contains(['.', 'e', 'E']);
    if (-MOST_DIGITS..0).contains(&places) {
        let digits = digits.checked_mul(10_i64.checked_pow(places.unsigned_abs())?)?;
        return Some(Decimal { digits, places: 0, is_fraction });
    }
    (0..=MOST_DIGITS).contains(&places).then_some(Decimal { digits, places, is_fraction })
}

fn written(digits: i64, places: i32, is_fraction: bool) -> String {
    let mut text = String::new();
    write_u64(&mut text, digits.unsigned_abs());
    let places = usize::try_from(places).unwrap_or_default();
    while text.len() <= places {
        text.insert(0, '0');
    }
    if places > 0 {
        text.insert(text.len() - places, '.');
        text.truncate(text.trim_end_matches('0').len());
    }
    if text.ends_with('.') {
        text.push('0');
    } else if is_fraction && !text.contains('.') {
        text.push_str(".0");
    }
    if digits < 0 {
        text.insert(0, '-');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::add;

    #[test]
    fn sums() {
        for (one, other, sum, difference) in [
            ("1", "2", "3", "-1"),
            ("3", "0.5", "3.5", "2.5"),
            ("1.0", "1", "2.0", "0.0"),
            ("0.1", "0.2", "0.3", "-0.1"),
            ("-1.25", "1.25", "0.0", "-2.5"),
            ("1e3", "1", "1001.0", "999.0"),
            ("15E-1", "0.05", "1.55", "1.45"),
            ("9007199254740993", "1", "9007199254740994", "9007199254740992"),
        ] {
            assert_eq!(add(one, other, false).as_deref(), Some(sum), "{one} + {other}");
            assert_eq!(add(one, other, true).as_deref(), Some(difference), "{one} - {other}");
        }
        for (one, other) in
            [("9223372036854775807", "1"), ("1e300", "1"), ("1e-30", "1"), ("1", "1e99999999999")]
        {
            assert_eq!(add(one, other, false), None, "{one} + {other}");
        }
    }
}
