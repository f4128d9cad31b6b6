use crate::meta::ObjectMeta;

/// Adds a new resource type to the API, served directly by the API server.
#[kind(
    plural = "customresourcedefinitions",
    short = ("crd", "crds"),
    category = "api-extensions",
    scope = Cluster,
    prefix = "apiextensions.k8s.io/customresourcedefinitions",
    stored = json,
    storage = v1beta1,
    unconditional_update = false
)]
#[versions(
    v1(introduced = "1.16"),
    v1beta1(
        introduced = "1.7",
        deprecated = "1.16",
        removed = "1.22",
        replacement = "apiextensions.k8s.io/v1 CustomResourceDefinition"
    )
)]
#[subresource(status, resets(spec), without_tables)]
#[strategy(delete = begin_cleanup)]
#[default(by_hand = default_custom_resource_definition)]
pub struct CustomResourceDefinition {
    /// CRD identity; its name has to be `<plural>.<group>`.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Group, names, scope, versions and schemas of the new resource type.
    #[field(2, required)]
    pub spec: CustomResourceDefinitionSpec,

    /// Server-reported progress in establishing and serving the new type.
    #[field(3)]
    pub status: CustomResourceDefinitionStatus,
}

/// Describes the custom resource type to be served.
#[default(conversion = { strategy: None })]
#[default(by_hand = default_custom_resource_definition_spec)]
pub struct CustomResourceDefinitionSpec {
    /// API group of the custom resource, served under `/apis/<group>`; cannot change.
    #[field(1, required)]
    pub group: String,

    /// Plural, singular, kind and short names of the custom resource.
    #[field(3, required)]
    pub names: CustomResourceDefinitionNames,

    /// Either `Namespaced` or `Cluster`, deciding where the custom objects live.
    #[field(4, required)]
    pub scope: ResourceScope,

    /// All versions of the resource; exactly one of them is the storage version.
    #[field(7, required, list = atomic)]
    pub versions: Vec<CustomResourceDefinitionVersion>,

    /// How objects move between versions; the default strategy is `None`.
    #[field(9)]
    pub conversion: Option<CustomResourceConversion>,

    /// Legacy switch to keep unlisted fields; v1 allows only `false`.
    #[field(10)]
    pub preserve_unknown_fields: bool,
}

/// The various names under which a custom resource can be addressed.
pub struct CustomResourceDefinitionNames {
    /// Lowercase plural appearing in URLs: `/apis/<group>/<version>/<plural>`.
    #[field(1, required)]
    pub plural: String,

    /// Lowercase singular name for command-line use; defaults to the lowercased `kind`.
    #[field(2)]
    pub singular: String,

    /// Lowercase abbreviations usable with `kubectl`, such as `cj` for cronjobs.
    #[field(3, list = atomic)]
    pub short_names: Vec<String>,

    /// CamelCase singular type name used as `kind` in manifests.
    #[field(4, required)]
    pub kind: String,

    /// Type name for collections; defaults to `kind` followed by `List`.
    #[field(5)]
    pub list_kind: String,

    /// Groups the resource joins, so `kubectl get all` style commands include it.
    #[field(6, list = atomic)]
    pub categories: Vec<String>,
}

/// Whether custom objects are namespaced or cluster-wide.
#[open]
pub enum ResourceScope {
    Cluster,
    Namespaced,
}

/// One version of a custom resource together with its schema and display settings.
pub struct CustomResourceDefinitionVersion {
    /// Version label such as `v1alpha1`, which becomes part of the URL.
    #[field(1, required)]
    pub name: String,

    /// Set false to stop exposing this version through the API.
    #[field(2, required)]
    pub served: bool,

    /// Marks the version written to etcd; true for exactly one entry.
    #[field(3, required)]
    pub storage: bool,

    /// When true, clients using this version receive a warning header.
    #[field(7, deprecated)]
    pub deprecated: bool,

    /// Replaces the standard deprecation text; allowed only when `deprecated` is true.
    #[field(8)]
    pub deprecation_warning: Option<String>,

    /// OpenAPI schema for validation, pruning and defaulting; mandatory in v1.
    #[field(4)]
    pub schema: Option<CustomResourceValidation>,

    /// Enables `status` and `scale` endpoints for this version.
    #[field(5)]
    pub subresources: Option<CustomResourceSubresources>,

    /// Extra columns for listings of this version; just the age without it.
    #[field(6, list = atomic)]
    pub additional_printer_columns: Vec<CustomResourceColumnDefinition>,

    /// Paths usable with `--field-selector` for this version; at most 8.
    #[field(9, list = atomic, gate = CustomResourceFieldSelectors)]
    pub selectable_fields: Vec<SelectableField>,
}

/// Holder for the schema that custom objects are checked against.
pub struct CustomResourceValidation {
    /// Structural OpenAPI v3 schema applied to objects on create and update.
    #[field(1)]
    pub open_api_v3_schema: Option<JSONSchemaProps>,
}

/// Switches on optional subresources for a custom resource.
pub struct CustomResourceSubresources {
    /// If present, status is updated only through `/status`, and spec edits bump generation.
    #[field(1)]
    pub status: Option<CustomResourceSubresourceStatus>,

    /// If present, exposes `/scale` for manual and automatic scaling.
    #[field(2)]
    pub scale: Option<CustomResourceSubresourceScale>,
}

/// Empty marker that turns on a separate `/status` endpoint for custom objects.
pub struct CustomResourceSubresourceStatus {}

/// Maps object fields onto the `scale` endpoint used by `kubectl scale` and autoscalers.
pub struct CustomResourceSubresourceScale {
    /// Dotted path under `.spec` holding the wanted replica count, e.g. `.spec.replicas`.
    #[field(1, required)]
    pub spec_replicas_path: String,

    /// Dotted path under `.status` with the actual replica count; 0 if absent.
    #[field(2, required)]
    pub status_replicas_path: String,

    /// Path to a serialized label selector string; needed for HPA support.
    #[field(3)]
    pub label_selector_path: Option<String>,
}

/// An extra column shown when custom objects are listed with `kubectl get`.
pub struct CustomResourceColumnDefinition {
    /// Heading of the column, e.g. `Replicas`.
    #[field(1, required)]
    pub name: String,

    /// OpenAPI data type of the cell: `string`, `integer`, `number`, `boolean` or `date`.
    #[field(2, required)]
    pub r#type: String,

    /// OpenAPI formatting hint such as `int32`, `double` or `date-time`.
    #[field(3)]
    pub format: String,

    /// Explains to readers what the column displays.
    #[field(4)]
    pub description: String,

    /// Columns above 0 appear only in wide output (`-o wide`).
    #[field(5)]
    pub priority: i32,

    /// JSON path, evaluated on every custom object, that produces the cell value.
    #[field(6, required)]
    pub json_path: String,
}

/// A custom resource field that can appear in field selectors.
pub struct SelectableField {
    /// Simple path to a string, integer or boolean, e.g. `.spec.color`; no metadata fields.
    #[field(1, required)]
    pub json_path: String,
}

/// How custom objects are translated between the CRD's versions.
pub struct CustomResourceConversion {
    /// Value `None` only rewrites `apiVersion`; `Webhook` calls an external converter.
    #[field(1, required)]
    pub strategy: ConversionStrategyType,

    /// Converter connection settings, required with strategy `Webhook`.
    #[field(2)]
    pub webhook: Option<WebhookConversion>,
}

/// Ways to convert custom objects between versions.
#[open]
pub enum ConversionStrategyType {
    None,
    Webhook,
}

/// Details for calling a webhook to convert between versions.
pub struct WebhookConversion {
    /// Endpoint and trust settings of the converter.
    #[field(2)]
    pub client_config: Option<WebhookClientConfig>,

    /// Accepted `ConversionReview` versions by preference; must include one the server knows.
    #[field(3, required, list = atomic)]
    pub conversion_review_versions: Vec<String>,
}

/// Connection settings for a conversion webhook, by URL or by Service.
pub struct WebhookClientConfig {
    /// Full `https://` address of an external converter; do not set with `service`.
    #[field(3)]
    pub url: Option<String>,

    /// In-cluster Service hosting the converter; do not set with `url`.
    #[field(1)]
    pub service: Option<ServiceReference>,

    /// PEM roots for verifying the converter's certificate; host trust store when empty.
    #[field(2)]
    pub ca_bundle: Bytes,
}

/// Points at the in-cluster Service running the conversion webhook.
pub struct ServiceReference {
    /// Namespace of the conversion webhook's Service; must be given.
    #[field(1, required)]
    pub namespace: String,

    /// Name of the conversion webhook's Service; must be given.
    #[field(2, required)]
    pub name: String,

    /// URL path for conversion calls, for example `/convert`.
    #[field(3)]
    pub path: Option<String>,

    /// TCP port of the converter Service, 1 to 65535; defaults to 443.
    #[field(4, default_hidden = 443)]
    pub port: Option<i32>,
}

/// State of a CRD as reported by the API server.
pub struct CustomResourceDefinitionStatus {
    /// Current CRD conditions, such as `Established`, `NamesAccepted` and `Terminating`.
    #[field(1, always, list = map(type))]
    pub conditions: Vec<CustomResourceDefinitionCondition>,

    /// Names really in use, which can differ from the requested ones after conflicts.
    #[field(2)]
    pub accepted_names: CustomResourceDefinitionNames,

    /// Every version ever persisted to etcd; migrate objects before removing one.
    #[field(3, always, list = atomic)]
    pub stored_versions: Vec<String>,

    /// Generation of the CRD spec that the server last processed.
    #[field(4, gate = CRDObservedGenerationTracking)]
    pub observed_generation: i64,
}

/// One observed aspect of a CRD's state, such as whether it is established.
pub struct CustomResourceDefinitionCondition {
    /// Aspect of the CRD being reported, e.g. `Established` or `NamesAccepted`.
    #[field(1, required)]
    pub r#type: CustomResourceDefinitionConditionType,

    /// Value `True`, `False` or `Unknown` for this CRD condition.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When this CRD condition last flipped its status.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase code explaining why the CRD condition holds.
    #[field(4)]
    pub reason: String,

    /// Sentence for humans detailing the CRD condition.
    #[field(5)]
    pub message: String,

    /// CRD generation the condition was computed from; older values mean it is outdated.
    #[field(6, gate = CRDObservedGenerationTracking)]
    pub observed_generation: i64,
}

/// Aspects of a CRD that its status conditions report.
#[open]
pub enum CustomResourceDefinitionConditionType {
    Established,
    NamesAccepted,
    NonStructuralSchema,
    Terminating,
    KubernetesAPIApprovalPolicyConformant,
    StorageMigrating,
}

/// Three-valued state used in CRD conditions.
#[open]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

mod v1beta1 {
    #[differs(CustomResourceDefinition)]
    #[default(by_hand = default_v1beta1_custom_resource_definition)]
    struct CustomResourceDefinition {}

    #[differs(CustomResourceDefinitionSpec)]
    #[default(scope = Namespaced)]
    #[default(conversion = { strategy: None })]
    #[default(preserveUnknownFields = true)]
    #[default(by_hand = default_v1beta1_custom_resource_definition_spec)]
    struct CustomResourceDefinitionSpec {
        /// Single served version in v1beta1, superseded by `versions`.
        #[field(2, deprecated)]
        version: String,

        /// Schema shared by every version in v1beta1; per-version schemas replace it.
        #[field(5)]
        validation: Option<CustomResourceValidation>,

        /// Subresources shared by every version in v1beta1, e.g. `status` and `scale`.
        #[field(6)]
        subresources: Option<CustomResourceSubresources>,

        /// All versions of the resource; exactly one of them is the storage version.
        #[field(7, list = atomic)]
        versions: Vec<CustomResourceDefinitionVersion>,

        /// Listing columns shared by every version in v1beta1; defaults to age only.
        #[field(8, list = atomic)]
        additional_printer_columns: Vec<CustomResourceColumnDefinition>,

        /// Fields usable in field selectors for all versions in v1beta1; at most 8.
        #[field(11, list = atomic, gate = CustomResourceFieldSelectors)]
        selectable_fields: Vec<SelectableField>,

        /// Legacy switch to keep unlisted fields; v1 allows only `false`.
        #[field(10, deprecated)]
        preserve_unknown_fields: Option<bool>,
    }

    #[convert(
        CustomResourceDefinitionSpec,
        by_hand = v1beta1_custom_resource_definition_spec,
        here(version, validation, subresources, additionalPrinterColumns, selectableFields)
    )]
    struct SharedByVersions;

    #[differs(CustomResourceColumnDefinition)]
    struct CustomResourceColumnDefinition {
        /// The v1beta1 spelling of the cell's path, e.g. `.spec.replicas`.
        #[field(6, json = "JSONPath", required)]
        json_path: String,
    }

    #[differs(CustomResourceConversion)]
    struct CustomResourceConversion {
        #[gone]
        webhook: (),

        /// Converter endpoint in v1beta1, required there with strategy `Webhook`.
        #[field(2)]
        webhook_client_config: Option<WebhookClientConfig>,

        /// Versions of `ConversionReview` the v1beta1 converter understands, preferred first.
        #[field(3, list = atomic)]
        conversion_review_versions: Vec<String>,
    }

    #[convert(
        CustomResourceConversion,
        by_hand = v1beta1_custom_resource_conversion,
        here(webhookClientConfig, conversionReviewVersions),
        hub(webhook)
    )]
    struct Webhook;
}
