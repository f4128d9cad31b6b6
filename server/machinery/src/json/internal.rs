//! JSON of upstream's internal types, which error messages show if the invalid value is a whole
//! struct.
//!
//! Internal types have no JSON tags: Go writes every field, empty or not, by its Go name. Types of
//! `meta` have their tags in internal types, too. The caller adds what a declaration does not
//! contain (irregular names, another order) as [`InternalType`]s.

use std::sync::OnceLock;

use super::encode;
use super::scalars::{JsonScalar, write_list, write_map};
use super::write;
use crate::def::{FieldDef, StructDef};
use crate::reflect::{Ref, Value};
use crate::scalar::indent;

/// Differences between an internal type and its declaration.
#[derive(Clone, Copy, Debug)]
pub struct InternalType {
    /// The name of the struct.
    pub name: &'static str,
    /// Go names that cannot be derived from the JSON names: (JSON name, Go name).
    pub names: &'static [(&'static str, &'static str)],
    /// The JSON names of the fields in internal order, if it differs or omits fields; `^` marks a
    /// field of the enclosing struct. Empty: as declared.
    pub order: &'static [&'static str],
    /// The JSON names of numbers that are 0 if unset, because they are not pointers in Go.
    pub numbers: &'static [&'static str],
}

impl InternalType {
    /// A type without differences.
    pub const PLAIN: InternalType = InternalType { name: "", names: &[], order: &[], numbers: &[] };
}

/// Finds the [`InternalType`] of a struct.
pub type FindInternal = fn(&StructDef) -> Option<&'static InternalType>;

static INTERNAL_TYPES: OnceLock<FindInternal> = OnceLock::new();

/// Registers the lookup of internal types for messages of declared checks. Only the first call has
/// an effect.
pub fn register_internal_types(find: FindInternal) {
    INTERNAL_TYPES.get_or_init(|| find);
}

/// The registered [`InternalType`] of a struct.
pub fn internal_type(def: &StructDef) -> Option<&'static InternalType> {
    INTERNAL_TYPES.get().and_then(|find| find(def))
}

/// First words of JSON names that Go writes in upper case.
const INITIALISMS: [&str; 30] = [
    "api", "aws", "cel", "cidr", "csi", "dns", "fc", "fs", "gce", "gid", "gmsa", "grpc", "http", "id", "ip", "iqn",
    "iscsi", "nfs", "os", "pd", "qos", "rbd", "se", "ssl", "tcp", "ttl", "tty", "uid", "uri", "url",
];

/// Appends the JSON of the internal form of a value.
pub fn encode_internal(value: Ref<'_>, find: FindInternal, out: &mut Vec<u8>) {
    Writer { find, out }.structure(value, None);
}

/// [`encode_internal`] with line breaks and an indentation of one space, as upstream compares
/// objects.
pub fn encode_internal_lines(value: Ref<'_>, find: FindInternal) -> String {
    let (mut compact, mut out) = (Vec::new(), Vec::new());
    encode_internal(value, find, &mut compact);
    indent(&compact, 1, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

struct Writer<'o> {
    find: FindInternal,
    out: &'o mut Vec<u8>,
}

impl Writer<'_> {
    fn structure(&mut self, value: Ref<'_>, around: Option<Ref<'_>>) {
        if is_tagged(value.def()) {
            return encode::encode(value, self.out);
        }
        let start = self.out.len();
        self.members(value, around);
        self.close(start, b"{}");
    }

    /// Writes the members, each with a leading comma.
    fn members(&mut self, value: Ref<'_>, around: Option<Ref<'_>>) {
        let internal = (self.find)(value.def());
        let internal = internal.unwrap_or(&InternalType::PLAIN);
        if internal.order.is_empty() {
            value.def().fields.iter().enumerate().for_each(|(at, field)| {
                self.member(field, value.get(at), internal, value);
            });
        }
        internal.order.iter().for_each(|json| match (json.strip_prefix('^'), around) {
            (Some(json), Some(around)) => self.named(around, json, internal, None),
            (Some(_), None) => {}
            (None, _) => self.named(value, json, internal, Some(value)),
        });
    }

    fn named(&mut self, value: Ref<'_>, json: &str, internal: &InternalType, around: Option<Ref<'_>>) {
        if let Some((at, field)) = value.def().fields.iter().enumerate().find(|(_, field)| field.json == json) {
            self.member(field, value.get(at), internal, around.unwrap_or(value));
        }
    }

    fn member(&mut self, field: &FieldDef, value: Value<'_>, internal: &InternalType, around: Ref<'_>) {
        if let Some(embedded) = value.as_struct().filter(|v| field.json.is_empty() || v.def().name == "ObjectMeta") {
            return self.embedded(embedded);
        }
        self.out.push(b',');
        match internal.names.iter().find(|(json, _)| *json == field.json) {
            Some((_, go)) => write::string(self.out, go),
            None => write::string(self.out, &go_name(field.json)),
        }
        self.out.push(b':');
        match value {
            Value::Null if internal.numbers.contains(&field.json) => self.out.push(b'0'),
            value => self.value(value, around),
        }
    }

    /// Writes an embedded struct. Go flattens it, with the tags of the embedded type, if it has
    /// any.
    fn embedded(&mut self, value: Ref<'_>) {
        if !is_tagged(value.def()) {
            return self.members(value, None);
        }
        let mut object = Vec::new();
        encode::encode(value, &mut object);
        if let Some(members) = object.get(1..object.len() - 1).filter(|members| !members.is_empty()) {
            self.out.push(b',');
            self.out.extend_from_slice(members);
        }
    }

    fn value(&mut self, value: Value<'_>, around: Ref<'_>) {
        match value {
            Value::Struct(v) => self.structure(v, Some(around)),
            Value::StructList(list) if !list.is_empty() => {
                let start = self.out.len();
                for item in list.iter() {
                    self.out.push(b',');
                    self.structure(item, None);
                }
                self.close(start, b"[]");
            }
            Value::StructMap(map) if !map.is_empty() => {
                let start = self.out.len();
                map.for_each(|key, item| {
                    self.out.push(b',');
                    write::string(self.out, key);
                    self.out.push(b':');
                    self.structure(item, None);
                });
                self.close(start, b"{}");
            }
            scalar => self.scalar(scalar),
        }
    }

    fn scalar(&mut self, value: Value<'_>) {
        let out = &mut *self.out;
        match value {
            Value::String(v) => write::string(out, v),
            Value::Bool(v) => v.write(out),
            Value::I32(v) => v.write(out),
            Value::I64(v) => v.write(out),
            Value::F64(v) => v.write(out),
            Value::Bytes(v) if !v.is_empty() => v.write(out),
            Value::Quantity(v) => v.write(out),
            Value::Time(v) => v.write(out),
            Value::MicroTime(v) => v.write(out),
            Value::Duration(v) => v.write(out),
            Value::IntOrString(v) => v.write(out),
            Value::RawExtension(v) => v.write(out),
            Value::FieldsV1(v) => v.write(out),
            Value::Json(v) => v.write(out),
            Value::List(v) => write_list(out, v),
            Value::Map(v) => write_map(out, v),
            _ => out.extend_from_slice(b"null"),
        }
    }

    /// Encloses the members after `start` in brackets.
    fn close(&mut self, start: usize, brackets: &[u8; 2]) {
        match self.out.get_mut(start) {
            Some(comma) => *comma = brackets[0],
            None => self.out.push(brackets[0]),
        }
        self.out.push(brackets[1]);
    }
}

/// Whether the internal type has JSON tags.
fn is_tagged(def: &StructDef) -> bool {
    def.rust_path().contains("::meta::") || def.name == "TypeMeta"
}

/// The Go name of a field: `PodCIDR` for `podCIDR`, `UID` for `uid`, `CIDRs` for `cidrs`.
pub fn go_name(json: &str) -> String {
    let word = json.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(json.len());
    let word =
        json[..word].strip_suffix('s').map_or(word, |one| if INITIALISMS.contains(&one) { one.len() } else { word });
    let (first, rest) = json.split_at(if INITIALISMS.contains(&&json[..word]) { word } else { word.min(1) });
    first.to_ascii_uppercase() + rest
}
