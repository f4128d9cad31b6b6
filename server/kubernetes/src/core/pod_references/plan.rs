//! The locations of references in a type, computed once from its descriptor.

use std::collections::HashMap;

use machinery::def::{Flags, Scalar, Shape, StructDef};
use machinery::field_path::Path;
use machinery::reflect::{List, Ref, Value};

use super::{PodReference, ReferenceKind};

/// The fields of a type that are or contain references.
pub struct ReferencePlan {
    /// The root is the first.
    structs: Vec<Vec<Step>>,
}

/// A field to visit: its index in declaration order, and its name.
#[derive(Clone, Copy)]
struct Step {
    index: usize,
    /// JSON name; empty when the field is inlined.
    json: &'static str,
    action: Action,
}

#[derive(Clone, Copy)]
enum Action {
    /// Visits nested structs, by index in [`ReferencePlan::structs`].
    Into(usize),
    /// Reads object names. The namespace comes from a sibling field, if there is one.
    Names(ReferenceKind, Option<usize>),
}

/// The position of a visit: the reference field and its path.
#[derive(Clone, Copy)]
struct At<'p> {
    field: &'static str,
    path: &'p Path<'p>,
}

impl ReferencePlan {
    /// Computes the plan of a type.
    pub fn of(def: &'static StructDef) -> Self {
        let mut builder = Builder::default();
        builder.add(def, None);
        builder.prune();
        ReferencePlan { structs: builder.structs }
    }

    /// Visits the references of an object of the type.
    pub fn visit<'o>(&self, object: Ref<'o>, visit: &mut dyn FnMut(&PodReference<'o, '_>)) {
        self.visit_struct(0, object, At { field: "", path: &Path::NONE }, visit);
    }

    fn visit_struct<'o>(&self, at: usize, object: Ref<'o>, from: At<'_>, visit: &mut dyn FnMut(&PodReference<'o, '_>)) {
        for step in &self.structs[at] {
            let path = if step.json.is_empty() { *from.path } else { from.path.child(step.json) };
            let here = At { field: if step.json.is_empty() { from.field } else { step.json }, path: &path };
            match step.action {
                Action::Into(inner) => self.visit_structs(inner, object.get(step.index), here, visit),
                Action::Names(kind, namespace) => {
                    let namespace = namespace.map_or("", |index| text(object.get(index)));
                    let field = if is_bare_name(step.json) { from.field } else { step.json };
                    each_name(object.get(step.index), &path, &mut |name, path| {
                        visit(&PodReference { kind, name, namespace, field, path });
                    });
                }
            }
        }
    }

    fn visit_structs<'o>(
        &self,
        inner: usize,
        value: Value<'o>,
        here: At<'_>,
        visit: &mut dyn FnMut(&PodReference<'o, '_>),
    ) {
        match value {
            Value::Struct(object) => self.visit_struct(inner, object, here, visit),
            Value::StructList(list) => {
                for (index, object) in list.iter().enumerate() {
                    self.visit_struct(inner, object, At { path: &here.path.index(index), ..here }, visit);
                }
            }
            Value::StructMap(map) => map.for_each(|key, object| {
                self.visit_struct(inner, object, At { path: &here.path.key(key), ..here }, visit);
            }),
            _ => {}
        }
    }
}

fn text(value: Value<'_>) -> &str {
    match value {
        Value::String(text) => text,
        _ => "",
    }
}

fn each_name<'o>(value: Value<'o>, path: &Path<'_>, found: &mut dyn FnMut(&'o str, Path<'_>)) {
    match value {
        Value::String(name) if !name.is_empty() => found(name, *path),
        Value::List(List::String(names)) => {
            let names = names.iter().enumerate().filter(|(_, name)| !name.is_empty());
            names.for_each(|(index, name)| found(name, path.index(index)));
        }
        _ => {}
    }
}

#[derive(Default)]
struct Builder {
    structs: Vec<Vec<Step>>,
    /// Structs by descriptor and by the kind that the enclosing field references.
    known: HashMap<(*const StructDef, Option<ReferenceKind>), usize>,
}

impl Builder {
    /// Adds a struct. `named` is the kind that a bare `name` in it references.
    fn add(&mut self, def: &'static StructDef, named: Option<ReferenceKind>) -> usize {
        if let Some(&known) = self.known.get(&(std::ptr::from_ref(def), named)) {
            return known;
        }
        let at = self.structs.len();
        self.structs.push(Vec::new());
        self.known.insert((std::ptr::from_ref(def), named), at);
        for (index, field) in def.fields.iter().enumerate() {
            let action = match field.shape() {
                Shape::One(Scalar::String) | Shape::Opt(Scalar::String) | Shape::List(Scalar::String) => {
                    kind_of_name(field.json, named).map(|kind| Action::Names(kind, namespace_beside(def, field.json)))
                }
                shape => shape.struct_def().map(|inner| {
                    let inlined = field.flags.has(Flags::INLINE) || inner.name.ends_with("Reference");
                    let named = kind_in(field.json).or(kind_in(inner.name)).or(named.filter(|_| inlined));
                    Action::Into(self.add(inner, named))
                }),
            };
            if let Some(action) = action {
                self.structs[at].push(Step { index, json: field.json, action });
            }
        }
        at
    }

    /// Removes the steps that lead to no reference.
    fn prune(&mut self) {
        let leads = |step: &Step, leading: &[bool]| match step.action {
            Action::Names(..) => true,
            Action::Into(inner) => leading[inner],
        };
        let mut leading = vec![false; self.structs.len()];
        loop {
            let next: Vec<bool> = self.structs.iter().map(|steps| steps.iter().any(|s| leads(s, &leading))).collect();
            if next == leading {
                break;
            }
            leading = next;
        }
        self.structs.iter_mut().for_each(|steps| steps.retain(|step| leads(step, &leading)));
    }
}

/// Whether a field is the name in a reference struct.
fn is_bare_name(json: &str) -> bool {
    matches!(json, "name" | "names")
}

/// Returns the kind that the name of a field or type contains.
fn kind_in(name: &str) -> Option<ReferenceKind> {
    let name = name.to_ascii_lowercase();
    let kinds = [("secret", ReferenceKind::Secret), ("configmap", ReferenceKind::ConfigMap)];
    kinds.into_iter().find(|(word, _)| name.contains(word)).map(|(_, kind)| kind)
}

/// Returns the kind that a string field references, if any.
fn kind_of_name(json: &str, named: Option<ReferenceKind>) -> Option<ReferenceKind> {
    if is_bare_name(json) {
        return named;
    }
    let name = json.to_ascii_lowercase();
    let name = name.strip_suffix('s').unwrap_or(&name);
    let kinds = [
        ("secretname", ReferenceKind::Secret),
        ("configmapname", ReferenceKind::ConfigMap),
        ("resourceclaimname", ReferenceKind::ResourceClaim),
        ("claimname", ReferenceKind::PersistentVolumeClaim),
        ("serviceaccountname", ReferenceKind::ServiceAccount),
        ("serviceaccount", ReferenceKind::ServiceAccount),
    ];
    kinds.into_iter().find(|(word, _)| name.ends_with(word)).map(|(_, kind)| kind)
}

/// Returns the index of the namespace field for a name field: `namespace` for `name`,
/// `secretNamespace` for `secretName`.
fn namespace_beside(def: &StructDef, json: &str) -> Option<usize> {
    let beside = match json.strip_suffix("Name") {
        Some(of) => format!("{of}Namespace"),
        None => json.replace("name", "namespace"),
    };
    let beside = Some(beside).filter(|beside| beside != json)?;
    def.fields.iter().position(|field| field.json == beside)
}

#[cfg(test)]
impl ReferencePlan {
    /// Returns the paths and kinds of all reference fields in field order. Lists show as `[]`.
    pub fn paths(&self, def: &'static StructDef) -> Vec<(String, ReferenceKind)> {
        let mut found = Vec::new();
        self.add_paths(0, def, "", &mut found);
        found
    }

    fn add_paths(&self, at: usize, def: &'static StructDef, prefix: &str, found: &mut Vec<(String, ReferenceKind)>) {
        for step in &self.structs[at] {
            let shape = def.fields[step.index].shape();
            let dot = if prefix.is_empty() || step.json.is_empty() { "" } else { "." };
            let list = matches!(shape, Shape::StructList(..) | Shape::StructMap(..) | Shape::List(_));
            let path = format!("{prefix}{dot}{}{}", step.json, if list { "[]" } else { "" });
            match (step.action, shape.struct_def()) {
                (Action::Names(kind, _), _) => found.push((path, kind)),
                (Action::Into(inner), Some(def)) => self.add_paths(inner, def, &path, found),
                (Action::Into(_), None) => {}
            }
        }
    }
}
