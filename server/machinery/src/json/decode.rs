//! Decodes JSON into a described struct with the semantics of `sigs.k8s.io/json`.
//!
//! Names match exactly and unknown fields are skipped. Of duplicate fields the last one wins,
//! merged into the earlier value as in Go. `null` leaves plain fields unchanged and clears others.
//!
//! As upstream, a value of the wrong type does not stop decoding: the first such error is kept, and
//! a later syntax error takes precedence. Only a scalar with its own parser stops decoding, and its
//! error is reported.

use serde_json::value::RawValue;

use super::decoder::{DecodeResult, Decoder, SeenKeys, type_error};
use super::dom::{Value, encode_value, subtree};
use super::error::Error;
use super::go_type::GoTypeNames;
use super::issues::Issues;
use super::path::ValuePath;
use super::read::{Reader, Stop, reason, to_text};
use super::scalars;
use crate::def::{JsonForm, Shape};
use crate::reflect::{FlatField, Mut, Slot, StructListMut, StructMapMut};

/// Decodes a document into a struct. Absent fields keep their values.
///
/// On an error, `issues` is cleared and the content of the struct is unspecified.
///
/// # Errors
/// [`Error`] when the text is not JSON, a value has another type than its field or is malformed, or
/// the document exceeds a limit.
pub fn decode(document: &[u8], into: Mut<'_>, issues: &mut Issues) -> Result<(), Error> {
    decode_version(document, "", into, issues)
}

/// Decodes a document of this API version, which determines the names of Go types in errors:
/// `v1beta2.ResourceClaimSpec`.
///
/// # Errors
/// As [`decode`].
pub fn decode_version(document: &[u8], version: &str, into: Mut<'_>, issues: &mut Issues) -> Result<(), Error> {
    let text = to_text(document);
    let names = GoTypeNames { root: into.def(), version };
    let reader = Reader::new(&text).with_max_depth(issues.max_depth());
    let meter = issues.meter(document.len());
    let mut decoder = Decoder { reader, issues, names, meter, saved: None, fatal: None };
    let result = decoder.document(into);
    let Decoder { saved, fatal, .. } = decoder;
    match (result, saved) {
        (Ok(()), None) => Ok(()),
        (_, saved) => {
            issues.clear();
            Err(reason(document, fatal.or(saved)))
        }
    }
}

/// Decodes a tree into a struct, with the same errors and issues as its text.
///
/// # Errors
/// As [`decode`].
pub fn from_value(value: &Value, into: Mut<'_>, issues: &mut Issues) -> Result<(), Error> {
    from_value_version(value, "", into, issues)
}

/// Decodes a tree of this API version, which determines the names of Go types in errors.
///
/// # Errors
/// As [`decode`].
pub fn from_value_version(value: &Value, version: &str, into: Mut<'_>, issues: &mut Issues) -> Result<(), Error> {
    let mut text = Vec::new();
    encode_value(value, &mut text);
    decode_version(&text, version, into, issues)
}

impl<'d> Decoder<'d, '_> {
    fn document(&mut self, into: Mut<'_>) -> DecodeResult {
        self.reader.token();
        self.structure(into, &ValuePath::ROOT)?;
        if self.reader.at_end() { Ok(()) } else { Err(Stop) }
    }

    /// Decodes the next value into a struct.
    fn structure(&mut self, into: Mut<'_>, path: &ValuePath<'_>) -> DecodeResult {
        match (into.def().json_form, self.reader.peek()) {
            (JsonForm::Fields | JsonForm::Open, b'{') => self.fields(into, path),
            (JsonForm::Fields | JsonForm::Open, b'n') => self.reader.word(b"null"),
            (JsonForm::Fields | JsonForm::Open, _) => self.mismatch(path, |names| names.of_struct(into.def())),
            (JsonForm::Items, _) => self.items(into, path),
            (form, first) => self.schema_or(form, first, into, path),
        }
    }

    fn fields(&mut self, mut into: Mut<'_>, path: &ValuePath<'_>) -> DecodeResult {
        let def = into.def();
        let tables = def.tables();
        let (mut next, mut seen) = (0, 0u128);
        if self.reader.enter_empty(b'}')? {
            return Ok(());
        }
        loop {
            let name = self.reader.name()?;
            let index = match tables.json.get(next) {
                Some(flat) if flat.field.json == name => Some(next),
                _ => tables.find(&name),
            };
            if let Some(index) = index {
                next = index + 1;
                let bit = 1u128.checked_shl(index as u32).unwrap_or(0);
                if seen & bit != 0 {
                    self.issues.duplicate(path, &name);
                }
                seen |= bit;
                let flat = &tables.json[index];
                self.slot(into.slot_flat(index), flat, &path.field(def, flat))?;
            } else if let Some(document) = into.undeclared() {
                if document.0.contains_key(&*name) {
                    self.issues.duplicate(path, &name);
                }
                let value = self.tree(&path.key(&name))?;
                document.0.insert(name.into_owned(), value);
            } else {
                self.issues.unknown(path, &name);
                self.reader.skip()?;
            }
            if !self.reader.more(b'}')? {
                return Ok(());
            }
        }
    }

    /// Decodes the next value to a tree.
    pub(crate) fn tree(&mut self, path: &ValuePath<'_>) -> Result<Value, Stop> {
        let (value, error) = subtree(&mut self.reader, self.issues, &mut self.meter, path);
        match (value, error) {
            (Err(stop), error) => {
                self.fatal = error.filter(|error| matches!(error, Error::TooLarge(_)));
                Err(stop)
            }
            (Ok(value), error) => {
                self.saved = self.saved.take().or(error);
                Ok(value)
            }
        }
    }

    #[inline]
    fn slot(&mut self, slot: Slot<'_>, flat: &FlatField, path: &ValuePath<'_>) -> DecodeResult {
        match slot {
            Slot::One(one) => scalars::one(self, one, path),
            Slot::Opt(opt) => scalars::opt(self, opt, path),
            Slot::List(list) => scalars::list(self, list, path),
            Slot::Map(map) => scalars::map(self, map, path),
            Slot::Struct(into) => self.structure(into, path),
            Slot::OptStruct(opt) if self.reader.peek() == b'n' => {
                opt.clear();
                self.reader.word(b"null")
            }
            Slot::OptStruct(opt) => {
                self.charge(opt.item_size())?;
                self.structure(opt.get_or_insert(), path)
            }
            Slot::StructList(list) => self.struct_list(list, flat.shape, path),
            Slot::StructMap(map) => self.struct_map(map, flat.shape, path),
        }
    }

    fn struct_list(&mut self, mut list: StructListMut<'_>, shape: Shape, path: &ValuePath<'_>) -> DecodeResult {
        match self.reader.peek() {
            b'[' => {}
            b'n' => {
                list.truncate(0);
                return self.reader.word(b"null");
            }
            _ => return self.mismatch(path, |names| scalars::whole(names, path, shape)),
        }
        // As in Go, items of a duplicate field are decoded into the existing items.
        let present = list.as_list().len();
        let mut count = 0;
        let size = list.item_size();
        if !self.reader.enter_empty(b']')? {
            loop {
                let item = if count < present {
                    list.get_mut(count).ok_or(Stop)?
                } else {
                    self.charge(size)?;
                    list.push()
                };
                self.structure(item, &path.index(count))?;
                count += 1;
                if !self.reader.more(b']')? {
                    break;
                }
            }
        }
        if count < present {
            list.truncate(count);
        }
        Ok(())
    }

    fn struct_map(&mut self, mut map: StructMapMut<'_>, shape: Shape, path: &ValuePath<'_>) -> DecodeResult {
        match self.reader.peek() {
            b'{' => {}
            b'n' => {
                map.clear();
                return self.reader.word(b"null");
            }
            _ => return self.mismatch(path, |names| scalars::whole(names, path, shape)),
        }
        if self.reader.enter_empty(b'}')? {
            return Ok(());
        }
        let mut seen = SeenKeys::new(self.issues.is_collecting());
        self.charge(map.node_size())?;
        loop {
            let key = self.reader.name()?;
            self.charge(map.item_size() + 3 * key.len())?;
            if seen.repeats(&key) {
                self.issues.duplicate(path, &key);
            }
            map.remove(&key);
            let item = map.entry(key.clone().into_owned());
            self.structure(item, &path.key(&key))?;
            if !self.reader.more(b'}')? {
                return Ok(());
            }
        }
    }

    /// Decodes the list that represents a struct with a single field.
    fn items(&mut self, mut into: Mut<'_>, path: &ValuePath<'_>) -> DecodeResult {
        let def = into.def();
        let Some(flat) = def.tables().json.first() else { return self.reader.skip() };
        if matches!(self.reader.peek(), b'[' | b'n') {
            return self.slot(into.slot_flat(0), flat, path);
        }
        self.mismatch(path, |names| names.of_struct(def))
    }

    /// Decodes the three unions of apiextensions.
    ///
    /// Upstream decodes their inner value separately: strict checks do not apply to it, and an
    /// error in it stops decoding.
    fn schema_or(&mut self, form: JsonForm, first: u8, mut into: Mut<'_>, path: &ValuePath<'_>) -> DecodeResult {
        reset(&mut into);
        let member = match (form, first) {
            (_, b'{') => "schema",
            (JsonForm::SchemaOrArray, b'[') => "jsonSchemas",
            (JsonForm::SchemaOrStrings, b'[') => "property",
            (JsonForm::SchemaOrBool, b't' | b'f') => "allows",
            (JsonForm::SchemaOrBool, _) => {
                self.reader.skip()?;
                return self.fail(Error::Form("boolean or JSON schema expected"));
            }
            _ => return self.reader.skip(),
        };
        let tables = into.def().tables();
        let index = tables.find(member).ok_or(Stop)?;
        let flat = &tables.json[index];
        if form == JsonForm::SchemaOrBool && first == b'{' {
            set_true(&mut into, "allows");
        }
        let issues = std::mem::replace(self.issues, Issues::ignore());
        // Protobuf nests a message here.
        self.reader.descend()?;
        let result = self.slot(into.slot_flat(index), flat, path);
        self.reader.ascend();
        *self.issues = issues;
        result?;
        match self.saved.take() {
            Some(error) => self.fail(error),
            None => Ok(()),
        }
    }

    /// Records a number that the type of the field cannot represent.
    #[cold]
    pub(crate) fn bad_number(&mut self, path: &ValuePath<'_>, number: &str, wanted: &str) {
        self.save(type_error(path, format!("number {number}").into(), wanted.into()));
    }

    /// Records an invalid item of a list of bytes; `items` is the text of the list.
    pub(crate) fn bad_byte(&mut self, path: &ValuePath<'_>, items: &str) {
        let items: Vec<&RawValue> = serde_json::from_str(items).unwrap_or_default();
        let texts = items.into_iter().map(RawValue::get);
        let wrong = texts.filter(|text| *text != "null").find(|text| text.parse::<u8>().is_err());
        let found = wrong.map_or("".into(), |text| match text.as_bytes()[0] {
            b'"' => "string".into(),
            b'[' => "array".into(),
            b'{' => "object".into(),
            b't' | b'f' => "bool".into(),
            _ => format!("number {text}").into(),
        });
        self.save(type_error(path, found, "uint8".into()));
    }
}

fn reset(into: &mut Mut<'_>) {
    for index in 0..into.def().fields.len() {
        into.slot(index).clear();
    }
}

fn set_true(into: &mut Mut<'_>, field: &str) {
    if let Some(Slot::One(crate::reflect::OneMut::Bool(flag))) = into.by_name(field) {
        *flag = true;
    }
}
