//! The compiled form of the declared checks of a struct.
//!
//! Checks are grouped by part, and the places of their fields are resolved. The plan also records
//! which checks cannot fail for an empty field, so that a single read of the field skips them: most
//! fields of most objects are empty.

mod condition;

use std::sync::LazyLock;

pub(super) use self::condition::PlannedCondition;
use super::{Assertion, CheckDef, Condition};
use crate::def::{Form, Scalar, StructDef};
use crate::features::NameId;
use crate::reflect::{FieldAccessor, Ref};

/// The checks of a struct, in order, by the part that they belong to. The part without a name comes first.
#[derive(Debug)]
pub(crate) struct CheckPlan(Vec<(&'static str, PartChecks)>);

/// The checks of a part.
///
/// Most checks of most objects are skipped. What decides on that is separate, so that it takes little memory.
#[derive(Debug, Default)]
pub(super) struct PartChecks {
    pub groups: Box<[CheckGroup]>,
    pub checks: Box<[Planned]>,
}

/// Consecutive checks of a part: all that cannot fail while the same field is empty, or all that may.
#[derive(Debug)]
pub(super) struct CheckGroup {
    /// While this field is empty, no check of the group can fail, regardless of conditions.
    idle_field: Option<FieldAccessor>,
    /// Index of the check behind the group.
    pub end: u32,
}

/// A check with the place of its field.
///
/// The fields are ordered by access: most checks read only the first ones.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Planned {
    /// The conditions, without that of the parts.
    pub when: Box<[PlannedCondition]>,
    /// Index of the next check that may run when the first condition of this one does not hold.
    pub behind_condition: u32,
    /// The first field of the path; `None` for the struct itself.
    pub field: Option<FieldAccessor>,
    pub assertions: &'static [Assertion],
    /// The option that the check sets, if it does nothing else.
    pub choice: Option<Box<PlannedChoice>>,
    /// The name of the first field of the path, and the rest of the path.
    pub name: &'static str,
    pub rest: &'static [&'static str],
    /// The places of `rest`; `None` for what is no field of a struct.
    pub rest_places: Box<[Option<FieldAccessor>]>,
}

/// An option, and the conditions that set it: [`Assertion::Choose`].
#[derive(Debug)]
pub(super) struct PlannedChoice {
    pub option: NameId,
    pub when: Box<[PlannedCondition]>,
}

/// A kind of empty field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empty {
    /// A null pointer.
    Missing,
    /// An empty text that is not behind a pointer.
    Text,
    /// An empty list or map.
    Items,
}

/// A check, after its field if the check cannot fail while the field is empty.
type IdleCheck = (Option<FieldAccessor>, Planned);

impl CheckPlan {
    pub fn of(def: &'static StructDef) -> Self {
        let mut parts: Vec<(&'static str, Vec<IdleCheck>)> = vec![("", Vec::new())];
        for check in def.checks {
            let (names, when) = match check.when {
                [Condition::Part(names), when @ ..] => (*names, when),
                when => ([""].as_slice(), when),
            };
            for name in names {
                let planned = Planned::of(def, check, when);
                match parts.iter_mut().find(|(part, _)| part == name) {
                    Some((_, checks)) => checks.push(planned),
                    None => parts.push((name, vec![planned])),
                }
            }
        }
        CheckPlan(parts.into_iter().map(|(name, checks)| (name, PartChecks::of(checks))).collect())
    }

    /// The checks of a part. The part without a name has the checks that do not name a part.
    pub(super) fn part(&self, name: &str) -> &PartChecks {
        static EMPTY: LazyLock<PartChecks> = LazyLock::new(PartChecks::default);
        let is_same = |part: &str| part.len() == name.len() && (std::ptr::eq(part, name) || part == name);
        self.0.iter().find(|(part, _)| is_same(part)).map_or(&EMPTY, |(_, part)| part)
    }
}

impl PartChecks {
    /// Groups checks, each with the field that makes it idle while it is empty.
    fn of(checks: Vec<IdleCheck>) -> Self {
        let mut groups: Vec<CheckGroup> = Vec::new();
        for (index, (idle_field, _)) in checks.iter().enumerate() {
            let end = index as u32 + 1;
            match groups.last_mut().filter(|group| group.idle_field == *idle_field) {
                Some(group) => group.end = end,
                None => groups.push(CheckGroup { idle_field: *idle_field, end }),
            }
        }
        let mut checks: Box<[Planned]> = checks.into_iter().map(|(_, planned)| planned).collect();
        let mut behind = checks.len() as u32;
        for index in (0..checks.len()).rev() {
            let (check, next) = (&checks[index], checks.get(index + 1));
            if next.is_some_and(|next| !next.has_first_condition_of(check)) {
                behind = index as u32 + 1;
            }
            checks[index].behind_condition = behind;
        }
        PartChecks { groups: groups.into(), checks }
    }
}

impl CheckGroup {
    /// Whether no check of the group can fail for the struct, by its field alone.
    #[inline]
    pub fn is_idle(&self, new: Ref<'_>) -> bool {
        self.idle_field.is_some_and(|field| field.is_empty(new))
    }
}

impl Planned {
    fn of(
        def: &'static StructDef,
        check: &'static CheckDef,
        when: &'static [Condition],
    ) -> (Option<FieldAccessor>, Self) {
        let (name, rest) = check.field.split_first().unwrap_or((&"", &[]));
        let field = FieldAccessor::find(def, name);
        let all = |when: &'static [Condition]| when.iter().map(|condition| PlannedCondition::of(def, condition));
        let choice = match (check.field, check.assertions) {
            ([], [Assertion::Choose(option, when)]) => {
                Some(Box::new(PlannedChoice { option: NameId::of(option), when: all(when).collect() }))
            }
            _ => None,
        };
        let planned = Planned {
            field,
            choice,
            assertions: check.assertions,
            name,
            rest,
            rest_places: places(field, rest),
            when: all(when).collect(),
            behind_condition: 0,
        };
        (field.filter(|field| is_idle(field.field().form, check)), planned)
    }

    /// Whether this check and another one have the same first condition.
    fn has_first_condition_of(&self, other: &Planned) -> bool {
        let text = |planned: &Planned| planned.when.first().map(|condition| format!("{condition:?}"));
        text(self).is_some_and(|condition| text(other) == Some(condition))
    }
}

/// The places of the names on a path below a field: `None` for indexes of lists, and from entries of maps on.
fn places(field: Option<FieldAccessor>, rest: &[&str]) -> Box<[Option<FieldAccessor>]> {
    let mut above = field;
    let below = rest.iter().map(|name| {
        let is_index = name.parse::<usize>().is_ok();
        let structs = above.filter(|field| !matches!(field.field().form, Form::StructMap(..)));
        // The path continues in the structs of the list after an index, too.
        if !is_index {
            above = structs.and_then(|field| FieldAccessor::find(field.field().shape().struct_def()?, name));
        }
        above.filter(|_| !is_index)
    });
    below.collect()
}

/// Whether a check cannot fail while the first field of its path is empty.
fn is_idle(form: Form, check: &CheckDef) -> bool {
    let empty = match form {
        Form::Opt(_) | Form::OptStruct(_) => Empty::Missing,
        Form::One(Scalar::String) => Empty::Text,
        Form::List(_) | Form::Map(_) | Form::StructList(..) | Form::StructMap(..) => Empty::Items,
        Form::One(_) | Form::Struct(_) => return false,
    };
    match check.field.get(1) {
        None => finds_nothing(check.assertions, empty),
        // Items of a list are visited. A map entry that the path refers to is checked even if it is
        // missing.
        Some(next) if matches!(form, Form::StructList(..)) => next.parse::<usize>().is_err(),
        Some(_) => empty == Empty::Missing,
    }
}

/// Whether assertions neither fail for an empty field nor record anything.
fn finds_nothing(assertions: &[Assertion], empty: Empty) -> bool {
    for assertion in assertions {
        match assertion {
            Assertion::Optional | Assertion::Member(..) => return true,
            Assertion::Forbidden(_) => {}
            Assertion::At(_, inner)
            | Assertion::Json(inner)
            | Assertion::ShortKeys(_, inner)
            | Assertion::Paired(_, inner)
                if finds_nothing(inner, empty) => {}
            assertion if is_about_parts(assertion) => {}
            assertion if empty == Empty::Missing && is_about_values(assertion) => {}
            _ => return false,
        }
    }
    true
}

/// Whether the assertion only concerns items, entries, keys or structs.
fn is_about_parts(assertion: &Assertion) -> bool {
    matches!(
        assertion,
        Assertion::Valid
            | Assertion::Ratchet
            | Assertion::Each(_)
            | Assertion::Keys(_)
            | Assertion::EachKey(_)
            | Assertion::Key(_)
            | Assertion::Below(_)
            | Assertion::Inlined
            | Assertion::ByHand(_)
            | Assertion::Labels
            | Assertion::MaxItems(..)
    )
}

/// Whether the assertion only concerns texts, numbers and quantities that are set.
fn is_about_values(assertion: &Assertion) -> bool {
    matches!(
        assertion,
        Assertion::Min(..)
            | Assertion::Max(..)
            | Assertion::Range(..)
            | Assertion::Positive(_)
            | Assertion::NotNegative(_)
            | Assertion::Port
            | Assertion::MaxBytes(..)
            | Assertion::MaxTotal(_)
            | Assertion::Format(_)
            | Assertion::Name(_)
            | Assertion::OneOf(_)
            | Assertion::Field(..)
            | Assertion::Note(..)
            | Assertion::Unnoted(..)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::Flags;
    use crate::describe;

    #[derive(Clone, Default)]
    struct Crate {
        label: String,
        lid: Option<String>,
        items: Vec<String>,
    }

    const fn check_when(when: &'static [Condition]) -> CheckDef {
        CheckDef { field: &[], when, assertions: &[] }
    }

    const fn check(field: &'static [&'static str], assertions: &'static [Assertion]) -> CheckDef {
        CheckDef { field, when: &[Condition::Update], assertions }
    }

    describe! { Crate, CRATE "Crate" { .checks(&[
        check(&["label"], &[Assertion::Optional, Assertion::MaxBytes(3, "")]),
        check(&["label"], &[Assertion::MaxBytes(3, "")]),
        check(&["items"], &[Assertion::Labels]),
        check(&["items"], &[Assertion::Labels]),
        check(&["lid"], &[Assertion::Optional, Assertion::MaxBytes(3, "")]),
        check(&["items"], &[Assertion::MaxItems(3, ""), Assertion::Each(&[Assertion::Required("")])]),
        check(&["items"], &[Assertion::Required(""), Assertion::Each(&[])]),
        check(&[], &[Assertion::Below("")]),
        check(&["lid"], &[Assertion::OneOf(&["a"]), Assertion::At("lids", &[Assertion::Member("", &[&["label"]])])]),
        check(&["lid"], &[Assertion::ChooseText("lid")]),
        check(&["label"], &[Assertion::Forbidden("")]),
        check(&["lid"], &[Assertion::Unnoted("lids", ""), Assertion::Noted("lids", "")]),
        check(&["items", "0"], &[Assertion::Required("")]),
        check_when(&[Condition::Part(&["later"]), Condition::Update]),
        check_when(&[Condition::Part(&["later", "last"]), Condition::Update, Condition::Gate("a")]),
        check_when(&[Condition::Part(&["later"]), Condition::Not(&Condition::Update)]),
        check_when(&[Condition::Part(&["later"])]),
    ]) } [
        label: "label", 1, Flags::OMIT_EMPTY;
        lid:   "lid",   2, Flags::OMIT_EMPTY;
        items: "items", 3, Flags::OMIT_EMPTY;
    ] }

    fn part(name: &str) -> &'static PartChecks {
        CRATE.planned_checks().part(name)
    }

    /// Whether each check is skipped for a struct.
    fn idle(of: &Crate) -> Vec<bool> {
        let (mut idle, mut begin) = (Vec::new(), 0);
        for group in &part("").groups {
            idle.extend((begin..group.end).map(|_| group.is_idle(Ref::of(of))));
            begin = group.end;
        }
        idle
    }

    #[test]
    fn checks_that_are_idle_with_the_same_field_form_a_group() {
        let ends: Vec<u32> = part("").groups.iter().map(|group| group.end).collect();
        assert_eq!(ends, [1, 2, 4, 5, 6, 8, 9, 10, 11, 13]);
    }

    #[test]
    fn a_condition_that_does_not_hold_leads_behind_the_checks_that_have_it_too() {
        let checks = part("later").checks.iter().enumerate();
        let steps: Vec<usize> = checks.map(|(index, planned)| planned.behind_condition as usize - index).collect();
        assert_eq!(steps, [2, 1, 1, 1]);
        assert_eq!(part("last").checks.len(), 1);
        assert!(part("first").checks.is_empty());
    }

    #[test]
    fn only_checks_that_find_nothing_in_an_empty_field_are_passed_over() {
        assert_eq!(
            idle(&Crate::default()),
            [true, false, true, true, true, true, false, false, true, false, true, false, false]
        );
        let empty = Crate { lid: Some(String::new()), ..Crate::default() };
        assert!(!idle(&empty)[4], "a pointer to an empty text is not empty");
        let full = Crate { label: "a".into(), lid: Some("b".into()), items: vec!["c".into()] };
        assert_eq!(idle(&full), [false; 13]);
    }
}
