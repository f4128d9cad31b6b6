//! Lints of groups, kinds, structs and enums.

use super::super::Checker;
use super::{Finding, description};
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{Enum, Group, Kind, Role, Struct, StructId, TypeRef};
use crate::paths;

impl Checker<'_> {
    pub(super) fn type_lints(&self, out: &mut Vec<Finding>) {
        for group in &self.model.groups {
            let found = description(&group.docs, "the group", &group.span);
            out.extend(found.map(|diagnostic| self.on_group(group, diagnostic)));
            for kind in &group.kinds {
                self.status(group, kind, out);
            }
        }
        for one in self.model.structs.iter().filter(|one| one.role != Role::List) {
            let found = description(&one.docs, &format!("`{}`", one.name), &one.span);
            out.extend(found.map(|diagnostic| on_struct(one, diagnostic)));
        }
        for one in &self.model.enums {
            let found = description(&one.docs, &format!("`{}`", one.name), &one.span);
            out.extend(found.map(|diagnostic| on_enum(one, diagnostic)));
            self.values(one, out);
        }
    }

    fn on_group(&self, group: &Group, diagnostic: Diagnostic) -> Finding {
        let diagnostic = diagnostic.help("here: `//! What the group is for.` at the top of the file");
        Finding { code: diagnostic.code, module: group.module.clone(), items: Vec::new(), diagnostic }
    }

    /// Requires a status to be a subresource, so that controllers write it separately from the spec,
    /// and to have no required fields.
    fn status(&self, group: &Group, kind: &Kind, out: &mut Vec<Finding>) {
        for version in &kind.versions {
            let version = group.versions.iter().find(|one| one.name == version.version);
            let Some(id) = version.and_then(|version| version.structs.get(&kind.name)) else { continue };
            let Some((_, field)) = paths::find(self.model, *id, "status") else { continue };
            let has_subresource =
                kind.resource.as_ref().is_none_or(|one| one.subresources.iter().any(|one| one.name == "status"));
            let object = &self.model.structs[id.0];
            if !has_subresource && object.role == Role::Object {
                let message = format!("`{}` has a status that is no subresource", kind.name);
                let diagnostic = Diagnostic::error(codes::STATUS_SUBRESOURCE, &kind.span, message);
                out.push(on_struct(
                    object,
                    diagnostic.help(
                        "add `#[subresource(status)]`, so that users and controllers do not overwrite each other",
                    ),
                ));
            }
            if let (TypeRef::Struct(status), Role::Object) = (&field.ty, object.role) {
                self.status_fields(*status, out);
            }
        }
    }

    fn status_fields(&self, status: StructId, out: &mut Vec<Finding>) {
        let status = &self.model.structs[status.0];
        for field in status.fields.iter().filter(|field| field.required) {
            let message = format!("`{}` of a status is required", field.name);
            let place = self.word(&field.span, "required");
            let diagnostic = Diagnostic::error(codes::STATUS_REQUIRED, &place, message);
            let diagnostic = diagnostic.help("drop `required`: a status is empty until a controller writes it");
            let items = vec![field.span.clone(), status.span.clone()];
            out.push(Finding { code: diagnostic.code, module: status.module.clone(), items, diagnostic });
        }
    }

    fn values(&self, one: &Enum, out: &mut Vec<Finding>) {
        let camel = |value: &str| {
            value.starts_with(|c: char| c.is_ascii_uppercase()) && value.chars().all(|c| c.is_ascii_alphanumeric())
        };
        let places = self.origins.variants.get(&one.span);
        for (value, span) in places.into_iter().flatten().filter(|(value, _)| !camel(value)) {
            let diagnostic =
                Diagnostic::error(codes::ENUM_CASE, span, format!("the value `{value}` is not in CamelCase"));
            let diagnostic = diagnostic.help("values of enums read like `ClusterFirst`");
            let items = vec![span.clone(), one.span.clone()];
            out.push(Finding { code: diagnostic.code, module: one.module.clone(), items, diagnostic });
        }
    }
}

fn on_struct(one: &Struct, diagnostic: Diagnostic) -> Finding {
    Finding { code: diagnostic.code, module: one.module.clone(), items: vec![one.span.clone()], diagnostic }
}

fn on_enum(one: &Enum, diagnostic: Diagnostic) -> Finding {
    Finding { code: diagnostic.code, module: one.module.clone(), items: vec![one.span.clone()], diagnostic }
}
