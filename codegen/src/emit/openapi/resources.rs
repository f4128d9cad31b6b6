//! Resources, their subresources and their parameters.

use ::openapi::{GroupVersion, GroupVersionKind, Parameter, Parameters, Scope, SubresourceResponse};

use super::definitions::{Definitions, GroupVersionRef};
use super::serving::{META, serving};
use crate::model::{Field, Group, Kind, KindVersion, Model, Resource, Role, Struct, Subresource, TypeRef, Version};

/// Every version of the given groups that can be served.
pub(super) fn versions<'m>(
    model: &'m Model,
    of: &dyn Fn(&Group) -> bool,
    definitions: &mut Definitions<'m>,
) -> Vec<GroupVersion> {
    let mut out = Vec::new();
    for group in model.groups.iter().filter(|group| of(group)) {
        for version in &group.versions {
            let Some(serving) = serving(version.serving) else { continue };
            let place = GroupVersionRef { group, version };
            let kinds = group.kinds.iter();
            let resources: Vec<_> = kinds.filter_map(|kind| resource(model, definitions, place, kind)).collect();
            if !resources.is_empty() {
                let (group, version) = (group.name.clone(), version.name.clone());
                out.push(GroupVersion { group, version, serving, resources });
            }
        }
    }
    out
}

fn resource<'m>(
    model: &'m Model,
    definitions: &mut Definitions<'m>,
    place: GroupVersionRef<'m>,
    kind: &'m Kind,
) -> Option<::openapi::Resource> {
    let resource = kind.resource.as_ref()?;
    let entry = kind.versions.iter().find(|entry| entry.version == place.version.name)?;
    let serving = serving(entry.serving)?;
    let verbs = entry.verbs.clone().unwrap_or_else(|| resource.verbs.clone());
    let definition = need(definitions, place, &kind.name)?;
    let list =
        need(definitions, place, &format!("{}List", kind.name)).filter(|_| verbs.iter().any(|verb| verb == "list"));
    let subresources = subresources(resource, entry);
    Some(::openapi::Resource {
        plural: resource.plural.clone(),
        kind: kind.name.clone(),
        definition,
        list,
        scope: if resource.namespaced { Scope::Namespaced } else { Scope::Cluster },
        serving,
        // DELETE of a namespace returns the object too, but upstream's documents declare a Status: its
        // REST storage is not the generic store, which is also why namespaces have no deletecollection.
        delete_returns_object: resource.delete_returns_object && verbs.iter().any(|verb| verb == "deletecollection"),
        verbs,
        watch_paths: true,
        subresources: subresources.filter_map(|sub| subresource(model, definitions, place, kind, sub)).collect(),
    })
}

/// The subresources of one version.
fn subresources<'m>(resource: &'m Resource, entry: &'m KindVersion) -> impl Iterator<Item = &'m Subresource> {
    let wanted = |name: &String| entry.subresources.as_ref().is_none_or(|names| names.contains(name));
    resource.subresources.iter().filter(move |subresource| wanted(&subresource.name))
}

fn subresource<'m>(
    model: &'m Model,
    definitions: &mut Definitions<'m>,
    place: GroupVersionRef<'m>,
    parent: &'m Kind,
    subresource: &'m Subresource,
) -> Option<::openapi::Subresource> {
    let (home, kind) = match &subresource.kind {
        Some((group, version, kind)) => (find(model, group, version)?, kind),
        None => (place, &parent.name),
    };
    let body = find_struct(model, home, kind)?;
    let answer = if body.role == Role::TypeOnly && kind != &parent.name {
        SubresourceResponse::Connection(parameters_of(body))
    } else if let Some(options) = text_options(model, place, parent, subresource) {
        SubresourceResponse::Text(parameters_of(options))
    } else {
        SubresourceResponse::Object(need(definitions, home, kind)?)
    };
    let kind =
        GroupVersionKind { group: home.group.name.clone(), version: home.version.name.clone(), kind: kind.clone() };
    Some(::openapi::Subresource { name: subresource.name.clone(), kind, verbs: subresource.verbs.clone(), answer })
}

/// The options of a subresource that is read-only and has its own options kind (`PodLogOptions` for
/// `pods/log`); its responses are text.
fn text_options<'m>(
    model: &'m Model,
    place: GroupVersionRef<'m>,
    parent: &Kind,
    subresource: &Subresource,
) -> Option<&'m Struct> {
    let only_get = subresource.verbs.iter().map(String::as_str).eq(["get"]);
    let name = format!("{}{}Options", parent.name, subresource.name).to_ascii_lowercase();
    let mut visible = place.version.structs.iter();
    let (_, id) = visible.find(|(have, _)| only_get && have.to_ascii_lowercase() == name)?;
    Some(&model.structs[id.0])
}

fn need<'m>(definitions: &mut Definitions<'m>, place: GroupVersionRef<'m>, name: &str) -> Option<String> {
    place.version.structs.get(name).map(|id| definitions.need(place, *id))
}

fn find<'m>(model: &'m Model, group: &str, version: &str) -> Option<GroupVersionRef<'m>> {
    let group = model.groups.iter().find(|have| have.name == group && !have.kinds.is_empty())?;
    let version = find_version(group, version)?;
    Some(GroupVersionRef { group, version })
}

fn find_version<'m>(group: &'m Group, version: &str) -> Option<&'m Version> {
    group.versions.iter().find(|have| have.name == version)
}

fn find_struct<'m>(model: &'m Model, place: GroupVersionRef<'m>, name: &str) -> Option<&'m Struct> {
    place.version.structs.get(name).map(|id| &model.structs[id.0])
}

/// The query parameters of the verbs: fields of the options kinds of meta/v1.
pub(super) fn parameters(model: &Model) -> Parameters {
    let meta = model.groups.iter().find(|group| group.module == META);
    let place = meta.and_then(|group| Some(GroupVersionRef { group, version: find_version(group, "v1")? }));
    let of = |name: &str| {
        let options = place.and_then(|place| find_struct(model, place, name));
        options.map(parameters_of).unwrap_or_default()
    };
    Parameters {
        list: of("ListOptions"),
        create: of("CreateOptions"),
        update: of("UpdateOptions"),
        patch: of("PatchOptions"),
        delete: of("DeleteOptions"),
    }
}

/// The fields of a struct that are query parameters: scalars, and lists of them by repetition.
fn parameters_of(options: &Struct) -> Vec<Parameter> {
    options.fields.iter().filter_map(parameter).collect()
}

fn parameter(field: &Field) -> Option<Parameter> {
    let value = match &field.ty {
        TypeRef::List(item) => item,
        other => other,
    };
    let kind = match value {
        TypeRef::String | TypeRef::Enum(_) => "string",
        TypeRef::Bool => "boolean",
        TypeRef::I32 | TypeRef::I64 => "integer",
        _ => return None,
    };
    Some(Parameter { name: field.json.clone(), kind: kind.into(), description: field.docs.clone() })
}
