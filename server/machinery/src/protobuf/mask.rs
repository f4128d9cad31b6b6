//! Decodes a few fields of a message, and sets one text in it, without decoding the rest.

use super::decode::{DecodeLimits, Incoming, slot_from};
use super::error::Error;
use super::wire::{DELIMITED, Reader, varint_len};
use crate::def::{Flags, Shape, StructDef};
use crate::limits::MAX_STORED_DEPTH;
use crate::reflect::{Mut, Slot};

/// A set of fields of a struct.
#[derive(Debug)]
pub struct Mask {
    def: &'static StructDef,
    /// By field index.
    fields: Vec<Want>,
}

#[derive(Debug)]
enum Want {
    Nothing,
    All,
    Part(Mask),
}

impl Mask {
    /// Creates an empty mask for a struct.
    pub fn new(def: &'static StructDef) -> Self {
        Mask { def, fields: def.fields.iter().map(|_| Want::Nothing).collect() }
    }

    /// Adds the field at a path of JSON names, with everything below it; returns false if there is
    /// no such field. A path through a list selects the field of every item; through a map, the
    /// whole map.
    pub fn add(&mut self, path: &[&str]) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        for (index, field) in self.def.fields.iter().enumerate() {
            let inner = match field.shape() {
                Shape::Struct(def) | Shape::OptStruct(def) | Shape::StructList(def, _) => Some(def),
                _ => None,
            };
            let inline = field.flags.has(Flags::INLINE) && inner.is_some_and(|def| def.json_field(first).is_some());
            let below = match (inline, rest) {
                (true, _) => path,
                (false, _) if field.json != *first => continue,
                (false, rest) => rest,
            };
            let is_map = matches!(field.shape(), Shape::Map(_) | Shape::StructMap(..));
            let want = &mut self.fields[index];
            return match (below, inner, &mut *want) {
                (_, _, Want::All) => true,
                ([], _, _) => {
                    *want = Want::All;
                    true
                }
                (_, None, _) => {
                    if is_map {
                        *want = Want::All;
                    }
                    is_map
                }
                (below, Some(_), Want::Part(mask)) => mask.add(below),
                (below, Some(def), Want::Nothing) => {
                    let mut mask = Mask::new(def);
                    let found = mask.add(below);
                    *want = Want::Part(mask);
                    found
                }
            };
        }
        false
    }
}

/// Merges the selected fields of a message into `into`, which has the type of the mask. Skips the
/// others.
///
/// # Errors
/// [`Error`] when the message, or a selected field, is malformed.
pub fn decode_masked(bytes: &[u8], mask: &Mask, mut into: Mut<'_>) -> Result<(), Error> {
    masked(Reader(bytes), mask, &mut into)
}

fn masked(mut reader: Reader<'_>, mask: &Mask, into: &mut Mut<'_>) -> Result<(), Error> {
    let tables = mask.def.tables();
    while !reader.is_empty() {
        let tag = reader.tag(mask.def.name)?;
        let index = tables.by_number(tag.number);
        match index.map(|index| (index, &mask.fields[index])) {
            None | Some((_, Want::Nothing)) => reader.skip(tag.wire)?,
            Some((index, Want::All)) => {
                let field = &mask.def.fields[index];
                let (depth, limits) = (MAX_STORED_DEPTH, &mut DecodeLimits::of_stored());
                let incoming = Incoming { reader: &mut reader, wire: tag.wire, field, depth, limits };
                slot_from(into.slot(index), incoming)?;
            }
            Some((_, Want::Part(_))) if tag.wire != DELIMITED => reader.skip(tag.wire)?,
            Some((index, Want::Part(below))) => {
                let bytes = Reader(reader.delimited()?);
                match into.slot(index) {
                    Slot::Struct(mut inner) => masked(bytes, below, &mut inner)?,
                    Slot::OptStruct(inner) => masked(bytes, below, &mut inner.get_or_insert())?,
                    Slot::StructList(mut list) => masked(bytes, below, &mut list.push())?,
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// Returns the message with a text in a nested message set: the field `inner` of the field `outer`,
/// by number. All other bytes are unchanged.
///
/// # Errors
/// [`Error`] when the message, or the nested message, is malformed.
pub fn with_text(raw: &[u8], outer: u32, inner: u32, text: &str) -> Result<Vec<u8>, Error> {
    let (start, message, end) = find(raw, outer)?;
    let (cut, _, rest) = find(message, inner)?;
    let field = field_len(inner, text.len());
    let length = cut + field + (message.len() - rest);
    let mut out = Vec::with_capacity(raw.len() + field + 16);
    out.extend_from_slice(&raw[..start]);
    head(outer, length, &mut out);
    out.extend_from_slice(&message[..cut]);
    head(inner, text.len(), &mut out);
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(&message[rest..]);
    out.extend_from_slice(&raw[end..]);
    Ok(out)
}

/// The content of a bytes field, by number; empty if it is absent.
///
/// # Errors
/// [`Error`] when the message is malformed before the field.
pub fn bytes_of(raw: &[u8], number: u32) -> Result<&[u8], Error> {
    find(raw, number).map(|(_, bytes, _)| bytes)
}

/// Appends a bytes field.
pub fn write_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    head(number, bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// The start, content and end of a bytes field; its insertion point if it is absent.
fn find(raw: &[u8], number: u32) -> Result<(usize, &[u8], usize), Error> {
    let mut reader = Reader(raw);
    let mut place = None;
    while !reader.is_empty() {
        let start = raw.len() - reader.0.len();
        let tag = reader.tag("")?;
        if tag.number == number && tag.wire == DELIMITED {
            let bytes = reader.delimited()?;
            return Ok((start, bytes, raw.len() - reader.0.len()));
        }
        if tag.number > number {
            place.get_or_insert(start);
        }
        reader.skip(tag.wire)?;
    }
    let place = place.unwrap_or(raw.len());
    Ok((place, &[], place))
}

fn field_len(number: u32, length: usize) -> usize {
    varint_len(u64::from(number) << 3) + varint_len(length as u64) + length
}

/// Appends the tag and the length of a bytes field.
fn head(number: u32, length: usize, out: &mut Vec<u8>) {
    for mut value in [u64::from(number) << 3 | u64::from(DELIMITED), length as u64] {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }
}
