//! Lookup tables of a struct, built at first use: JSON names (inlined structs flattened), protobuf
//! numbers.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::checks;
use crate::def::{FieldDef, Flags, JsonForm, Scalar, Shape, StructDef};
use crate::features::{NameId, NameSet};
use crate::json::InlineKey;
use crate::protobuf::{FieldStep, steps};

use super::place::FieldAccessor;
use super::value::Value;

/// A field in JSON.
pub(crate) struct FlatField {
    pub field: &'static FieldDef,
    pub offset: usize,
    pub shape: Shape,
    pub key: InlineKey,
    /// The names of the inlined structs that contain it.
    pub via: Box<[&'static str]>,
}

impl FlatField {
    /// The value of the field in JSON: empty plain bytes are Go's nil.
    pub fn shown<'a>(&self, value: Value<'a>) -> Value<'a> {
        match (value, self.shape) {
            (Value::Bytes(bytes), Shape::One(_)) if bytes.is_empty() => Value::Null,
            _ => value,
        }
    }
}

/// How to detect that JSON omits a field without reading its value: most fields of most objects are
/// empty.
#[derive(Clone, Copy)]
pub(crate) enum Probe {
    /// Always written.
    Written,
    /// Detected by the value.
    Value,
    Bool,
    I32,
    I64,
    String,
    OptBool,
    OptI32,
    OptI64,
    OptString,
    Strings,
    StringMap,
    OptStruct,
    StructList,
    StructMap,
    /// An optional value, detected by the value.
    Opt,
}

impl Probe {
    pub(super) fn of(shape: Shape, flags: Flags) -> Self {
        match shape {
            _ if !flags.has(Flags::OMIT_EMPTY) => Probe::Written,
            Shape::Struct(_) => Probe::Written,
            Shape::One(Scalar::Bool) => Probe::Bool,
            Shape::One(Scalar::I32) => Probe::I32,
            Shape::One(Scalar::I64) => Probe::I64,
            Shape::One(Scalar::String) => Probe::String,
            Shape::Opt(Scalar::Bool) => Probe::OptBool,
            Shape::Opt(Scalar::I32) => Probe::OptI32,
            Shape::Opt(Scalar::I64) => Probe::OptI64,
            Shape::Opt(Scalar::String) => Probe::OptString,
            Shape::List(Scalar::String) => Probe::Strings,
            Shape::Map(Scalar::String) => Probe::StringMap,
            Shape::Opt(_) => Probe::Opt,
            Shape::OptStruct(_) => Probe::OptStruct,
            Shape::StructList(..) => Probe::StructList,
            Shape::StructMap(..) => Probe::StructMap,
            _ => Probe::Value,
        }
    }
}

/// A field of the struct itself with its resolved shape.
pub(crate) struct OwnField {
    pub offset: usize,
    pub shape: Shape,
    /// How to detect that it is empty.
    pub probe: Probe,
}

impl OwnField {
    fn of(field: &FieldDef) -> Self {
        let shape = field.shape();
        OwnField { offset: field.offset, shape, probe: Probe::of(shape, Flags::OMIT_EMPTY) }
    }
}

/// A field in protobuf.
pub(crate) struct WireField {
    pub offset: u32,
    pub probe: Probe,
    pub number: u32,
    pub shape: Shape,
}

impl WireField {
    fn of(field: &FieldDef) -> Self {
        let shape = field.shape();
        // As in gogo, plain scalars are written even if they are empty.
        let probe = match shape {
            Shape::One(_) => Probe::Written,
            shape => Probe::of(shape, Flags::OMIT_EMPTY),
        };
        WireField { offset: field.offset as u32, probe, number: field.number, shape }
    }
}

/// A field that has a gate, gated values, or structs with such fields.
pub(crate) struct GatedField {
    /// Index in `StructDef::fields`.
    pub index: usize,
    pub gate: Option<NameId>,
    /// Gated enum values, with their gates.
    pub values: Box<[(&'static str, NameId)]>,
}

impl GatedField {
    fn of(index: usize, field: &'static FieldDef) -> Option<Self> {
        let gate = Some(field.info.gate).filter(|gate| !gate.is_empty()).map(NameId::of);
        let values: Box<[_]> = field.info.gated_values.iter().map(|(value, gate)| (*value, NameId::of(gate))).collect();
        let has_gates_below = || field.shape().struct_def().is_some_and(|below| !below.gates().is_empty());
        let is_gated = gate.is_some() || !values.is_empty() || has_gates_below();
        is_gated.then_some(GatedField { index, gate, values })
    }
}

/// The lookup tables of a struct.
pub struct Tables {
    /// The fields in declaration order.
    pub(crate) fields: Vec<OwnField>,
    /// The JSON fields in output order.
    pub(crate) json: Vec<FlatField>,
    /// The places of the fields of `json`.
    pub(crate) places: Vec<FieldAccessor>,
    /// For each field of `json`, its offset and how to detect that it is omitted. Separate, so that
    /// skipping empty fields touches little memory.
    pub(crate) probes: Vec<(u32, Probe)>,
    /// The fields in declaration order, and which of the first 64 JSON has even if the message does
    /// not.
    pub(crate) steps: Vec<FieldStep>,
    pub(crate) always: u64,
    /// Indexes in `json` in name order; built on demand.
    by_name: OnceLock<Vec<u16>>,
    /// Open-addressed hash table of `json` indexes plus one; 0 is empty. Its length is a power of two.
    hash: Vec<u16>,
    /// Index in `StructDef::fields` of the field that holds undeclared members.
    pub(crate) undeclared: Option<usize>,
    /// The fields in order of protobuf numbers.
    pub(crate) wire: Vec<WireField>,
    /// Protobuf number -> index into `StructDef::fields` plus one; 0 is unknown.
    number: Vec<u16>,
    /// Indexes in `StructDef::fields` of the fields with a default.
    pub(crate) defaulted: Vec<u16>,
    /// Indexes in `StructDef::fields` of the structs with defaults in or below them.
    pub(crate) defaults_below: Vec<u16>,
    /// The validation plan for each `validate::ValidationScope`. Its type is not named, because it
    /// contains descriptors.
    pub(crate) plans: [OnceLock<Box<dyn Any + Send + Sync>>; 2],
    /// See [`StructDef::gates`].
    gates: OnceLock<(Vec<&'static str>, NameSet)>,
    /// See [`StructDef::gated_fields`].
    gated_fields: OnceLock<Vec<GatedField>>,
    checks: OnceLock<checks::CheckPlan>,
}

/// Combines the length and three bytes: names in the same struct rarely agree in all four.
#[inline]
fn hash_of(name: &[u8]) -> usize {
    let n = name.len();
    if n == 0 {
        return 0;
    }
    let (first, middle, last) = (name[0] as usize, name[n / 2] as usize, name[n - 1] as usize);
    n.wrapping_mul(31) ^ first.wrapping_mul(7) ^ middle.wrapping_mul(131) ^ last.wrapping_mul(1031)
}

impl Tables {
    fn new(def: &'static StructDef) -> Self {
        let mut json = Vec::new();
        flatten(def, 0, &[], &mut json);
        let probe = |flat: &FlatField| (flat.offset as u32, Probe::of(flat.shape, flat.field.flags));
        let probes = json.iter().map(probe).collect();
        let place = |(index, flat)| FieldAccessor::new(def, index, flat);
        let places = json.iter().enumerate().map(place).collect();
        let mut hash = vec![0u16; (json.len() * 4).next_power_of_two().max(8)];
        for (i, flat) in json.iter().enumerate() {
            let mut at = hash_of(flat.field.json.as_bytes()) & (hash.len() - 1);
            while hash[at] != 0 {
                at = (at + 1) & (hash.len() - 1);
            }
            hash[at] = i as u16 + 1;
        }
        let mut by_number: Vec<u16> =
            (0..def.fields.len() as u16).filter(|&i| def.fields[i as usize].number != 0).collect();
        by_number.sort_by_key(|&i| def.fields[i as usize].number);
        let highest = by_number.last().map_or(0, |&i| def.fields[i as usize].number as usize);
        let mut number = vec![0u16; highest + 1];
        for &i in &by_number {
            number[def.fields[i as usize].number as usize] = i + 1;
        }
        let wire = by_number.iter().map(|&i| WireField::of(&def.fields[i as usize])).collect();
        let fields = |wanted: fn(&FieldDef) -> bool| {
            (0..def.fields.len() as u16).filter(|&i| wanted(&def.fields[i as usize])).collect()
        };
        let (steps, always) = steps(def);
        Tables {
            fields: def.fields.iter().map(OwnField::of).collect(),
            json,
            places,
            probes,
            steps,
            always,
            by_name: OnceLock::new(),
            hash,
            undeclared: def.fields.iter().position(|f| is_undeclared(def, f)),
            wire,
            number,
            defaulted: fields(|f| f.info.default.is_some()),
            defaults_below: fields(|f| f.shape().struct_def().is_some_and(StructDef::has_defaults)),
            plans: Default::default(),
            gates: OnceLock::new(),
            gated_fields: OnceLock::new(),
            checks: OnceLock::new(),
        }
    }

    /// Indexes in `json` in name order.
    pub(crate) fn by_name(&self) -> &[u16] {
        self.by_name.get_or_init(|| {
            let mut indexes: Vec<u16> = (0..self.json.len() as u16).collect();
            indexes.sort_unstable_by_key(|index| self.json[*index as usize].field.json);
            indexes
        })
    }

    /// Index in `json` of this exact name.
    #[inline]
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let mask = self.hash.len() - 1;
        let mut at = hash_of(name.as_bytes()) & mask;
        loop {
            match self.hash[at] {
                0 => return None,
                i if self.json[i as usize - 1].field.json == name => return Some(i as usize - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Index in `StructDef::fields` of this protobuf number.
    #[inline]
    pub(crate) fn by_number(&self, number: u32) -> Option<usize> {
        match self.number.get(number as usize) {
            Some(&i) if i != 0 => Some(i as usize - 1),
            _ => None,
        }
    }
}

fn gather_gates(def: &'static StructDef, gates: &mut BTreeSet<&'static str>, seen: &mut Vec<*const StructDef>) {
    if seen.contains(&std::ptr::from_ref(def)) {
        return;
    }
    seen.push(std::ptr::from_ref(def));
    for field in def.fields {
        gates.extend(Some(field.info.gate).filter(|gate| !gate.is_empty()));
        gates.extend(field.info.gated_values.iter().map(|(_, gate)| *gate));
        if let Some(below) = field.shape().struct_def() {
            gather_gates(below, gates, seen);
        }
    }
}

/// Whether the field holds the undeclared members.
fn is_undeclared(def: &StructDef, field: &FieldDef) -> bool {
    def.json_form == JsonForm::Open && matches!(field.shape(), Shape::One(Scalar::Document))
}

/// Appends the fields of `def`. Those of inlined structs replace the inlined field.
fn flatten(def: &'static StructDef, base: usize, via: &[&'static str], out: &mut Vec<FlatField>) {
    for field in def.fields.iter().filter(|field| !is_undeclared(def, field)) {
        let offset = base + field.offset;
        match field.shape() {
            Shape::Struct(inner) if field.flags.has(Flags::INLINE) => {
                flatten(inner, offset, &[via, &[inner.name]].concat(), out);
            }
            shape => {
                out.push(FlatField { field, offset, shape, key: InlineKey::new(field.json), via: via.into() });
            }
        }
    }
}

impl StructDef {
    /// Whether a field of the struct, or of a struct below it, has a default.
    pub(crate) fn has_defaults(&self) -> bool {
        self.defaults.is_some() || self.defaults_below || self.fields.iter().any(|f| f.info.default.is_some())
    }

    /// The lookup tables.
    #[inline]
    pub(crate) fn tables(&'static self) -> &'static Tables {
        self.tables.get_or_init(|| Tables::new(self))
    }

    /// The plan of the declared checks.
    pub(crate) fn planned_checks(&'static self) -> &'static checks::CheckPlan {
        self.tables().checks.get_or_init(|| checks::CheckPlan::of(self))
    }

    /// The path of the Rust type. Its modules have the names of API group and version.
    pub fn rust_path(&self) -> &'static str {
        (self.access.type_name)()
    }

    /// The feature gates of the fields, of their values, and of those below them, sorted.
    pub fn gates(&'static self) -> &'static [&'static str] {
        &self.all_gates().0
    }

    /// As [`Self::gates`], as a set.
    pub(crate) fn gate_set(&'static self) -> &'static NameSet {
        &self.all_gates().1
    }

    fn all_gates(&'static self) -> &'static (Vec<&'static str>, NameSet) {
        self.tables().gates.get_or_init(|| {
            let (mut gates, mut seen) = (BTreeSet::new(), Vec::new());
            gather_gates(self, &mut gates, &mut seen);
            let set = gates.iter().map(|gate| NameId::of(gate)).collect();
            (gates.into_iter().collect(), set)
        })
    }

    /// The fields that have a gate, gated values, or structs with such fields.
    pub(crate) fn gated_fields(&'static self) -> &'static [GatedField] {
        self.tables().gated_fields.get_or_init(|| {
            self.fields.iter().enumerate().filter_map(|(index, field)| GatedField::of(index, field)).collect()
        })
    }

    /// The JSON fields in output order, with inlined structs flattened.
    pub fn json_fields(&'static self) -> impl ExactSizeIterator<Item = &'static FieldDef> {
        self.tables().json.iter().map(|f| f.field)
    }

    /// The field with this JSON name, including those of inlined structs.
    pub fn json_field(&'static self, name: &str) -> Option<&'static FieldDef> {
        let tables = self.tables();
        tables.find(name).map(|i| tables.json[i].field)
    }
}
