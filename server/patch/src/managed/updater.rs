//! Ownership after a change, and the merge of an apply (structured-merge-diff's `merge.Updater`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use machinery::status::Status;
use serde_json::Value;

use super::conflict::Conflict;
use super::entries::{Managed, ManagerIdentifier, VersionedSet};
use super::{ApplyFailure, FieldManagerContext};
use crate::field_set::{FieldSet, FieldSetBuilder};
use crate::schema::SchemaType;
use crate::typed::{self, Comparison, compare, reconcile, remove_items, same, to_field_set, with_named_fields};

/// Maximum total size of the paths of listed conflicts, in bytes. Further conflicts are not listed.
const MAX_CONFLICTS: usize = 1 << 20;

pub(super) struct Updater<'c, 'a> {
    pub context: &'c FieldManagerContext<'c, 'a>,
}

/// Returns the changes in a version that the endpoint may own; `None` for an unknown version.
type Changes<'c, E> = dyn FnMut(&str) -> Result<Option<Comparison>, E> + 'c;

/// A document in some version.
#[derive(Clone)]
struct Typed<'a, 'v> {
    of: SchemaType<'a>,
    value: Cow<'v, Value>,
}

impl<'a> Typed<'a, '_> {
    fn fields(&self) -> FieldSet {
        to_field_set(self.of, &self.value)
    }

    fn named(&self, set: &FieldSet) -> FieldSet {
        with_named_fields(set, Some(self.of))
    }

    fn without(&self, fields: &FieldSet) -> Typed<'a, 'static> {
        Typed { of: self.of, value: Cow::Owned(remove_items(self.of, &self.value, fields)) }
    }
}

impl<'a> Updater<'_, 'a> {
    /// Removes the changed fields from their owners; also returns the fields that the requester then owns.
    pub(super) fn update<E>(
        &self,
        schema: &dyn Fn(&str) -> Option<SchemaType<'a>>,
        changes: &mut Changes<'_, E>,
        managed: Managed,
    ) -> Result<(Managed, FieldSet), E> {
        let managed = reconciled(schema, managed);
        let Some(own) = changes(self.context.api_version)? else { return Ok((managed, FieldSet::new())) };
        let managed = self.disown(&own, changes, managed, None, &mut Vec::new())?;
        Ok((managed, self.context.filter.apply(own.modified.union(own.added))))
    }

    /// Likewise for documents.
    pub(super) fn update_documents(
        &self,
        live: &Value,
        new: &Value,
        managed: Managed,
    ) -> Result<(Managed, FieldSet), Status> {
        self.update(&|version| self.schema_of(version), &mut |version| self.changes_in(live, new, version), managed)
    }

    /// Merges a configuration. The returned object is `None` if it does not change.
    pub(super) fn apply(
        &self,
        live: &Value,
        config: &Value,
        managed: Managed,
        manager: &ManagerIdentifier,
        force: bool,
    ) -> Result<(Managed, Option<Value>), ApplyFailure> {
        let mut managed = reconciled(&|version| self.schema_of(version), managed);
        let merged = typed::merge(self.context.schema, live, config);
        let set = self.context.filter.apply(to_field_set(self.context.schema, config));
        let last = managed.remove(manager);
        let entry = VersionedSet {
            set,
            api_version: self.context.api_version.into(),
            applied: true,
            time: last.as_ref().and_then(|last| last.time.clone()),
        };
        managed.insert(manager.clone(), entry);
        let new = self.prune(merged, &managed, last.as_ref())?;
        let mut conflicts = Vec::new();
        let own = compare(self.context.schema, live, &new).filtered(self.context.filter);
        let changes = &mut |version: &str| self.changes_in(live, &new, version);
        let managed = self.disown(&own, changes, managed, Some(manager), &mut conflicts)?;
        if !force && !conflicts.is_empty() {
            return Err(ApplyFailure::Conflicts(conflicts));
        }
        let is_same = same(live, &new);
        Ok((managed, (!is_same).then_some(new)))
    }

    /// Removes the changed fields from every manager but `but`. Modified and added fields are
    /// conflicts, removed ones are not.
    fn disown<E>(
        &self,
        own: &Comparison,
        changes_in: &mut Changes<'_, E>,
        managed: Managed,
        but: Option<&ManagerIdentifier>,
        conflicts: &mut Vec<Conflict>,
    ) -> Result<Managed, E> {
        let mut versions: BTreeMap<String, Option<Comparison>> = BTreeMap::new();
        let mut kept = Managed::new();
        let mut room = MAX_CONFLICTS;
        for (manager, mut entry) in managed {
            if but != Some(&manager) {
                let changes = match entry.api_version == self.context.api_version {
                    true => Some(own),
                    false => {
                        if !versions.contains_key(&entry.api_version) {
                            versions.insert(entry.api_version.clone(), changes_in(&entry.api_version)?);
                        }
                        versions[&entry.api_version].as_ref()
                    }
                };
                // Managers of an unknown version are dropped.
                let Some(changes) = changes else { continue };
                let conflict = entry.set.intersection(&changes.modified).union(entry.set.intersection(&changes.added));
                let paths = conflict.paths_within(&mut room).into_iter();
                conflicts.extend(paths.map(|path| Conflict { manager: manager.clone(), path }));
                entry.set = entry.set.difference(&conflict).difference(&changes.removed);
            }
            if !entry.set.is_empty() {
                kept.insert(manager, entry);
            }
        }
        Ok(kept)
    }

    fn changes_in(&self, live: &Value, new: &Value, version: &str) -> Result<Option<Comparison>, Status> {
        let (Some(live), Some(new)) = (self.convert(live, version)?, self.convert(new, version)?) else {
            return Ok(None);
        };
        Ok(Some(compare(new.of, &*live.value, &*new.value).filtered(self.context.filter)))
    }

    /// Converts a document to a version; `None` for an unknown version.
    fn convert<'v>(&self, document: &'v Value, version: &str) -> Result<Option<Typed<'a, 'v>>, Status> {
        let Some(of) = self.schema_of(version) else { return Ok(None) };
        let is = document.get("apiVersion").and_then(Value::as_str).filter(|text| !text.is_empty());
        let value = match is.unwrap_or(self.context.api_version) == version {
            true => Cow::Borrowed(document),
            false => Cow::Owned((self.context.convert)(document, version)?),
        };
        Ok(Some(Typed { of, value }))
    }

    fn schema_of(&self, version: &str) -> Option<SchemaType<'a>> {
        match version == self.context.api_version {
            true => Some(self.context.schema),
            false => (self.context.schemas)(version),
        }
    }

    /// Removes fields that the manager applied last time but not now, and that have no other owner.
    fn prune(&self, merged: Value, managed: &Managed, last: Option<&VersionedSet>) -> Result<Value, Status> {
        let Some(last) = last.filter(|last| !last.set.is_empty()) else { return Ok(merged) };
        let Some(at_last) = self.convert(&merged, &last.api_version)? else { return Ok(merged) };
        let pruned = at_last.without(&at_last.named(&last.set));
        let pruned = self.add_back_owned(&at_last, pruned, &last.api_version, managed)?;
        let pruned = self.add_back_dangling(&at_last, &pruned, last)?;
        let converted = self.convert(&pruned, self.context.api_version)?.map(|typed| typed.value.into_owned());
        Ok(converted.unwrap_or_else(|| merged.clone()))
    }

    /// Restores pruned fields that have an owner, the requester's new configuration included.
    fn add_back_owned<'v>(
        &self,
        merged: &Typed<'a, 'v>,
        pruned: Typed<'a, 'static>,
        version: &str,
        managed: &Managed,
    ) -> Result<Value, Status> {
        let mut owned: BTreeMap<&str, FieldSetBuilder> = BTreeMap::new();
        for entry in managed.values() {
            owned.entry(&entry.api_version).or_default().extend(entry.set.clone());
        }
        let mut owned: BTreeMap<&str, FieldSet> =
            owned.into_iter().map(|(version, set)| (version, set.build())).collect();
        let mut merged = merged.value.clone().into_owned();
        let mut pruned = pruned.value.into_owned();
        // The version of the pruning goes first, because conversions may need the pruned fields.
        let first = owned.remove_entry(version);
        for (version, set) in first.into_iter().chain(owned) {
            let (Some(in_merged), Some(in_pruned)) = (self.convert(&merged, version)?, self.convert(&pruned, version)?)
            else {
                continue;
            };
            let kept = in_pruned.named(&in_pruned.fields()).union(in_merged.named(&set));
            let gone = in_merged.named(&in_merged.fields()).difference(&kept);
            let next = in_merged.without(&gone).value.into_owned();
            merged = in_merged.value.into_owned();
            pruned = next;
        }
        Ok(pruned)
    }

    /// Restores pruned fields that the manager did not own; they had no owner.
    fn add_back_dangling(&self, merged: &Typed<'a, '_>, pruned: &Value, last: &VersionedSet) -> Result<Value, Status> {
        let Some(pruned) = self.convert(pruned, &last.api_version)? else {
            return Ok(merged.value.clone().into_owned());
        };
        let left = merged.named(&pruned.fields());
        let all = merged.named(&merged.fields());
        let gone = all.difference(&left).intersection(&merged.named(&last.set));
        Ok(merged.without(&gone).value.into_owned())
    }
}

/// Adapts owned fields to the current types; drops the managers of unknown versions.
fn reconciled<'a>(schema: &dyn Fn(&str) -> Option<SchemaType<'a>>, managed: Managed) -> Managed {
    let mut types: BTreeMap<String, Option<SchemaType<'a>>> = BTreeMap::new();
    let mut kept = Managed::new();
    for (manager, mut entry) in managed {
        let of = types.entry(entry.api_version.clone()).or_insert_with(|| schema(&entry.api_version));
        if let Some(of) = of {
            reconcile(&mut entry.set, *of);
            kept.insert(manager, entry);
        }
    }
    kept
}
