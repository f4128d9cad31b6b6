//! Which checks of a struct have nothing to do, seen from one look at the field: most fields of most objects are empty.

use super::{Assertion, CheckDef};
use crate::def::{Shape, StructDef};
use crate::reflect::{Ref, Value};

/// A check with the place of its field.
#[derive(Debug)]
pub(crate) struct Planned {
    pub check: &'static CheckDef,
    /// Index of the first field on the way into the JSON fields of the struct; nothing for the struct itself.
    field: Option<usize>,
    when_empty: WhenEmpty,
}

/// What a check does of an empty field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WhenEmpty {
    /// It may find something.
    Asserts,
    /// Nothing, if there is no struct on the way.
    GoesOn,
    /// Nothing, if there is no item, entry or struct.
    Visits,
    /// Nothing, also of a text that is empty in place.
    Nothing,
}

impl Planned {
    pub fn of(def: &'static StructDef) -> Vec<Planned> {
        let find = |check: &CheckDef| check.field.first().and_then(|name| def.tables().find(name));
        let plan = |check: &'static CheckDef| Planned { check, field: find(check), when_empty: when_empty(def, check) };
        def.checks.iter().map(plan).collect()
    }

    /// Whether the check finds nothing in the struct, whatever its conditions say.
    #[inline]
    pub fn is_idle(&self, new: Ref<'_>) -> bool {
        let Some(field) = self.field else { return false };
        match self.when_empty {
            WhenEmpty::Asserts => false,
            WhenEmpty::GoesOn => matches!(new.get_flat(field), Value::Null),
            WhenEmpty::Visits | WhenEmpty::Nothing => match new.get_flat(field) {
                Value::Null => true,
                Value::String(text) => self.when_empty == WhenEmpty::Nothing && text.is_empty(),
                Value::List(list) => list.is_empty(),
                Value::StructList(list) => list.is_empty(),
                value @ (Value::Map(_) | Value::StructMap(_)) => value.is_empty(),
                _ => false,
            },
        }
    }
}

fn when_empty(def: &'static StructDef, check: &CheckDef) -> WhenEmpty {
    let [name] = check.field else { return WhenEmpty::GoesOn };
    let is_pointer =
        def.json_field(name).is_none_or(|field| matches!(field.shape(), Shape::Opt(_) | Shape::OptStruct(_)));
    match check.assertions.first() {
        Some(Assertion::Optional) if is_pointer => WhenEmpty::GoesOn,
        Some(Assertion::Optional) => WhenEmpty::Nothing,
        _ if check.assertions.iter().all(visits) => WhenEmpty::Visits,
        _ => WhenEmpty::Asserts,
    }
}

/// Whether the assertion looks at items, entries, keys or structs only.
fn visits(assertion: &Assertion) -> bool {
    match assertion {
        Assertion::Each(_)
        | Assertion::Keys(_)
        | Assertion::EachKey(_)
        | Assertion::Below(_)
        | Assertion::Inlined
        | Assertion::ByHand(_)
        | Assertion::Labels
        | Assertion::MaxItems(..) => true,
        Assertion::ShortKeys(_, inner) | Assertion::Paired(_, inner) => inner.iter().all(visits),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Condition;
    use crate::def::Flags;
    use crate::describe;

    #[derive(Clone, Default)]
    struct Crate {
        label: String,
        lid: Option<String>,
        items: Vec<String>,
    }

    const fn check(field: &'static [&'static str], assertions: &'static [Assertion]) -> CheckDef {
        CheckDef { field, when: &[Condition::Update], assertions }
    }

    describe! { Crate, CRATE "Crate" { .checks(&[
        check(&["label"], &[Assertion::Optional, Assertion::MaxBytes(3, "")]),
        check(&["label"], &[Assertion::MaxBytes(3, "")]),
        check(&["lid"], &[Assertion::Optional, Assertion::MaxBytes(3, "")]),
        check(&["items"], &[Assertion::MaxItems(3, ""), Assertion::Each(&[Assertion::Required("")])]),
        check(&["items"], &[Assertion::Required(""), Assertion::Each(&[])]),
        check(&[], &[Assertion::Below("")]),
    ]) } [
        label: "label", 1, Flags::OMIT_EMPTY;
        lid:   "lid",   2, Flags::OMIT_EMPTY;
        items: "items", 3, Flags::OMIT_EMPTY;
    ] }

    fn idle(of: &Crate) -> Vec<bool> {
        CRATE.planned_checks().iter().map(|planned| planned.is_idle(Ref::of(of))).collect()
    }

    #[test]
    fn only_checks_that_find_nothing_in_an_empty_field_are_passed_over() {
        assert_eq!(idle(&Crate::default()), [true, false, true, true, false, false]);
        let empty = Crate { lid: Some(String::new()), ..Crate::default() };
        assert!(!idle(&empty)[2], "a pointer to an empty text is not empty");
        let full = Crate { label: "a".into(), lid: Some("b".into()), items: vec!["c".into()] };
        assert_eq!(idle(&full), [false; 6]);
    }
}
