//! Whole numbers.

/// Parses `digits` as decimal: only digits, at most 64 bits.
///
/// The standard library's `parse` adds one copy per type to the module, each larger than this.
pub(crate) fn parse_u64(digits: &[u8]) -> Option<u64> {
    let mut number: u64 = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 || number > u64::MAX / 10 {
            return None;
        }
        number = (number * 10).checked_add(u64::from(digit))?;
    }
    (!digits.is_empty()).then_some(number)
}
