//! The `scale` subresource: an `autoscaling/v1` Scale that reads and writes the replicas of its parent.

use async_trait::async_trait;
use bytes::Bytes;
use http::StatusCode;
use machinery::catalog::{KindDef, ScalePaths};
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json;
use machinery::print::{at_path, format_selector};
use machinery::reflect::{Map, OneMut, OptMut, Owned, Ref, Slot, Value};
use machinery::status::{GroupResource, Status};
use registry::{Change, UpdateOptions, meta};
use serde_json::json;
use serving::Response;

use super::Call;
use crate::endpoint::Endpoint;
use crate::managed::{self, Manager};
use crate::patching::{PatchType, plain_patch};
use crate::{answer, body, media};

/// A scale endpoint: the parent, the kind of its Scale, and where the numbers are.
struct Scale<'a> {
    endpoint: &'a Endpoint,
    kind: &'static KindDef,
    paths: ScalePaths,
}

impl<'a> Scale<'a> {
    fn of(endpoint: &'a Endpoint) -> Result<Self, Status> {
        let def = endpoint.subresource("scale").ok_or_else(Status::path_not_found)?;
        let (group, version, kind) = def.kind;
        let kind =
            endpoint.catalog.kind(group, version, kind).ok_or_else(|| Status::internal("Scale is not declared"))?;
        let paths = def.scale.ok_or_else(|| Status::internal("scale has no paths"))?;
        Ok(Scale { endpoint, kind, paths })
    }

    /// The Scale of a parent in hub form.
    fn of_parent(&self, parent: Ref<'_>) -> serde_json::Value {
        let number = |path: &str| match at_path(parent, &split(path)) {
            Some(Value::I32(n)) => i64::from(n),
            Some(Value::I64(n)) => n,
            _ => 0,
        };
        let mut document = json!({"kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": {}, "spec": {}, "status": {}});
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
        let selector = self.selector(parent);
        if !selector.is_empty() {
            document["status"]["selector"] = selector.into();
        }
        document
    }

    /// The selector's text.
    fn selector(&self, parent: Ref<'_>) -> String {
        let text = match at_path(parent, &split(self.paths.selector)) {
            Some(Value::Struct(selector)) => format_selector(selector),
            Some(Value::Map(Map::String(labels))) => machinery::print::format_labels(labels.iter()),
            _ => String::new(),
        };
        if text == "<none>" { String::new() } else { text }
    }

    /// Decodes a Scale and gives (replicas, resourceVersion, uid, name).
    fn read(&self, document: &serde_json::Value) -> Wanted {
        let text = |name: &str| document["metadata"][name].as_str().unwrap_or("").to_string();
        Wanted {
            replicas: document["spec"]["replicas"].as_i64().unwrap_or(0),
            resource_version: text("resourceVersion"),
            uid: text("uid"),
            name: text("name"),
        }
    }

    fn respond(&self, code: StatusCode, parent: &Owned, accepted: &media::Accepted) -> Result<Response, Status> {
        let document = self.of_parent(parent.as_ref());
        let mut value = Owned::new(self.kind.def);
        json::from_value(&document, value.as_mut(), &mut json::Issues::ignore()).map_err(Status::internal)?;
        answer::object(code, self.kind, value, accepted)
    }

    /// A negative number of replicas is refused, by the Scale's own name.
    fn check(&self, name: &str, replicas: i64) -> Result<(), Status> {
        if replicas >= 0 {
            return Ok(());
        }
        let spec = Path::new("spec");
        let error = FieldError::invalid(
            &spec.child("replicas"),
            replicas_value(replicas),
            "must be greater than or equal to 0",
        );
        Err(Status::invalid(GroupResource { group: self.kind.group, resource: self.kind.kind }, name, &[error]))
    }
}

fn replicas_value(replicas: i64) -> machinery::field_error::BadValue {
    machinery::field_error::BadValue::Int(replicas)
}

fn split(path: &str) -> Vec<&str> {
    path.split('.').collect()
}

/// What a Scale asks for.
struct Wanted {
    replicas: i64,
    resource_version: String,
    uid: String,
    name: String,
}

/// GET
pub async fn get(endpoint: &Endpoint, call: Call) -> Result<Response, Status> {
    let accepted = call.accept(false)?;
    let scale = Scale::of(endpoint)?;
    let parent =
        endpoint.store()?.get(&call.info.namespace, &call.info.name, call.query.text("resourceVersion")).await?;
    scale.respond(StatusCode::OK, &parent, &accepted)
}

/// PUT and PATCH
pub async fn write(endpoint: &Endpoint, mut call: Call) -> Result<Response, Status> {
    let patch = match call.info.verb.as_ref() {
        "patch" => Some(PatchType::parse(call.content_type())?),
        _ => None,
    };
    let kind = if patch.is_some() { "PatchOptions" } else { "UpdateOptions" };
    let options = call.query.write_options(kind, patch == Some(PatchType::Apply))?;
    let accepted = call.accept(false)?;
    let scale = Scale::of(endpoint)?;
    let encoding = if patch.is_some() { media::Encoding::Json } else { media::body_encoding(call.content_type())? };
    let bytes = body::read(std::mem::take(&mut call.body)).await?;
    let replacement = match patch {
        Some(_) => None,
        None => {
            let decoded = body::decode(scale.kind, encoding, &bytes, options.field_validation)?;
            call.warn(&decoded.warnings);
            Some(json::to_value(decoded.value.as_ref()))
        }
    };
    if patch == Some(PatchType::Apply) {
        return Err(Status::not_implemented("server-side apply of scale"));
    }
    let context = call.context(endpoint, options.dry_run);
    let name = call.info.name.clone();
    let manager = managed::manager_name(&options.field_manager, call.user_agent());
    let mut change = SetReplicas { scale, patch, bytes, replacement, name: name.clone(), manager };
    let update = UpdateOptions { dry_run: options.dry_run, subresource: "scale".into(), ..UpdateOptions::default() };
    let updated = endpoint.store()?.update(&context, &name, &update, &mut change).await?;
    change.scale.respond(StatusCode::OK, &updated.object, &accepted)
}

/// Sets the replicas of the parent to what a Scale says.
struct SetReplicas<'a> {
    scale: Scale<'a>,
    patch: Option<PatchType>,
    bytes: Bytes,
    replacement: Option<serde_json::Value>,
    name: String,
    manager: String,
}

#[async_trait]
impl Change for SetReplicas<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let endpoint = self.scale.endpoint;
        let Some(current) = current else { return Err(Status::not_found(endpoint.name(), &self.name)) };
        let document = match (&self.replacement, self.patch) {
            (Some(document), _) => document.clone(),
            (None, kind) => {
                let before = self.scale.of_parent(current.as_ref());
                plain_patch(kind.unwrap_or(PatchType::Merge), self.scale.kind.def, &before, &self.bytes)?
            }
        };
        let wanted = self.scale.read(&document);
        if !wanted.name.is_empty() && wanted.name != self.name {
            let message =
                format!("the name of the object ({}) does not match the name on the URL ({})", wanted.name, self.name);
            return Err(Status::bad_request(message));
        }
        self.scale.check(&self.name, wanted.replicas)?;
        let mut object = current.clone();
        set_replicas(&mut object, self.scale.paths.replicas, wanted.replicas);
        if let Some(meta) = registry::meta_mut(&mut object) {
            meta.resource_version = wanted.resource_version;
            if !wanted.uid.is_empty() {
                meta.uid = wanted.uid;
            }
        }
        let manager = Manager { name: &self.manager, subresource: "scale" };
        managed::on_update(endpoint, Some(current), object, &manager)
    }
}

/// Writes the number at a path of two names.
fn set_replicas(object: &mut Owned, path: &str, replicas: i64) {
    let Some((outer, inner)) = path.split_once('.') else { return };
    let mut root = object.as_mut();
    let Some(Slot::Struct(mut spec)) = root.by_name(outer) else { return };
    match spec.by_name(inner) {
        Some(Slot::One(OneMut::I32(n))) => *n = replicas as i32,
        Some(Slot::Opt(OptMut::I32(n))) => *n = Some(replicas as i32),
        _ => {}
    }
}
