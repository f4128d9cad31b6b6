//! What the way from protobuf to JSON has to know of a field, side by side in memory.

use super::wire::{DELIMITED, FIXED64, VARINT};
use crate::def::{FieldDef, Flags, Scalar, Shape, StructDef};
use crate::json::Key;

const _: () = assert!(size_of::<Step>() == 64);

/// A field of a struct: one line of the processor's caches.
#[repr(align(64))]
pub(crate) struct Step {
    pub key: Key,
    pub shape: Shape,
    pub number: u32,
    /// The index among the struct's JSON fields of what it writes first.
    pub json: u16,
    /// The wire type that it is written with, which is not packed.
    pub wire: u8,
    pub manner: Manner,
    pub omits_empty: bool,
    /// JSON leaves it out when its value is nothing but a 0, which is a number 0 or no bytes. Most fields are that, since upstream writes
    /// plain scalars always.
    pub drops_zero: bool,
}

/// How the structs of a field are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As JSON objects, if it has structs at all.
    Plain,
    /// Among the fields of the struct that holds it.
    Inline,
    /// Each with its kind and version.
    SaysKind,
}

impl Manner {
    fn of(field: &FieldDef) -> Self {
        match field.shape() {
            Shape::Struct(_) if field.flags.has(Flags::INLINE) => Manner::Inline,
            Shape::StructList(..) if field.flags.has(Flags::EMBEDS_TYPE_META) => Manner::SaysKind,
            _ => Manner::Plain,
        }
    }
}

impl Step {
    fn new(field: &FieldDef, json: u16) -> Self {
        let (shape, omits_empty) = (field.shape(), field.flags.has(Flags::OMIT_EMPTY));
        Step {
            key: Key::new(field.json),
            shape,
            number: field.number,
            json,
            wire: wire(shape),
            manner: Manner::of(field),
            omits_empty,
            drops_zero: omits_empty
                && matches!(shape, Shape::One(scalar) if !has_form_of_its_own(scalar) && scalar != Scalar::F64),
        }
    }

    /// JSON has it even of a message without it.
    fn is_always(&self) -> bool {
        let has_form = match self.shape {
            Shape::Struct(_) => true,
            Shape::One(scalar) => has_form_of_its_own(scalar),
            _ => false,
        };
        has_form || !self.omits_empty
    }
}

/// The steps of a struct in order of declaration, and a bit for each of the first 64 that is always written.
pub(crate) fn steps(def: &'static StructDef) -> (Vec<Step>, u64) {
    let mut next = 0;
    let mut step = |field: &FieldDef| {
        let step = Step::new(field, next);
        next += match step.shape {
            Shape::Struct(inner) if step.manner == Manner::Inline => inner.json_fields().len() as u16,
            _ => 1,
        };
        step
    };
    let steps: Vec<Step> = def.fields.iter().map(&mut step).collect();
    let bits = steps.iter().take(64).enumerate().map(|(i, step)| u64::from(step.is_always()) << i);
    let always = bits.fold(0, |all, bit| all | bit);
    (steps, always)
}

/// Go types that are written as they say themselves, `omitempty` or not.
fn has_form_of_its_own(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Quantity | Scalar::Duration | Scalar::IntOrString)
}

fn wire(shape: Shape) -> u8 {
    match shape {
        Shape::One(scalar) | Shape::Opt(scalar) | Shape::List(scalar) => match scalar {
            Scalar::Bool | Scalar::I32 | Scalar::I64 => VARINT,
            Scalar::F64 => FIXED64,
            _ => DELIMITED,
        },
        _ => DELIMITED,
    }
}
