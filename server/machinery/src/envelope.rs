//! The envelope of a protobuf object, `k8s\0` and a `runtime.Unknown` with its kind; and the frames
//! of a watch.
//!
//! Objects are extracted from an envelope without a copy, and written into one in the same backward
//! pass that encodes them. A list of encoded objects, and a watch event with one, are written as a
//! head and a tail: the bytes between are shared.

use crate::protobuf::wire::{DELIMITED, Reader, varint_len};
use crate::protobuf::{Error, Writer, message, with_written, write};
use crate::reflect::Ref;

/// The prefix of every protobuf object.
pub const MAGIC: [u8; 4] = *b"k8s\0";

/// The suffix of every envelope: `contentEncoding` and `contentType`, always written, always empty.
pub const TAIL: [u8; 4] = [0x1a, 0, 0x22, 0];

/// A `runtime.Unknown`, borrowed from its bytes. Text that is not UTF-8 is decoded as empty, which
/// is not a valid kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// `apiVersion` of the object, such as `apps/v1`.
    pub api_version: &'a str,
    /// Kind of the object.
    pub kind: &'a str,
    /// The message, without kind and version.
    pub raw: &'a [u8],
    /// `contentEncoding`; empty in every envelope that this server writes.
    pub content_encoding: &'a str,
    /// `contentType`; empty in every envelope that this server writes.
    pub content_type: &'a str,
}

/// Whether the bytes start with the prefix of a protobuf object.
pub fn is_envelope(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Decodes an envelope (upstream: the first half of `protobuf.Serializer.Decode`).
///
/// # Errors
/// [`Error`] when the bytes are empty, have another prefix or no message, or the message is
/// malformed.
pub fn split(bytes: &[u8]) -> Result<Envelope<'_>, Error> {
    if bytes.is_empty() {
        return Err(Error::EmptyData);
    }
    let body = bytes.strip_prefix(&MAGIC).ok_or(Error::NoEnvelope)?;
    if body.is_empty() {
        return Err(Error::EmptyBody);
    }
    let mut envelope = Envelope::default();
    each_bytes(body, "Unknown", ["typeMeta", "raw", "contentEncoding", "contentType"], |number, bytes| {
        match number {
            1 => return type_meta(bytes, &mut envelope),
            2 => envelope.raw = bytes,
            3 => envelope.content_encoding = text(bytes),
            _ => envelope.content_type = text(bytes),
        }
        Ok(())
    })?;
    Ok(envelope)
}

fn type_meta<'a>(bytes: &'a [u8], envelope: &mut Envelope<'a>) -> Result<(), Error> {
    each_bytes(bytes, "TypeMeta", ["apiVersion", "kind"], |number, bytes| {
        match number {
            1 => envelope.api_version = text(bytes),
            _ => envelope.kind = text(bytes),
        }
        Ok(())
    })
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Decodes a message with known fields numbered from 1, all of type bytes.
fn each_bytes<'a, const N: usize>(
    bytes: &'a [u8],
    name: &'static str,
    fields: [&'static str; N],
    mut f: impl FnMut(u32, &'a [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = Reader(bytes);
    while !reader.is_empty() {
        let tag = reader.tag(name)?;
        match fields.get(tag.number as usize - 1) {
            Some(_) if tag.wire == DELIMITED => f(tag.number, reader.delimited()?)?,
            Some(field) => return Err(Error::WrongWireType { wire: tag.wire, field }),
            None => reader.skip(tag.wire)?,
        }
    }
    Ok(())
}

/// Appends an object with its envelope.
pub fn encode_object(api_version: &str, kind: &str, value: Ref<'_>, out: &mut Vec<u8>) {
    write(out, |w| object(w, api_version, kind, value));
}

/// Whether an object is encoded to these bytes, with its envelope. Needs no memory for the encoded object.
///
/// ```
/// use machinery::envelope;
/// # use machinery::{describe, def::Flags, reflect::Ref};
/// # #[derive(Default, Clone)]
/// # pub struct Widget { pub name: String }
/// # describe! { Widget, WIDGET "Widget" {} [ name: "name", 1, Flags::NONE; ] }
/// let widget = Widget { name: "web".into() };
/// let mut stored = Vec::new();
/// envelope::encode_object("v1", "Widget", Ref::of(&widget), &mut stored);
/// assert!(envelope::encodes_to("v1", "Widget", Ref::of(&widget), &stored));
/// assert!(!envelope::encodes_to("v1", "Widget", Ref::of(&Widget::default()), &stored));
/// ```
pub fn encodes_to(api_version: &str, kind: &str, value: Ref<'_>, bytes: &[u8]) -> bool {
    with_written(|w| object(w, api_version, kind, value), |written| written == bytes)
}

/// Writes an object with its envelope.
fn object(w: &mut Writer, api_version: &str, kind: &str, value: Ref<'_>) {
    w.bytes(&TAIL);
    let before = w.len();
    message(w, value);
    w.close(2, before);
    head(w, api_version, kind);
}

/// Appends an encoded message with an envelope.
pub fn encode_raw(api_version: &str, kind: &str, raw: &[u8], out: &mut Vec<u8>) {
    out.reserve(raw.len() + api_version.len() + kind.len() + 32);
    raw_head(api_version, kind, raw.len(), out);
    out.extend_from_slice(raw);
    out.extend_from_slice(&TAIL);
}

/// Appends the part of an envelope before its message, so that the bytes of the message can be
/// shared. [`TAIL`] ends it.
pub fn raw_head(api_version: &str, kind: &str, raw: usize, out: &mut Vec<u8>) {
    write(out, |w| {
        w.varint(raw as u64);
        w.tag(2, DELIMITED);
        head(w, api_version, kind);
    });
}

/// Writes the magic prefix and the type metadata.
fn head(w: &mut Writer, api_version: &str, kind: &str) {
    let before = w.len();
    w.delimited(2, kind.as_bytes());
    w.delimited(1, api_version.as_bytes());
    w.close(1, before);
    w.bytes(&MAGIC);
}

/// Appends the part of a list before its items.
///
/// `items` is the sum of their [`item_len`]. Each item is written as [`item_head`] and its message,
/// and [`TAIL`] ends the list.
pub fn list_head(api_version: &str, kind: &str, list_meta: Ref<'_>, items: usize, out: &mut Vec<u8>) {
    write(out, |w| {
        let before = w.len();
        message(w, list_meta);
        w.close(1, before);
        let meta = w.len() - before;
        w.varint((meta + items) as u64);
        w.tag(2, DELIMITED);
        head(w, api_version, kind);
    });
}

/// Splits the message of a list into its metadata and the messages of its items.
///
/// # Errors
/// [`Error`] when the message is malformed.
pub fn list_parts(raw: &[u8]) -> Result<(&[u8], Vec<&[u8]>), Error> {
    let (mut meta, mut items) = (&[][..], Vec::new());
    each_bytes(raw, "List", ["metadata", "items"], |number, bytes| {
        match number {
            1 => meta = bytes,
            _ => items.push(bytes),
        }
        Ok(())
    })?;
    Ok((meta, items))
}

/// The length of an item in a list, including its head.
pub fn item_len(raw: usize) -> usize {
    1 + varint_len(raw as u64) + raw
}

/// Appends the head of an item of a list.
pub fn item_head(raw: usize, out: &mut Vec<u8>) {
    write(out, |w| {
        w.varint(raw as u64);
        w.tag(2, DELIMITED);
    });
}

/// Appends the part of a watch frame before its object, which is an envelope of this length: the
/// length of the frame, and the start of a `WatchEvent`.
pub fn watch_head(event: &str, object: usize, out: &mut Vec<u8>) {
    write(out, |w| {
        let raw = item_len(object);
        w.varint(object as u64);
        w.tag(1, DELIMITED);
        w.varint(raw as u64);
        w.tag(2, DELIMITED);
        w.delimited(1, event.as_bytes());
        let frame = (w.len() + object) as u32;
        w.bytes(&frame.to_be_bytes());
    });
}

#[cfg(test)]
mod tests;
