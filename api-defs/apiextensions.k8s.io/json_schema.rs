/// Link to further reading about a schema element.
pub struct ExternalDocumentation {
    /// Brief note on what the linked documentation contains.
    #[field(1)]
    pub description: String,

    /// Address of the linked documentation.
    #[field(2)]
    pub url: String,
}

/// A schema node describing the allowed shape of a value.
#[normalize(by_hand = normalize_json_schema_props)]
pub struct JSONSchemaProps {
    /// JSON Schema identifier; must stay empty in a CRD.
    #[field(1)]
    pub id: String,

    /// Dialect URI of the schema; must stay empty in a CRD.
    #[field(2, json = "$schema", proto = "schema", go = "JSONSchemaURL")]
    pub schema: String,

    /// Reference to another schema; forbidden in CRDs, so inline the schema.
    #[field(3, json = "$ref", proto = "ref")]
    pub r#ref: Option<String>,

    /// Help text for the field, shown by `kubectl explain`.
    #[field(4)]
    pub description: String,

    /// JSON type of the value: `object`, `array`, `string`, `integer`, `number` or `boolean`.
    #[field(5)]
    pub r#type: String,

    /// Refines the type, e.g. `date-time`, `int64` or `uuid`; unknown formats are ignored.
    #[field(6)]
    pub format: String,

    /// Short heading for the schema node, used by documentation tools.
    #[field(7)]
    pub title: String,

    /// Value filled in when the field is missing; needs a structural schema.
    #[field(8)]
    pub default: Option<Json>,

    /// Largest number allowed, inclusive unless `exclusiveMaximum` is true.
    #[allow(L006)]
    #[field(9)]
    pub maximum: Option<f64>,

    /// When true, the value must be strictly below `maximum`.
    #[field(10)]
    pub exclusive_maximum: bool,

    /// Smallest number allowed, inclusive unless `exclusiveMinimum` is true.
    #[allow(L006)]
    #[field(11)]
    pub minimum: Option<f64>,

    /// When true, the value must be strictly above `minimum`.
    #[field(12)]
    pub exclusive_minimum: bool,

    /// Longest string accepted, in characters; also lowers the cost of CEL rules.
    #[field(13)]
    pub max_length: Option<i64>,

    /// Shortest string accepted, in characters.
    #[field(14)]
    pub min_length: Option<i64>,

    /// Regular expression the string must match; unanchored unless `^` and `$` are used.
    #[field(15)]
    pub pattern: String,

    /// Upper bound on array length; also lowers the cost of CEL rules.
    #[field(16)]
    pub max_items: Option<i64>,

    /// Lower bound on array length.
    #[field(17)]
    pub min_items: Option<i64>,

    /// Requires distinct elements; may not be true in CRDs, use list type `set`.
    #[field(18)]
    pub unique_items: bool,

    /// Number must divide evenly by this value.
    #[allow(L006)]
    #[field(19)]
    pub multiple_of: Option<f64>,

    /// Closed list of permitted values.
    #[field(20, list = atomic)]
    pub r#enum: Vec<Json>,

    /// Most keys an object may contain.
    #[field(21)]
    pub max_properties: Option<i64>,

    /// Fewest keys an object may contain.
    #[field(22)]
    pub min_properties: Option<i64>,

    /// Property names that must be present in the object.
    #[field(23, list = atomic)]
    pub required: Vec<String>,

    /// Schema every array element has to satisfy.
    #[field(24)]
    pub items: Option<JSONSchemaPropsOrArray>,

    /// Schemas that must all accept the value.
    #[field(25, list = atomic)]
    pub all_of: Vec<JSONSchemaProps>,

    /// Schemas of which exactly one must accept the value.
    #[field(26, list = atomic)]
    pub one_of: Vec<JSONSchemaProps>,

    /// Schemas of which at least one must accept the value.
    #[field(27, list = atomic)]
    pub any_of: Vec<JSONSchemaProps>,

    /// Schema that must not accept the value.
    #[field(28)]
    pub not: Option<JSONSchemaProps>,

    /// Schemas for an object's known fields, keyed by field name.
    #[field(29)]
    pub properties: Map<String, JSONSchemaProps>,

    /// Schema for map values with free-form keys; cannot be combined with `properties`.
    #[field(30)]
    pub additional_properties: Option<JSONSchemaPropsOrBool>,

    /// Schemas for keys matching a regular expression; not permitted in CRDs.
    #[field(31)]
    pub pattern_properties: Map<String, JSONSchemaProps>,

    /// Requirements triggered by the presence of other keys; not permitted in CRDs.
    #[field(32, go_whole = "JSONSchemaDependencies")]
    pub dependencies: Map<String, JSONSchemaPropsOrStringArray>,

    /// Schema for extra tuple elements; not permitted in CRDs.
    #[field(33)]
    pub additional_items: Option<JSONSchemaPropsOrBool>,

    /// Reusable sub-schemas; not permitted in CRDs.
    #[field(34, go_whole = "JSONSchemaDefinitions")]
    pub definitions: Map<String, JSONSchemaProps>,

    /// Pointer to documentation outside the schema.
    #[field(35)]
    pub external_docs: Option<ExternalDocumentation>,

    /// Sample value for documentation; it is never used in validation.
    #[field(36)]
    pub example: Option<Json>,

    /// Permits an explicit null; otherwise nulls are pruned or rejected.
    #[field(37)]
    pub nullable: bool,

    /// Stops pruning of unlisted fields at this level of the object.
    #[field(38, json = "x-kubernetes-preserve-unknown-fields", proto = "xKubernetesPreserveUnknownFields")]
    pub x_kubernetes_preserve_unknown_fields: Option<bool>,

    /// Marks the value as a full object with `apiVersion`, `kind` and `metadata`.
    #[field(39, json = "x-kubernetes-embedded-resource", proto = "xKubernetesEmbeddedResource")]
    pub x_kubernetes_embedded_resource: bool,

    /// Accepts either an integer or a string, as with port names or percentages.
    #[field(40, json = "x-kubernetes-int-or-string", proto = "xKubernetesIntOrString")]
    pub x_kubernetes_int_or_string: bool,

    /// Field names that together identify an element in a `map` list.
    #[field(41, json = "x-kubernetes-list-map-keys", proto = "xKubernetesListMapKeys", list = atomic)]
    pub x_kubernetes_list_map_keys: Vec<String>,

    /// How lists merge under server-side apply: `atomic` (default), `set` or `map`.
    #[field(42, json = "x-kubernetes-list-type", proto = "xKubernetesListType")]
    pub x_kubernetes_list_type: Option<String>,

    /// How objects merge under server-side apply: `granular` (default) or `atomic`.
    #[field(43, json = "x-kubernetes-map-type", proto = "xKubernetesMapType")]
    pub x_kubernetes_map_type: Option<String>,

    /// CEL rules the value must satisfy beyond plain schema checks.
    #[field(44, json = "x-kubernetes-validations", proto = "xKubernetesValidations", list = map(rule), patch = merge, go_whole = "ValidationRules")]
    pub x_kubernetes_validations: Vec<ValidationRule>,
}

/// Holds either a single schema or a list of schemas.
#[json(schema_or_array)]
pub struct JSONSchemaPropsOrArray {
    /// Used when one schema applies to every element.
    #[field(1)]
    pub schema: Option<JSONSchemaProps>,

    /// Used when several schemas are given; CRDs do not support this.
    #[field(2, proto = "jSONSchemas", list = atomic)]
    pub json_schemas: Vec<JSONSchemaProps>,
}

/// Holds either a schema or a plain yes/no.
#[json(schema_or_bool)]
pub struct JSONSchemaPropsOrBool {
    /// Boolean form: true permits anything extra, false permits nothing.
    #[field(1)]
    pub allows: bool,

    /// Schema form: extra values have to satisfy it.
    #[field(2)]
    pub schema: Option<JSONSchemaProps>,
}

/// Holds either a schema or a list of property names.
#[json(schema_or_strings)]
pub struct JSONSchemaPropsOrStringArray {
    /// Schema the object must fulfil when the dependency applies.
    #[field(1)]
    pub schema: Option<JSONSchemaProps>,

    /// Names of properties that must also be present.
    #[field(2, list = atomic)]
    pub property: Vec<String>,
}

/// One CEL constraint on a custom resource value.
pub struct ValidationRule {
    /// CEL boolean over `self` (and `oldSelf` on updates), e.g. `self.min <= self.max`.
    #[field(1, required)]
    pub rule: String,

    /// Static error text; must not contain line breaks.
    #[field(2)]
    pub message: String,

    /// CEL string that builds the error text and wins over `message`.
    #[field(3)]
    pub message_expression: String,

    /// Error category returned to the client; `FieldValueInvalid` unless specified.
    #[field(4)]
    pub reason: Option<FieldValueErrorReason>,

    /// Relative path of the field blamed in the error, e.g. `.spec.replicas`.
    #[field(5)]
    pub field_path: String,

    /// When true, `oldSelf` becomes optional so transition rules also run on create.
    #[field(6, gate = CRDValidationRatcheting)]
    pub optional_old_self: Option<bool>,
}

/// Error categories a CEL validation rule can return.
pub enum FieldValueErrorReason {
    FieldValueRequired,
    FieldValueDuplicate,
    FieldValueInvalid,
    FieldValueForbidden,
}
