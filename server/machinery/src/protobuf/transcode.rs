//! Converts protobuf to JSON without decoding into a struct.
//!
//! A read returns the stored message in another media type, so this is the most
//! performance-critical path of a JSON client. The message is traversed once, and each field is
//! written when it is read. The few fields that are declared before fields with lower numbers are
//! moved afterwards.
//!
//! Input that upstream never writes (a message in pieces, unsorted map keys, packed numbers, text
//! that is not UTF-8, malformed messages) is passed to the ordinary codecs, which determine the
//! result. The output therefore equals that of `json::encode` for the decoded struct, byte for
//! byte, with the kinds of embedded objects set ([`super::set_embedded_kinds`]).

use super::error::Error;
use super::kinds::{CORE_V1, set_embedded_kinds};
use super::scalars::Wire;
use super::step::{FieldStep, Manner};
use super::wire::{DELIMITED, Reader};
use crate::def::{JsonForm, Scalar, Shape, StructDef};
use crate::json::{self, JsonScalar, string, write_base64, write_long_key, write_raw, write_text};
use crate::limits::MAX_STORED_DEPTH;
use crate::reflect::{FlatField, Owned};
use crate::scalar::quantity::is_plainly_canonical;
use crate::scalar::{Duration, IntOrString, MicroTime, Quantity, RawExtension, Time};

/// Appends a message as JSON. Upstream has no equivalent: it decodes and encodes.
///
/// # Errors
/// [`Error`] when the message is malformed. Nothing is appended then.
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

/// Appends an object as JSON with this version and kind, which protobuf has in the envelope.
///
/// # Errors
/// [`Error`] when the message is malformed. Nothing is appended then.
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
    set_embedded_kinds(value.as_mut());
    Ok(value)
}

/// The encoding of an absent scalar: a number 0, or no bytes.
const ZERO: [u8; 8] = [0; 8];

/// A written field.
#[derive(Clone, Copy)]
struct Written {
    /// Its index in the fields of the struct.
    index: usize,
    /// The offset of its comma.
    start: usize,
}

/// Its methods return `None` when the ordinary codecs must convert the message.
struct Transcoder<'o> {
    out: &'o mut Vec<u8>,
    /// The written fields of the messages in progress, the innermost last; each message's in
    /// declaration order.
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

    /// Writes the only field of a struct in its place.
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

    /// Writes fields, each with a leading comma, except the first `skip` JSON fields.
    /// [`Self::close`] turns them into an object.
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

    /// Records the field that was written last, and moves it to its place in declaration order.
    ///
    /// Nearly always it is there already: upstream writes fields in order of numbers, and most
    /// numbers are in declaration order.
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

    /// Writes a field with the next value of the reader.
    fn field(
        &mut self,
        step: &FieldStep,
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

    /// Writes a field that JSON has although the message does not.
    fn absent(&mut self, step: &FieldStep, json: &[FlatField], skip: usize, depth: usize) -> Option<()> {
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

    /// Writes the next value, with all its items. Returns whether `omitempty` omits it.
    fn value(&mut self, step: &FieldStep, reader: &mut Reader<'_>, depth: usize) -> Option<bool> {
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
                    (raw, Manner::WithTypeMeta) => this.object(CORE_V1, def.name, def, raw, depth - 1),
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

    /// Writes consecutive items, each with a leading comma, in brackets.
    fn each<'a>(
        &mut self,
        step: &FieldStep,
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

    /// Writes a map. Its keys must be sorted, as they would be in the decoded map.
    fn map<'a>(
        &mut self,
        step: &FieldStep,
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

    /// Writes a scalar. Returns whether it is empty. Empty `plain` bytes are Go's nil.
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

    /// Writes a quantity, which is usually in canonical form and copied unchanged.
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

    /// Writes the JSON of a message with a single field.
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

    /// Encloses the items after `start`, each with a leading comma, in brackets.
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
fn write_key(step: &FieldStep, flat: &FlatField, out: &mut Vec<u8>) {
    if !step.key.write(out) {
        write_long_key(flat.field.json, out);
    }
}

/// Prefetches a whole message into the CPU caches. It is usually in none of them, and would be
/// fetched line by line.
fn fetch(raw: &[u8]) {
    const LINE: usize = 64;
    let all = raw.iter().step_by(LINE).fold(0, |all, byte| all ^ byte);
    std::hint::black_box(all);
}

/// Splits a map entry into key and value: the two fields in this order, or the key alone.
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
