//! From protobuf to JSON without the struct between.
//!
//! A read answers with what is stored in another media type, so this is the hottest path of a JSON client. A message is walked once to
//! find where its fields are, then they are written in order of declaration, straight from the bytes. What upstream would never write
//! (a message in pieces, map keys out of order, packed numbers, text that is not UTF-8, anything broken) is left to the ordinary codecs, which
//! settle what it means; so the result is what `json::encode` makes of the decoded struct, byte for byte.

use super::decode::MAX_DEPTH;
use super::error::Error;
use super::scalars::Wire;
use super::wire::{DELIMITED, FIXED64, Reader, VARINT};
use crate::def::{Flags, JsonForm, Scalar, Shape, StructDef};
use crate::json::{self, JsonScalar, string, write_base64, write_raw};
use crate::reflect::Owned;
use crate::scalar::{Duration, IntOrString, MicroTime, Quantity, RawExtension, Time};

/// Appends the JSON of a message (upstream has no such thing; it decodes and encodes).
pub fn to_json(def: &'static StructDef, raw: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    if Transcoder::new(out).structure(def, raw, MAX_DEPTH).is_some() {
        return Ok(());
    }
    out.truncate(start);
    json::encode(owned(def, raw)?.as_ref(), out);
    Ok(())
}

/// Appends the JSON of an object with this version and kind, which protobuf keeps in the envelope.
pub fn object_to_json(
    api_version: &str,
    kind: &str,
    def: &'static StructDef,
    raw: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let start = out.len();
    if Transcoder::new(out).object(api_version, kind, def, raw).is_some() {
        return Ok(());
    }
    out.truncate(start);
    json::encode_object(api_version, kind, owned(def, raw)?.as_ref(), out);
    Ok(())
}

fn owned(def: &'static StructDef, raw: &[u8]) -> Result<Owned, Error> {
    let mut value = Owned::new(def);
    super::decode(raw, value.as_mut())?;
    Ok(value)
}

/// What stands for any absent scalar: a number 0, or no bytes.
const ZERO: [u8; 8] = [0; 8];

/// Where a field is in its message. Offsets count from the start of the message.
#[derive(Clone, Copy, Default)]
struct Found {
    /// The tag of its first occurrence.
    start: u32,
    /// The value of its last occurrence.
    last: u32,
    /// The end of its last occurrence.
    end: u32,
    count: u32,
}

impl Found {
    /// From the first occurrence to the end of the last one, with whatever is between them.
    fn all(self, raw: &[u8]) -> &[u8] {
        &raw[self.start as usize..self.end as usize]
    }

    /// The last value.
    fn value(self, raw: &[u8]) -> &[u8] {
        &raw[self.last as usize..self.end as usize]
    }
}

/// Everything here returns nothing when the ordinary codecs are to do it.
struct Transcoder<'o> {
    out: &'o mut Vec<u8>,
    /// What was found in the messages that are being written, the innermost last.
    found: Vec<Found>,
}

impl<'o> Transcoder<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        Transcoder { out, found: Vec::with_capacity(128) }
    }

    fn object(&mut self, api_version: &str, kind: &str, def: &'static StructDef, raw: &[u8]) -> Option<()> {
        let start = self.out.len();
        for (key, text) in [(",\"kind\":", kind), (",\"apiVersion\":", api_version)] {
            if !text.is_empty() {
                self.out.extend_from_slice(key.as_bytes());
                string(self.out, text);
            }
        }
        let names: Vec<&str> = def.json_fields().take(2).map(|field| field.json).collect();
        self.fields(def, raw, if names == ["kind", "apiVersion"] { 2 } else { 0 }, MAX_DEPTH)?;
        self.close(start, b"{}");
        Some(())
    }

    fn structure(&mut self, def: &'static StructDef, raw: &[u8], depth: u32) -> Option<()> {
        let start = self.out.len();
        match def.json_form {
            JsonForm::Fields | JsonForm::Open => {
                self.fields(def, raw, 0, depth)?;
                self.close(start, b"{}");
            }
            JsonForm::Items => {
                let (base, _) = self.scan(def, raw, depth)?;
                match def.fields.first() {
                    Some(field) => self.value(field.shape(), field.number, raw, self.found[base], depth).map(drop)?,
                    None => self.null(),
                }
                self.found.truncate(base);
            }
            JsonForm::SchemaOrArray | JsonForm::SchemaOrBool | JsonForm::SchemaOrStrings => {
                json::encode(owned(def, raw).ok()?.as_ref(), self.out);
            }
        }
        Some(())
    }

    /// Notes where each field of a message is, on top of `found`, and says where these notes start and of which fields there are any.
    fn scan(&mut self, def: &'static StructDef, raw: &[u8], depth: u32) -> Option<(usize, u128)> {
        if depth == 0 || def.fields.len() > 128 || raw.len() > u32::MAX as usize {
            return None;
        }
        let (base, mut present) = (self.found.len(), 0);
        self.found.resize(base + def.fields.len(), Found::default());
        let tables = def.tables();
        let mut reader = Reader(raw);
        while !reader.is_empty() {
            let start = raw.len() - reader.0.len();
            let tag = reader.tag(def.name).ok()?;
            let last = raw.len() - reader.0.len();
            reader.skip(tag.wire).ok()?;
            let Some(i) = tables.by_number(tag.number) else { continue };
            if tag.wire != wire(tables.fields[i].shape) {
                return None;
            }
            let found = &mut self.found[base + i];
            found.start = if found.count == 0 { start as u32 } else { found.start };
            found.last = last as u32;
            found.end = (raw.len() - reader.0.len()) as u32;
            found.count += 1;
            present |= 1 << i;
        }
        Some((base, present))
    }

    /// Writes fields, each with a comma before it, except the first `skip` that JSON has; [`Self::close`] makes an object of them.
    fn fields(&mut self, def: &'static StructDef, raw: &[u8], skip: usize, depth: u32) -> Option<()> {
        let (base, present) = self.scan(def, raw, depth)?;
        let tables = def.tables();
        let mut left = present | tables.always;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let (field, index, found) = (&def.fields[i], tables.json_at[i] as usize, self.found[base + i]);
            match tables.fields[i].shape {
                Shape::Struct(inner) if field.flags.has(Flags::INLINE) => {
                    let bytes = single(raw, found)?;
                    self.fields(inner, bytes, skip.saturating_sub(index), depth - 1)?;
                }
                shape
                    if index >= skip
                        && !(field.flags.has(Flags::OMIT_EMPTY) && is_clearly_empty(shape, raw, found)) =>
                {
                    let start = self.out.len();
                    self.out.push(b',');
                    self.out.extend_from_slice(tables.json[index].key.as_bytes());
                    if self.value(shape, field.number, raw, found, depth)? && field.flags.has(Flags::OMIT_EMPTY) {
                        self.out.truncate(start);
                    }
                }
                _ => {}
            }
        }
        self.found.truncate(base);
        Some(())
    }

    /// Writes a field's value, and tells whether it is what `omitempty` leaves out.
    fn value(&mut self, shape: Shape, number: u32, raw: &[u8], found: Found, depth: u32) -> Option<bool> {
        if found.count == 0 {
            match shape {
                Shape::One(scalar) => return self.scalar(scalar, &mut Reader(&ZERO), true),
                Shape::Struct(def) => return self.structure(def, &[], depth - 1).map(|()| false),
                _ => self.null(),
            }
            return Some(true);
        }
        match shape {
            Shape::One(_) | Shape::Opt(_) | Shape::Struct(_) | Shape::OptStruct(_) if found.count > 1 => return None,
            Shape::One(scalar) => return self.scalar(scalar, &mut Reader(found.value(raw)), true),
            Shape::Opt(scalar) => drop(self.scalar(scalar, &mut Reader(found.value(raw)), false)?),
            Shape::Struct(def) | Shape::OptStruct(def) => self.structure(def, single(raw, found)?, depth - 1)?,
            Shape::List(scalar) => {
                self.list(number, raw, found, |this, reader| this.scalar(scalar, reader, false).map(drop))?
            }
            Shape::StructList(def, _) => {
                self.list(number, raw, found, |this, reader| this.structure(def, reader.delimited().ok()?, depth - 1))?;
            }
            Shape::Map(scalar) => {
                self.map(number, raw, found, |this, bytes| this.scalar(scalar, &mut Reader(bytes), false).map(drop))?;
            }
            Shape::StructMap(def, _) => {
                self.map(number, raw, found, |this, bytes| {
                    this.structure(def, Reader(bytes).delimited().ok()?, depth - 1)
                })?;
            }
        }
        Some(false)
    }

    fn list(
        &mut self,
        number: u32,
        raw: &[u8],
        found: Found,
        mut item: impl FnMut(&mut Self, &mut Reader<'_>) -> Option<()>,
    ) -> Option<()> {
        let start = self.out.len();
        let mut reader = Reader(found.all(raw));
        while !reader.is_empty() {
            let tag = reader.tag("").ok()?;
            if tag.number == number {
                self.out.push(b',');
                item(self, &mut reader)?;
            } else {
                reader.skip(tag.wire).ok()?;
            }
        }
        self.close(start, b"[]");
        Some(())
    }

    /// Keys have to be in order, as the map that they would be read into has them.
    fn map(
        &mut self,
        number: u32,
        raw: &[u8],
        found: Found,
        mut value: impl FnMut(&mut Self, &[u8]) -> Option<()>,
    ) -> Option<()> {
        let start = self.out.len();
        let mut before: Option<&[u8]> = None;
        let mut reader = Reader(found.all(raw));
        while !reader.is_empty() {
            let tag = reader.tag("").ok()?;
            if tag.number != number {
                reader.skip(tag.wire).ok()?;
                continue;
            }
            let (key, bytes) = entry(reader.delimited().ok()?)?;
            if before.is_some_and(|before| before >= key) {
                return None;
            }
            before = Some(key);
            self.out.push(b',');
            string(self.out, std::str::from_utf8(key).ok()?);
            self.out.push(b':');
            value(self, bytes)?;
        }
        self.close(start, b"{}");
        Some(())
    }

    /// Writes a scalar, and tells whether it is empty. `plain` bytes that are empty are Go's nil.
    fn scalar(&mut self, scalar: Scalar, reader: &mut Reader<'_>, plain: bool) -> Option<bool> {
        match scalar {
            Scalar::String => {
                let text = std::str::from_utf8(reader.delimited().ok()?).ok()?;
                string(self.out, text);
                Some(text.is_empty())
            }
            Scalar::Bytes => {
                let bytes = reader.delimited().ok()?;
                if bytes.is_empty() && plain {
                    self.null()
                } else {
                    write_base64(self.out, bytes)
                }
                Some(bytes.is_empty())
            }
            Scalar::FieldsV1 | Scalar::Json => self.raw(reader),
            Scalar::Document => None,
            Scalar::Bool => self.read(reader, |v: &bool| !v),
            Scalar::I32 => self.read(reader, |v: &i32| *v == 0),
            Scalar::I64 => self.read(reader, |v: &i64| *v == 0),
            Scalar::F64 => self.read(reader, |v: &f64| *v == 0.0),
            Scalar::Time => self.read(reader, |v: &Time| v.is_zero()),
            Scalar::MicroTime => self.read(reader, |v: &MicroTime| v.is_zero()),
            Scalar::RawExtension => self.read(reader, |v: &RawExtension| v.is_empty()),
            Scalar::Quantity => self.read(reader, |_: &Quantity| false),
            Scalar::Duration => self.read(reader, |_: &Duration| false),
            Scalar::IntOrString => self.read(reader, |_: &IntOrString| false),
        }
    }

    fn read<T: Wire + JsonScalar>(&mut self, reader: &mut Reader<'_>, is_empty: fn(&T) -> bool) -> Option<bool> {
        let mut value = T::default();
        value.merge(reader).ok()?;
        value.write(self.out);
        Some(is_empty(&value))
    }

    /// JSON in a message of one field.
    fn raw(&mut self, reader: &mut Reader<'_>) -> Option<bool> {
        let mut message = Reader(reader.delimited().ok()?);
        let mut json: &[u8] = &[];
        while !message.is_empty() {
            let tag = message.tag("").ok()?;
            if tag.number != 1 || tag.wire != DELIMITED {
                return None;
            }
            json = message.delimited().ok()?;
        }
        if json.is_empty() {
            self.null()
        } else {
            write_raw(self.out, json)
        }
        Some(json.is_empty())
    }

    fn null(&mut self) {
        self.out.extend_from_slice(b"null");
    }

    /// Puts brackets around what was written from `start` on, each item with a comma before it.
    fn close(&mut self, start: usize, brackets: &[u8; 2]) {
        match self.out.get_mut(start) {
            Some(comma) => *comma = brackets[0],
            None => self.out.push(brackets[0]),
        }
        self.out.push(brackets[1]);
    }
}

/// Whether a field can be seen to be empty without being read: it is absent, or its value is nothing but a 0, which is a number 0 or no
/// bytes. Most fields are that, since upstream writes plain scalars always.
#[inline]
fn is_clearly_empty(shape: Shape, raw: &[u8], found: Found) -> bool {
    match shape {
        Shape::Struct(_) | Shape::One(Scalar::Quantity | Scalar::Duration | Scalar::IntOrString) => false,
        Shape::One(Scalar::F64) => found.count == 0,
        Shape::One(_) => found.count == 0 || (found.count == 1 && raw[found.last as usize] == 0),
        _ => found.count == 0,
    }
}

/// The message of a field that occurs once at most.
fn single(raw: &[u8], found: Found) -> Option<&[u8]> {
    match found.count {
        0 => Some(&[]),
        1 => Reader(found.value(raw)).delimited().ok(),
        _ => None,
    }
}

/// Key and value of a map's entry: the two fields in this order, or the key alone.
fn entry(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    const KEY: u64 = 1 << 3 | DELIMITED as u64;
    let mut reader = Reader(bytes);
    if reader.varint().ok()? != KEY {
        return None;
    }
    let key = reader.delimited().ok()?;
    if reader.is_empty() {
        return Some((key, &ZERO));
    }
    let tag = reader.varint().ok()?;
    let value = reader.0;
    reader.skip((tag & 7) as u8).ok()?;
    (tag >> 3 == 2 && reader.is_empty()).then_some((key, value))
}

/// The wire type of a shape that is not packed.
fn wire(shape: Shape) -> u8 {
    match shape {
        Shape::One(scalar) | Shape::Opt(scalar) | Shape::List(scalar) => match scalar {
            Scalar::Bool | Scalar::I32 | Scalar::I64 => VARINT,
            Scalar::F64 => FIXED64,
            _ => DELIMITED,
        },
        _ => DELIMITED,
    }
}
