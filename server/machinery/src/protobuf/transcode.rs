//! From protobuf to JSON without the struct between.
//!
//! A read answers with what is stored in another media type, so this is the hottest path of a JSON client. A message is walked once, and
//! each field is written as it comes; the few that are declared before others with lower numbers are moved to their place. What upstream would
//! never write (a message in pieces, map keys out of order, packed numbers, text that is not UTF-8, anything broken) is left to the
//! ordinary codecs, which settle what it means; so the result is what `json::encode` makes of the decoded struct, byte for byte, once
//! that has been told to say the kinds of what is within it ([`super::say_kinds`]).

use super::error::Error;
use super::kinds::{CORE_V1, say_kinds};
use super::scalars::Wire;
use super::step::{Manner, Step};
use super::wire::{DELIMITED, Reader};
use crate::def::{JsonForm, Scalar, Shape, StructDef};
use crate::json::{self, JsonScalar, string, write_base64, write_long_key, write_raw, write_text};
use crate::limits::MAX_STORED_DEPTH;
use crate::reflect::{FlatField, Owned};
use crate::scalar::quantity::is_plainly_canonical;
use crate::scalar::{Duration, IntOrString, MicroTime, Quantity, RawExtension, Time};

/// Appends the JSON of a message (upstream has no such thing; it decodes and encodes).
pub fn to_json(def: &'static StructDef, raw: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    fetch(raw);
    let start = out.len();
    if Transcoder::new(out).structure(def, raw, MAX_STORED_DEPTH).is_some() {
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
    fetch(raw);
    let start = out.len();
    if Transcoder::new(out).object(api_version, kind, def, raw, MAX_STORED_DEPTH).is_some() {
        return Ok(());
    }
    out.truncate(start);
    json::encode_object(api_version, kind, owned(def, raw)?.as_ref(), out);
    Ok(())
}

fn owned(def: &'static StructDef, raw: &[u8]) -> Result<Owned, Error> {
    let mut value = Owned::new(def);
    super::decode(raw, value.as_mut())?;
    say_kinds(value.as_mut());
    Ok(value)
}

/// What stands for any absent scalar: a number 0, or no bytes.
const ZERO: [u8; 8] = [0; 8];

/// A field that has been written.
#[derive(Clone, Copy)]
struct Written {
    /// Its place among the fields of its struct.
    index: usize,
    /// Where its comma is.
    start: usize,
}

/// Everything here returns nothing when the ordinary codecs are to do it.
struct Transcoder<'o> {
    out: &'o mut Vec<u8>,
    /// The fields of the messages that are being written, those of the innermost last, each message's in order of declaration.
    written: Vec<Written>,
}

impl<'o> Transcoder<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        Transcoder { out, written: Vec::with_capacity(64) }
    }

    fn object(
        &mut self,
        api_version: &str,
        kind: &str,
        def: &'static StructDef,
        raw: &[u8],
        depth: usize,
    ) -> Option<()> {
        let start = self.out.len();
        for (key, text) in [(",\"kind\":", kind), (",\"apiVersion\":", api_version)] {
            if !text.is_empty() {
                self.out.extend_from_slice(key.as_bytes());
                string(self.out, text);
            }
        }
        let names: Vec<&str> = def.json_fields().take(2).map(|field| field.json).collect();
        self.fields(def, raw, if names == ["kind", "apiVersion"] { 2 } else { 0 }, depth)?;
        self.close(start, b"{}");
        Some(())
    }

    fn structure(&mut self, def: &'static StructDef, raw: &[u8], depth: usize) -> Option<()> {
        let start = self.out.len();
        match def.json_form {
            JsonForm::Fields | JsonForm::Open => {
                self.fields(def, raw, 0, depth)?;
                self.close(start, b"{}");
            }
            JsonForm::Items => self.items(def, raw, depth)?,
            JsonForm::SchemaOrArray | JsonForm::SchemaOrBool | JsonForm::SchemaOrStrings => {
                json::encode(owned(def, raw).ok()?.as_ref(), self.out);
            }
        }
        Some(())
    }

    /// Writes the only field of a struct in place of it.
    fn items(&mut self, def: &'static StructDef, raw: &[u8], depth: usize) -> Option<()> {
        let mut reader = Reader(raw);
        let Some(step) = def.tables().steps.first().filter(|_| !raw.is_empty()) else {
            self.null();
            return Some(());
        };
        let tag = reader.tag(def.name).ok()?;
        if depth == 0 || (tag.number, tag.wire) != (step.number, step.wire) {
            return None;
        }
        self.value(step, &mut reader, depth)?;
        reader.is_empty().then_some(())
    }

    /// Writes fields, each with a comma before it, except the first `skip` that JSON has; [`Self::close`] makes an object of them.
    fn fields(&mut self, def: &'static StructDef, raw: &[u8], skip: usize, depth: usize) -> Option<()> {
        if depth == 0 || def.fields.len() > 64 {
            return None;
        }
        let (tables, base, mut seen) = (def.tables(), self.written.len(), 0u64);
        let mut reader = Reader(raw);
        while !reader.is_empty() {
            let tag = reader.tag(def.name).ok()?;
            let Some(index) = tables.by_number(tag.number) else {
                reader.skip(tag.wire).ok()?;
                continue;
            };
            let (step, bit) = (&tables.steps[index], 1 << index);
            if tag.wire != step.wire || seen & bit != 0 {
                return None;
            }
            match reader.0 {
                [0, rest @ ..] if step.drops_zero => reader.0 = rest,
                _ => {
                    seen |= bit;
                    let start = self.out.len();
                    self.field(step, &tables.json, &mut reader, skip, depth)?;
                    self.settle(base, Written { index, start }, seen);
                }
            }
        }
        let mut missing = tables.always & !seen;
        while missing != 0 {
            let index = missing.trailing_zeros() as usize;
            missing &= missing - 1;
            seen |= 1 << index;
            let start = self.out.len();
            self.absent(&tables.steps[index], &tables.json, skip, depth)?;
            self.settle(base, Written { index, start }, seen);
        }
        self.written.truncate(base);
        Some(())
    }

    /// Notes the field that was written last, and moves it to where it is declared. Nearly always it is there: upstream writes fields in
    /// order of their numbers, and most are numbered as they are declared.
    #[inline]
    fn settle(&mut self, base: usize, last: Written, seen: u64) {
        if seen >> last.index == 1 {
            self.written.push(last);
        } else {
            self.move_back(base, last);
        }
    }

    #[cold]
    fn move_back(&mut self, base: usize, last: Written) {
        let earlier = self.written[base..].iter().take_while(|other| other.index < last.index).count();
        let place = base + earlier;
        let (start, length) = (self.written[place].start, self.out.len() - last.start);
        self.out[start..].rotate_right(length);
        self.written[place..].iter_mut().for_each(|other| other.start += length);
        self.written.insert(place, Written { start, ..last });
    }

    /// Writes a field, the value of which comes next.
    fn field(
        &mut self,
        step: &Step,
        json: &[FlatField],
        reader: &mut Reader<'_>,
        skip: usize,
        depth: usize,
    ) -> Option<()> {
        let (index, start) = (step.json as usize, self.out.len());
        match step.shape {
            Shape::Struct(inner) if step.manner == Manner::Inline => {
                self.fields(inner, reader.delimited().ok()?, skip.saturating_sub(index), depth - 1)?;
            }
            _ if index < skip => reader.skip(step.wire).ok()?,
            _ => {
                write_key(step, &json[index], self.out);
                if self.value(step, reader, depth)? && step.omits_empty {
                    self.out.truncate(start);
                }
            }
        }
        Some(())
    }

    /// Writes a field that JSON has although the message has not.
    fn absent(&mut self, step: &Step, json: &[FlatField], skip: usize, depth: usize) -> Option<()> {
        let index = step.json as usize;
        match step.shape {
            Shape::Struct(inner) if step.manner == Manner::Inline => {
                return self.fields(inner, &[], skip.saturating_sub(index), depth - 1);
            }
            _ if index < skip => return Some(()),
            _ => write_key(step, &json[index], self.out),
        }
        match step.shape {
            Shape::Struct(def) => self.structure(def, &[], depth - 1),
            Shape::One(scalar) => self.scalar(scalar, &mut Reader(&ZERO), true).map(drop),
            _ => {
                self.null();
                Some(())
            }
        }
    }

    /// Writes the value that comes next, all items of it, and tells whether it is what `omitempty` leaves out.
    fn value(&mut self, step: &Step, reader: &mut Reader<'_>, depth: usize) -> Option<bool> {
        match step.shape {
            Shape::One(scalar) => return self.scalar(scalar, reader, true),
            Shape::Opt(scalar) => drop(self.scalar(scalar, reader, false)?),
            Shape::Struct(def) | Shape::OptStruct(def) => {
                self.structure(def, reader.delimited().ok()?, depth - 1)?;
            }
            Shape::List(scalar) => {
                self.each(step, reader, b"[]", |this, reader| this.scalar(scalar, reader, false).map(drop))?;
            }
            Shape::StructList(def, _) => {
                self.each(step, reader, b"[]", |this, reader| match (reader.delimited().ok()?, step.manner) {
                    (raw, Manner::SaysKind) => this.object(CORE_V1, def.name, def, raw, depth - 1),
                    (raw, _) => this.structure(def, raw, depth - 1),
                })?;
            }
            Shape::Map(scalar) => {
                self.map(step, reader, |this, bytes| this.scalar(scalar, &mut Reader(bytes), false).map(drop))?;
            }
            Shape::StructMap(def, _) => {
                self.map(step, reader, |this, bytes| this.structure(def, Reader(bytes).delimited().ok()?, depth - 1))?;
            }
        }
        Some(false)
    }

    /// Writes the items that follow one another, each with a comma before it, and brackets around them.
    fn each<'a>(
        &mut self,
        step: &Step,
        reader: &mut Reader<'a>,
        brackets: &[u8; 2],
        mut item: impl FnMut(&mut Self, &mut Reader<'a>) -> Option<()>,
    ) -> Option<()> {
        let start = self.out.len();
        loop {
            self.out.push(b',');
            item(self, reader)?;
            let mut next = *reader;
            match next.tag("") {
                Ok(tag) if (tag.number, tag.wire) == (step.number, step.wire) => *reader = next,
                _ => break,
            }
        }
        self.close(start, brackets);
        Some(())
    }

    /// Keys have to be in order, as the map that they would be read into has them.
    fn map<'a>(
        &mut self,
        step: &Step,
        reader: &mut Reader<'a>,
        mut value: impl FnMut(&mut Self, &'a [u8]) -> Option<()>,
    ) -> Option<()> {
        let mut before: Option<&[u8]> = None;
        self.each(step, reader, b"{}", |this, reader| {
            let (key, bytes) = entry(reader.delimited().ok()?)?;
            if before.is_some_and(|before| before >= key) {
                return None;
            }
            before = Some(key);
            write_text(this.out, key)?;
            this.out.push(b':');
            value(this, bytes)
        })
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
            Scalar::Quantity => self.quantity(reader),
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

    /// A quantity, which most often is written as it would be read and written again.
    fn quantity(&mut self, reader: &mut Reader<'_>) -> Option<bool> {
        const STRING: u8 = 1 << 3 | DELIMITED;
        let mut behind = *reader;
        match behind.delimited().ok()? {
            [STRING, length, text @ ..] if usize::from(*length) == text.len() && is_plainly_canonical(text) => {
                self.out.push(b'"');
                self.out.extend_from_slice(text);
                self.out.push(b'"');
                *reader = behind;
                Some(false)
            }
            _ => self.read(reader, |_: &Quantity| false),
        }
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

/// Appends a comma, the name of a field and a colon.
#[inline(always)]
fn write_key(step: &Step, flat: &FlatField, out: &mut Vec<u8>) {
    if !step.key.write(out) {
        write_long_key(flat.field.json, out);
    }
}

/// Has the processor fetch all of a message at once: it is mostly in none of its caches, and would be fetched piece by piece as it is read.
fn fetch(raw: &[u8]) {
    const LINE: usize = 64;
    let all = raw.iter().step_by(LINE).fold(0, |all, byte| all ^ byte);
    std::hint::black_box(all);
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
