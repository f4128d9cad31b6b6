//! Decodes CBOR to a JSON tree, and rejects values that JSON cannot represent.

use ::base64::engine::Engine;
use ::base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::MAGIC;
use crate::budget::Meter;
use crate::json::{Error, MEMBER_SIZE, Map, Value};
use crate::limits::MAX_DEPTH;

/// Decodes one item that spans the whole document. At most `max_depth` containers and tags may be
/// nested in it.
pub(super) fn document(bytes: &[u8], max_depth: usize) -> Result<Value, Error> {
    // The self-described tag does not count.
    let at = if bytes.starts_with(&MAGIC) { MAGIC.len() } else { 0 };
    let mut reader = Reader { bytes, at, depth: 0, max_depth, meter: Meter::of_document(bytes.len()) };
    let value = reader.value(None)?;
    if reader.at < bytes.len() {
        return refuse(format_args!(
            "{} bytes of extraneous data starting at index {}",
            bytes.len() - reader.at,
            reader.at
        ));
    }
    Ok(value)
}

fn refuse<T>(text: std::fmt::Arguments<'_>) -> Result<T, Error> {
    Err(Error::Cbor(format!("cbor: {text}").into()))
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    depth: usize,
    max_depth: usize,
    meter: Meter,
}

/// The initial byte of an item and its argument; no argument for indefinite lengths.
struct Head {
    major: u8,
    info: u8,
    argument: Option<u64>,
}

/// The text encoding of a byte string that a tag prescribes.
#[derive(Clone, Copy)]
enum Later {
    Base64Url,
    Base64,
    Base16,
}

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8], Error> {
        match self.at.checked_add(length).and_then(|end| self.bytes.get(self.at..end)) {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => Err(Error::Cbor("unexpected EOF".into())),
        }
    }

    fn head(&mut self) -> Result<Head, Error> {
        let first = self.take(1)?[0];
        let (major, info) = (first >> 5, first & 0x1f);
        let argument = match info {
            0..24 => Some(u64::from(info)),
            24..28 => {
                let bytes = self.take(1 << (info - 24))?;
                Some(bytes.iter().fold(0, |sum, b| sum << 8 | u64::from(*b)))
            }
            31 if matches!(major, 2..=5 | 7) => None,
            _ => return refuse(format_args!("invalid additional information {info} for type {major}")),
        };
        Ok(Head { major, info, argument })
    }

    fn value(&mut self, later: Option<Later>) -> Result<Value, Error> {
        let head = self.head()?;
        Ok(match (head.major, head.argument) {
            (0, Some(unsigned)) => match i64::try_from(unsigned) {
                Ok(integer) => integer.into(),
                Err(_) => {
                    return refuse(format_args!(
                        "cannot unmarshal positive integer into Go value of type int64 ({unsigned} overflows Go's int64)"
                    ));
                }
            },
            (1, Some(unsigned)) => match i64::try_from(unsigned) {
                Ok(integer) => (!integer).into(),
                Err(_) => {
                    return refuse(format_args!(
                        "cannot unmarshal negative integer into Go value of type int64 (-1-{unsigned} overflows Go's int64)"
                    ));
                }
            },
            (2, length) => Value::String(in_later_form(self.string(2, length)?, later)),
            (3, length) => Value::String(self.text(length)?),
            (4, length) => Value::Array(self.nested(|reader| reader.array(length))?),
            (5, length) => Value::Object(self.nested(|reader| reader.map(length))?),
            (6, Some(tag)) => self.nested(|reader| reader.tagged(tag))?,
            (_, argument) => simple_or_float(head.info, argument)?,
        })
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.depth += 1;
        if self.depth > self.max_depth {
            return refuse(format_args!("exceeded max nested level {MAX_DEPTH}"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads the content of a string, in chunks if its length is indefinite.
    fn string(&mut self, major: u8, length: Option<u64>) -> Result<Vec<u8>, Error> {
        if let Some(length) = length {
            return Ok(self.take(usize::try_from(length).unwrap_or(usize::MAX))?.to_vec());
        }
        let mut content = Vec::new();
        while !self.ends()? {
            match self.head()? {
                Head { major: chunk, argument: Some(length), .. } if chunk == major => {
                    content.extend_from_slice(self.take(usize::try_from(length).unwrap_or(usize::MAX))?);
                }
                _ => return refuse(format_args!("wrong element type in indefinite-length string")),
            }
        }
        Ok(content)
    }

    fn text(&mut self, length: Option<u64>) -> Result<String, Error> {
        String::from_utf8(self.string(3, length)?).or_else(|_| refuse(format_args!("invalid UTF-8 string")))
    }

    /// Whether the next byte is the break of an indefinite length. Consumes it.
    fn ends(&mut self) -> Result<bool, Error> {
        let ends = self.take(1)?[0] == 0xff;
        if !ends {
            self.at -= 1;
        }
        Ok(ends)
    }

    fn array(&mut self, length: Option<u64>) -> Result<Vec<Value>, Error> {
        let mut items = Vec::new();
        while match length {
            Some(length) => (items.len() as u64) < length,
            None => !self.ends()?,
        } {
            self.meter.charge(size_of::<Value>())?;
            items.push(self.value(None)?);
        }
        Ok(items)
    }

    fn map(&mut self, length: Option<u64>) -> Result<Map<String, Value>, Error> {
        let mut map = Map::new();
        while match length {
            Some(length) => (map.len() as u64) < length,
            None => !self.ends()?,
        } {
            let head = self.head()?;
            let key = match head.major {
                2 => into_text(self.string(2, head.argument)?),
                3 => self.text(head.argument)?,
                _ => {
                    return refuse(format_args!(
                        "cannot unmarshal a map key that is not a string into Go value of type string"
                    ));
                }
            };
            self.meter.charge(MEMBER_SIZE + key.len())?;
            let value = self.value(None)?;
            if map.insert(key.clone(), value).is_some() {
                return refuse(format_args!("found duplicate map key \"{key}\""));
            }
        }
        Ok(map)
    }

    fn tagged(&mut self, tag: u64) -> Result<Value, Error> {
        match tag {
            2 | 3 => refuse(format_args!("cannot unmarshal bignum into Go value of type interface {{}}")),
            21 => self.value(Some(Later::Base64Url)),
            22 => self.value(Some(Later::Base64)),
            23 => self.value(Some(Later::Base16)),
            _ => self.value(None),
        }
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn in_later_form(bytes: Vec<u8>, later: Option<Later>) -> String {
    match later {
        None => into_text(bytes),
        Some(Later::Base64) => STANDARD.encode(bytes),
        Some(Later::Base64Url) => URL_SAFE_NO_PAD.encode(bytes),
        Some(Later::Base16) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

fn simple_or_float(info: u8, argument: Option<u64>) -> Result<Value, Error> {
    let Some(bits) = argument else { return refuse(format_args!("unexpected \"break\" code")) };
    let float = match info {
        20 => return Ok(false.into()),
        21 => return Ok(true.into()),
        22 => return Ok(Value::Null),
        25 => from_half(bits as u16),
        26 => f64::from(f32::from_bits(bits as u32)),
        27 => f64::from_bits(bits),
        _ => return refuse(format_args!("simple value {bits} is not recognized")),
    };
    match serde_json::Number::from_f64(float) {
        Some(number) => Ok(Value::Number(number)),
        None => refuse(format_args!("floating-point NaN or infinity")),
    }
}

fn from_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits & 0x8000 == 0 { size } else { -size }
}
