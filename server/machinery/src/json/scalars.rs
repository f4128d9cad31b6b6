//! JSON encoding of scalars, and of lists and maps of scalars.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ::base64::engine::{Engine, general_purpose::STANDARD};
use bytes::Bytes;

use super::decoder::{DecodeResult, Decoder, SeenKeys};
use super::dom::{Value, encode_map};
use super::error::Error;
use super::go_type::{self, GoTypeNames};
use super::path::ValuePath;
use super::read::Stop;
use super::write;
use crate::def::{Scalar, Shape};
use crate::reflect::MAP_NODE;
use crate::reflect::{List, ListMut, Map, MapMut, OneMut, OptMut};
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

/// Expands an expression for each scalar type of one of the enums of `reflect`.
macro_rules! each_scalar {
    ($value:expr, $enum:ident, $v:ident => $body:expr) => {
        match $value {
            $enum::Bool($v) => $body,
            $enum::I32($v) => $body,
            $enum::I64($v) => $body,
            $enum::F64($v) => $body,
            $enum::String($v) => $body,
            $enum::Bytes($v) => $body,
            $enum::Quantity($v) => $body,
            $enum::Time($v) => $body,
            $enum::MicroTime($v) => $body,
            $enum::Duration($v) => $body,
            $enum::IntOrString($v) => $body,
            $enum::RawExtension($v) => $body,
            $enum::FieldsV1($v) => $body,
            $enum::Json($v) => $body,
            $enum::Document($v) => $body,
        }
    };
}
pub(crate) use each_scalar;

/// The JSON encoding of a scalar.
pub(crate) trait JsonScalar: Default {
    const SCALAR: Scalar;

    /// Decodes the next value.
    fn read(&mut self, decoder: &mut Decoder<'_, '_>, path: &ValuePath<'_>) -> DecodeResult;

    fn write(&self, out: &mut Vec<u8>);
}

/// Skips a value of a wrong type; `null` leaves the field unchanged.
#[cold]
fn other<T: JsonScalar>(decoder: &mut Decoder<'_, '_>, path: &ValuePath<'_>) -> DecodeResult {
    match decoder.reader.peek() {
        b'n' => decoder.reader.word(b"null"),
        // Items of lists and maps are reported with the path of their field.
        _ => decoder.mismatch(path, |names| match path.last_field() {
            Some((home, flat)) => names.of_item(home, flat.field.info, T::SCALAR),
            None => go_type::scalar(T::SCALAR).into(),
        }),
    }
}

impl JsonScalar for bool {
    const SCALAR: Scalar = Scalar::Bool;

    fn read(&mut self, decoder: &mut Decoder<'_, '_>, path: &ValuePath<'_>) -> DecodeResult {
        let value = decoder.reader.peek() == b't';
        match decoder.reader.peek() {
            b't' => decoder.reader.word(b"true")?,
            b'f' => decoder.reader.word(b"false")?,
            _ => return other::<Self>(decoder, path),
        }
        *self = value;
        Ok(())
    }

    fn write(&self, out: &mut Vec<u8>) {
        // Two copies of constant length; a copy of variable length would be a function call.
        match *self {
            true => out.extend_from_slice(b"true"),
            false => out.extend_from_slice(b"false"),
        }
    }
}

macro_rules! numbers {
    ($($ty:ident: $scalar:ident, $write:expr;)*) => {$(
        impl JsonScalar for $ty {
            const SCALAR: Scalar = Scalar::$scalar;

            fn read(&mut self, decoder: &mut Decoder<'_, '_>, path: &ValuePath<'_>) -> DecodeResult {
                if !matches!(decoder.reader.peek(), b'-' | b'0'..=b'9') {
                    return other::<Self>(decoder, path);
                }
                let text = decoder.reader.number()?;
                match parse::$ty(text) {
                    Some(number) => *self = number,
                    None => decoder.bad_number(path, text, go_type::scalar(Self::SCALAR)),
                }
                Ok(())
            }

            fn write(&self, out: &mut Vec<u8>) {
                $write(out, *self)
            }
        }
    )*};
}
numbers! {
    i32: I32, |out, n| write::integer(out, i64::from(n));
    i64: I64, write::integer;
    f64: F64, write::float;
}

/// Parsers of numbers, with the limits of Go's `strconv`.
mod parse {
    pub(super) fn i32(text: &str) -> Option<i32> {
        text.parse().ok()
    }

    pub(super) fn i64(text: &str) -> Option<i64> {
        text.parse().ok()
    }

    pub(super) fn f64(text: &str) -> Option<f64> {
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl JsonScalar for String {
    const SCALAR: Scalar = Scalar::String;

    #[inline]
    fn read(&mut self, decoder: &mut Decoder<'_, '_>, path: &ValuePath<'_>) -> DecodeResult {
        if decoder.reader.peek() != b'"' {
            return other::<Self>(decoder, path);
        }
        *self = decoder.reader.string()?.into_owned();
        Ok(())
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        write::string(out, self);
    }
}

impl JsonScalar for Bytes {
    const SCALAR: Scalar = Scalar::Bytes;

    fn read(&mut self, decoder: &mut Decoder<'_, '_>, path: &ValuePath<'_>) -> DecodeResult {
        match decoder.reader.peek() {
            b'"' => {
                let text = decoder.reader.string()?;
                match from_base64(&text) {
                    Ok(bytes) => *self = bytes.into(),
                    Err(at) => decoder.save(Error::Base64(at)),
                }
                Ok(())
            }
            // A Go []byte may be encoded as a list of numbers.
            b'[' => {
                let text = decoder.reader.raw()?;
                match serde_json::from_str::<Vec<Option<u8>>>(text) {
                    // Null leaves a number unchanged.
                    Ok(bytes) => *self = bytes.into_iter().map(Option::unwrap_or_default).collect(),
                    Err(_) => decoder.bad_byte(path, text),
                }
                Ok(())
            }
            b'n' => {
                *self = Bytes::new();
                decoder.reader.word(b"null")
            }
            _ => other::<Self>(decoder, path),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::base64(out, self);
    }
}

/// Decodes standard base64; as in Go, line breaks are ignored. The error is the offset that Go
/// reports.
pub(crate) fn from_base64(text: &str) -> Result<Vec<u8>, usize> {
    STANDARD.decode(text).or_else(|_| super::base64::decode(text))
}

macro_rules! by_from_json {
    ($($ty:ident: $scalar:ident, $write:expr;)*) => {$(
        impl JsonScalar for $ty {
            const SCALAR: Scalar = Scalar::$scalar;

            fn read(&mut self, decoder: &mut Decoder<'_, '_>, path: &ValuePath<'_>) -> DecodeResult {
                match <$ty>::from_json(decoder.reader.raw()?) {
                    Ok(value) => *self = value,
                    Err(error) => return decoder.refuse(path, error),
                }
                Ok(())
            }

            fn write(&self, out: &mut Vec<u8>) {
                $write(self, out)
            }
        }
    )*};
}
by_from_json! {
    Quantity: Quantity, |q: &Quantity, out| quoted(out, |out| q.append_to(out));
    Time: Time, |t: &Time, out| t.append_json(out);
    MicroTime: MicroTime, |t: &MicroTime, out| t.append_json(out);
    Duration: Duration, |d: &Duration, out| quoted(out, |out| d.append_to(out));
    IntOrString: IntOrString, |i: &IntOrString, out| i.append_json(out);
}

/// The error of a scalar's parser for a value, where Go passes only the value to it
/// (`json.Unmarshaler`).
pub fn value_error(of: Scalar, value: &Value) -> Option<String> {
    let mut text = Vec::new();
    super::dom::encode_value(value, &mut text);
    let text = String::from_utf8_lossy(&text);
    let error = match of {
        Scalar::Quantity => Quantity::from_json(&text).err(),
        Scalar::Time => Time::from_json(&text).err(),
        Scalar::MicroTime => MicroTime::from_json(&text).err(),
        Scalar::Duration => Duration::from_json(&text).err(),
        Scalar::IntOrString => IntOrString::from_json(&text).err(),
        Scalar::Bytes => return from_base64(value.as_str()?).err().map(|at| Error::Base64(at).to_string()),
        _ => None,
    };
    error.map(|error| error.to_string())
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

macro_rules! raws {
    ($($ty:ident: $scalar:ident, $write:expr;)*) => {$(
        impl JsonScalar for $ty {
            const SCALAR: Scalar = Scalar::$scalar;

            fn read(&mut self, decoder: &mut Decoder<'_, '_>, _: &ValuePath<'_>) -> DecodeResult {
                let text = decoder.reader.raw()?;
                if text != "null" {
                    *self = Self::from_json(compacted(text.as_bytes()));
                }
                Ok(())
            }

            fn write(&self, out: &mut Vec<u8>) {
                match self.as_bytes().as_ref() {
                    [] => out.extend_from_slice(b"null"),
                    text => $write(out, text),
                }
            }
        }
    )*};
}
raws! {
    FieldsV1: FieldsV1, write::raw;
    JsonValue: Json, write::raw;
    RawExtension: RawExtension, extension;
}

impl JsonScalar for Document {
    const SCALAR: Scalar = Scalar::Document;

    fn read(&mut self, decoder: &mut Decoder<'_, '_>, path: &ValuePath<'_>) -> DecodeResult {
        if decoder.reader.peek() != b'{' {
            return other::<Self>(decoder, path);
        }
        if let Value::Object(members) = decoder.tree(path)? {
            self.0 = members;
        }
        Ok(())
    }

    fn write(&self, out: &mut Vec<u8>) {
        encode_map(&self.0, out);
    }
}

/// A JSON text without white space between tokens, as it is stored.
fn compacted(text: &[u8]) -> Bytes {
    if text.iter().all(|&b| b > b' ') {
        return Bytes::copy_from_slice(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for &byte in text {
        if quoted || !byte.is_ascii_whitespace() {
            out.push(byte);
        }
        if byte == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && byte == b'\\' && !escaped;
    }
    out.into()
}

/// Appends the content of a `RawExtension`, which is JSON in nearly all cases.
///
/// As upstream, CBOR is transcoded. A protobuf envelope cannot be transcoded without its type: code
/// that knows the type must decode it before.
fn extension(out: &mut Vec<u8>, content: &[u8]) {
    match content {
        [0xd9, 0xd9, 0xf7, ..] => match crate::cbor::to_json(content) {
            Ok(json) => out.extend_from_slice(&json),
            Err(_) => out.extend_from_slice(b"null"),
        },
        [b'k', b'8', b's', 0, ..] => out.extend_from_slice(b"null"),
        text => write::raw(out, text),
    }
}

/// Decodes a value into a plain field.
#[inline]
pub(crate) fn one(decoder: &mut Decoder<'_, '_>, one: OneMut<'_>, path: &ValuePath<'_>) -> DecodeResult {
    each_scalar!(one, OneMut, v => v.read(decoder, path))
}

/// Decodes a value into an optional field.
#[inline]
pub(crate) fn opt(decoder: &mut Decoder<'_, '_>, opt: OptMut<'_>, path: &ValuePath<'_>) -> DecodeResult {
    each_scalar!(opt, OptMut, v => {
        if decoder.reader.peek() == b'n' {
            *v = None;
            return decoder.reader.word(b"null");
        }
        v.get_or_insert_default().read(decoder, path)
    })
}

pub(crate) fn list(decoder: &mut Decoder<'_, '_>, list: ListMut<'_>, path: &ValuePath<'_>) -> DecodeResult {
    each_scalar!(list, ListMut, v => read_list(decoder, v, path))
}

pub(crate) fn map(decoder: &mut Decoder<'_, '_>, map: MapMut<'_>, path: &ValuePath<'_>) -> DecodeResult {
    each_scalar!(map, MapMut, v => read_map(decoder, v, path))
}

/// The Go type of a field with a list or map of this shape.
#[cold]
pub(crate) fn whole(names: GoTypeNames<'_>, path: &ValuePath<'_>, shape: Shape) -> String {
    match path.last_field() {
        Some((home, flat)) => names.of_field(home, flat.field.info, shape),
        None => names.of_shape(shape),
    }
}

fn read_list<T: JsonScalar>(decoder: &mut Decoder<'_, '_>, list: &mut Vec<T>, path: &ValuePath<'_>) -> DecodeResult {
    match decoder.reader.peek() {
        b'[' => {}
        b'n' => {
            list.clear();
            return decoder.reader.word(b"null");
        }
        _ => return decoder.mismatch(path, |names| whole(names, path, Shape::List(T::SCALAR))),
    }
    let mut count = 0;
    if !decoder.reader.enter_empty(b']')? {
        loop {
            if count == list.len() {
                decoder.charge(size_of::<T>())?;
                list.push(T::default());
            }
            list.get_mut(count).ok_or(Stop)?.read(decoder, path)?;
            count += 1;
            if !decoder.reader.more(b']')? {
                break;
            }
        }
    }
    list.truncate(count);
    Ok(())
}

fn read_map<T: JsonScalar>(
    decoder: &mut Decoder<'_, '_>,
    map: &mut BTreeMap<String, T>,
    path: &ValuePath<'_>,
) -> DecodeResult {
    match decoder.reader.peek() {
        b'{' => {}
        b'n' => {
            map.clear();
            return decoder.reader.word(b"null");
        }
        _ => return decoder.mismatch(path, |names| whole(names, path, Shape::Map(T::SCALAR))),
    }
    if decoder.reader.enter_empty(b'}')? {
        return Ok(());
    }
    decoder.charge(MAP_NODE * size_of::<(String, T)>())?;
    let mut seen = SeenKeys::new(decoder.issues.is_collecting() && !map.is_empty());
    loop {
        let key: Cow<'_, str> = decoder.reader.name()?;
        decoder.charge(size_of::<(String, T)>() + key.len())?;
        let mut value = T::default();
        value.read(decoder, path)?;
        let repeats = seen.repeats(&key);
        let replaced = map.insert(key.clone().into_owned(), value).is_some();
        if repeats || (replaced && !seen.is_active()) {
            decoder.issues.duplicate(path, &key);
        }
        if !decoder.reader.more(b'}')? {
            return Ok(());
        }
    }
}

/// Appends a list; an empty one is Go's nil slice.
pub(crate) fn write_list(out: &mut Vec<u8>, list: List<'_>) {
    each_scalar!(list, List, v => write_items(out, v, JsonScalar::write))
}

/// Appends a map in key order; an empty one is Go's nil map.
pub(crate) fn write_map(out: &mut Vec<u8>, map: Map<'_>) {
    each_scalar!(map, Map, v => write_entries(out, v, JsonScalar::write))
}

pub(super) fn write_items<T>(out: &mut Vec<u8>, list: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
    if list.is_empty() {
        return out.extend_from_slice(b"null");
    }
    let start = out.len();
    for item in list {
        out.push(b',');
        write(item, out);
    }
    out[start] = b'[';
    out.push(b']');
}

pub(super) fn write_entries<T>(out: &mut Vec<u8>, map: &BTreeMap<String, T>, write: impl Fn(&T, &mut Vec<u8>)) {
    if map.is_empty() {
        return out.extend_from_slice(b"null");
    }
    let start = out.len();
    for (key, value) in map {
        out.push(b',');
        super::write::string(out, key);
        out.push(b':');
        write(value, out);
    }
    out[start] = b'{';
    out.push(b'}');
}
