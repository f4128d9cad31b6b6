//! Formats a JSON tree as YAML text with the layout of goyaml.

use std::cmp::Ordering;

use libyaml_safer::{Emitter, Encoding, Event, MappingStyle, ScalarStyle, SequenceStyle};

use super::error;
use super::resolve::{Plain, plain};
use crate::json::{Error, Map, Value, encode_value};
use crate::limits::max_blanks;

/// Appends a tree as YAML. If most of the text would be indentation, because values are nested
/// deeply, it is written as JSON, which is valid YAML.
pub(super) fn emit(value: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut size = Size::default();
    size.add(value, 0);
    if size.blanks > max_blanks(size.bytes) {
        encode_value(value, out);
        out.push(b'\n');
        return Ok(());
    }
    let mut text = Vec::new();
    let mut emitter = Emitter::new();
    emitter.set_output_string(&mut text);
    emitter.set_unicode(true);
    let written = write_document(&mut emitter, value).and_then(|()| emitter.flush());
    drop(emitter);
    written.map_err(|problem| error(format_args!("{}", problem.problem())))?;
    // libyaml marks the end of a document if its last line is open; goyaml does not.
    out.extend_from_slice(text.strip_suffix(b"...\n").unwrap_or(&text));
    Ok(())
}

/// The approximate size of a document.
#[derive(Default)]
struct Size {
    bytes: usize,
    blanks: usize,
}

impl Size {
    fn add(&mut self, value: &Value, depth: usize) {
        self.blanks += 2 * depth;
        match value {
            Value::String(text) => self.bytes += text.len(),
            Value::Array(items) => items.iter().for_each(|item| self.add(item, depth + 1)),
            Value::Object(map) => {
                for (key, value) in map {
                    self.bytes += key.len() + 2;
                    self.add(value, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.bytes += 2,
        }
    }
}

const I64_END: f64 = 9_223_372_036_854_775_808.0;
const U64_END: f64 = 18_446_744_073_709_551_616.0;

type Written = Result<(), libyaml_safer::Error>;

fn write_document(emitter: &mut Emitter<'_>, value: &Value) -> Written {
    emitter.emit(Event::stream_start(Encoding::Utf8))?;
    emitter.emit(Event::document_start(None, &[], true))?;
    write(emitter, value)?;
    emitter.emit(Event::document_end(true))?;
    emitter.emit(Event::stream_end())
}

fn write(emitter: &mut Emitter<'_>, value: &Value) -> Written {
    match value {
        Value::Null => scalar(emitter, "null", ScalarStyle::Plain),
        Value::Bool(true) => scalar(emitter, "true", ScalarStyle::Plain),
        Value::Bool(false) => scalar(emitter, "false", ScalarStyle::Plain),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            // The JSON form of these numbers is parsed as an unsigned integer.
            Some(value) if (I64_END..U64_END).contains(&value) => {
                scalar(emitter, &value.to_string(), ScalarStyle::Plain)
            }
            Some(value) => scalar(emitter, &float(value), ScalarStyle::Plain),
            None => scalar(emitter, &number.to_string(), ScalarStyle::Plain),
        },
        Value::String(text) => scalar(emitter, text, style_of(text)),
        Value::Array(items) => {
            emitter.emit(Event::sequence_start(None, None, true, SequenceStyle::Block))?;
            items.iter().try_for_each(|item| write(emitter, item))?;
            emitter.emit(Event::sequence_end())
        }
        Value::Object(map) => write_map(emitter, map),
    }
}

fn write_map(emitter: &mut Emitter<'_>, map: &Map<String, Value>) -> Written {
    let entries = sorted(map.iter().collect());
    emitter.emit(Event::mapping_start(None, None, true, MappingStyle::Block))?;
    for (key, value) in entries {
        scalar(emitter, key, style_of(key))?;
        write(emitter, value)?;
    }
    emitter.emit(Event::mapping_end())
}

/// A merge sort. goyaml's order is not transitive (`a1b`, `a01`, `a2`), and the standard library's
/// sort may panic on such an order.
fn sorted<'v>(mut left: Vec<(&'v String, &'v Value)>) -> Vec<(&'v String, &'v Value)> {
    if left.len() < 2 {
        return left;
    }
    let right = sorted(left.split_off(left.len() / 2)).into_iter();
    let left = sorted(left).into_iter();
    let (mut left, mut right) = (left.peekable(), right.peekable());
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
        let next = if natural_order(b, a).is_lt() { right.next() } else { left.next() };
        merged.extend(next);
    }
    merged.extend(left.chain(right));
    merged
}

fn scalar(emitter: &mut Emitter<'_>, text: &str, style: ScalarStyle) -> Written {
    emitter.emit(Event::scalar(None, None, text, true, true, style))
}

/// Text with another meaning is quoted, and line breaks are kept; libyaml changes the style if it
/// is not possible.
fn style_of(text: &str) -> ScalarStyle {
    if text.contains('\n') {
        ScalarStyle::Literal
    } else if plain(text) == Plain::Text && !is_base_60(text) {
        ScalarStyle::Plain
    } else {
        ScalarStyle::DoubleQuoted
    }
}

/// Whether the text is a base-60 number of YAML 1.1 (`190:20:30`), which goyaml quotes although it
/// does not parse it as a number.
fn is_base_60(text: &str) -> bool {
    let is_part = |part: &str| match part.as_bytes() {
        [d] => d.is_ascii_digit(),
        [b'0'..=b'5', d] => d.is_ascii_digit(),
        _ => false,
    };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let Some((first, rest)) = unsigned.split_once(':') else { return false };
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    first.starts_with(|c: char| c.is_ascii_digit()) && digits(first) && rest.split(':').all(is_part) && digits(fraction)
}

/// Go's `strconv.FormatFloat(value, 'g', -1, 64)`: with an exponent for values of at least a
/// million.
pub(super) fn float(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            ".nan"
        } else if value > 0.0 {
            ".inf"
        } else {
            "-.inf"
        }
        .into();
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// goyaml's order of keys: numbers in them are compared as numbers.
fn natural_order(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(at) = a.iter().zip(&b).position(|(x, y)| x != y) else { return a.len().cmp(&b.len()) };
    let (x, y) = (a[at], b[at]);
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero after other digits is not a leading zero.
    let begun = (x == '0' || y == '0') && a[..at].iter().rev().take_while(|c| c.is_numeric()).any(|c| *c != '0');
    let number = |text: &[char]| {
        let digits = text[at..].iter().take_while(|c| c.is_numeric());
        digits.fold((i64::from(begun), 0), |(sum, count), c| {
            (sum.wrapping_mul(10).wrapping_add(i64::from(*c as u32) - i64::from('0' as u32)), count + 1)
        })
    };
    let ((an, ai), (bn, bi)) = (number(&a), number(&b));
    an.cmp(&bn).then(ai.cmp(&bi)).then(x.cmp(&y))
}
