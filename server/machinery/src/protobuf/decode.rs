//! Decodes messages into structs by their descriptors.

use std::collections::BTreeMap;

use super::error::Error;
use super::scalars::{Wire, text};
use super::wire::{DELIMITED, Reader};
use crate::budget::Meter;
use crate::def::FieldDef;
use crate::limits::{MAX_DEPTH, MAX_STORED_DEPTH};
use crate::reflect::{ListMut, MAP_NODE, MapMut, Mut, OneMut, OptMut, Slot, StructListMut, StructMapMut};

/// Merges a message of the server, or a stored one, into `into`, like upstream's `Unmarshal`. After
/// an error, `into` has the fields before it.
///
/// # Errors
/// [`Error`] when the message is malformed, a scalar in it is malformed, or it nests too deeply.
pub fn decode(bytes: &[u8], mut into: Mut<'_>) -> Result<(), Error> {
    message(Reader(bytes), &mut into, MAX_STORED_DEPTH, &mut DecodeLimits::of_stored())
}

/// Merges a message of a client into `into`, with the limits of requests. Embedded JSON must be
/// valid.
///
/// # Errors
/// [`Error`] as of [`decode`], and when embedded JSON is malformed or the message exceeds a memory
/// budget.
pub fn decode_body(bytes: &[u8], mut into: Mut<'_>) -> Result<(), Error> {
    message(Reader(bytes), &mut into, MAX_DEPTH, &mut DecodeLimits::of_body(bytes.len()))
}

/// Limits of decoding besides depth.
pub(super) struct DecodeLimits {
    meter: Meter,
    /// Whether embedded JSON is validated.
    checks_json: bool,
}

impl DecodeLimits {
    pub(super) fn of_stored() -> Self {
        DecodeLimits { meter: Meter::unlimited(), checks_json: false }
    }

    fn of_body(length: usize) -> Self {
        DecodeLimits { meter: Meter::of_document(length), checks_json: true }
    }
}

/// A field that is being decoded.
pub(super) struct Incoming<'r, 'a> {
    pub(super) reader: &'r mut Reader<'a>,
    pub(super) wire: u8,
    pub(super) field: &'static FieldDef,
    /// Limit on the nested messages, lists and maps in the message of the field, including itself.
    pub(super) depth: usize,
    pub(super) limits: &'r mut DecodeLimits,
}

impl<'a> Incoming<'_, 'a> {
    #[inline]
    fn expect(&self, wire: u8) -> Result<(), Error> {
        if self.wire == wire { Ok(()) } else { Err(self.wrong()) }
    }

    #[cold]
    fn wrong(&self) -> Error {
        let field = match (self.field.json, self.field.shape().struct_def()) {
            // Go embeds these, and the name of an embedded field is that of its type.
            ("" | "metadata", Some(def)) => def.name,
            (json, _) => json,
        };
        Error::WrongWireType { wire: self.wire, field }
    }

    #[inline]
    fn delimited(&mut self) -> Result<&'a [u8], Error> {
        self.expect(DELIMITED)?;
        self.reader.delimited()
    }

    #[inline]
    fn nested(&mut self, into: &mut Mut<'_>) -> Result<(), Error> {
        let bytes = self.delimited()?;
        message(Reader(bytes), into, self.depth.saturating_sub(1), self.limits)
    }

    /// Counts bytes before they are allocated.
    #[inline]
    fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        Ok(self.limits.meter.charge(bytes)?)
    }

    #[inline]
    fn check(&self, value: &impl Wire) -> Result<(), Error> {
        if self.limits.checks_json { value.check(self.depth) } else { Ok(()) }
    }
}

fn message(mut reader: Reader<'_>, into: &mut Mut<'_>, depth: usize, limits: &mut DecodeLimits) -> Result<(), Error> {
    if depth == 0 {
        return Err(Error::TooDeep);
    }
    let def = into.def();
    let tables = def.tables();
    while !reader.is_empty() {
        let tag = reader.tag(def.name)?;
        match tables.by_number(tag.number) {
            Some(i) => {
                let field = &def.fields[i];
                let incoming = Incoming { reader: &mut reader, wire: tag.wire, field, depth, limits };
                slot(into.slot_in_place(i), incoming)?;
            }
            None => reader.skip(tag.wire)?,
        }
    }
    Ok(())
}

/// Decodes the value of one field after its tag.
pub(super) fn slot_from(into: Slot<'_>, incoming: Incoming<'_, '_>) -> Result<(), Error> {
    slot(into, incoming)
}

/// Inlined, so that the type of the slot is matched only once.
#[inline(always)]
fn slot(slot: Slot<'_>, mut incoming: Incoming<'_, '_>) -> Result<(), Error> {
    match slot {
        Slot::One(v) => one(v, incoming),
        Slot::Opt(v) => opt(v, incoming),
        Slot::List(v) => list(v, incoming),
        Slot::Map(v) => map(v, incoming),
        Slot::Struct(mut v) => incoming.nested(&mut v),
        Slot::OptStruct(v) => {
            incoming.expect(DELIMITED)?;
            incoming.charge(v.item_size())?;
            incoming.nested(&mut v.get_or_insert())
        }
        Slot::StructList(v) => struct_item(v, incoming),
        Slot::StructMap(v) => struct_entry(v, incoming),
    }
}

macro_rules! per_scalar {
    ($($variant:ident),* $(,)?) => {
        #[inline(always)]
        fn one(slot: OneMut<'_>, incoming: Incoming<'_, '_>) -> Result<(), Error> {
            match slot { $(OneMut::$variant(v) => merge(v, incoming)),* }
        }

        fn opt(slot: OptMut<'_>, incoming: Incoming<'_, '_>) -> Result<(), Error> {
            match slot { $(OptMut::$variant(v) => merge(v.get_or_insert_default(), incoming)),* }
        }

        fn list(slot: ListMut<'_>, incoming: Incoming<'_, '_>) -> Result<(), Error> {
            match slot { $(ListMut::$variant(v) => item(v, incoming)),* }
        }

        fn map(slot: MapMut<'_>, incoming: Incoming<'_, '_>) -> Result<(), Error> {
            match slot { $(MapMut::$variant(v) => entry(v, incoming)),* }
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

#[inline]
fn merge<T: Wire>(into: &mut T, incoming: Incoming<'_, '_>) -> Result<(), Error> {
    incoming.expect(T::WIRE)?;
    into.merge(incoming.reader)?;
    incoming.check(into)
}

/// Decodes one item, or packed numbers, which every protobuf decoder accepts.
fn item<T: Wire + Default>(into: &mut Vec<T>, mut incoming: Incoming<'_, '_>) -> Result<(), Error> {
    let read = |reader: &mut Reader<'_>| {
        let mut item = T::default();
        item.merge(reader).map(|()| item)
    };
    if incoming.wire == T::WIRE {
        incoming.charge(size_of::<T>())?;
        let item = read(incoming.reader)?;
        incoming.check(&item)?;
        into.push(item);
        return Ok(());
    }
    incoming.expect(DELIMITED)?;
    let mut packed = Reader(incoming.reader.delimited()?);
    while !packed.is_empty() {
        incoming.charge(size_of::<T>())?;
        into.push(read(&mut packed)?);
    }
    Ok(())
}

/// Passes each field of a map entry to `on_value`, and returns the key at the end.
fn each_value<'a>(
    incoming: &mut Incoming<'_, 'a>,
    mut on_value: impl FnMut(&mut Reader<'a>) -> Result<(), Error>,
) -> Result<String, Error> {
    let mut reader = Reader(incoming.delimited()?);
    let mut key = String::new();
    while !reader.is_empty() {
        let tag = reader.varint()?;
        // Upstream does not check the wire types of these two.
        match (tag >> 3) as i32 {
            1 => key = text(reader.delimited()?),
            2 => on_value(&mut reader)?,
            _ => reader.skip((tag & 7) as u8)?,
        }
    }
    Ok(key)
}

fn entry<T: Wire + Default>(into: &mut BTreeMap<String, T>, mut incoming: Incoming<'_, '_>) -> Result<(), Error> {
    let entries = if into.is_empty() { MAP_NODE } else { 1 };
    incoming.charge(entries * size_of::<(String, T)>())?;
    let mut value = T::default();
    let key = each_value(&mut incoming, |reader| {
        value = T::default();
        value.merge(reader)
    })?;
    incoming.check(&value)?;
    into.insert(key, value);
    Ok(())
}

fn struct_item(mut list: StructListMut<'_>, mut incoming: Incoming<'_, '_>) -> Result<(), Error> {
    incoming.expect(DELIMITED)?;
    incoming.charge(list.item_size())?;
    incoming.depth = incoming.depth.saturating_sub(1);
    incoming.nested(&mut list.push())
}

fn struct_entry(mut map: StructMapMut<'_>, mut incoming: Incoming<'_, '_>) -> Result<(), Error> {
    incoming.charge(if map.as_map().is_empty() { map.node_size() } else { map.item_size() })?;
    let mut bytes: &[u8] = &[];
    let key = each_value(&mut incoming, |reader| {
        bytes = reader.delimited()?;
        Ok(())
    })?;
    // A later entry with the same key replaces the earlier one; it is not merged.
    map.remove(&key);
    message(Reader(bytes), &mut map.entry(key), incoming.depth.saturating_sub(2), incoming.limits)
}
