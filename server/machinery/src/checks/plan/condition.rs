//! Conditions with resolved field paths.

use crate::checks::Condition;
use crate::checks::of::{Of, is_one_of};
use crate::def::{Form, StructDef};
use crate::features::NameId;
use crate::hooks::Validation;
use crate::reflect::{FieldAccessor, Ref, Value};

/// A [`Condition`] of the checks of one struct.
#[derive(Debug)]
pub(in crate::checks) enum PlannedCondition {
    Set(Way),
    Unset(Way),
    Is(Way, &'static [&'static str]),
    None(Box<[Way]>),
    Many(Box<[Way]>),
    Create,
    Update,
    Gate(NameId),
    Option(NameId),
    Was(Box<PlannedCondition>),
    Not(Box<PlannedCondition>),
    Any(Box<[PlannedCondition]>),
    All(Box<[PlannedCondition]>),
    /// A condition that depends on more than the fields of structs.
    Other(&'static Condition),
}

/// A resolved path through structs to a field.
#[derive(Debug)]
pub(in crate::checks) struct Way {
    structs: Box<[FieldAccessor]>,
    field: FieldAccessor,
}

impl PlannedCondition {
    pub fn of(def: &'static StructDef, condition: &'static Condition) -> Self {
        let all = |conditions: &'static [Condition]| conditions.iter().map(|inner| Self::of(def, inner)).collect();
        let planned = match *condition {
            Condition::Set(field) => Way::of(def, field).map(Self::Set),
            Condition::Unset(field) => Way::of(def, field).map(Self::Unset),
            Condition::Is(field, known) => Way::of(def, field).map(|way| Self::Is(way, known)),
            Condition::None(fields) => Way::all(def, fields).map(Self::None),
            Condition::Many(fields) => Way::all(def, fields).map(Self::Many),
            Condition::Create => Some(Self::Create),
            Condition::Update => Some(Self::Update),
            Condition::Gate(gate) => Some(Self::Gate(NameId::of(gate))),
            Condition::Option(option) => Some(Self::Option(NameId::of(option))),
            Condition::Was(inner) => Some(Self::Was(Box::new(Self::of(def, inner)))),
            Condition::Not(inner) => Some(Self::Not(Box::new(Self::of(def, inner)))),
            Condition::Any(conditions) => Some(Self::Any(all(conditions))),
            Condition::All(conditions) => Some(Self::All(all(conditions))),
            _ => None,
        };
        planned.unwrap_or(Self::Other(condition))
    }

    /// Whether the condition holds for a struct.
    pub fn holds(&self, validation: &Validation<'_>, new: Ref<'_>, of: &Of<'_>) -> bool {
        let holds = |inner: &Self| inner.holds(validation, new, of);
        match self {
            Self::Set(way) => !way.is_empty(new),
            Self::Unset(way) => way.is_empty(new),
            Self::Is(way, known) => is_one_of(way.value(new), known),
            Self::None(ways) => ways.iter().all(|way| way.is_empty(new)),
            Self::Many(ways) => ways.iter().filter(|way| !way.is_empty(new)).nth(1).is_some(),
            Self::Create => of.old.is_none(),
            Self::Update => of.old.is_some(),
            Self::Gate(gate) => validation.context.features.has(*gate),
            Self::Option(option) => validation.options.has(*option),
            Self::Was(inner) => inner.did_hold(validation, of),
            Self::Not(inner) => !holds(inner),
            Self::Any(conditions) => conditions.iter().any(holds),
            Self::All(conditions) => conditions.iter().all(holds),
            Self::Other(condition) => validation.holds(condition, of),
        }
    }

    /// Whether the condition holds for the stored struct.
    fn did_hold(&self, validation: &Validation<'_>, of: &Of<'_>) -> bool {
        of.with_stored(|stored| self.holds(validation, stored.around.home, stored)) == Some(true)
    }
}

impl Way {
    /// Resolves a path. `None` if it does not lead to a field, or leads through a list or map.
    fn of(def: &'static StructDef, names: &[&str]) -> Option<Self> {
        let (name, outer) = names.split_last()?;
        let (mut structs, mut def) = (Vec::new(), def);
        for name in outer {
            let place = FieldAccessor::find(def, name)?;
            structs.push(place);
            def = match place.field().form {
                Form::Struct(below) | Form::OptStruct(below) => below(),
                _ => return None,
            };
        }
        Some(Way { structs: structs.into(), field: FieldAccessor::find(def, name)? })
    }

    /// Resolves paths. `None` if one of them cannot be resolved.
    fn all(def: &'static StructDef, ways: &[&[&str]]) -> Option<Box<[Self]>> {
        ways.iter().map(|way| Self::of(def, way)).collect()
    }

    /// The struct that contains the field, if it is set.
    #[inline]
    fn home<'a>(&self, new: Ref<'a>) -> Option<Ref<'a>> {
        self.structs.iter().try_fold(new, |of, place| place.structure(of))
    }

    /// The value at the end of the path; null below an absent struct.
    fn value<'a>(&self, new: Ref<'a>) -> Value<'a> {
        self.home(new).map_or(Value::Null, |home| self.field.value(home))
    }

    #[inline]
    fn is_empty(&self, new: Ref<'_>) -> bool {
        self.home(new).is_none_or(|home| self.field.is_empty(home))
    }
}
