//! Random values of any declared type, made by walking its descriptor; the same seed gives the same value.
//!
//! Values are such that every format can carry them: no time that is zero inside an `Option`, no
//! union with two members set, and, for [`Reach::Protobuf`], nothing in fields that protobuf does
//! not have.

use std::collections::BTreeMap;

use bytes::Bytes;
use machinery::catalog::KindDef;
use machinery::def::{FieldDef, Flags, JsonForm, Shape};
use machinery::reflect::{ListMut, MapMut, Mut, OneMut, OptMut, Owned, Slot};
use machinery::scalar::{
    Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time,
};

/// Levels of structs below which nothing optional is filled: recursive types have to end.
const DEEPEST: u32 = 7;

/// Which fields are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Everything,
    /// Those that have a protobuf number.
    Protobuf,
}

/// SplitMix64: a generator of a few lines that needs no state beyond a number.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Whether to fill something optional: the deeper, the rarer.
    fn fills(&mut self, level: u32) -> bool {
        match level {
            0 | 1 => self.below(4) > 0,
            2 | 3 => self.below(2) == 0,
            DEEPEST.. => false,
            _ => self.below(1 << level.min(6)) == 0,
        }
    }

    /// Length of a list or map: 0 to 3.
    fn len(&mut self, level: u32) -> usize {
        if self.fills(level) { self.below(4) } else { 0 }
    }
}

/// A value of a kind. Different kinds with equal seeds get different values.
pub fn value(kind: &KindDef, seed: u64, reach: Reach) -> Owned {
    let name = kind.kind.bytes().chain(kind.group.bytes()).chain(kind.version.bytes());
    let mut random = Random::new(name.fold(seed, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte))));
    let mut value = Owned::new(kind.def);
    fill(value.as_mut(), &mut random, reach, 0);
    value
}

fn fill(mut into: Mut<'_>, random: &mut Random, reach: Reach, level: u32) {
    match into.def().json_form {
        JsonForm::Fields | JsonForm::Items => {}
        form => return fill_union(into, form, random, reach, level),
    }
    for (index, field) in into.def().fields.iter().enumerate() {
        if reach == Reach::Everything || field.number != 0 {
            fill_slot(into.slot(index), field, random, reach, level);
        }
    }
}

fn fill_slot(slot: Slot<'_>, field: &FieldDef, random: &mut Random, reach: Reach, level: u32) {
    match slot {
        Slot::One(OneMut::String(text)) if !field.info.enum_values.is_empty() => {
            *text = random.pick(field.info.enum_values).to_owned();
        }
        Slot::One(one) if random.below(4) > 0 => fill_one(one, random),
        Slot::Opt(opt) if random.fills(level) => fill_opt(opt, random),
        Slot::List(list) => {
            let len = random.len(level);
            fill_list(list, len, random);
        }
        Slot::Map(map) => {
            let len = random.len(level);
            fill_map(map, len, random);
        }
        Slot::Struct(inner) => fill(inner, random, reach, level + 1),
        Slot::OptStruct(inner) if !field.flags.has(Flags::INLINE) && random.fills(level) => {
            fill(inner.get_or_insert(), random, reach, level + 1);
        }
        Slot::StructList(mut list) => {
            for _ in 0..random.len(level) {
                fill(list.push(), random, reach, level + 1);
            }
        }
        Slot::StructMap(mut map) => {
            for _ in 0..random.len(level) {
                fill(map.entry(key(random)), random, reach, level + 1);
            }
        }
        Slot::One(_) | Slot::Opt(_) | Slot::OptStruct(_) => {}
    }
}

/// The unions of apiextensions, which are a schema or something else; JSON has no form for neither.
fn fill_union(mut into: Mut<'_>, form: JsonForm, random: &mut Random, reach: Reach, level: u32) {
    let is_schema = |field: &FieldDef| matches!(field.shape(), Shape::OptStruct(_));
    let with_schema = level >= DEEPEST || random.below(2) == 0;
    for (index, field) in into.def().fields.iter().enumerate() {
        match into.slot(index) {
            Slot::OptStruct(schema) if with_schema && is_schema(field) => {
                fill(schema.get_or_insert(), random, reach, level + 1);
            }
            Slot::One(OneMut::Bool(allows)) => *allows = with_schema || random.below(2) == 0,
            Slot::StructList(mut list) if !with_schema => fill(list.push(), random, reach, level + 1),
            Slot::List(list) if !with_schema && form == JsonForm::SchemaOrStrings => fill_list(list, 2, random),
            _ => {}
        }
    }
}

/// Text that formats like to get wrong.
const TEXTS: [&str; 24] = [
    "a",
    "web",
    "example.com/app",
    "",
    " leading",
    "trailing ",
    "two\nlines\n",
    "tab\there",
    "\"quoted\"",
    "it's",
    "back\\slash",
    "<a href='?x=1&y=2'>",
    "null",
    "true",
    "no",
    "0x10",
    "1e3",
    "-",
    "# hash",
    "key: value",
    "münchen 東京 🚀",
    "\u{2028}\u{7f}\u{1}",
    "2024-01-01",
    "<<",
];

fn key(random: &mut Random) -> String {
    format!("{}{}", random.pick(&TEXTS), random.below(10))
}

/// A scalar.
trait Sample {
    fn sample(random: &mut Random) -> Self;
}

impl Sample for bool {
    fn sample(random: &mut Random) -> Self {
        random.below(2) == 0
    }
}

impl Sample for i32 {
    fn sample(random: &mut Random) -> Self {
        let any = random.next() as i32;
        random.pick(&[0, 1, -1, 80, 65535, i32::MAX, i32::MIN, any])
    }
}

impl Sample for i64 {
    fn sample(random: &mut Random) -> Self {
        let any = random.next() as i64;
        random.pick(&[0, 1, -1, 300, 1 << 53, i64::MAX, i64::MIN, any])
    }
}

impl Sample for f64 {
    fn sample(random: &mut Random) -> Self {
        random.pick(&[0.0, 1.0, -2.5, 1e21, 1e-7, 123_456.789, f64::MAX])
    }
}

impl Sample for String {
    fn sample(random: &mut Random) -> Self {
        random.pick(&TEXTS).to_owned()
    }
}

impl Sample for Bytes {
    fn sample(random: &mut Random) -> Self {
        (0..random.below(9)).map(|_| random.next() as u8).collect()
    }
}

impl Sample for Quantity {
    fn sample(random: &mut Random) -> Self {
        let text = random.pick(&["0", "1", "100m", "2Gi", "1500m", "64Mi", "1k", "5E", "12e3", "-3", "1n"]);
        Quantity::parse(text).expect("a quantity")
    }
}

impl Sample for Time {
    fn sample(random: &mut Random) -> Self {
        Time::from_unix(random.below(4_000_000_000) as i64 - 1_000_000)
    }
}

impl Sample for MicroTime {
    fn sample(random: &mut Random) -> Self {
        MicroTime::from_unix_micros(random.below(4_000_000_000_000_000) as i64)
    }
}

impl Sample for Duration {
    fn sample(random: &mut Random) -> Self {
        let any = random.next() as i64 >> 8;
        Duration::from_nanos(random.pick(&[0, 1, 1_500_000, 30_000_000_000, 3_600_000_000_000, -1_000_000_000, any]))
    }
}

impl Sample for IntOrString {
    fn sample(random: &mut Random) -> Self {
        match random.below(2) {
            0 => IntOrString::Int(i32::sample(random)),
            _ => IntOrString::String(random.pick(&["http", "25%", "80", ""]).to_owned()),
        }
    }
}

impl Sample for RawExtension {
    fn sample(random: &mut Random) -> Self {
        let texts = [r#"{"apiVersion":"v1","kind":"Pod"}"#, r#"{}"#, r#"{"a":[1,2.5,null,"x"],"b":{"c":true}}"#];
        RawExtension::new(Bytes::from_static(random.pick(&texts).as_bytes()))
    }
}

impl Sample for FieldsV1 {
    fn sample(random: &mut Random) -> Self {
        let texts = [r#"{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}"#, r#"{}"#];
        FieldsV1::new(Bytes::from_static(random.pick(&texts).as_bytes()))
    }
}

impl Sample for JsonValue {
    fn sample(random: &mut Random) -> Self {
        let texts = ["true", "7", "\"text\"", r#"["a",{}]"#, r#"{"a":{"b":[]}}"#];
        JsonValue::new(Bytes::from_static(random.pick(&texts).as_bytes()))
    }
}

impl Sample for Document {
    fn sample(random: &mut Random) -> Self {
        let value =
            machinery::json::parse(JsonValue::sample(random).as_bytes(), &mut machinery::json::Issues::ignore());
        Document([("value".to_owned(), value.unwrap_or_default())].into_iter().collect())
    }
}

macro_rules! per_scalar {
    ($($variant:ident),*) => {
        fn fill_one(slot: OneMut<'_>, random: &mut Random) {
            match slot { $(OneMut::$variant(v) => *v = Sample::sample(random)),* }
        }

        fn fill_opt(slot: OptMut<'_>, random: &mut Random) {
            match slot { $(OptMut::$variant(v) => *v = Some(Sample::sample(random))),* }
        }

        fn fill_list(slot: ListMut<'_>, len: usize, random: &mut Random) {
            match slot { $(ListMut::$variant(v) => append(v, len, random)),* }
        }

        fn fill_map(slot: MapMut<'_>, len: usize, random: &mut Random) {
            match slot { $(MapMut::$variant(v) => extend(v, len, random)),* }
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
    Document
);

fn append<T: Sample>(list: &mut Vec<T>, len: usize, random: &mut Random) {
    list.extend((0..len).map(|_| T::sample(random)));
}

fn extend<T: Sample>(map: &mut BTreeMap<String, T>, len: usize, random: &mut Random) {
    for _ in 0..len {
        map.insert(key(random), T::sample(random));
    }
}
