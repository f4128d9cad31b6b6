//! Tests that a planned condition is equivalent to the condition itself.

use super::*;
use crate::checks::plan::PlannedCondition;

const WAYS: [&[&str]; 12] = [
    &["spec"],
    &["spec", "kind"],
    &["spec", "mode"],
    &["spec", "size"],
    &["spec", "ports"],
    &["spec", "ports", "number"],
    &["spec", "first"],
    &["spec", "first", "number"],
    &["spec", "tags"],
    &["spec", "labels", "a"],
    &["status", "number"],
    &["spec", "none"],
];

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Conditions on all paths, alone, on pairs of paths, and for the stored struct.
fn conditions() -> Vec<&'static Condition> {
    let mut all = vec![Condition::Create, Condition::Update, Condition::Gate("none")];
    for one in WAYS {
        all.extend([Condition::Set(one), Condition::Unset(one), Condition::Is(one, &["", "0", "1", "A", "x"])]);
        for other in WAYS {
            let ways: &'static [&'static [&'static str]] = leaked([one, other]);
            let both: &'static [Condition] = leaked([Condition::Set(one), Condition::Unset(other)]);
            all.extend([Condition::None(ways), Condition::Many(ways), Condition::Any(both), Condition::All(both)]);
        }
    }
    let plain: Vec<&'static Condition> = all.into_iter().map(leaked).collect();
    let wrapped = plain.iter().flat_map(|inner| [Condition::Was(inner), Condition::Not(inner)]);
    let wrapped: Vec<&'static Condition> = wrapped.map(leaked).collect();
    [plain, wrapped].concat()
}

fn things() -> Vec<Thing> {
    let mut full = fine();
    full.spec.kind = "A".into();
    full.spec.mode = Some("x".into());
    full.spec.size = Some("1".parse().unwrap());
    full.spec.first = Some(Box::new(port(1)));
    full.spec.tags = vec!["x".into()];
    full.spec.labels.insert("a".into(), String::new());
    full.status = port(1);
    let mut pointers = Thing::default();
    pointers.spec.mode = Some(String::new());
    pointers.spec.size = Some(Quantity::default());
    pointers.spec.first = Some(Box::default());
    pointers.spec.ports = vec![port(0)];
    vec![Thing::default(), fine(), full, pointers]
}

#[test]
fn a_planned_condition_holds_where_the_condition_does() {
    let (context, mut errors, things) = (WriteContext::default(), Vec::new(), things());
    let validation = Validation::new(&context, &mut errors);
    let conditions = conditions();
    for (new, old) in things.iter().flat_map(|new| {
        let olds = things.iter().map(Some).chain([None]);
        olds.map(move |old| (new, old))
    }) {
        let around = Around::of(Ref::of(new), None);
        let of = Of::structure(&Path::NONE, &around, old.map(Ref::of));
        for condition in &conditions {
            let planned = PlannedCondition::of(&THING, condition);
            let (is, does) = (planned.holds(&validation, around.home, &of), validation.holds(condition, &of));
            assert_eq!(is, does, "{condition:?} planned as {planned:?}");
        }
    }
}
