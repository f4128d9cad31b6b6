//! Encodes CBOR: definite lengths, shortest heads, shortest floats.

use crate::json::{Map, Value};

const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1 << 5;
const BYTES: u8 = 2 << 5;
const ARRAY: u8 = 4 << 5;
const MAP: u8 = 5 << 5;

pub(super) fn value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xf6),
        Value::Bool(false) => out.push(0xf4),
        Value::Bool(true) => out.push(0xf5),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(unsigned), _) => head(UNSIGNED, unsigned, out),
            (None, Some(negative)) => head(NEGATIVE, !(negative as u64), out),
            (None, None) => float(number.as_f64().unwrap_or(0.0), out),
        },
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            head(ARRAY, items.len() as u64, out);
            items.iter().for_each(|item| self::value(item, out));
        }
        Value::Object(entries) => map(entries, out),
    }
}

/// Writes entries in order of their encoded keys; shorter keys are first.
fn map(entries: &Map<String, Value>, out: &mut Vec<u8>) {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| (key.len(), *key));
    head(MAP, entries.len() as u64, out);
    for (key, value) in entries {
        string(key, out);
        self::value(value, out);
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    head(BYTES, text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn head(major: u8, argument: u64, out: &mut Vec<u8>) {
    let bytes = argument.to_be_bytes();
    let (info, length) = match argument {
        0..24 => return out.push(major | argument as u8),
        24..0x100 => (24, 1),
        0x100..0x1_0000 => (25, 2),
        0x1_0000..0x1_0000_0000 => (26, 4),
        _ => (27, 8),
    };
    out.push(major | info);
    out.extend_from_slice(&bytes[8 - length..]);
}

fn float(value: f64, out: &mut Vec<u8>) {
    let single = value as f32;
    if f64::from(single) != value {
        out.push(0xfb);
        out.extend_from_slice(&value.to_be_bytes());
    } else if let Some(half) = to_half(single) {
        out.push(0xf9);
        out.extend_from_slice(&half.to_be_bytes());
    } else {
        out.push(0xfa);
        out.extend_from_slice(&single.to_be_bytes());
    }
}

/// The bits of the number in half precision, if it is exact.
fn to_half(value: f32) -> Option<u16> {
    let bits = value.to_bits();
    let (sign, exponent, fraction) = ((bits >> 16) as u16 & 0x8000, (bits >> 23) as i32 & 0xff, bits & 0x7f_ffff);
    match exponent - 127 {
        _ if exponent == 0 && fraction == 0 => Some(sign),
        scale @ -14..=15 if fraction & 0x1fff == 0 => {
            Some(sign | ((scale + 15) as u16) << 10 | (fraction >> 13) as u16)
        }
        scale @ -24..=-15 => {
            // Subnormal: the implicit leading one becomes a digit of the fraction.
            let (whole, shift) = (fraction | 0x80_0000, (-1 - scale) as u32);
            (whole & ((1 << shift) - 1) == 0).then(|| sign | (whole >> shift) as u16)
        }
        _ => None,
    }
}
