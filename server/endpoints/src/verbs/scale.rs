//! The `scale` subresource: an `autoscaling/v1` Scale that reads and writes the replicas of its parent.
//!
//! A write updates or patches the Scale of the parent with [`AsScale`], and then writes the result
//! to the parent.

use std::sync::Arc;

use async_trait::async_trait;
use http::StatusCode;
use machinery::catalog::{KindDef, ScalePaths};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::json;
use machinery::print::{
    AGE_DESCRIPTION, Cell, CellRule, Column, NAME_COLUMN, PrintContext, at_path, format_labels, format_selector,
};
use machinery::reflect::{Map, OneMut, OptMut, Owned, Ref, Slot, Value};
use machinery::status::{GroupResource, Status};
use patch::managed::{ReplicasPath, scale_to_parent, to_scale};
use registry::{CheckWrite, UpdatedObjectInfo, WriteOutcome, meta, meta_mut};
use request::Response;
use serde_json::json;

use super::ResourceRequest;
use crate::endpoint::Endpoint;
use crate::media::{Accepted, Forms, Representation};
use crate::open::Origin;
use crate::partial::Partial;
use crate::render::Renderer;
use crate::table::{self, TableWriter};
use crate::{managed, response};

/// The columns of the Scale of a declared kind (`scaleColumnDefinitions`).
static COLUMNS: [Column; 4] = [Column { format: "", ..NAME_COLUMN }, DESIRED, AVAILABLE, age("string")];
/// The columns of the Scale of a custom resource (`getScaleColumnsForVersion`).
static CUSTOM_COLUMNS: [Column; 4] = [NAME_COLUMN, DESIRED_IF_ANY, AVAILABLE, age("date")];

const DESIRED: Column = number("Desired", "How many instances there should be.", &["spec", "replicas"]);
/// Null for zero replicas, which the JSON of a Scale omits.
const DESIRED_IF_ANY: Column = Column { cell: CellRule::ByHand(desired_if_any, &[&["spec", "replicas"]]), ..DESIRED };
const AVAILABLE: Column = number("Available", "How many instances were observed.", &["status", "replicas"]);

const fn number(name: &'static str, description: &'static str, path: &'static [&'static str]) -> Column {
    Column { name, kind: "integer", format: "", priority: 0, description, cell: CellRule::Path(path, None) }
}

fn desired_if_any(scale: Ref<'_>, context: &PrintContext) -> Cell {
    match DESIRED.cell.cell(scale, context) {
        Cell::Int(0) => Cell::Null,
        cell => cell,
    }
}

const fn age(kind: &'static str) -> Column {
    let cell = CellRule::Age(&["metadata", "creationTimestamp"], None);
    Column { name: "Age", kind, format: "", priority: 0, description: AGE_DESCRIPTION, cell }
}

/// A scale endpoint: the parent, the kind of its Scale, and the paths of the numbers.
pub struct Scale<'a> {
    endpoint: &'a Endpoint,
    kind: &'static KindDef,
    paths: ScalePaths,
}

impl<'a> Scale<'a> {
    /// Returns the scale of a resource; nothing for another subresource.
    pub fn of(endpoint: &'a Endpoint, subresource: &str) -> Result<Option<Self>, Status> {
        let Some(def) = endpoint.subresource(subresource) else { return Ok(None) };
        let Some(paths) = def.scale else { return Ok(None) };
        let kind = endpoint.for_subresource(subresource)?.kind;
        Ok(Some(Scale { endpoint, kind, paths }))
    }

    /// Builds the Scale of a parent in hub form.
    fn of_parent(&self, parent: Ref<'_>) -> Result<Owned, Status> {
        let number = |path: &str| match at_path(parent, &split(path)) {
            Some(Value::I32(n)) => i64::from(n),
            Some(Value::I64(n)) => n,
            _ => 0,
        };
        let mut document = json!({"metadata": {}, "spec": {}, "status": {}});
        if let Some(meta) = meta(parent) {
            document["metadata"] = json!({
                "name": meta.name, "namespace": meta.namespace, "uid": meta.uid, "resourceVersion": meta.resource_version,
            });
            if !meta.creation_timestamp.is_zero() {
                document["metadata"]["creationTimestamp"] = meta.creation_timestamp.to_string().into();
            }
        }
        document["spec"]["replicas"] = number(self.paths.replicas).into();
        document["status"]["replicas"] = number(self.paths.observed).into();
        document["status"]["selector"] = self.selector(parent).into();
        let mut value = Owned::new(self.kind.def);
        json::from_value(&document, value.as_mut(), &mut json::Issues::ignore()).map_err(Status::internal)?;
        Ok(self.kind.to_hub(value))
    }

    /// Whether a parent has replicas. Custom objects may have none.
    fn has_replicas(&self, parent: &Owned) -> bool {
        at_path(parent.as_ref(), &split(self.paths.replicas)).is_some()
    }

    /// Formats the selector.
    fn selector(&self, parent: Ref<'_>) -> String {
        let text = match at_path(parent, &split(self.paths.selector)) {
            Some(Value::Struct(selector)) => format_selector(selector),
            Some(Value::Map(Map::String(labels))) => format_labels(labels.iter()),
            Some(Value::String(text)) => text.to_owned(),
            _ => String::new(),
        };
        if text == "<none>" { String::new() } else { text }
    }

    /// Responds to a write with the Scale of the stored parent. If the schema does not have the
    /// replicas of a custom object, reads prune them.
    pub fn respond_to_write(
        &self,
        mut parent: Owned,
        accepted: &Accepted,
        call: &ResourceRequest,
    ) -> Result<Response, Status> {
        if let Some(open) = &self.endpoint.open {
            let completed = open.complete(&mut parent, Origin::Stored, &mut json::Issues::ignore());
            completed.map_err(|why| Status::internal(why.to_string()))?;
        }
        self.respond(&parent, accepted, call)
    }

    /// Responds with the Scale of a parent, in the negotiated form.
    pub fn respond(&self, parent: &Owned, accepted: &Accepted, call: &ResourceRequest) -> Result<Response, Status> {
        let (code, scale) = (StatusCode::OK, self.of_parent(parent.as_ref())?);
        match &accepted.form {
            Representation::Object => response::object(code, self.kind, scale, accepted),
            Representation::Table(version) => {
                let columns = if self.endpoint.open.is_some() { &CUSTOM_COLUMNS } else { &COLUMNS };
                let endpoint = Arc::new(self.endpoint.of_declared(self.kind));
                let renderer = Renderer::new(&endpoint, accepted)?;
                let writer = TableWriter::with_columns(renderer, columns, version, &call.info.query)?;
                table::of_object(&writer, code, scale, accepted)
            }
            Representation::PartialMetadata(version) => Partial::new(version).respond(code, &scale, accepted),
            Representation::PartialMetadataList(_) => Err(super::get::not_a_list(self.kind.group, self.kind.kind)),
        }
    }

    /// Rejects negative replicas, with the name of the Scale. Kinds of open form validate the
    /// parent.
    fn check(&self, name: &str, replicas: i32) -> Result<(), Status> {
        if replicas >= 0 || self.endpoint.open.is_some() {
            return Ok(());
        }
        let spec = Path::new("spec");
        let negative = BadValue::Int(i64::from(replicas));
        let error = FieldError::invalid(&spec.child("replicas"), negative, "must be greater than or equal to 0");
        Err(Status::invalid(GroupResource { group: self.kind.group, resource: self.kind.kind }, name, &[error]))
    }

    /// Returns the path of the replicas in each version of the parent, if it has a Scale.
    fn versions(&self) -> Vec<(String, Option<Vec<&'static str>>)> {
        if let Some(open) = &self.endpoint.open {
            return open.replicas().into_iter().map(|(version, path)| (version, path.map(split))).collect();
        }
        let parent = self.endpoint.kind;
        let versions = self.endpoint.catalog.kinds.iter().filter(|k| (k.group, k.kind) == (parent.group, parent.kind));
        versions.map(|kind| (kind.api_version(), Some(split(self.paths.replicas)))).collect()
    }

    /// Applies a Scale to its parent: replicas, expected uid and resourceVersion, and owners of the
    /// replicas.
    fn apply_to_parent(&self, scale: &Owned, parent: &Owned) -> Result<Owned, Status> {
        let scale_meta = meta(scale.as_ref()).cloned().unwrap_or_default();
        let replicas = match at_path(scale.as_ref(), &["spec", "replicas"]) {
            Some(Value::I32(replicas)) => replicas,
            _ => 0,
        };
        self.check(&scale_meta.name, replicas)?;
        let mut object = parent.clone();
        let Some(meta) = meta_mut(&mut object) else { return Ok(object) };
        if !scale_meta.uid.is_empty() && scale_meta.uid != meta.uid {
            let of = [self.endpoint.resource.plural, "/scale"].concat();
            let of = GroupResource { group: self.endpoint.kind.group, resource: &of };
            let (wanted, is) = (&scale_meta.uid, &meta.uid);
            let why = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {is}");
            return Err(Status::conflict(of, &meta.name, why));
        }
        // Upstream's custom resources keep the stored resourceVersion if the Scale has none.
        if self.endpoint.open.is_none() || !scale_meta.resource_version.is_empty() {
            meta.resource_version = scale_meta.resource_version;
        }
        set_replicas(&mut object, self.paths.replicas, replicas);
        self.transfer_owners(scale, parent, &mut object)?;
        Ok(object)
    }

    /// Transfers the owners of the Scale's replicas to those of the parent.
    fn transfer_owners(&self, scale: &Owned, parent: &Owned, object: &mut Owned) -> Result<(), Status> {
        let versions = self.versions();
        let mappings = mappings(&versions);
        let owners = managed::entries(parent);
        let api_version = self.endpoint.kind.api_version();
        let entries = scale_to_parent(&owners, &managed::entries(scale), &api_version, &mappings);
        managed::set_entries(object, entries.ok_or_else(|| Status::internal("managed fields cannot be read"))?)
    }
}

/// Represents absent replicas of a custom object, as upstream does.
const UNSET: i32 = i32::MIN;

fn mappings<'v>(versions: &'v [(String, Option<Vec<&'static str>>)]) -> Vec<ReplicasPath<'v>> {
    let mapping = |(version, path): &'v (String, Option<Vec<_>>)| ReplicasPath {
        api_version: version,
        replicas: path.as_deref(),
    };
    versions.iter().map(mapping).collect()
}

fn split(path: &str) -> Vec<&str> {
    path.split('.').collect()
}

/// Serves a GET of the Scale.
pub async fn get(endpoint: &Endpoint, call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.accept(Forms::All)?;
    let scale = Scale::of(endpoint, &call.info.subresource)?.ok_or_else(Status::path_not_found)?;
    let parent =
        endpoint.store()?.get(&call.info.namespace, &call.info.name, call.info.query.text("resourceVersion")).await?;
    if endpoint.open.is_some() && !scale.has_replicas(&parent) {
        let path = format!(".{}", scale.paths.replicas);
        return Err(Status::internal(format!("the spec replicas field {path:?} does not exist")));
    }
    scale.respond(&parent, &accepted, &call)
}

/// A change of a Scale, as a change of its parent.
pub struct AsScale<'a, C> {
    pub scale: &'a Scale<'a>,
    pub change: C,
}

#[async_trait]
impl<C: UpdatedObjectInfo> UpdatedObjectInfo for AsScale<'_, C> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let Some(parent) = current else { return self.change.apply(None).await };
        let mut before = self.scale.of_parent(parent.as_ref())?;
        let is_unset = self.scale.endpoint.open.is_some() && !self.scale.has_replicas(parent);
        if is_unset {
            set_replicas(&mut before, "spec.replicas", UNSET);
        }
        let versions = self.scale.versions();
        let owners = to_scale(&managed::entries(parent), &mappings(&versions));
        managed::set_entries(&mut before, owners.unwrap_or_default())?;
        let after = self.change.apply(Some(&before)).await?;
        if is_unset && matches!(at_path(after.as_ref(), &["spec", "replicas"]), Some(Value::I32(UNSET))) {
            let path = format!(".{}", self.scale.paths.replicas);
            return Err(Status::bad_request(format!("the spec replicas field {path:?} cannot be empty")));
        }
        self.scale.apply_to_parent(&after, parent)
    }
}

#[async_trait]
impl<C: UpdatedObjectInfo> CheckWrite for AsScale<'_, C> {
    async fn check(&mut self, new: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        let old = old.map(|old| self.scale.of_parent(old.as_ref())).transpose()?;
        let new = self.scale.of_parent(new.as_ref())?;
        self.change.check(&new, old.as_ref()).await
    }

    async fn settle(&mut self, outcome: WriteOutcome) {
        self.change.settle(outcome).await;
    }
}

/// Sets the number at a path. In declared kinds the path has two segments.
fn set_replicas(object: &mut Owned, path: &str, replicas: i32) {
    let mut root = object.as_mut();
    if let Some(document) = root.undeclared() {
        let mut names = path.split('.');
        let Some(last) = names.next_back() else { return };
        let parent = names.try_fold(&mut document.0, |members, name| {
            members.entry(name).or_insert_with(|| json!({})).as_object_mut()
        });
        if let Some(parent) = parent {
            parent.insert(last.to_owned(), replicas.into());
        }
        return;
    }
    let Some((outer, inner)) = path.split_once('.') else { return };
    let Some(Slot::Struct(mut spec)) = root.by_name(outer) else { return };
    match spec.by_name(inner) {
        Some(Slot::One(OneMut::I32(n))) => *n = replicas,
        Some(Slot::Opt(OptMut::I32(n))) => *n = Some(replicas),
        _ => {}
    }
}
