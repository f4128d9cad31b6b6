//! From protobuf to JSON without the struct between.
//!
//! A read answers with what is stored in another media type, so this is the hottest path of a JSON client. A message is walked once to
//! find where its fields are, then they are written in order of declaration, straight from the bytes. What upstream would never write
//! (a message in pieces, map keys out of order, packed numbers, text that is not UTF-8, anything broken) is left to the ordinary codecs, which
//! settle what it means; so the result is what `json::encode` makes of the decoded struct, byte for byte.

use super::decode::MAX_DEPTH;
use super::error::Error;
use super::scalars::Wire;
use super::step::Step;
use super::wire::{DELIMITED, Reader, VARINT};
use crate::def::{JsonForm, Scalar, Shape, StructDef};
use crate::json::{self, JsonScalar, string, write_base64, write_key, write_raw, write_text};
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
}

impl Found {
    /// From the first occurrence to the end of the last one, with whatever is between them.
    fn all(self, raw: &[u8]) -> &[u8] {
        &raw[self.start as usize..self.end as usize]
    }

    /// The last value.
    fn value(self, raw: &[u8]) -> Reader<'_> {
        Reader(&raw[self.last as usize..self.end as usize])
    }

    /// The message that it is; an empty one when there is none.
    fn message(found: Option<Self>, raw: &[u8]) -> Option<&[u8]> {
        found.map_or(Some(&[]), |found| found.value(raw).delimited().ok())
    }
}

/// Everything here returns nothing when the ordinary codecs are to do it.
struct Transcoder<'o> {
    out: &'o mut Vec<u8>,
    /// What was found in the messages that are being written, the innermost last. Only what a message has is up to date.
    found: Vec<Found>,
    /// Where the notes of the next message go.
    top: usize,
}

impl<'o> Transcoder<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        Transcoder { out, found: vec![Found::default(); 128], top: 0 }
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
                let (base, present) = self.scan(def, raw, depth)?;
                let found = (present & 1 != 0).then(|| self.found[base]);
                match def.tables().steps.first() {
                    Some(step) => drop(self.value(step, raw, found, depth)?),
                    None => self.null(),
                }
                self.top = base;
            }
            JsonForm::SchemaOrArray | JsonForm::SchemaOrBool | JsonForm::SchemaOrStrings => {
                json::encode(owned(def, raw).ok()?.as_ref(), self.out);
            }
        }
        Some(())
    }

    /// Notes where each field of a message is, and says where these notes start and of which fields there are any: not of those that JSON
    /// leaves out.
    fn scan(&mut self, def: &'static StructDef, raw: &[u8], depth: u32) -> Option<(usize, u64)> {
        if depth == 0 || def.fields.len() > 64 || raw.len() > u32::MAX as usize {
            return None;
        }
        let (base, top) = (self.top, self.top + def.fields.len());
        if self.found.len() < top {
            self.found.resize(2 * top, Found::default());
        }
        self.top = top;
        let (tables, all, mut present) = (def.tables(), &mut self.found[base..top], 0);
        let mut reader = Reader(raw);
        while !reader.is_empty() {
            let start = (raw.len() - reader.0.len()) as u32;
            let tag = reader.tag(def.name).ok()?;
            let last = (raw.len() - reader.0.len()) as u32;
            match tag.wire {
                DELIMITED => drop(reader.delimited().ok()?),
                VARINT => drop(reader.varint().ok()?),
                other => reader.skip(other).ok()?,
            }
            let Some(i) = tables.by_number(tag.number) else { continue };
            let (step, bit) = (&tables.steps[i], 1 << i);
            if tag.wire != step.wire {
                return None;
            }
            let end = (raw.len() - reader.0.len()) as u32;
            if present & bit == 0 {
                if step.drops_zero && raw[last as usize] == 0 {
                    continue;
                }
                present |= bit;
                all[i].start = start;
            } else if !step.is_repeated {
                return None;
            }
            (all[i].last, all[i].end) = (last, end);
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
            let (step, found) = (&tables.steps[i], (present >> i & 1 != 0).then(|| self.found[base + i]));
            let index = step.json as usize;
            match step.shape {
                Shape::Struct(inner) if step.is_inline => {
                    self.fields(inner, Found::message(found, raw)?, skip.saturating_sub(index), depth - 1)?;
                }
                _ if index < skip => {}
                _ => {
                    let start = self.out.len();
                    write_key(&tables.json[index], self.out);
                    if self.value(step, raw, found, depth)? && step.omits_empty {
                        self.out.truncate(start);
                    }
                }
            }
        }
        self.top = base;
        Some(())
    }

    /// Writes a field's value, and tells whether it is what `omitempty` leaves out.
    fn value(&mut self, step: &Step, raw: &[u8], found: Option<Found>, depth: u32) -> Option<bool> {
        match (step.shape, found) {
            (Shape::One(scalar), None) => return self.scalar(scalar, &mut Reader(&ZERO), true),
            (Shape::One(scalar), Some(found)) => return self.scalar(scalar, &mut found.value(raw), true),
            (Shape::Struct(def), found) => self.structure(def, Found::message(found, raw)?, depth - 1)?,
            (_, None) => {
                self.null();
                return Some(true);
            }
            (Shape::Opt(scalar), Some(found)) => drop(self.scalar(scalar, &mut found.value(raw), false)?),
            (Shape::OptStruct(def), found) => self.structure(def, Found::message(found, raw)?, depth - 1)?,
            (Shape::List(scalar), Some(found)) => {
                self.list(step, raw, found, |this, reader| this.scalar(scalar, reader, false).map(drop))?;
            }
            (Shape::StructList(def, _), Some(found)) => {
                self.list(step, raw, found, |this, reader| this.structure(def, reader.delimited().ok()?, depth - 1))?;
            }
            (Shape::Map(scalar), Some(found)) => {
                self.map(step, raw, found, |this, bytes| this.scalar(scalar, &mut Reader(bytes), false).map(drop))?;
            }
            (Shape::StructMap(def, _), Some(found)) => {
                self.map(step, raw, found, |this, bytes| {
                    this.structure(def, Reader(bytes).delimited().ok()?, depth - 1)
                })?;
            }
        }
        Some(false)
    }

    fn list(
        &mut self,
        step: &Step,
        raw: &[u8],
        found: Found,
        mut item: impl FnMut(&mut Self, &mut Reader<'_>) -> Option<()>,
    ) -> Option<()> {
        let start = self.out.len();
        let mut reader = Reader(found.all(raw));
        while !reader.is_empty() {
            let tag = reader.tag("").ok()?;
            if tag.number == step.number {
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
        step: &Step,
        raw: &[u8],
        found: Found,
        mut value: impl FnMut(&mut Self, &[u8]) -> Option<()>,
    ) -> Option<()> {
        let start = self.out.len();
        let mut before: Option<&[u8]> = None;
        let mut reader = Reader(found.all(raw));
        while !reader.is_empty() {
            let tag = reader.tag("").ok()?;
            if tag.number != step.number {
                reader.skip(tag.wire).ok()?;
                continue;
            }
            let (key, bytes) = entry(reader.delimited().ok()?)?;
            if before.is_some_and(|before| before >= key) {
                return None;
            }
            before = Some(key);
            self.out.push(b',');
            write_text(self.out, key)?;
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
                let bytes = reader.delimited().ok()?;
                write_text(self.out, bytes)?;
                Some(bytes.is_empty())
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
