//! Encodes messages from the last byte to the first.
//!
//! The length of a message precedes it. A forward encoder must compute all lengths first or move
//! messages afterwards; a backward encoder knows each length when it writes it. gogo also writes
//! backwards, but computes the size first to allocate its buffer. Here each thread reuses a buffer,
//! which leaves one allocation of the exact size per object: the result.

use std::cell::Cell;

use super::scalars::Wire;
use super::writer::Writer;
use crate::reflect::{List, Map, Ref, StructList, StructMap, Value};

/// Limit on the size of the buffer that is kept for the next object.
const KEPT: usize = 1 << 20;

thread_local! {
    static BUFFER: Cell<Buffers> = const { Cell::new(Buffers { main: Vec::new(), text: Vec::new() }) };
}

#[derive(Default)]
struct Buffers {
    main: Vec<u8>,
    /// Buffer for scalars that are formatted forwards.
    text: Vec<u8>,
}

/// Appends a message without its envelope.
pub fn encode(value: Ref<'_>, out: &mut Vec<u8>) {
    write(out, |w| message(w, value));
}

/// Whether a struct is encoded to this message. Needs no memory for the message.
pub fn encodes_to(value: Ref<'_>, bytes: &[u8]) -> bool {
    with_written(|w| message(w, value), |written| written == bytes)
}

/// Appends a value as the field with this number.
pub(crate) fn encode_field(number: u32, value: Value<'_>, out: &mut Vec<u8>) {
    write(out, |w| field(w, number, value));
}

/// Appends the bytes that `f` writes backwards.
pub(crate) fn write(out: &mut Vec<u8>, f: impl FnOnce(&mut Writer)) {
    with_written(f, |written| out.extend_from_slice(written));
}

/// Passes the bytes that `f` writes backwards to `read`.
pub(crate) fn with_written<R>(f: impl FnOnce(&mut Writer), read: impl FnOnce(&[u8]) -> R) -> R {
    let Buffers { main: buf, text } = BUFFER.take();
    let mut w = Writer { at: buf.len(), buf, text };
    f(&mut w);
    let result = read(&w.buf[w.at..]);
    if w.buf.len() <= KEPT {
        BUFFER.set(Buffers { main: w.buf, text: w.text });
    }
    result
}

/// Writes the fields of a struct.
pub(crate) fn message(w: &mut Writer, value: Ref<'_>) {
    value.each_wire_field_rev(|number, value| field(w, number, value));
}

#[inline(always)]
fn field(w: &mut Writer, number: u32, value: Value<'_>) {
    match value {
        Value::Null => {}
        Value::Bool(v) => scalar(w, number, &v),
        Value::I32(v) => scalar(w, number, &v),
        Value::I64(v) => scalar(w, number, &v),
        Value::F64(v) => scalar(w, number, &v),
        Value::String(v) => w.delimited(number, v.as_bytes()),
        // Go writes bytes that are not nil. Here empty bytes stand for nil, which is far more
        // common.
        Value::Bytes(v) if v.is_empty() => {}
        Value::Bytes(v) => w.delimited(number, v),
        Value::Quantity(v) => scalar(w, number, v),
        Value::Time(v) => scalar(w, number, &v),
        Value::MicroTime(v) => scalar(w, number, &v),
        Value::Duration(v) => scalar(w, number, &v),
        Value::IntOrString(v) => scalar(w, number, v),
        Value::RawExtension(v) => scalar(w, number, v),
        Value::FieldsV1(v) => scalar(w, number, v),
        Value::Json(v) => scalar(w, number, v),
        Value::Document(v) => scalar(w, number, v),
        Value::Struct(v) => nested(w, number, v),
        Value::List(v) => list(w, number, v),
        Value::Map(v) => map(w, number, v),
        Value::StructList(v) => struct_list(w, number, v),
        Value::StructMap(v) => struct_map(w, number, v),
    }
}

#[inline]
fn scalar<T: Wire>(w: &mut Writer, number: u32, value: &T) {
    value.put_field(w, number);
}

#[inline]
fn nested(w: &mut Writer, number: u32, value: Ref<'_>) {
    let before = w.len();
    message(w, value);
    w.close(number, before);
}

fn struct_list(w: &mut Writer, number: u32, items: StructList<'_>) {
    items.iter().rev().for_each(|item| nested(w, number, item));
}

fn struct_map(w: &mut Writer, number: u32, entries: StructMap<'_>) {
    entries.for_each_rev(|key, value| {
        let before = w.len();
        nested(w, 2, value);
        w.delimited(1, key.as_bytes());
        w.close(number, before);
    });
}

macro_rules! per_scalar {
    ($($variant:ident),* $(,)?) => {
        fn list(w: &mut Writer, number: u32, items: List<'_>) {
            match items { $(List::$variant(v) => v.iter().rev().for_each(|item| scalar(w, number, item))),* }
        }

        fn map(w: &mut Writer, number: u32, entries: Map<'_>) {
            match entries { $(Map::$variant(v) => v.iter().rev().for_each(|(key, value)| entry(w, number, key, value))),* }
        }
    };
}
per_scalar!(
    Bool,
    I32,
    I64,
    F64,
    String,
    Bytes,
    Quantity,
    Time,
    MicroTime,
    Duration,
    IntOrString,
    RawExtension,
    FieldsV1,
    Json,
    Document,
);

fn entry<T: Wire>(w: &mut Writer, number: u32, key: &str, value: &T) {
    let before = w.len();
    scalar(w, 2, value);
    w.delimited(1, key.as_bytes());
    w.close(number, before);
}
