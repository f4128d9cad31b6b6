//! JSON paths such as `spec.template.metadata`, resolved through the model's types.

use crate::Error;
use crate::diagnostics::did_you_mean;
use crate::model::{Field, Model, Struct, StructId, TypeRef};

/// The target of a path.
#[derive(Clone, Copy, Debug)]
pub struct PathTarget<'m> {
    /// The struct that has the last field.
    pub owner: StructId,
    /// The last field; for a path that ends in a map key, the map's field.
    pub field: &'m Field,
    /// The type of the target: of the field, or of a map's values.
    pub ty: &'m TypeRef,
    /// Whether every field on the path, including the last one, is always present.
    pub always: bool,
}

/// Resolves a path from a struct; an error names the wrong segment and suggests a similar name.
pub fn follow<'m>(model: &'m Model, from: StructId, path: &str) -> Result<PathTarget<'m>, Error> {
    let mut place: Option<PathTarget<'m>> = None;
    for name in names(path) {
        place = Some(match place {
            None => member(model, from, name, true)?,
            Some(place) => step(model, place, name)?,
        });
    }
    place.ok_or(Error::EmptyPath)
}

/// The segments of a path. A key or an index in brackets is a segment, without the brackets.
pub fn names(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (index, part) in path.split('[').enumerate() {
        let rest = match part.split_once(']').filter(|_| index > 0) {
            Some((key, rest)) => {
                names.push(key);
                rest.strip_prefix('.').unwrap_or(rest)
            }
            None => part,
        };
        names.extend(rest.split('.').filter(|name| !name.is_empty()));
    }
    names
}

/// The path of a field below another path, or below the struct itself if that path is empty.
pub fn below(path: &str, field: &str) -> String {
    match (path, field) {
        ("", only) | (only, "") => only.to_string(),
        _ => format!("{path}.{field}"),
    }
}

fn step<'m>(model: &'m Model, place: PathTarget<'m>, name: &str) -> Result<PathTarget<'m>, Error> {
    if let (TypeRef::List(items), Ok(_)) = (place.ty, name.parse::<usize>()) {
        return Ok(PathTarget { ty: items, always: false, ..place });
    }
    match through_lists(place.ty) {
        TypeRef::Struct(id) => member(model, *id, name, place.always),
        TypeRef::Map(values) => Ok(PathTarget { ty: values, always: false, ..place }),
        TypeRef::RawExtension | TypeRef::Json => Ok(place),
        _ => Err(Error::NoFields { field: place.field.name.clone(), name: name.to_string() }),
    }
}

/// The item type of a list: `spec.containers.name` denotes the names of all containers.
fn through_lists(ty: &TypeRef) -> &TypeRef {
    match ty {
        TypeRef::List(items) => through_lists(items),
        ty => ty,
    }
}

fn member<'m>(model: &'m Model, owner: StructId, name: &str, always: bool) -> Result<PathTarget<'m>, Error> {
    let target = &model.structs[owner.0];
    match find(model, owner, name) {
        Some((owner, field)) => Ok(PathTarget { owner, field, ty: &field.ty, always: always && !field.nullable }),
        None => Err(no_member(model, target, owner, name)),
    }
}

/// A field by its JSON name, inlined structs included, with the struct that has it.
pub fn find<'m>(model: &'m Model, owner: StructId, name: &str) -> Option<(StructId, &'m Field)> {
    let fields = &model.structs[owner.0].fields;
    if let Some(field) = fields.iter().find(|field| !field.json.is_empty() && field.json == name) {
        return Some((owner, field));
    }
    let inlined = fields.iter().filter(|field| field.json.is_empty()).filter_map(|field| match field.ty {
        TypeRef::Struct(id) if id != owner => Some(id),
        _ => None,
    });
    inlined.into_iter().find_map(|id| find(model, id, name))
}

/// JSON names of a struct, those of inlined structs included.
pub fn json_names(model: &Model, owner: StructId) -> Vec<&str> {
    let mut out = Vec::new();
    for field in &model.structs[owner.0].fields {
        match field.ty {
            TypeRef::Struct(id) if field.json.is_empty() && id != owner => out.extend(json_names(model, id)),
            _ => out.push(field.json.as_str()),
        }
    }
    out
}

fn no_member(model: &Model, target: &Struct, owner: StructId, name: &str) -> Error {
    let names = json_names(model, owner);
    let by_rust = target.fields.iter().find(|field| field.name == name).map(|field| field.json.as_str());
    let near = by_rust.or_else(|| did_you_mean(name, &names)).map(str::to_string);
    Error::NoField { of: target.name.clone(), name: name.to_string(), near }
}
