//! Wire encoding of scalars. Half of them are messages.

use bytes::Bytes;

use super::error::Error;
use super::wire::{DELIMITED, FIXED64, Reader, Tag, VARINT};
use super::writer::Writer;
use crate::scalar::raw::RawContent;
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};
use crate::{cbor, json};

/// A type that can be encoded after a tag.
pub(super) trait Wire {
    /// Its wire type.
    const WIRE: u8;

    /// Writes the value after the tag.
    fn put(&self, w: &mut Writer);

    /// Writes the field with this number.
    #[inline]
    fn put_field(&self, w: &mut Writer, number: u32) {
        self.put(w);
        w.tag(number, Self::WIRE);
    }

    /// Decodes the value after the tag. Messages are merged, everything else is replaced.
    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error>;

    /// Validates embedded text of a client, with at most `depth` nested containers.
    #[inline]
    fn check(&self, _depth: usize) -> Result<(), Error> {
        Ok(())
    }
}

/// Decodes text; bytes that are not UTF-8 become U+FFFD.
#[inline]
pub(super) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

macro_rules! varints {
    ($($ty:ty: |$value:ident| $put:expr, |$wire:ident| $take:expr;)*) => {$(
        impl Wire for $ty {
            const WIRE: u8 = VARINT;

            #[inline]
            fn put(&self, w: &mut Writer) {
                let $value = *self;
                w.varint($put);
            }

            #[inline]
            fn put_field(&self, w: &mut Writer, number: u32) {
                let $value = *self;
                w.varint_field(number, $put);
            }

            #[inline]
            fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
                let $wire = reader.varint()?;
                *self = $take;
                Ok(())
            }
        }
    )*};
}
varints! {
    bool: |v| u64::from(v), |wire| wire != 0;
    i32: |v| i64::from(v) as u64, |wire| wire as i32;
    i64: |v| v as u64, |wire| wire as i64;
}

impl Wire for f64 {
    const WIRE: u8 = FIXED64;

    fn put(&self, w: &mut Writer) {
        w.bytes(&self.to_le_bytes());
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        *self = f64::from_bits(reader.fixed64()?);
        Ok(())
    }
}

impl Wire for String {
    const WIRE: u8 = DELIMITED;

    #[inline]
    fn put(&self, w: &mut Writer) {
        w.bytes(self.as_bytes());
        w.varint(self.len() as u64);
    }

    #[inline]
    fn put_field(&self, w: &mut Writer, number: u32) {
        w.delimited(number, self.as_bytes());
    }

    #[inline]
    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        *self = text(reader.delimited()?);
        Ok(())
    }
}

impl Wire for Bytes {
    const WIRE: u8 = DELIMITED;

    fn put(&self, w: &mut Writer) {
        w.bytes(self);
        w.varint(self.len() as u64);
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        *self = Bytes::copy_from_slice(reader.delimited()?);
        Ok(())
    }
}

/// Writes a message and its length.
#[inline]
fn put_message(w: &mut Writer, fields: impl FnOnce(&mut Writer)) {
    let before = w.len();
    fields(w);
    w.varint((w.len() - before) as u64);
}

/// Decodes a message field by field. `field` returns false for unknown fields.
fn read_message<'a>(
    reader: &mut Reader<'a>,
    name: &'static str,
    mut field: impl FnMut(Tag, &mut Reader<'a>) -> Result<bool, Error>,
) -> Result<(), Error> {
    let mut reader = Reader(reader.delimited()?);
    while !reader.is_empty() {
        let tag = reader.tag(name)?;
        if !field(tag, &mut reader)? {
            reader.skip(tag.wire)?;
        }
    }
    Ok(())
}

fn varint_of(tag: Tag, field: &'static str, reader: &mut Reader<'_>) -> Result<u64, Error> {
    if tag.wire == VARINT { reader.varint() } else { Err(Error::WrongWireType { wire: tag.wire, field }) }
}

fn bytes_of<'a>(tag: Tag, field: &'static str, reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    if tag.wire == DELIMITED { reader.delimited() } else { Err(Error::WrongWireType { wire: tag.wire, field }) }
}

impl Wire for Quantity {
    const WIRE: u8 = DELIMITED;

    fn put(&self, w: &mut Writer) {
        put_message(w, |w| {
            w.text(|out| self.append_to(out));
            w.tag(1, DELIMITED);
        });
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        read_message(reader, "Quantity", |tag, reader| {
            if tag.number == 1 {
                *self = Quantity::parse(&String::from_utf8_lossy(bytes_of(tag, "string_", reader)?))?;
            }
            Ok(tag.number == 1)
        })
    }
}

/// Seconds and nanoseconds of upstream's `Timestamp`; `None` if the message is empty.
fn read_timestamp(reader: &mut Reader<'_>) -> Result<Option<(i64, i32)>, Error> {
    let (mut seconds, mut nanos) = (0, 0);
    let mut peek = *reader;
    let empty = peek.delimited()?.is_empty();
    read_message(reader, "Timestamp", |tag, reader| {
        match tag.number {
            1 => seconds = varint_of(tag, "seconds", reader)? as i64,
            2 => nanos = varint_of(tag, "nanos", reader)? as i32,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok((!empty).then_some((seconds, nanos)))
}

impl Wire for Time {
    const WIRE: u8 = DELIMITED;

    fn put(&self, w: &mut Writer) {
        put_message(w, |w| {
            if !self.is_zero() {
                w.varint_field(2, 0);
                w.varint_field(1, self.unix() as u64);
            }
        });
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        *self = read_timestamp(reader)?.map_or(Time::ZERO, |(seconds, _)| Time::from_unix(seconds));
        Ok(())
    }
}

impl Wire for MicroTime {
    const WIRE: u8 = DELIMITED;

    fn put(&self, w: &mut Writer) {
        put_message(w, |w| {
            if !self.is_zero() {
                let (seconds, nanos) = self.unix();
                w.varint_field(2, nanos as u64);
                w.varint_field(1, seconds as u64);
            }
        });
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        *self =
            read_timestamp(reader)?.map_or(MicroTime::ZERO, |(seconds, nanos)| MicroTime::from_unix(seconds, nanos));
        Ok(())
    }
}

impl Wire for Duration {
    const WIRE: u8 = DELIMITED;

    fn put(&self, w: &mut Writer) {
        put_message(w, |w| w.varint_field(1, self.nanos() as u64));
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        read_message(reader, "Duration", |tag, reader| {
            if tag.number == 1 {
                *self = Duration::from_nanos(varint_of(tag, "duration", reader)? as i64);
            }
            Ok(tag.number == 1)
        })
    }
}

impl Wire for IntOrString {
    const WIRE: u8 = DELIMITED;

    fn put(&self, w: &mut Writer) {
        let (kind, number, text) = match self {
            IntOrString::Int(number) => (0, *number, ""),
            IntOrString::String(text) => (1, 0, text.as_str()),
        };
        put_message(w, |w| {
            w.delimited(3, text.as_bytes());
            w.varint_field(2, i64::from(number) as u64);
            w.varint_field(1, kind);
        });
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let (mut is_text, mut number, mut string) = match std::mem::take(self) {
            IntOrString::Int(number) => (false, number, String::new()),
            IntOrString::String(text) => (true, 0, text),
        };
        read_message(reader, "IntOrString", |tag, reader| {
            match tag.number {
                1 => is_text = varint_of(tag, "type", reader)? == 1,
                2 => number = varint_of(tag, "intVal", reader)? as i32,
                3 => string = text(bytes_of(tag, "strVal", reader)?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        *self = if is_text { IntOrString::String(string) } else { IntOrString::Int(number) };
        Ok(())
    }
}

/// Validates embedded JSON.
fn check_json(text: &[u8], depth: usize) -> Result<(), Error> {
    if text.is_empty() || json::is_valid_within(text, depth) {
        return Ok(());
    }
    Err(json::syntax_error(text).map_or(Error::TooDeep, |why| Error::Json(why.into())))
}

/// Validates an embedded object, which may have several encodings.
fn check_extension(content: &RawExtension, depth: usize) -> Result<(), Error> {
    let bytes = content.as_bytes();
    match content.content() {
        RawContent::Cbor => cbor::check(bytes, depth).map_err(|why| Error::Json(why.to_string().into())),
        RawContent::Empty | RawContent::Protobuf => Ok(()),
        RawContent::Json | RawContent::Unknown => check_json(bytes, depth),
    }
}

/// Messages with a single bytes field, which Go omits if it is nil.
macro_rules! raw_messages {
    ($($ty:ident: $check:expr;)*) => {$(
        impl Wire for $ty {
            const WIRE: u8 = DELIMITED;

            fn put(&self, w: &mut Writer) {
                put_message(w, |w| {
                    if !self.is_empty() {
                        w.delimited(1, self.as_bytes());
                    }
                });
            }

            fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
                read_message(reader, stringify!($ty), |tag, reader| {
                    if tag.number == 1 {
                        *self = $ty::new(Bytes::copy_from_slice(bytes_of(tag, "raw", reader)?));
                    }
                    Ok(tag.number == 1)
                })
            }

            fn check(&self, depth: usize) -> Result<(), Error> {
                $check(self, depth)
            }
        }
    )*};
}
raw_messages! {
    RawExtension: check_extension;
    FieldsV1: |text: &FieldsV1, depth| check_json(text.as_bytes(), depth);
    JsonValue: |text: &JsonValue, depth| check_json(text.as_bytes(), depth);
}

/// Protobuf does not encode documents.
impl Wire for Document {
    const WIRE: u8 = DELIMITED;

    fn put(&self, w: &mut Writer) {
        put_message(w, |_| {});
    }

    fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        reader.delimited().map(drop)
    }
}
