//! Client types in Rust, Go and TypeScript: shared code. A file has the types of one version of a
//! group; types of Kubernetes' groups come from the language's own library.

mod deep_copy;
pub(super) mod go;
pub(super) mod rust;
pub(super) mod typescript;

use std::collections::BTreeSet;

use crate::Error;
use crate::model::{
    Enum, EnumId, Field, Group, Kind, Model, Package, Resource, Role, Struct, StructId, TypeRef, Version,
};

/// One version of a group, from a client's point of view.
#[derive(Clone, Copy)]
pub(super) struct ClientGroupVersion<'m> {
    pub model: &'m Model,
    pub group: &'m Group,
    pub version: &'m Version,
}

/// The location of a type relative to a [`ClientGroupVersion`].
pub(super) enum Home<'m> {
    /// In the same file.
    Here,
    /// In another version of the same group, or in another custom group.
    Elsewhere(&'m Group, &'m str),
    /// In a group of Kubernetes.
    Kubernetes(&'m Group, &'m str),
}

/// The versions of one group, or of all custom groups.
///
/// # Errors
/// Fails if the group belongs to Kubernetes; the error names it.
pub(super) fn parts<'m>(
    model: &'m Model,
    group: Option<&'m Group>,
    library: &'static str,
) -> Result<Vec<ClientGroupVersion<'m>>, Error> {
    if let Some(group) = group.filter(|group| group.package != Package::Own) {
        return Err(Error::InLibrary { group: super::folder(group), library });
    }
    let groups = model.groups.iter().filter(|one| match group {
        Some(group) => one.module == group.module,
        None => one.package == Package::Own,
    });
    Ok(groups
        .flat_map(|group| group.versions.iter().map(move |version| ClientGroupVersion { model, group, version }))
        .filter(|part| !part.structs().is_empty())
        .collect())
}

impl<'m> ClientGroupVersion<'m> {
    /// The structs of the version without lists, in order of declaration.
    pub fn structs(&self) -> Vec<(StructId, &'m Struct)> {
        let borrowed = &self.version.borrowed;
        let visible = self.version.structs.iter().filter(|(name, _)| !borrowed.contains_key(*name));
        let mut all: Vec<_> = visible.map(|(_, id)| (*id, &self.model.structs[id.0])).collect();
        all.retain(|(_, one)| one.module == self.group.module && one.role != Role::List);
        all.sort_by_key(|(id, _)| *id);
        all
    }

    /// The enums of the version, in order of declaration.
    pub fn enums(&self) -> Vec<(EnumId, &'m Enum)> {
        let borrowed = &self.version.borrowed;
        let visible = self.version.enums.iter().filter(|(name, _)| !borrowed.contains_key(*name));
        let mut all: Vec<_> = visible.map(|(_, id)| (*id, &self.model.enums[id.0])).collect();
        all.retain(|(_, one)| one.module == self.group.module);
        all.sort_by_key(|(id, _)| *id);
        all
    }

    /// The kind of a struct and its resource, if clients can access it.
    pub fn kind(&self, one: &Struct) -> Option<(&'m Kind, &'m Resource)> {
        let kind = self.group.kinds.iter().find(|kind| kind.name == one.name)?;
        let is_here = kind.versions.iter().any(|entry| entry.version == self.version.name);
        kind.resource.as_ref().filter(|_| is_here && one.role == Role::Object).map(|resource| (kind, resource))
    }

    /// `group/version`
    pub fn api_version(&self) -> String {
        match self.group.name.as_str() {
            "" => self.version.name.clone(),
            group => format!("{group}/{}", self.version.name),
        }
    }

    pub fn home_of_struct(&self, id: StructId) -> Home<'m> {
        let one = &self.model.structs[id.0];
        let is_here =
            self.version.structs.get(&one.name) == Some(&id) && !self.version.borrowed.contains_key(&one.name);
        self.home(&one.module, &one.version, is_here)
    }

    pub fn home_of_enum(&self, id: EnumId) -> Home<'m> {
        let one = &self.model.enums[id.0];
        let is_here = self.version.enums.get(&one.name) == Some(&id) && !self.version.borrowed.contains_key(&one.name);
        self.home(&one.module, &one.version, is_here)
    }

    fn home(&self, module: &str, version: &'m str, is_here: bool) -> Home<'m> {
        if module == self.group.module && is_here {
            return Home::Here;
        }
        let group = self.model.groups.iter().find(|group| group.module == module).unwrap_or(self.group);
        if group.package == Package::Own { Home::Elsewhere(group, version) } else { Home::Kubernetes(group, version) }
    }

    /// Whether a struct contains itself other than through a list or map.
    pub fn holds_itself(&self, id: StructId) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            let held = self.model.structs[next.0].fields.iter().filter_map(|field| match field.ty {
                TypeRef::Struct(held) => Some(held),
                _ => None,
            });
            for held in held {
                if held == id {
                    return true;
                }
                if seen.insert(held) {
                    open.push(held);
                }
            }
        }
        false
    }
}

/// Whether an empty field is written to JSON.
pub(super) fn is_always_written(field: &Field) -> bool {
    !field.omitempty && !field.nullable
}
