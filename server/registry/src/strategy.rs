//! The strategy of a kind: declared by default, hand-written where Kubernetes has special behaviour.

use machinery::catalog::{Catalog, Generation, KindDef, ResourceDef};
use machinery::def::{FieldDef, StructDef};
use machinery::field_error::FieldError;
use machinery::field_path::Path;
pub use machinery::hooks::WriteContext;
use machinery::reflect::{Mut, Owned, Ref, Slot, Value};
use machinery::validate::{Half, ValidationScope, Validator};
use machinery::{deprecation, gates, hub_names};
use meta::reset_object_meta_for_status;

use crate::metadata::{meta, meta_mut};
use crate::rules::CelRules;
use crate::validation;

/// Behaviour of a kind.
///
/// Upstream's names are `rest.RESTCreateStrategy`, `RESTUpdateStrategy` and `RESTDeleteStrategy`.
pub trait Strategy: Send + Sync {
    /// Resets and sets fields that a client may not set on create.
    fn prepare_for_create(&self, context: &WriteContext, object: &mut Owned);

    /// Adds fields to the response of a create that are not stored.
    fn after_create(&self, _: &mut Owned) {}

    /// Resets and sets fields that a client may not change.
    fn prepare_for_update(&self, context: &WriteContext, new: &mut Owned, old: Ref<'_>);

    /// Validates a new object.
    fn validate(&self, context: &WriteContext, object: Ref<'_>) -> Vec<FieldError>;

    /// Validates a change.
    fn validate_update(&self, context: &WriteContext, new: Ref<'_>, old: Ref<'_>) -> Vec<FieldError>;

    /// Returns warnings for the writer of an object (`WarningsOnCreate`, `WarningsOnUpdate`).
    fn warnings(&self, context: &WriteContext, new: Ref<'_>, old: Option<Ref<'_>>) -> Vec<String>;

    /// Returns the grace period of a delete in seconds; `None` deletes at once.
    fn grace_period(&self, requested: Option<i64>, object: Ref<'_>) -> Option<i64>;
}

/// The strategy of a declaration.
pub struct DeclaredStrategy {
    resource: &'static ResourceDef,
    has_status: bool,
    /// Whether writers get warnings about deprecated fields.
    warns_of_fields: bool,
    versions: OwnForms,
}

impl DeclaredStrategy {
    /// Creates the strategy of `kind`, which is in its storage version.
    pub fn new(catalog: &'static Catalog, kind: &'static KindDef, resource: &'static ResourceDef) -> Self {
        let has_status = resource.subresources.iter().any(|s| s.name == "status");
        let versions = OwnForms::of(catalog, kind, resource);
        // Upstream's kinds return their warnings from hooks.
        let warns_of_fields =
            !resource.tagged_validation && versions.defs().chain([kind.hub]).any(deprecation::is_declared);
        DeclaredStrategy { resource, has_status, warns_of_fields, versions }
    }
}

impl Strategy for DeclaredStrategy {
    fn prepare_for_create(&self, context: &WriteContext, object: &mut Owned) {
        let drops_fields = gates::uses_disabled(&context.features, object.as_ref());
        let drops_own_fields = self.versions.use_disabled(context, object.as_ref());
        let loses_something =
            drops_fields || drops_own_fields || (self.has_status && !is_zero(object.as_ref().by_name("status")));
        let original = (loses_something && self.resource.hooks.create.is_some()).then(|| object.clone());
        if self.has_status {
            clear_field(object, "status");
        }
        if drops_own_fields {
            self.versions.drop_disabled(context, object, None);
        }
        if drops_fields {
            gates::drop_disabled(&context.features, object.as_mut(), None);
        }
        if let Some(meta) = meta_mut(object).filter(|_| self.resource.generation != Generation::Off) {
            meta.generation = 1;
        }
        if let Some(hook) = self.resource.hooks.create {
            hook(context, object.as_mut(), original.as_ref().map(Owned::as_ref));
        }
    }

    fn prepare_for_update(&self, context: &WriteContext, new: &mut Owned, old: Ref<'_>) {
        self.keep_other_parts(context, new, old);
        self.versions.drop_disabled(context, new, Some(old));
        gates::drop_disabled(&context.features, new.as_mut(), Some(old));
        if let Some(hook) = self.resource.hooks.update {
            hook(context, new.as_mut(), old);
        }
        let has_changed = match self.resource.generation {
            Generation::Off => false,
            Generation::Values => spec_differs(new.as_ref(), old),
            Generation::Exact => spec_differs(new.as_ref(), old) || sent_empty_collection(context, new.as_ref()),
        };
        if has_changed {
            count_generation(new, old);
        }
    }

    fn validate(&self, context: &WriteContext, object: Ref<'_>) -> Vec<FieldError> {
        self.declared(context, object, None)
    }

    fn validate_update(&self, context: &WriteContext, new: Ref<'_>, old: Ref<'_>) -> Vec<FieldError> {
        self.declared(context, new, Some(old))
    }

    fn warnings(&self, context: &WriteContext, new: Ref<'_>, old: Option<Ref<'_>>) -> Vec<String> {
        let mut warnings = self.resource.hooks.warnings.map_or_else(Vec::new, |hook| hook(context, new, old));
        if self.warns_of_fields {
            warnings.extend(match self.versions.forms(context, new, old) {
                Some((new, old)) => deprecation::warnings(new.as_ref(), old.as_ref().map(Owned::as_ref)),
                None => deprecation::warnings(new, old),
            });
        }
        warnings
    }

    fn grace_period(&self, requested: Option<i64>, object: Ref<'_>) -> Option<i64> {
        self.resource.hooks.grace.and_then(|hook| hook(requested, object))
    }
}

impl DeclaredStrategy {
    /// Resets the parts of an object that the write may not change.
    fn keep_other_parts(&self, context: &WriteContext, new: &mut Owned, old: Ref<'_>) {
        let subresource = self.resource.subresources.iter().find(|s| s.name == context.subresource);
        let own = subresource.map(|s| s.resets).filter(|resets| !resets.is_empty());
        for path in own.unwrap_or(self.resource.resets) {
            keep(new, old, path);
        }
    }

    /// Validates the declared constraints, with ratcheting on update.
    fn declared(&self, context: &WriteContext, new: Ref<'_>, old: Option<Ref<'_>>) -> Vec<FieldError> {
        let scope = if self.resource.tagged_validation { ValidationScope::Tagged } else { ValidationScope::Declared };
        let mut errors = Vec::new();
        validation::of_kind(context, new, old, self.resource, &mut errors);
        let rules = CelRules::default();
        let whole = Validator { scope, half: Half::Both, context, rules: Some(&rules) };
        match scope {
            ValidationScope::Tagged => whole.validate(new, old, &Path::NONE, &mut errors),
            ValidationScope::Declared => self.in_halves(whole, new, old, &mut errors),
        }
        errors
    }

    /// Validates functions on the hub's form first, then declared constraints on the form of the
    /// request. A field that a function rejects gets no further error.
    fn in_halves(&self, whole: Validator<'_>, new: Ref<'_>, old: Option<Ref<'_>>, errors: &mut Vec<FieldError>) {
        let mut found = Vec::new();
        Validator { half: Half::Functions, ..whole }.validate(new, old, &Path::NONE, &mut found);
        let words = Validator { half: Half::Words, ..whole };
        let mut declared = Vec::new();
        match self.versions.forms(whole.context, new, old) {
            Some((new, old)) => {
                let def = new.as_ref().def();
                found.iter_mut().for_each(|error| error.field = hub_names::in_version(def, &error.field));
                words.validate(new.as_ref(), old.as_ref().map(Owned::as_ref), &Path::NONE, &mut declared);
            }
            None => words.validate(new, old, &Path::NONE, &mut declared),
        }
        declared.retain(|error| found.iter().all(|earlier| earlier.field != error.field));
        errors.extend(found);
        errors.extend(declared);
    }
}

/// The versions of an author's kind with a form of their own. Their declarations apply to their
/// clients, as the schema of a custom resource's version does.
struct OwnForms(Vec<&'static KindDef>);

impl OwnForms {
    fn of(catalog: &'static Catalog, kind: &'static KindDef, resource: &'static ResourceDef) -> Self {
        let is_own = |other: &&'static KindDef| {
            !resource.tagged_validation
                && (other.group, other.kind) == (kind.group, kind.kind)
                && other.conversion.is_some()
        };
        OwnForms(catalog.kinds.iter().filter(is_own).collect())
    }

    fn defs(&self) -> impl Iterator<Item = &'static StructDef> {
        self.0.iter().map(|kind| kind.def)
    }

    /// Returns the version of a request, if it has a form of its own.
    fn version(&self, context: &WriteContext) -> Option<&'static KindDef> {
        let is_requested = |kind: &&&KindDef| kind.group == context.group && kind.version == context.version;
        self.0.iter().find(is_requested).copied()
    }

    /// Converts the new and the old object to the version of a request.
    fn forms(&self, context: &WriteContext, new: Ref<'_>, old: Option<Ref<'_>>) -> Option<(Owned, Option<Owned>)> {
        let kind = self.version(context)?;
        Some((kind.from_hub(new.to_owned()), old.map(|old| kind.from_hub(old.to_owned()))))
    }

    /// Returns whether [`drop_disabled`](Self::drop_disabled) would remove a field of a new object.
    fn use_disabled(&self, context: &WriteContext, object: Ref<'_>) -> bool {
        let kind = self.version(context).filter(|kind| !kind.def.gates().is_empty());
        kind.is_some_and(|kind| gates::uses_disabled(&context.features, kind.from_hub(object.to_owned()).as_ref()))
    }

    /// Clears the fields that a version puts behind disabled feature gates, where the hub does not.
    fn drop_disabled(&self, context: &WriteContext, object: &mut Owned, old: Option<Ref<'_>>) {
        let Some(kind) = self.version(context).filter(|kind| !kind.def.gates().is_empty()) else { return };
        let Some((mut new, old)) = self.forms(context, object.as_ref(), old) else { return };
        if gates::uses_disabled(&context.features, new.as_ref()) {
            gates::drop_disabled(&context.features, new.as_mut(), old.as_ref().map(Owned::as_ref));
            *object = kind.to_hub(new);
        }
    }
}

fn count_generation(new: &mut Owned, old: Ref<'_>) {
    if let (Some(to), Some(from)) = (meta_mut(new), meta(old)) {
        to.generation = from.generation + 1;
    }
}

/// Returns whether a field and all fields below it are empty.
fn is_zero(value: Option<Value<'_>>) -> bool {
    value.is_none_or(|value| match value {
        Value::Struct(of) => (0..of.def().fields.len()).all(|index| is_zero(Some(of.get(index)))),
        value => value.is_empty(),
    })
}

/// Sets a top-level field to its zero value.
fn clear_field(object: &mut Owned, json: &str) {
    if let Some(slot) = object.as_mut().by_name(json) {
        slot.clear();
    }
}

/// Copies the fields at `path` from the old object.
fn keep(new: &mut Owned, old: Ref<'_>, path: &str) {
    if path != "metadata" {
        return copy_path(new.as_mut(), old, path);
    }
    if let (Some(to), Some(from)) = (meta_mut(new), meta(old)) {
        reset_object_meta_for_status(to, from);
    }
}

/// Copies the field at a JSON path from the old object.
fn copy_path(mut new: Mut<'_>, old: Ref<'_>, path: &str) {
    let (name, below) = path.split_once('.').unwrap_or((path, ""));
    let (Some(to), Some(from)) = (new.by_name(name), old.by_name(name)) else { return };
    match (to, from) {
        (Slot::Struct(to), Value::Struct(from)) if !below.is_empty() => copy_path(to, from, below),
        (to, from) => {
            to.assign(from);
        }
    }
}

/// Returns the fields that count for the generation: all but metadata and status.
fn counted(def: &'static StructDef) -> impl Iterator<Item = (usize, &'static FieldDef)> {
    def.fields.iter().enumerate().filter(|(_, field)| !matches!(field.json, "" | "metadata" | "status"))
}

fn spec_differs(new: Ref<'_>, old: Ref<'_>) -> bool {
    counted(new.def()).any(|(index, _)| new.get(index) != old.get(index))
}

/// Returns whether the writer sent an empty list or map, which no stored object has.
fn sent_empty_collection(context: &WriteContext, new: Ref<'_>) -> bool {
    counted(new.def()).any(|(_, field)| context.sent.has_sent_empty(new, field.json))
}

#[cfg(test)]
mod tests {
    use generated::extensions::v1beta1::DaemonSet;

    use super::*;

    #[test]
    fn writers_are_warned_of_deprecated_fields_that_they_set() {
        let mut new = DaemonSet::default();
        assert!(deprecation::is_declared(Ref::of(&new).def()));
        assert_eq!(deprecation::warnings(Ref::of(&new), None), [""; 0]);
        new.spec.template_generation = 3;
        assert_eq!(deprecation::warnings(Ref::of(&new), None), ["spec.templateGeneration: deprecated"]);
        let mut old = new.clone();
        assert_eq!(deprecation::warnings(Ref::of(&new), Some(Ref::of(&old))), [""; 0], "the field is unchanged");
        old.spec.template_generation = 2;
        assert_eq!(deprecation::warnings(Ref::of(&new), Some(Ref::of(&old))).len(), 1);
    }
}
