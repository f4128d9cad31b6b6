//! The properties of a field that the conversion from protobuf to JSON uses, in one cache line.

use super::wire::{DELIMITED, FIXED64, VARINT};
use crate::def::{FieldDef, Flags, Scalar, Shape, StructDef};
use crate::json::InlineKey;

const _: () = assert!(size_of::<FieldStep>() == 64);

/// A field of a struct: one cache line.
#[repr(align(64))]
pub(crate) struct FieldStep {
    pub key: InlineKey,
    pub shape: Shape,
    pub number: u32,
    /// Index of its first member in the JSON fields of the struct.
    pub json: u16,
    /// The wire type of the field, not packed.
    pub wire: u8,
    pub manner: Manner,
    pub omits_empty: bool,
    /// JSON omits the field if its value is a single 0: a number 0 or no bytes. Most fields are
    /// that, since upstream always writes plain scalars.
    pub drops_zero: bool,
}

/// How the structs in a field are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As JSON objects, if the field has structs.
    Plain,
    /// Inlined into the enclosing object.
    Inline,
    /// Each with its kind and version.
    WithTypeMeta,
}

impl Manner {
    fn of(field: &FieldDef) -> Self {
        match field.shape() {
            Shape::Struct(_) if field.flags.has(Flags::INLINE) => Manner::Inline,
            Shape::StructList(..) if field.flags.has(Flags::EMBEDS_TYPE_META) => Manner::WithTypeMeta,
            _ => Manner::Plain,
        }
    }
}

impl FieldStep {
    fn new(field: &FieldDef, json: u16) -> Self {
        let (shape, omits_empty) = (field.shape(), field.flags.has(Flags::OMIT_EMPTY));
        FieldStep {
            key: InlineKey::new(field.json),
            shape,
            number: field.number,
            json,
            wire: wire(shape),
            manner: Manner::of(field),
            omits_empty,
            drops_zero: omits_empty
                && matches!(shape, Shape::One(scalar) if !has_own_marshaler(scalar) && scalar != Scalar::F64),
        }
    }

    /// Whether JSON has the field even if the message does not.
    fn is_always(&self) -> bool {
        let has_form = match self.shape {
            Shape::Struct(_) => true,
            Shape::One(scalar) => has_own_marshaler(scalar),
            _ => false,
        };
        has_form || !self.omits_empty
    }
}

/// The steps of a struct in declaration order, and a bit for each of the first 64 that is always
/// written.
pub(crate) fn steps(def: &'static StructDef) -> (Vec<FieldStep>, u64) {
    let mut next = 0;
    let mut step = |field: &FieldDef| {
        let step = FieldStep::new(field, next);
        next += match step.shape {
            Shape::Struct(inner) if step.manner == Manner::Inline => inner.json_fields().len() as u16,
            _ => 1,
        };
        step
    };
    let steps: Vec<FieldStep> = def.fields.iter().map(&mut step).collect();
    let bits = steps.iter().take(64).enumerate().map(|(i, step)| u64::from(step.is_always()) << i);
    let always = bits.fold(0, |all, bit| all | bit);
    (steps, always)
}

/// Go types with their own marshaler, which ignores `omitempty`.
fn has_own_marshaler(scalar: Scalar) -> bool {
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
