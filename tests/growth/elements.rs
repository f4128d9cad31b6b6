//! Elements of lists and maps: as valid as their type allows, each with a unique number.

use machinery::def::{Flags, JsonForm, Scalar, Shape, StructDef};
use serde_json::{Map, Value, json};

/// Members that make an element of a type valid, besides its required fields.
///
/// In texts, `@` stands for the number of the element, `@ip` for an address; a text `%@` stands for
/// the number itself.
const TYPES: [(&str, &str); 58] = [
    ("Container", r#"{"name": "e@", "image": "i"}"#),
    ("EphemeralContainer", r#"{"name": "e@", "image": "i"}"#),
    ("ContainerPort", r#"{"containerPort": "%@"}"#),
    ("EnvFromSource", r#"{"configMapRef": {"name": "e@"}}"#),
    ("VolumeMount", r#"{"name": "v", "mountPath": "/e@"}"#),
    ("ContainerResizePolicy", r#"{"resourceName": "cpu", "restartPolicy": "NotRequired"}"#),
    ("Volume", r#"{"name": "e@", "emptyDir": {}}"#),
    ("VolumeProjection", r#"{"configMap": {"name": "e@"}}"#),
    ("DownwardAPIVolumeFile", r#"{"path": "e@", "fieldRef": {"fieldPath": "metadata.name"}}"#),
    ("Toleration", r#"{"key": "e@", "operator": "Exists"}"#),
    ("HostAlias", r#"{"ip": "@ip", "hostnames": ["h"]}"#),
    (
        "TopologySpreadConstraint",
        r#"{"maxSkew": 1, "topologyKey": "e@", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}"#,
    ),
    ("PodAffinityTerm", r#"{"topologyKey": "e@", "labelSelector": {}}"#),
    ("WeightedPodAffinityTerm", r#"{"weight": 1, "podAffinityTerm": {"topologyKey": "e@"}}"#),
    ("NodeSelectorTerm", r#"{"matchExpressions": [{"key": "e@", "operator": "Exists"}]}"#),
    ("NodeSelectorRequirement", r#"{"key": "e@", "operator": "Exists"}"#),
    (
        "PreferredSchedulingTerm",
        r#"{"weight": 1, "preference": {"matchExpressions": [{"key": "e@", "operator": "Exists"}]}}"#,
    ),
    ("LabelSelectorRequirement", r#"{"key": "e@", "operator": "Exists"}"#),
    ("PodResourceClaim", r#"{"name": "e@", "resourceClaimName": "e@"}"#),
    ("Sysctl", r#"{"name": "kernel.e@", "value": "1"}"#),
    ("PodReadinessGate", r#"{"conditionType": "e@"}"#),
    ("OwnerReference", r#"{"apiVersion": "v1", "kind": "ConfigMap", "name": "e@", "uid": "e@"}"#),
    (
        "ManagedFieldsEntry",
        r#"{"manager": "e@", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {}}}"#,
    ),
    ("ServicePort", r#"{"name": "e@", "port": "%@"}"#),
    ("EndpointAddress", r#"{"ip": "@ip"}"#),
    ("EndpointSubset", r#"{"addresses": [{"ip": "@ip"}], "ports": [{"name": "a", "port": 1}]}"#),
    ("EndpointPort", r#"{"name": "e@", "port": "%@"}"#),
    ("Endpoint", r#"{"addresses": ["@ip"]}"#),
    ("LimitRangeItem", r#"{"type": "example.com/e@"}"#),
    ("PolicyRule", r#"{"verbs": ["get"], "apiGroups": ["e@"], "resources": ["e@"]}"#),
    ("ResourcePolicyRule", r#"{"verbs": ["get"], "apiGroups": ["e@"], "resources": ["e@"], "namespaces": ["*"]}"#),
    ("NonResourcePolicyRule", r#"{"verbs": ["get"], "nonResourceURLs": ["/e@"]}"#),
    (
        "PolicyRulesWithSubjects",
        r#"{"subjects": [{"kind": "User", "user": {"name": "e@"}}],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/e@"]}]}"#,
    ),
    (
        "IngressRule",
        r#"{"host": "e@.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix",
            "backend": {"service": {"name": "a", "port": {"number": 1}}}}]}}"#,
    ),
    (
        "HTTPIngressPath",
        r#"{"path": "/e@", "pathType": "Prefix", "backend": {"service": {"name": "a", "port": {"number": 1}}}}"#,
    ),
    ("IngressTLS", r#"{"hosts": ["e@.example.com"], "secretName": "e@"}"#),
    ("NetworkPolicyPeer", r#"{"podSelector": {}}"#),
    ("NetworkPolicyPort", r#"{"port": "%@"}"#),
    (
        "MetricSpec",
        r#"{"type": "External", "external": {"metric": {"name": "e@"}, "target": {"type": "Value", "value": "1"}}}"#,
    ),
    ("HPAScalingPolicy", r#"{"type": "Pods", "value": 1, "periodSeconds": 1}"#),
    ("PodFailurePolicyRule", r#"{"action": "Ignore", "onPodConditions": [{"type": "e@", "status": "True"}]}"#),
    ("ValidatingWebhook", WEBHOOK),
    ("MutatingWebhook", WEBHOOK),
    ("RuleWithOperations", RULE),
    ("NamedRuleWithOperations", RULE),
    ("MatchCondition", r#"{"name": "e@", "expression": "true"}"#),
    ("Validation", r#"{"expression": "true"}"#),
    ("AuditAnnotation", r#"{"key": "e@", "valueExpression": "'a'"}"#),
    ("Variable", r#"{"name": "e@", "expression": "1"}"#),
    (
        "Mutation",
        r#"{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/spec'}]"}}"#,
    ),
    (
        "CustomResourceDefinitionVersion",
        r#"{"name": "v@", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}}"#,
    ),
    ("CustomResourceColumnDefinition", r#"{"name": "e@", "type": "string", "jsonPath": ".spec.e@"}"#),
    ("JSONSchemaProps", r#"{"type": "string"}"#),
    ("ValidationRule", r#"{"rule": "true"}"#),
    ("TopologySelectorTerm", r#"{"matchLabelExpressions": [{"key": "e@", "values": ["a"]}]}"#),
    ("TopologySelectorLabelRequirement", r#"{"key": "e@", "values": ["a"]}"#),
    ("DeviceRequest", r#"{"name": "e@", "exactly": {"deviceClassName": "a"}}"#),
    ("Taint", r#"{"key": "e@", "effect": "NoSchedule"}"#),
];

/// Further entries of `TYPES`.
const MORE: [(&str, &str); 14] = [
    ("DeviceSelector", r#"{"cel": {"expression": "true"}}"#),
    ("DeviceConstraint", r#"{"matchAttribute": "example.com/e@"}"#),
    ("DeviceClaimConfiguration", r#"{"opaque": {"driver": "d.example.com", "parameters": {}}}"#),
    ("DeviceClassConfiguration", r#"{"opaque": {"driver": "d.example.com", "parameters": {}}}"#),
    ("LoadBalancerIngress", r#"{"ip": "@ip"}"#),
    ("ScopedResourceSelectorRequirement", r#"{"scopeName": "PriorityClass", "operator": "In", "values": ["e@"]}"#),
    ("SecretVolumeSource", r#"{"secretName": "a"}"#),
    ("ISCSIVolumeSource", ISCSI),
    ("ISCSIPersistentVolumeSource", ISCSI),
    ("FCVolumeSource", r#"{"lun": 1}"#),
    ("PersistentVolumeClaim", r#"{"metadata": {"name": "e@"}, "spec": $CLAIM}"#),
    ("PersistentVolumeClaimSpec", "$CLAIM"),
    ("IPBlock", r#"{"cidr": "10.0.0.0/8"}"#),
    ("ResourceHealth", r#"{"resourceID": "e@", "health": "Healthy"}"#),
];

const ISCSI: &str = r#"{"targetPortal": "a", "iqn": "iqn.2026-01.com.example:a", "lun": 1}"#;

/// The value of `$CLAIM`.
const CLAIM: &str = r#"{"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}"#;

const WEBHOOK: &str = r#"{"name": "e@.example.com", "clientConfig": {"url": "https://a.example.com"},
    "sideEffects": "None", "admissionReviewVersions": ["v1"]}"#;

const RULE: &str =
    r#"{"apiGroups": ["a.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["e@"]}"#;

/// Scalar fields by name: a valid value, in the notation above.
const FIELDS: [(&str, &str); 24] = [
    ("accessModes", "ReadWriteOnce"),
    ("addresses", "@ip"),
    ("apiVersion", "v1"),
    ("effect", "NoSchedule"),
    ("externalIPs", "@ip"),
    ("finalizers", "example.com/e@"),
    ("fieldsType", "FieldsV1"),
    ("ip", "@ip"),
    ("lastTransitionTime", "2026-01-01T00:00:00Z"),
    ("loadBalancerSourceRanges", "@ip/32"),
    ("mountPath", "/e@"),
    ("devicePath", "/e@"),
    ("nameservers", "@ip"),
    ("nonResourceURLs", "/e@"),
    ("operation", "Update"),
    ("operations", "CREATE"),
    ("podCIDRs", "@ip/32"),
    ("cidrs", "@ip/32"),
    ("status", "True"),
    ("hosts", "e@.example.com"),
    ("searches", "e@.example.com"),
    ("usages", "any"),
    ("except", "@ip/32"),
    ("parameterNotFoundAction", "Deny"),
];

/// Names of fields that distinguish list elements, and of fields without which validation rejects
/// their type.
const KEYS: [&str; 17] = [
    "name",
    "key",
    "uid",
    "type",
    "ip",
    "topologyKey",
    "mountPath",
    "devicePath",
    "path",
    "host",
    "apiVersion",
    "kind",
    "manager",
    "operation",
    "port",
    "containerPort",
    "parameterNotFoundAction",
];

/// Members of samples and elements that exclude other members: the type, the member, and its
/// replacement.
const ALTERNATIVES: [(&str, &str, &str); 9] = [
    ("VolumeSource", "emptyDir", ""),
    ("VolumeProjection", "configMap", ""),
    ("PersistentVolumeSource", "hostPath", ""),
    ("EnvFromSource", "configMapRef", ""),
    ("NetworkPolicyPeer", "podSelector", ""),
    ("LabelSelectorRequirement", "operator", "In"),
    ("NodeSelectorRequirement", "operator", "In"),
    ("ParamRef", "name", ""),
    ("VolumeAttachmentSource", "persistentVolumeName", ""),
];

/// Returns an object for requests that set a field of the type at `steps`, without the members that
/// exclude the field.
pub fn without_alternatives(def: &'static StructDef, field: &str, body: &Value, steps: &[String]) -> Value {
    let mut body = body.clone();
    let pointer: String = steps.iter().map(|step| format!("/{step}")).collect();
    let Some(members) = body.pointer_mut(&pointer).and_then(Value::as_object_mut) else { return body };
    for (_, member, instead) in ALTERNATIVES.iter().filter(|(of, ..)| *of == def.name) {
        if *member != field && members.contains_key(*member) {
            match *instead {
                "" => drop(members.remove(*member)),
                instead => drop(members.insert((*member).into(), instead.into())),
            }
        }
    }
    body
}

/// The text of a resource quantity.
pub const AMOUNT: &str = "\"@\"";

/// Returns an element of a list or map, or the value of a field, in the notation of this module.
pub fn of_struct(def: &'static StructDef) -> Value {
    match def.json_form {
        JsonForm::Fields => Value::Object(required(def, 3)),
        JsonForm::Items => json!([]),
        _ => json!({}),
    }
}

/// Returns an object with the required fields of a type, and with the fields that distinguish
/// elements.
pub fn required(def: &'static StructDef, depth: usize) -> Map<String, Value> {
    let mut object = Map::new();
    for field in def.fields {
        let is_required = field.flags.has(Flags::REQUIRED);
        let value = match field.shape() {
            Shape::One(of) | Shape::Opt(of) if is_required || KEYS.contains(&field.json) => scalar(field.json, of),
            Shape::Struct(below) | Shape::OptStruct(below) if field.flags.has(Flags::INLINE) => {
                object.extend(required(below, depth));
                continue;
            }
            Shape::Struct(below) | Shape::OptStruct(below) if is_required && depth > 0 => match below.json_form {
                JsonForm::Fields => Value::Object(required(below, depth - 1)),
                _ => continue,
            },
            _ => continue,
        };
        object.insert(field.json.into(), value);
    }
    // Other types of these names have other fields.
    let known = TYPES.iter().chain(&MORE).find(|(name, _)| *name == def.name);
    let known =
        known.and_then(|(_, text)| serde_json::from_str::<Map<String, Value>>(&text.replace("$CLAIM", CLAIM)).ok());
    if let Some(known) = known.filter(|known| known.keys().all(|name| def.json_field(name).is_some())) {
        object = known;
    }
    if def.name == "Subject" {
        object = match def.json_field("user").is_some() {
            true => json!({"kind": "User", "user": {"name": "e@"}}),
            false => json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "e@"}),
        }
        .as_object()
        .cloned()
        .unwrap_or_default();
    }
    object
}

/// Returns a value for a field of this name.
pub fn scalar(name: &str, of: Scalar) -> Value {
    match of {
        Scalar::Bool => true.into(),
        Scalar::I32 | Scalar::I64 | Scalar::F64 | Scalar::IntOrString => "%@".into(),
        Scalar::String => FIELDS.iter().find(|(known, _)| *known == name).map_or("e@", |(_, value)| value).into(),
        Scalar::Bytes => "YQ==".into(),
        Scalar::Quantity => "@".into(),
        Scalar::Time => "2026-01-01T00:00:00Z".into(),
        Scalar::MicroTime => "2026-01-01T00:00:00.000000Z".into(),
        Scalar::Duration => "@s".into(),
        Scalar::RawExtension | Scalar::FieldsV1 | Scalar::Json | Scalar::Document => json!({}),
    }
}

/// Returns the JSON of an element, from its text in the notation of this module.
pub fn numbered(text: &str, number: usize) -> String {
    let number = number + 1;
    let mut text = text.to_owned();
    if text.contains("@ip") {
        text = text.replace("@ip", &format!("10.{}.{}.{}", 1 + (number >> 16), number >> 8 & 255, number & 255));
    }
    let number = number.to_string();
    text.replace("\"%@\"", &number).replace('@', &number)
}
