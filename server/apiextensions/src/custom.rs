//! The compiled versions of a definition.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionVersion};
use apimachinery::meta::v1::ObjectMeta;
use endpoints::{Incomplete, OpenKind, Origin};
use machinery::budget::Meter;
use machinery::catalog::{KindDef, ScalePaths, api_version};
use machinery::field_path::Path;
use machinery::json::{self, Issues};
use machinery::print::CustomColumn;
use machinery::reflect::{Owned, Struct};
use machinery::status::Status;
use patch::schema::{CustomType, SchemaType};
use schema::Schema;
use serde_json::Value;

use crate::compressed_schema::CompressedSchema;
use crate::conversion::{Calls, ConversionStrategy, WebhookConverter};
use crate::rules::SchemaRules;
use crate::selectable::SelectableFields;
use crate::unstructured::Unstructured;
use crate::{columns, kinds};

/// A compiled definition.
pub struct CustomKind {
    pub kind: String,
    /// Name of the version that objects are stored in.
    pub storage_version: String,
    pub versions: Vec<CustomVersion>,
    pub selectable: SelectableFields,
    pub conversion: ConversionStrategy,
    /// Unique number of this compilation.
    pub serial: u64,
    preserves_unknown_fields: bool,
    /// Uid and generation of the definition that it was compiled from.
    made_from: (String, i64),
}

/// A version of a definition. Its schema is stored compressed, and compiled when the first object
/// needs it. Most definitions of a cluster have no objects, and a compiled schema is several times
/// as large.
pub struct CustomVersion {
    pub name: String,
    pub api_version: String,
    pub def: &'static KindDef,
    pub served: bool,
    pub has_status: bool,
    pub warnings: Vec<String>,
    columns: Arc<[CustomColumn]>,
    source: Option<CompressedSchema>,
    compiled: OnceLock<Compiled>,
    /// Validation rules, which reads do not need.
    rules: OnceLock<Option<SchemaRules>>,
}

/// A schema compiled for decoding and merging.
struct Compiled {
    schema: Schema,
    merge: CustomType,
}

/// See [`CustomKind::serial`].
static SERIAL: AtomicU64 = AtomicU64::new(0);

impl CustomKind {
    /// Compiles a definition.
    pub fn of(definition: &CustomResourceDefinition, terminating: bool, calls: &Arc<Calls>) -> Self {
        let spec = &definition.spec;
        let versions: Vec<CustomVersion> =
            spec.versions.iter().map(|version| CustomVersion::of(definition, version, terminating)).collect();
        let conversion = ConversionStrategy::of(definition, calls);
        let stored = spec.versions.iter().find(|version| version.storage);
        CustomKind {
            kind: definition.status.accepted_names.kind.clone(),
            storage_version: stored.map_or(String::new(), |version| version.name.clone()),
            selectable: SelectableFields::of(
                versions.iter().map(|version| (version.name.as_str(), version.def)),
                &conversion,
            ),
            versions,
            conversion,
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            preserves_unknown_fields: spec.preserve_unknown_fields,
            made_from: (definition.metadata.uid.clone(), definition.metadata.generation),
        }
    }

    /// Returns the version with this name.
    pub fn version(&self, name: &str) -> Option<&CustomVersion> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// Returns the version of an `apiVersion` such as `example.com/v1`.
    pub fn version_of(&self, api_version: &str) -> Option<&CustomVersion> {
        self.versions.iter().find(|version| version.api_version == api_version)
    }
}

impl CustomVersion {
    fn of(definition: &CustomResourceDefinition, version: &CustomResourceDefinitionVersion, terminating: bool) -> Self {
        let props = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_deref());
        let subresources = version.subresources.as_deref();
        CustomVersion {
            name: version.name.clone(),
            api_version: api_version(&definition.spec.group, &version.name),
            def: kinds::of(definition, version, terminating),
            served: version.served,
            has_status: subresources.is_some_and(|subresources| subresources.status.is_some()),
            warnings: deprecation(definition, version),
            columns: columns::of(version),
            source: props.map(CompressedSchema::new),
            compiled: OnceLock::new(),
            rules: OnceLock::new(),
        }
    }

    fn compiled(&self) -> Option<&Compiled> {
        let source = self.source.as_ref()?;
        Some(self.compiled.get_or_init(|| Compiled {
            schema: Schema::compile(&source.props()),
            merge: CustomType::of_resource(&source.document(), ObjectMeta::def()),
        }))
    }

    /// Returns its schema, if it has one.
    pub fn schema(&self) -> Option<&Schema> {
        self.compiled().map(|compiled| &compiled.schema)
    }

    /// Whether it has validation rules. The size of an object does not bound their cost.
    pub fn has_rules(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.has_rules)
    }

    /// Returns its validation rules, if it has any.
    pub fn rules(&self) -> Option<&SchemaRules> {
        let compile =
            || self.source.as_ref().filter(|s| s.has_rules).and_then(|s| SchemaRules::compile(&s.props(), true));
        self.rules.get_or_init(compile).as_ref()
    }

    /// Returns the paths of the scale subresource.
    pub fn scale(&self) -> Option<ScalePaths> {
        self.def.resource?.subresources.iter().find_map(|subresource| subresource.scale)
    }

    /// Returns the merge type of its objects.
    fn merge(&self) -> SchemaType<'_> {
        self.compiled().map_or(SchemaType::Deduced, |compiled| SchemaType::Custom(&compiled.merge))
    }

    /// Prunes the object and applies defaults.
    ///
    /// # Errors
    /// Returns an error if a part of the object is malformed. The size of defaults is limited,
    /// except for stored objects, which must stay readable.
    pub fn complete(&self, object: &mut Unstructured, origin: Origin, issues: &mut Issues) -> Result<(), Incomplete> {
        let Some(schema) = self.schema() else { return Ok(()) };
        as_tree(object, |content| {
            let mut unknown = Vec::new();
            schema::prune(content, schema, true, issues.is_collecting().then_some(&mut unknown));
            unknown.into_iter().for_each(|path| issues.add(json::Issue::Unknown(path.into())));
            match origin {
                Origin::Applied => schema::drop_untyped_nulls(content, schema),
                Origin::RequestDocument | Origin::Stored => schema::drop_nulls(content, schema),
            }
            let is_stored = origin == Origin::Stored;
            let coerced = schema::coerce_embedded(&Path::NONE, content, schema, is_stored, issues);
            let mut meter = if is_stored { Meter::unlimited() } else { Meter::of_document(0) };
            schema::apply_defaults(content, schema, &mut meter)?;
            coerced.map_err(|error| Incomplete::Malformed(error.to_string()))
        })
    }

    /// Applies the default of the status, if there is one.
    pub fn default_status(&self, object: &mut Unstructured) {
        let has_default = |schema: &&Schema| schema.property("status").is_some_and(|status| status.default.is_some());
        if let Some(schema) = self.schema().filter(has_default) {
            // The default of an absent field has a fixed size, so it needs no limit.
            let _ = as_tree(object, |content| schema::apply_defaults(content, schema, &mut Meter::unlimited()));
        }
    }

    /// Prunes an object that was converted from another version.
    pub fn prune(&self, object: &mut Unstructured) {
        let Some(schema) = self.schema() else { return };
        as_tree(object, |content| {
            schema::prune(content, schema, true, None);
            schema::drop_nulls(content, schema);
        });
    }
}

/// Runs `f` on the content of an object as a tree.
fn as_tree<R>(object: &mut Unstructured, f: impl FnOnce(&mut Value) -> R) -> R {
    let mut content = Value::Object(std::mem::take(&mut object.content.0));
    let result = f(&mut content);
    if let Value::Object(members) = content {
        object.content.0 = members;
    }
    result
}

/// The endpoint's view of one version.
pub struct OpenVersion {
    pub kind: Arc<CustomKind>,
    pub name: String,
}

impl OpenVersion {
    fn version(&self) -> Option<&CustomVersion> {
        self.kind.version(&self.name)
    }
}

impl OpenKind for OpenVersion {
    fn merge_type(&self, api_version: &str) -> Option<SchemaType<'_>> {
        self.kind.version_of(api_version).map(CustomVersion::merge)
    }

    fn columns(&self, api_version: &str) -> Option<Arc<[CustomColumn]>> {
        Some(self.kind.version_of(api_version)?.columns.clone())
    }

    fn complete(&self, object: &mut Owned, origin: Origin, issues: &mut Issues) -> Result<(), Incomplete> {
        match (object.downcast_mut::<Unstructured>(), self.version()) {
            (Some(object), Some(version)) => version.complete(object, origin, issues),
            _ => Ok(()),
        }
    }

    fn convert(&self, original: &Value, api_version: &str) -> Result<Value, Status> {
        let unknown = || Status::internal(format!("there is no version {api_version}"));
        let to = self.kind.version_of(api_version).ok_or_else(unknown)?;
        let from = original["apiVersion"].as_str().unwrap_or_default();
        let mut document = match &self.kind.conversion {
            ConversionStrategy::Webhook(webhook) if from != api_version => {
                convert_now(webhook, original.clone(), api_version)?
            }
            _ => original.clone(),
        };
        if let Value::Object(members) = &mut document {
            if let (ConversionStrategy::Fields(fields), Some(from)) =
                (&self.kind.conversion, self.kind.version_of(from))
            {
                fields.convert(members, &from.name, &to.name)?;
            }
            members.insert("apiVersion".into(), api_version.into());
        }
        if let Some(schema) = to.schema() {
            schema::prune(&mut document, schema, true, None);
        }
        Ok(document)
    }

    fn served(&self) -> Vec<&'static KindDef> {
        self.kind.versions.iter().filter(|version| version.served).map(|version| version.def).collect()
    }

    fn replicas(&self) -> Vec<(String, Option<&'static str>)> {
        let of = |version: &CustomVersion| (version.api_version.clone(), version.scale().map(|paths| paths.replicas));
        self.kind.versions.iter().map(of).collect()
    }

    fn warnings(&self) -> &[String] {
        self.version().map_or(&[], |version| &version.warnings)
    }

    fn schema(&self) -> Option<Value> {
        self.version()?.source.as_ref()?.published()
    }

    fn preserves_unknown_fields(&self) -> bool {
        self.kind.preserves_unknown_fields
    }

    fn revision(&self) -> String {
        let (uid, generation) = &self.kind.made_from;
        format!("{uid},{generation}")
    }
}

/// Blocks on a webhook conversion. Only field management needs it, if a manager owns fields of
/// another version.
fn convert_now(webhook: &WebhookConverter, document: Value, api_version: &str) -> Result<Value, Status> {
    let runtime = tokio::runtime::Handle::current();
    serving::work::blocking(|| runtime.block_on(webhook.convert_one(document, api_version)))
}

/// Returns the warning for users of a deprecated version (`defaultDeprecationWarning`).
fn deprecation(definition: &CustomResourceDefinition, version: &CustomResourceDefinitionVersion) -> Vec<String> {
    if !version.deprecated {
        return Vec::new();
    }
    if let Some(text) = &version.deprecation_warning {
        return vec![text.clone()];
    }
    let (group, kind) = (&definition.spec.group, &definition.spec.names.kind);
    let mut text = format!("{group}/{} {kind} is deprecated", version.name);
    let newer = definition.spec.versions.iter().filter(|v| v.served && !v.deprecated);
    let newer = newer.map(|v| &v.name).filter(|name| endpoints::compare_versions(name, &version.name).is_gt());
    if let Some(name) = newer.max_by(|a, b| endpoints::compare_versions(a, b)) {
        text.push_str(&format!("; use {group}/{name} {kind}"));
    }
    vec![text]
}
