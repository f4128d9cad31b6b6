//! Parts of objects as documents, so that changing a few fields through JSON does not build a tree
//! of the whole object.
//!
//! A part is selected by an object of names, such as a merge patch. It has the members with these
//! names. If a member is a struct and its name has an object as value, that object selects its
//! members recursively. Otherwise the whole member belongs to the part.

use serde_json::{Map, Value as Tree};

use super::node::Node;
use crate::def::{FieldDef, JsonForm, PatchStrategy, Shape};
use crate::reflect::{Mut, Ref, Slot, Value};

/// Names of members, each with the names selected below it.
pub type SelectedNames = Map<String, Tree>;

/// The tree of the selected part of a struct.
pub fn part_to_value(value: Ref<'_>, names: &SelectedNames) -> Tree {
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

/// Clears the selected part of a struct. Decoding the part into it, changed or not, restores it.
pub fn clear_part(mut value: Mut<'_>, names: &SelectedNames) {
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

/// The names selected below a member; `None` if the whole member is selected.
fn names_below<'n>(field: &'static FieldDef, names: &'n Tree) -> Option<&'n SelectedNames> {
    let (Shape::Struct(def) | Shape::OptStruct(def)) = field.shape() else { return None };
    let is_looked_into = def.json_form == JsonForm::Fields && field.info.patch_strategy != PatchStrategy::Replace;
    // Directives of strategic merge patches concern the whole object.
    names.as_object().filter(|names| is_looked_into && !names.keys().any(|name| name.starts_with('$')))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::v1::Pod;
    use super::super::{Issues, from_value};
    use super::*;

    #[test]
    fn selected_part_is_cleared_and_restored() {
        const POD: &str = r#"{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"replicas":1,"ports":[{"port":1,"targetPort":0}],"args":["x"]}}"#;
        let check = |names: &str, part: &str, change: fn(&mut Tree), want: &str| {
            let names: SelectedNames = serde_json::from_str(names).unwrap();
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
