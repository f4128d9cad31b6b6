//! Formats decimal digits into a byte buffer without `core::fmt`.
//!
//! Quantities and times are formatted for every object on every encoding, where `core::fmt` would
//! dominate the cost.

/// Appends `value` in decimal.
pub fn append_u64(out: &mut Vec<u8>, value: u64) {
    let digit = |value: u64| b'0' + (value % 10) as u8;
    // Most numbers are short, and slices of constant length are copied without a function call.
    match value {
        0..=9 => out.push(digit(value)),
        10..=99 => out.extend_from_slice(&[digit(value / 10), digit(value)]),
        100..=999 => out.extend_from_slice(&[digit(value / 100), digit(value / 10), digit(value)]),
        1000..=9999 => {
            out.extend_from_slice(&[digit(value / 1000), digit(value / 100), digit(value / 10), digit(value)]);
        }
        _ => append_long(out, value),
    }
}

fn append_long(out: &mut Vec<u8>, mut value: u64) {
    let mut buffer = [0u8; 20];
    let mut at = buffer.len();
    while value > 0 {
        at -= 1;
        buffer[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&buffer[at..]);
}

/// Appends `value` in decimal, with a minus sign when it is negative.
pub fn append_i64(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    append_u64(out, value.unsigned_abs());
}

/// Appends `value` in decimal, zero-padded on the left to at least `width` digits (at most 20).
pub fn append_padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut reached = 10u64;
    for digits in 1..width {
        if value < reached {
            out.extend_from_slice(&b"00000000000000000000"[..(width - digits).min(20)]);
            break;
        }
        reached = reached.saturating_mul(10);
    }
    append_u64(out, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_digits() {
        let cases: &[(i64, usize, &str)] = &[
            (0, 1, "0"),
            (7, 2, "07"),
            (42, 2, "42"),
            (123, 2, "123"),
            (5, 6, "000005"),
            (999, 4, "0999"),
            (1000, 1, "1000"),
            (98_765, 1, "98765"),
        ];
        for (value, width, expect) in cases {
            let mut out = Vec::new();
            append_padded(&mut out, *value as u64, *width);
            assert_eq!(String::from_utf8(out).unwrap(), *expect);
        }
        for value in [0, -1, 10, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            append_i64(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
