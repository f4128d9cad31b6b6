//! Renamed fields between versions, in the form of an annotation that this server reads from a
//! CustomResourceDefinition.

use std::collections::BTreeMap;

use serde_json::json;

use crate::model::{Group, Kind, Model, StructId, TypeRef};

/// The annotation (`apiextensions::conversion::moves`).
pub const FIELD_MOVES: &str = "conversion.kube-apiserver/field-moves";

/// The annotation of a kind.
pub struct Moves {
    /// The paths in versions where they differ, by the hub's path.
    by_path: BTreeMap<String, BTreeMap<String, String>>,
    versions: Vec<String>,
    /// The enclosing structs, outermost first.
    inside: Vec<StructId>,
    /// Whether renames are the only differences between versions.
    pub complete: bool,
}

impl Moves {
    pub fn of(model: &Model, group: &Group, kind: &Kind) -> Moves {
        let versions: Vec<String> = kind.versions.iter().map(|entry| entry.version.clone()).collect();
        let mut moves = Moves { by_path: BTreeMap::new(), versions, inside: Vec::new(), complete: true };
        for version in group.versions.iter().filter(|version| kind.versions.iter().any(|v| v.version == version.name)) {
            if let Some(id) = version.structs.get(&kind.name) {
                moves.walk(model, &version.name, *id, ["", ""]);
            }
        }
        moves
    }

    /// Compares a struct of a version with the hub's. The paths are those in the hub and in the
    /// version, with a dot at the end.
    fn walk(&mut self, model: &Model, version: &str, id: StructId, [hub, here]: [&str; 2]) {
        if self.inside.contains(&id) {
            return;
        }
        self.inside.push(id);
        let of = &model.structs[id.0];
        if let Some(conversion) = &of.conversion {
            self.complete &= conversion.by_hand.is_empty();
        }
        let renames = of.conversion.iter().flat_map(|conversion| &conversion.renames);
        let renames: Vec<_> = renames.collect();
        for field in &of.fields {
            let renamed = renames.iter().find(|(own, _)| *own == field.json || *own == field.name);
            let hub = format!("{hub}{}", renamed.map_or(&field.json, |(_, name)| name));
            let here = format!("{here}{}", field.json);
            if renamed.is_some() {
                self.by_path.entry(hub.clone()).or_default().insert(version.to_owned(), here.clone());
            }
            match &field.ty {
                TypeRef::Struct(below) if renamed.is_none() => {
                    self.walk(model, version, *below, [&format!("{hub}."), &format!("{here}.")]);
                }
                // A path leads through objects only; a moved field includes everything below it.
                ty => self.complete &= !has_renames(model, ty, &mut Vec::new()),
            }
        }
        self.inside.pop();
    }

    /// The text of the annotation, unless it is empty.
    pub fn text(&self) -> Option<String> {
        let each = self.by_path.iter().map(|(hub, paths)| {
            let path = |version: &String| (version.clone(), paths.get(version).unwrap_or(hub).clone());
            self.versions.iter().map(path).collect::<BTreeMap<_, _>>()
        });
        (!self.by_path.is_empty()).then(|| json!(each.collect::<Vec<_>>()).to_string())
    }
}

/// Whether a field of a type, or below it, has another name in the hub.
fn has_renames(model: &Model, ty: &TypeRef, seen: &mut Vec<StructId>) -> bool {
    match ty {
        TypeRef::List(item) | TypeRef::Map(item) => has_renames(model, item, seen),
        TypeRef::Struct(id) if !seen.contains(id) => {
            seen.push(*id);
            let of = &model.structs[id.0];
            of.conversion.as_ref().is_some_and(|conversion| !conversion.renames.is_empty())
                || of.fields.iter().any(|field| has_renames(model, &field.ty, seen))
        }
        _ => false,
    }
}
