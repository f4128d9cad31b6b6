//! A common view of JSON trees and described structs.
//!
//! Code that traverses documents traverses objects in the same way, without building a tree of an
//! object to compare it.

use std::ptr;

use super::dom::Value as Tree;
use crate::def::{FieldDef, JsonForm, StructDef};
use crate::reflect::{Ref, Value};

/// A value as its JSON represents it.
#[derive(Clone, Copy)]
pub enum Node<'a> {
    /// A tree.
    Tree(&'a Tree),
    /// Never a struct whose JSON is that of one of its members: it is replaced by that member.
    Described(Value<'a>),
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeForm {
    /// `null`, or a value that JSON shows as `null`, such as an unset time.
    Null,
    /// A boolean, number or text.
    Scalar,
    /// A list.
    List,
    /// An object.
    Object,
}

/// Visitor of member pairs: a member's name, and the member in both values.
type EachPair<'f> = dyn FnMut(&str, Option<Node<'_>>, Option<Node<'_>>) + 'f;

impl<'a> From<&'a Tree> for Node<'a> {
    fn from(tree: &'a Tree) -> Self {
        Node::Tree(tree)
    }
}

impl<'a> From<Ref<'a>> for Node<'a> {
    fn from(value: Ref<'a>) -> Self {
        Node::Described(in_form(value))
    }
}

impl<'a> From<Value<'a>> for Node<'a> {
    fn from(value: Value<'a>) -> Self {
        match value {
            Value::Struct(value) => value.into(),
            value => Node::Described(value),
        }
    }
}

/// The value that represents a struct in JSON: the struct, or one of its members if it is not an
/// object of its fields.
pub(crate) fn in_form(value: Ref<'_>) -> Value<'_> {
    let first_of = |members: &[&str]| {
        let found = members.iter().filter_map(|name| value.by_name(name)).find(|member| !member.is_empty());
        match found.unwrap_or(Value::Null) {
            Value::Struct(member) => in_form(member),
            member => member,
        }
    };
    match value.def().json_form {
        JsonForm::Fields | JsonForm::Open => Value::Struct(value),
        JsonForm::Items => value.get_flat(0),
        JsonForm::SchemaOrArray => first_of(&["jsonSchemas", "schema"]),
        JsonForm::SchemaOrStrings => first_of(&["property", "schema"]),
        JsonForm::SchemaOrBool => match first_of(&["schema", "allows"]) {
            Value::Null => Value::Bool(false),
            schema => schema,
        },
    }
}

impl<'a> Node<'a> {
    /// The type of its JSON. An empty list or map of a struct is `Null`.
    pub fn form(self) -> NodeForm {
        match self {
            Node::Tree(Tree::Null) => NodeForm::Null,
            Node::Tree(Tree::Array(_)) => NodeForm::List,
            Node::Tree(Tree::Object(_)) => NodeForm::Object,
            Node::Tree(_) => NodeForm::Scalar,
            Node::Described(value) => form_of(value),
        }
    }

    /// Whether the value has neither members nor items.
    pub fn is_empty(self) -> bool {
        let mut is_empty = true;
        match self.form() {
            NodeForm::List => self.items(|items| is_empty = items.is_empty()),
            _ => self.each_member(&mut |_, _| is_empty = false),
        }
        is_empty
    }

    /// Converts the value to a tree.
    pub fn to_tree(self) -> Tree {
        match self {
            Node::Tree(tree) => tree.clone(),
            Node::Described(value) => serde_json::to_value(value).unwrap_or_default(),
        }
    }

    /// Converts a member to a tree.
    pub fn member(self, name: &str) -> Option<Tree> {
        match self {
            Node::Tree(tree) => tree.get(name).cloned(),
            Node::Described(Value::Struct(of)) => match of.member(name) {
                Some((field, value)) => Some(Node::from(field.shown(value)).to_tree()),
                None => of.undeclared()?.0.get(name).cloned(),
            },
            Node::Described(_) => self.to_tree().get(name).cloned(),
        }
    }

    /// Visits the members of an object.
    pub fn each_member(self, visit: &mut dyn FnMut(&str, Node<'_>)) {
        match self {
            Node::Tree(Tree::Object(members)) => members.iter().for_each(|(name, value)| visit(name, value.into())),
            Node::Described(Value::Struct(of)) => {
                of.each_member(0, |field, value| visit(field.field.json, field.shown(*value).into()));
                let undeclared = of.undeclared().into_iter().flat_map(|document| &document.0);
                undeclared.for_each(|(name, value)| visit(name, value.into()));
            }
            Node::Described(Value::Map(map)) => map.for_each(|name, value| visit(name, value.into())),
            Node::Described(Value::StructMap(map)) => map.for_each(|name, value| visit(name, value.into())),
            Node::Described(Value::Document(document)) => {
                document.0.iter().for_each(|(name, value)| visit(name, value.into()));
            }
            Node::Described(value) if is_text(value) => Node::Tree(&self.to_tree()).each_member(visit),
            _ => {}
        }
    }

    /// Visits the members of a struct of this type in name order.
    ///
    /// Returns false without visiting any if the value is something else or has undeclared members.
    pub fn each_declared(self, def: &'static StructDef, visit: &mut dyn FnMut(&'static FieldDef, Node<'_>)) -> bool {
        match self {
            Node::Described(Value::Struct(of)) if ptr::eq(of.def(), def) && of.undeclared().is_none() => {
                of.each_member_by_name(|field, value| visit(field.field, field.shown(*value).into()));
                true
            }
            _ => false,
        }
    }

    /// Passes the items of a list; none for other values.
    pub fn items<R>(self, f: impl FnOnce(&[Node<'_>]) -> R) -> R {
        let items: Vec<Node<'_>> = match self {
            Node::Tree(Tree::Array(items)) => items.iter().map(Node::from).collect(),
            Node::Described(Value::StructList(list)) => list.iter().map(Node::from).collect(),
            Node::Described(Value::List(list)) => {
                (0..list.len()).filter_map(|index| list.get(index)).map(Node::from).collect()
            }
            Node::Described(value) if is_text(value) => return Node::Tree(&self.to_tree()).items(f),
            _ => Vec::new(),
        };
        f(&items)
    }

    /// Visits the members of one or two objects. A member may be absent in one of them.
    pub fn each_pair(one: Option<Self>, other: Option<Self>, visit: &mut EachPair<'_>) {
        match (one, other) {
            (Some(one), Some(other)) => one.each_member_of_either(other, visit),
            (Some(one), None) => one.each_member(&mut |name, value| visit(name, Some(value), None)),
            (None, Some(other)) => other.each_member(&mut |name, value| visit(name, None, Some(value))),
            (None, None) => {}
        }
    }

    fn each_member_of_either(self, other: Self, visit: &mut EachPair<'_>) {
        match (self, other) {
            (Node::Described(Value::Struct(one)), Node::Described(Value::Struct(other)))
                if ptr::eq(one.def(), other.def()) =>
            {
                one.each_member_of_either(other, |field, one, other| {
                    let node = |value| Node::from(field.shown(value));
                    visit(field.field.json, one.map(node), other.map(node));
                });
                if let (Some(one), Some(other)) = (one.undeclared(), other.undeclared()) {
                    let (one, other) = (Value::Document(one), Value::Document(other));
                    Node::Described(one).each_member_of_either(Node::Described(other), visit);
                }
            }
            _ if self.has_entries() && other.has_entries() => {
                self.each_member(&mut |name, value| visit(name, Some(value), other.entry(name)));
                other.each_member(&mut |name, value| {
                    if self.entry(name).is_none() {
                        visit(name, None, Some(value));
                    }
                });
            }
            _ => Node::Tree(&self.to_tree()).each_member_of_either(Node::Tree(&other.to_tree()), visit),
        }
    }

    /// Whether members can be looked up by name.
    fn has_entries(self) -> bool {
        matches!(self, Node::Tree(_) | Node::Described(Value::Map(_) | Value::StructMap(_) | Value::Document(_)))
    }

    fn entry(self, name: &str) -> Option<Node<'a>> {
        match self {
            Node::Tree(tree) => tree.get(name).map(Node::from),
            Node::Described(Value::Map(map)) => map.get(name).map(Node::from),
            Node::Described(Value::StructMap(map)) => map.get(name).map(Node::from),
            Node::Described(Value::Document(document)) => document.0.get(name).map(Node::from),
            Node::Described(_) => None,
        }
    }
}

impl PartialEq for Node<'_> {
    /// Whether two values are known to be equal. A tree and a described value are not compared.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Node::Tree(one), Node::Tree(other)) => one == other,
            (Node::Described(one), Node::Described(other)) => one == other,
            _ => false,
        }
    }
}

/// Whether the JSON of two structs of the same type is equal, except for these members.
pub fn is_same_but(before: Ref<'_>, after: Ref<'_>, except: &[&str]) -> bool {
    let mut is_same = true;
    Node::each_pair(Some(before.into()), Some(after.into()), &mut |name, was, is| {
        is_same = is_same && (except.contains(&name) || are_same(was, is));
    });
    is_same
}

fn are_same(was: Option<Node<'_>>, is: Option<Node<'_>>) -> bool {
    match (was, is) {
        // Members that JSON omits are not compared.
        (Some(Node::Described(Value::Struct(was))), Some(Node::Described(Value::Struct(is)))) => {
            is_same_but(was, is, &[])
        }
        _ => was == is,
    }
}

fn form_of(value: Value<'_>) -> NodeForm {
    match value {
        Value::Null => NodeForm::Null,
        Value::Time(time) if time.is_zero() => NodeForm::Null,
        Value::MicroTime(time) if time.is_zero() => NodeForm::Null,
        Value::List(_) | Value::Map(_) | Value::StructList(_) | Value::StructMap(_) if value.is_empty() => {
            NodeForm::Null
        }
        Value::List(_) | Value::StructList(_) => NodeForm::List,
        Value::Struct(_) | Value::Document(_) | Value::Map(_) | Value::StructMap(_) => NodeForm::Object,
        Value::RawExtension(text) => form_of_text(text.as_bytes()),
        Value::FieldsV1(text) => form_of_text(text.as_bytes()),
        Value::Json(text) => form_of_text(text.as_bytes()),
        _ => NodeForm::Scalar,
    }
}

/// Whether the value is stored as text.
fn is_text(value: Value<'_>) -> bool {
    matches!(value, Value::RawExtension(_) | Value::FieldsV1(_) | Value::Json(_))
}

fn form_of_text(text: &[u8]) -> NodeForm {
    match text.trim_ascii_start().first() {
        None | Some(b'n') => NodeForm::Null,
        Some(b'{') => NodeForm::Object,
        Some(b'[') => NodeForm::List,
        Some(_) => NodeForm::Scalar,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::v1::Pod;
    use super::*;

    const POD: &str =
        r#"{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"replicas":1,"ports":[{"port":1}],"args":["x"]}}"#;

    fn pod(text: &str) -> Pod {
        serde_json::from_str(text).unwrap()
    }

    /// The differences, by path: old and new value.
    fn differences(before: Node<'_>, after: Node<'_>) -> String {
        let mut out = String::new();
        Node::each_pair(Some(before), Some(after), &mut |name, was, is| {
            let text = |node: Option<Node<'_>>| node.map_or("-".into(), |node| node.to_tree().to_string());
            match (was, is) {
                (Some(was), Some(is)) if was.form() == NodeForm::Object && is.form() == NodeForm::Object => {
                    let below = differences(was, is);
                    out += &if below.is_empty() { below } else { format!("{name}.{below}") };
                }
                _ if text(was) != text(is) => out += &format!("{name} {} {}", text(was), text(is)),
                _ => {}
            }
        });
        out
    }

    #[test]
    fn objects_and_their_trees_show_the_same_members() {
        let cases = [
            ("", "", ""),
            (r#""args":["x"]"#, r#""args":["y"]"#, r#"spec.args ["x"] ["y"]"#),
            (r#""name":"a","#, "", r#"metadata.name "a" -"#),
            (r#","args":["x"]"#, "", r#"spec.args ["x"] -"#),
            (r#""replicas":1,"#, "", "spec.replicas 1 -"),
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"metadata.labels.a "b" "c""#),
        ];
        for (text, other, want) in cases {
            let (before, after) = (pod(POD), pod(&POD.replace(text, other)));
            let (before, after) = (Ref::of(&before), Ref::of(&after));
            assert_eq!(differences(before.into(), after.into()), want);
            assert_eq!(is_same_but(before, after, &[]), want.is_empty());
            let (before, after) = (Node::from(before).to_tree(), Node::from(after).to_tree());
            assert_eq!(differences(Node::Tree(&before), Node::Tree(&after)), want);
        }
    }

    #[test]
    fn omitted_members_are_not_visited() {
        let pod = pod(POD);
        let node = Node::from(Ref::of(&pod));
        let spec = node.member("spec").unwrap();
        assert_eq!((node.member("status"), spec.get("args").map(Node::from).map(Node::is_empty)), (None, Some(false)));
        assert_eq!(
            spec["args"].as_array().map(|args| args.iter().map(|arg| Node::from(arg).form()).collect()),
            Some(vec![NodeForm::Scalar])
        );
    }

    #[test]
    fn comparison_excludes_members() {
        let one = pod(r#"{"metadata":{"name":"a"},"spec":{"args":["x"]}}"#);
        let other = pod(r#"{"metadata":{"name":"b"},"spec":{"args":["x"]}}"#);
        assert!(is_same_but(Ref::of(&one), Ref::of(&other), &["metadata"]));
        assert!(!is_same_but(Ref::of(&one), Ref::of(&other), &["spec"]));
    }
}
