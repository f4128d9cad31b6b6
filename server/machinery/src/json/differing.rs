//! Trees of parts of structs: what two of one type say differently, so that whoever compares a write with what is stored looks at the
//! change and not at the whole object; and an object without what a reader does not ask for.

use std::ptr;

use serde_json::{Map, Value as Tree};

use crate::def::{JsonForm, Shape};
use crate::reflect::{FlatField, Ref, Value};

/// The members in which two structs of a type differ, as the trees of both; nothing when their JSON is the same.
///
/// Structs are looked into; lists and maps that differ stand there whole.
pub fn differing(before: Ref<'_>, after: Ref<'_>) -> Option<(Tree, Tree)> {
    let (mut old, mut new) = (Map::new(), Map::new());
    each_difference(before, after, "", |field, before, after| {
        let name = field.field.json;
        if let (Some(Value::Struct(a)), Some(Value::Struct(b))) = (before, after)
            && a.def().json_form == JsonForm::Fields
        {
            if let Some((a, b)) = differing(a, b) {
                old.insert(name.into(), a);
                new.insert(name.into(), b);
            }
            return;
        }
        before.map(|value| old.insert(name.into(), tree(field, value)));
        after.map(|value| new.insert(name.into(), tree(field, value)));
    });
    undeclared_differences(before, after, |name, before, after| {
        before.map(|value| old.insert(name.into(), value.clone()));
        after.map(|value| new.insert(name.into(), value.clone()));
    });
    (!old.is_empty() || !new.is_empty()).then(|| (Tree::Object(old), Tree::Object(new)))
}

/// Whether the JSON of two structs of a type is the same, but for the member of this name.
pub fn is_same_but(before: Ref<'_>, after: Ref<'_>, except: &str) -> bool {
    let mut same = true;
    each_difference(before, after, except, |_, before, after| {
        same &= match (before, after) {
            (Some(Value::Struct(a)), Some(Value::Struct(b))) if a.def().json_form == JsonForm::Fields => {
                is_same_but(a, b, "")
            }
            _ => false,
        };
    });
    undeclared_differences(before, after, |name, _, _| same &= name == except);
    same
}

/// Visits the members of open structs that are not equal.
fn undeclared_differences<'a>(
    before: Ref<'a>,
    after: Ref<'a>,
    mut visit: impl FnMut(&'a str, Option<&'a Tree>, Option<&'a Tree>),
) {
    let (Some(before), Some(after)) = (before.undeclared(), after.undeclared()) else { return };
    for (name, was) in &before.0 {
        let is = after.0.get(name);
        if is != Some(was) {
            visit(name, Some(was), is);
        }
    }
    for (name, is) in after.0.iter().filter(|(name, _)| !before.0.contains_key(*name)) {
        visit(name, None, Some(is));
    }
}

/// The tree of a struct without a member that one of its members has, such as `metadata.managedFields`.
pub fn to_value_without(value: Ref<'_>, (outer, inner): (&str, &str)) -> Tree {
    let members = |of: Ref<'_>, member: &mut dyn FnMut(&'static FlatField, Value<'_>) -> Option<Tree>| {
        let mut out = Map::new();
        of.each_member(0, |field, value| {
            if let Some(tree) = member(field, *value) {
                out.insert(field.field.json.into(), tree);
            }
        });
        let undeclared = of.undeclared().into_iter().flat_map(|document| &document.0);
        out.extend(undeclared.map(|(name, value)| (name.clone(), value.clone())));
        Tree::Object(out)
    };
    members(value, &mut |field, value| match value {
        Value::Struct(below) if field.field.json == outer => {
            Some(members(below, &mut |field, value| (field.field.json != inner).then(|| tree(field, value))))
        }
        value => Some(tree(field, value)),
    })
}

/// Visits the members that are not equal; structs that are in both may be the same after all.
fn each_difference<'a>(
    before: Ref<'a>,
    after: Ref<'a>,
    except: &str,
    mut visit: impl FnMut(&'static FlatField, Option<Value<'a>>, Option<Value<'a>>),
) {
    let mut old: Vec<(&'static FlatField, Value<'a>)> = Vec::with_capacity(16);
    before.each_member(0, |field, value| {
        if field.field.json != except {
            old.push((field, *value));
        }
    });
    let mut old = old.into_iter().peekable();
    after.each_member(0, |field, value| {
        // Both visit the fields of one table in its order.
        while let Some((gone, value)) = old.next_if(|(other, _)| ptr::from_ref(*other) < ptr::from_ref(field)) {
            visit(gone, Some(value), None);
        }
        let was = old.next_if(|(other, _)| ptr::eq(*other, field)).map(|(_, value)| value);
        let is_looked_into = matches!((was, value), (Some(Value::Struct(_)), Value::Struct(_)));
        if field.field.json != except && (is_looked_into || was != Some(*value)) {
            visit(field, was, Some(*value));
        }
    });
    old.for_each(|(gone, value)| visit(gone, Some(value), None));
}

fn tree(field: &FlatField, value: Value<'_>) -> Tree {
    // As the JSON codec has it: bytes in place that are empty are Go's nil.
    let is_nil = matches!((value, field.shape), (Value::Bytes(bytes), Shape::One(_)) if bytes.is_empty());
    if is_nil { Tree::Null } else { serde_json::to_value(value).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::v1::Pod;
    use super::*;

    fn differences(before: &str, after: &str) -> Option<String> {
        let pod = |text: &str| serde_json::from_str::<Pod>(text).unwrap();
        let (before, after) = (pod(before), pod(after));
        let (before, after) = (Ref::of(&before), Ref::of(&after));
        let found = differing(before, after);
        assert_eq!(found.is_none(), is_same_but(before, after, ""));
        found.map(|(before, after)| format!("{before} {after}"))
    }

    #[test]
    fn only_what_differs_is_shown() {
        let pod =
            r#"{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"replicas":1,"ports":[{"port":1}],"args":["x"]}}"#;
        assert_eq!(differences(pod, pod), None);
        let cases = [
            (r#""args":["x"]"#, r#""args":["y"]"#, r#"{"spec":{"args":["x"]}} {"spec":{"args":["y"]}}"#),
            (r#""name":"a","#, "", r#"{"metadata":{"name":"a"}} {"metadata":{}}"#),
            (r#","args":["x"]"#, "", r#"{"spec":{"args":["x"]}} {"spec":{}}"#),
            (r#""replicas":1,"#, "", r#"{"spec":{"replicas":1}} {"spec":{}}"#),
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"metadata":{"labels":{"a":"b"}}} {"metadata":{"labels":{"a":"c"}}}"#),
        ];
        for (text, other, want) in cases {
            assert_eq!(differences(pod, &pod.replace(text, other)).as_deref(), Some(want));
        }
    }

    #[test]
    fn a_member_may_be_left_out() {
        let pod: Pod =
            serde_json::from_str(r#"{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"args":["x"]}}"#).unwrap();
        let without = to_value_without(Ref::of(&pod), ("metadata", "labels"));
        assert_eq!(without.to_string(), r#"{"metadata":{"name":"a"},"spec":{"ports":null,"args":["x"]}}"#);
    }

    #[test]
    fn a_member_may_be_excepted() {
        let pod = |text: &str| serde_json::from_str::<Pod>(text).unwrap();
        let one = pod(r#"{"metadata":{"name":"a"},"spec":{"args":["x"]}}"#);
        let other = pod(r#"{"metadata":{"name":"b"},"spec":{"args":["x"]}}"#);
        assert!(is_same_but(Ref::of(&one), Ref::of(&other), "metadata"));
        assert!(!is_same_but(Ref::of(&one), Ref::of(&other), "spec"));
    }
}
