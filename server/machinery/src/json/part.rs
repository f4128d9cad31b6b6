//! Parts of objects as documents, so that whoever changes little of an object by its JSON makes no tree of all of it.
//!
//! A part is told by names, an object such as a merge patch: it has the members of these names, and where a member is a struct and the name
//! stands for an object, of it again what is named there. Anything else that is named belongs to the part as a whole.

use serde_json::{Map, Value as Tree};

use super::node::Node;
use crate::def::{FieldDef, JsonForm, PatchStrategy, Shape};
use crate::reflect::{Mut, Ref, Slot, Value};

/// Names of members, with what is named below them.
pub type Names = Map<String, Tree>;

/// The tree of what is named of a struct.
pub fn part_to_value(value: Ref<'_>, names: &Names) -> Tree {
    let mut part = Map::new();
    value.each_member(0, |field, member| {
        let Some(name) = names.get(field.field.json) else { return };
        let tree = match (*member, names_below(field.field, name)) {
            (Value::Struct(member), Some(below)) => part_to_value(member, below),
            (member, _) => Node::from(field.shown(member)).to_tree(),
        };
        part.insert(field.field.json.into(), tree);
    });
    let undeclared = value.undeclared().into_iter().flat_map(|document| &document.0);
    let named = undeclared.filter(|(name, _)| names.contains_key(*name));
    part.extend(named.map(|(name, value)| (name.clone(), value.clone())));
    Tree::Object(part)
}

/// Empties what is named of a struct, so that decoding the part into it, changed or not, puts it back.
pub fn clear_part(mut value: Mut<'_>, names: &Names) {
    let def = value.def();
    for (name, below) in names {
        let below = def.json_field(name).and_then(|field| names_below(field, below));
        match (value.by_name(name), below) {
            (Some(Slot::Struct(member)), Some(below)) => clear_part(member, below),
            (Some(Slot::OptStruct(member)), Some(below)) => {
                if let Some(member) = member.get() {
                    clear_part(member, below);
                }
            }
            (Some(slot), _) => slot.clear(),
            (None, _) => {
                if let Some(document) = value.undeclared() {
                    document.0.shift_remove(name);
                }
            }
        }
    }
}

/// What is named of a member; nothing if all of it is meant.
fn names_below<'n>(field: &'static FieldDef, names: &'n Tree) -> Option<&'n Names> {
    let (Shape::Struct(def) | Shape::OptStruct(def)) = field.shape() else { return None };
    let is_looked_into = def.json_form == JsonForm::Fields && field.info.patch_strategy != PatchStrategy::Replace;
    // Directives of strategic merge patches are about all of an object.
    names.as_object().filter(|names| is_looked_into && !names.keys().any(|name| name.starts_with('$')))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::v1::Pod;
    use super::super::{Issues, from_value};
    use super::*;

    #[test]
    fn what_is_named_is_taken_out_and_put_back() {
        const POD: &str = r#"{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"replicas":1,"ports":[{"port":1,"targetPort":0}],"args":["x"]}}"#;
        let check = |names: &str, part: &str, change: fn(&mut Tree), want: &str| {
            let names: Names = serde_json::from_str(names).unwrap();
            let mut pod: Pod = serde_json::from_str(POD).unwrap();
            let mut found = part_to_value(Ref::of(&pod), &names);
            assert_eq!(found.to_string(), part);
            clear_part(Mut::of(&mut pod), &names);
            change(&mut found);
            from_value(&found, Mut::of(&mut pod), &mut Issues::ignore()).unwrap();
            assert_eq!(serde_json::to_string(&Ref::of(&pod)).unwrap(), want);
        };
        check("{}", "{}", |_| {}, POD);
        check(
            r#"{"metadata":{"labels":{"c":"d"}}}"#,
            r#"{"metadata":{"labels":{"a":"b"}}}"#,
            |part| part["metadata"]["labels"] = serde_json::json!({"c": "d"}),
            &POD.replace(r#"{"a":"b"}"#, r#"{"c":"d"}"#),
        );
        check(
            r#"{"spec":{"args":null},"metadata":5}"#,
            r#"{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"args":["x"]}}"#,
            |part| part["spec"] = serde_json::json!({}),
            &POD.replace(r#","args":["x"]"#, ""),
        );
        check(
            r#"{"spec":{"$patch":"replace"}}"#,
            r#"{"spec":{"replicas":1,"ports":[{"port":1,"targetPort":0}],"args":["x"]}}"#,
            |part| part["spec"]["replicas"] = 2.into(),
            &POD.replace(r#""replicas":1"#, r#""replicas":2"#),
        );
    }
}
