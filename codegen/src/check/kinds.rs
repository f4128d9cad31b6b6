//! Checks of kinds: versions, and the paths of columns, selectors and subresources.

use super::Checker;
use super::formats::Formats;
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{Column, ColumnValue, Group, Kind, Resource, Span, StructId, Subresource, TypeRef};
use crate::parse::type_text;
use crate::paths;

impl Checker<'_> {
    pub(super) fn kind(&mut self, group: &Group, kind: &Kind, formats: &Formats) {
        self.storage_version(kind);
        let Some(hub) = self.hub(group, kind) else { return };
        // Tables of objects stored as another kind use that kind's columns.
        let shown = kind.stored_as.unwrap_or(hub);
        for column in &kind.columns {
            self.column(shown, column);
        }
        let Some(resource) = &kind.resource else { return };
        self.names(kind, resource);
        if !formats.names.is_empty() && !formats.names.contains(&resource.name_rule) {
            let place = self.word(&kind.span, "name=");
            let diagnostic =
                Diagnostic::error(codes::FORMAT, &place, format!("unknown name rule `{}`", resource.name_rule));
            self.push(diagnostic.suggest(&resource.name_rule, formats.names.iter().map(String::as_str)));
        }
        for path in resource.resets.iter().flatten() {
            self.path(hub, path, &kind.span);
        }
        for subresource in &resource.subresources {
            self.subresource(hub, kind, subresource);
        }
        self.version_subresources(kind, resource);
        self.selectable(hub, kind, resource);
    }

    fn hub(&self, group: &Group, kind: &Kind) -> Option<StructId> {
        let name = &kind.versions.first()?.version;
        let version = group.versions.iter().find(|version| version.name == *name)?;
        version.structs.get(&kind.name).copied()
    }

    fn storage_version(&mut self, kind: &Kind) {
        let versions = || kind.versions.iter().map(|version| version.version.as_str());
        if !versions().any(|version| version == kind.storage_version) {
            let place = self.word(&kind.span, "storage=");
            let message = format!("`{}` does not exist in {}", kind.name, kind.storage_version);
            self.push(Diagnostic::error(codes::KIND, &place, message).suggest(&kind.storage_version, versions()));
        }
    }

    fn names(&mut self, kind: &Kind, resource: &Resource) {
        let label = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        let checked = [
            ("plural", std::slice::from_ref(&resource.plural)),
            ("singular", std::slice::from_ref(&resource.singular)),
        ];
        let checked = checked
            .into_iter()
            .chain([("short", resource.short_names.as_slice()), ("category", resource.categories.as_slice())]);
        for (word, names) in checked {
            for name in names.iter().filter(|name| !label(name)) {
                let place = self.word(&kind.span, &format!("{word}="));
                let diagnostic = Diagnostic::error(codes::KIND, &place, format!("`{name}` cannot be part of a URL"));
                self.push(diagnostic.help("small letters, digits and `-`"));
            }
        }
    }

    /// Resolves a path, or reports at `span` that it does not exist.
    fn path(&mut self, from: StructId, path: &str, span: &Span) -> Option<TypeRef> {
        match paths::follow(self.model, from, path) {
            Ok(place) => Some(place.ty.clone()),
            Err(message) => {
                self.push(Diagnostic::error(codes::PATH, span, format!("`{path}` leads nowhere: {message}")));
                None
            }
        }
    }

    fn column(&mut self, from: StructId, column: &Column) {
        let (path, wanted, fits): (&str, &str, fn(&TypeRef) -> bool) = match &column.cell {
            ColumnValue::ByHand(_) => {
                for path in &column.reads {
                    let _ = self.path(from, path, &column.span);
                }
                return;
            }
            ColumnValue::Path { path, .. } => {
                (path, "a scalar", |ty| !matches!(ty, TypeRef::Struct(_) | TypeRef::Map(_)))
            }
            ColumnValue::Age { path, .. } => (path, "a time", |ty| matches!(ty, TypeRef::Time | TypeRef::MicroTime)),
            ColumnValue::Len { path, .. } => {
                (path, "a list or a map", |ty| matches!(ty, TypeRef::List(_) | TypeRef::Map(_)))
            }
            ColumnValue::Labels { path, .. } => (path, "a map", |ty| matches!(ty, TypeRef::Map(_))),
            ColumnValue::Selector { path, .. } => {
                (path, "a label selector", |ty| matches!(ty, TypeRef::Struct(_) | TypeRef::Map(_)))
            }
            ColumnValue::Join { path, .. } => {
                (path, "strings", |ty| !matches!(ty, TypeRef::Struct(_) | TypeRef::Map(_)))
            }
        };
        let Some(ty) = self.path(from, path, &column.span) else { return };
        if !fits(&ty) {
            let message =
                format!("column `{}` shows {wanted}, and `{path}` is `{}`", column.name, type_text(self.model, &ty));
            self.push(Diagnostic::error(codes::PATH, &column.span, message));
        } else if !shows(column, &ty) {
            let message = format!(
                "column `{}` is `{}`, and `{path}` is `{}`",
                column.name,
                column.kind,
                type_text(self.model, &ty)
            );
            let diagnostic = Diagnostic::error(codes::KIND, &column.span, message);
            self.push(diagnostic.help("the type of a column is that of its cells, or `string`"));
        }
    }

    fn subresource(&mut self, hub: StructId, kind: &Kind, subresource: &Subresource) {
        if subresource.name == "status" && paths::find(self.model, hub, "status").is_none() {
            let message = format!("`{}` has no field `status`", kind.name);
            let diagnostic = Diagnostic::error(codes::SUBRESOURCE, &subresource.span, message);
            self.push(diagnostic.help("add `pub status: ..`, or drop the subresource"));
        }
        for path in subresource.resets.iter().flatten() {
            self.path(hub, path, &subresource.span);
        }
        let Some(scale) = &subresource.scale else { return };
        let number: fn(&TypeRef) -> bool = |ty| matches!(ty, TypeRef::I32);
        let text: fn(&TypeRef) -> bool = |ty| matches!(ty, TypeRef::String | TypeRef::Struct(_) | TypeRef::Map(_));
        let paths = [
            ("replicas", &scale.replicas, number, "i32"),
            ("observed", &scale.observed, number, "i32"),
            ("selector", &scale.selector, text, "String, a label selector or a map"),
        ];
        for (word, path, fits, wanted) in paths.into_iter().filter(|(_, path, _, _)| !path.is_empty()) {
            let Some(ty) = self.path(hub, path, &subresource.span) else { continue };
            if !fits(&ty) {
                let message =
                    format!("`{word}` of a scale is {wanted}, and `{path}` is `{}`", type_text(self.model, &ty));
                self.push(Diagnostic::error(codes::SUBRESOURCE, &subresource.span, message));
            }
        }
    }

    fn version_subresources(&mut self, kind: &Kind, resource: &Resource) {
        let known: Vec<&str> = resource.subresources.iter().map(|one| one.name.as_str()).collect();
        for version in &kind.versions {
            for name in version.subresources.iter().flatten().filter(|name| !known.contains(&name.as_str())) {
                let message =
                    format!("`{}` in {} has a subresource `{name}` that is not declared", kind.name, version.version);
                let diagnostic = Diagnostic::error(codes::SUBRESOURCE, &kind.span, message);
                self.push(diagnostic.help(format!("add `#[subresource({name}, ..)]`")));
            }
        }
    }

    fn selectable(&mut self, hub: StructId, kind: &Kind, resource: &Resource) {
        for field in &resource.selectable {
            let unknown = |name: &&String| !kind.versions.iter().any(|version| version.version == **name);
            if let Some(version) = field.versions.iter().find(unknown) {
                let message = format!("`{}` does not exist in {version}", kind.name);
                self.push(Diagnostic::error(codes::VERSION, &field.span, message));
            }
            if field.by_hand.is_some() {
                for path in &field.reads {
                    let _ = self.path(hub, path, &field.span);
                }
                continue;
            }
            let Some(ty) = self.path(hub, &field.path, &field.span) else { continue };
            if matches!(ty, TypeRef::Struct(_) | TypeRef::List(_) | TypeRef::Map(_)) {
                let message =
                    format!("`{}` is `{}`; selectors compare scalars", field.path, type_text(self.model, &ty));
                self.push(Diagnostic::error(codes::PATH, &field.span, message));
            }
        }
    }
}

/// Whether a column's cells can show values of a type.
fn shows(column: &Column, ty: &TypeRef) -> bool {
    let is_whole = matches!(ty, TypeRef::I32 | TypeRef::I64);
    match (column.kind.as_str(), &column.cell) {
        ("string", _) | (_, ColumnValue::ByHand(_)) => true,
        ("integer", ColumnValue::Len { .. }) => true,
        ("integer", ColumnValue::Path { .. }) => is_whole,
        ("number", ColumnValue::Path { .. }) => is_whole || matches!(ty, TypeRef::F64),
        ("boolean", ColumnValue::Path { .. }) => matches!(ty, TypeRef::Bool),
        ("date", ColumnValue::Path { .. } | ColumnValue::Age { .. }) => {
            matches!(ty, TypeRef::Time | TypeRef::MicroTime)
        }
        _ => false,
    }
}
