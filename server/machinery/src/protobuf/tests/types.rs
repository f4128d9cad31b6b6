//! Structs with hand-written descriptors, which have upstream's names and numbers.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::def::{Flags, JsonForm};
use crate::describe;
use crate::scalar::{Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

const PLAIN: Flags = Flags::NONE;
const OMIT: Flags = Flags::OMIT_EMPTY;

#[derive(Clone, Default)]
pub(crate) struct ServicePort {
    pub name: String,
    pub protocol: String,
    pub port: i32,
    pub target_port: IntOrString,
    pub node_port: i32,
    pub app_protocol: Option<String>,
}

describe! { ServicePort, SERVICE_PORT "ServicePort" {} [
    name:         "name",        1, OMIT;
    protocol:     "protocol",    2, OMIT;
    port:         "port",        3, PLAIN;
    target_port:  "targetPort",  4, OMIT;
    node_port:    "nodePort",    5, OMIT;
    app_protocol: "appProtocol", 6, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct Sysctl {
    pub name: String,
    pub value: String,
}

describe! { Sysctl, SYSCTL "Sysctl" {} [
    name:  "name",  1, PLAIN;
    value: "value", 2, PLAIN;
] }

#[derive(Clone, Default)]
pub(crate) struct PodSecurityContext {
    pub sysctls: Vec<Sysctl>,
    pub run_as_user: Option<i64>,
    pub run_as_non_root: Option<bool>,
    pub supplemental_groups: Vec<i64>,
}

// Not in the order of numbers, as sometimes in upstream's types.
describe! { PodSecurityContext, POD_SECURITY_CONTEXT "PodSecurityContext" {} [
    sysctls:             "sysctls",            7, OMIT;
    run_as_user:         "runAsUser",          2, OMIT;
    run_as_non_root:     "runAsNonRoot",       3, OMIT;
    supplemental_groups: "supplementalGroups", 4, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct ResourceRequirements {
    pub limits: BTreeMap<String, Quantity>,
    pub requests: BTreeMap<String, Quantity>,
}

describe! { ResourceRequirements, RESOURCE_REQUIREMENTS "ResourceRequirements" {} [
    limits:   "limits",   1, OMIT;
    requests: "requests", 2, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct ManagedFieldsEntry {
    pub manager: String,
    pub operation: String,
    pub api_version: String,
    pub time: Option<Time>,
    pub fields_type: String,
    pub fields_v1: Option<FieldsV1>,
    pub subresource: String,
}

describe! { ManagedFieldsEntry, MANAGED_FIELDS_ENTRY "ManagedFieldsEntry" {} [
    manager:     "manager",     1, OMIT;
    operation:   "operation",   2, OMIT;
    api_version: "apiVersion",  3, OMIT;
    time:        "time",        4, OMIT;
    fields_type: "fieldsType",  6, OMIT;
    fields_v1:   "fieldsV1",    7, OMIT;
    subresource: "subresource", 8, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct ObjectMeta {
    pub name: String,
    pub generate_name: String,
    pub namespace: String,
    pub self_link: String,
    pub uid: String,
    pub resource_version: String,
    pub generation: i64,
    pub creation_timestamp: Time,
    pub deletion_timestamp: Option<Time>,
    pub labels: BTreeMap<String, String>,
    pub finalizers: Vec<String>,
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

describe! { ObjectMeta, OBJECT_META "ObjectMeta" {} [
    name:               "name",               1, OMIT;
    generate_name:      "generateName",       2, OMIT;
    namespace:          "namespace",          3, OMIT;
    self_link:          "selfLink",           4, OMIT;
    uid:                "uid",                5, OMIT;
    resource_version:   "resourceVersion",    6, OMIT;
    generation:         "generation",         7, OMIT;
    creation_timestamp: "creationTimestamp",  8, OMIT;
    deletion_timestamp: "deletionTimestamp",  9, OMIT;
    labels:             "labels",            11, OMIT;
    finalizers:         "finalizers",        14, OMIT;
    managed_fields:     "managedFields",     17, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct Secret {
    pub metadata: ObjectMeta,
    pub immutable: Option<bool>,
    pub data: BTreeMap<String, Bytes>,
    pub r#type: String,
}

describe! { Secret, SECRET "Secret" {} [
    metadata:  "metadata",  1, OMIT;
    immutable: "immutable", 5, OMIT;
    data:      "data",      2, OMIT;
    r#type:    "type",      3, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct ListMeta {
    pub self_link: String,
    pub resource_version: String,
    pub r#continue: String,
    pub remaining_item_count: Option<i64>,
}

describe! { ListMeta, LIST_META "ListMeta" {} [
    self_link:            "selfLink",           1, OMIT;
    resource_version:     "resourceVersion",    2, OMIT;
    r#continue:           "continue",           3, OMIT;
    remaining_item_count: "remainingItemCount", 4, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct LeaseSpec {
    pub holder_identity: Option<String>,
    pub lease_duration_seconds: Option<i32>,
    pub acquire_time: Option<MicroTime>,
    pub renew_time: Option<MicroTime>,
    pub lease_transitions: Option<i32>,
}

describe! { LeaseSpec, LEASE_SPEC "LeaseSpec" {} [
    holder_identity:        "holderIdentity",       1, OMIT;
    lease_duration_seconds: "leaseDurationSeconds", 2, OMIT;
    acquire_time:           "acquireTime",          3, OMIT;
    renew_time:             "renewTime",            4, OMIT;
    lease_transitions:      "leaseTransitions",     5, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct ControllerRevision {
    pub metadata: ObjectMeta,
    pub data: RawExtension,
    pub revision: i64,
}

describe! { ControllerRevision, CONTROLLER_REVISION "ControllerRevision" {} [
    metadata: "metadata", 1, OMIT;
    data:     "data",     2, OMIT;
    revision: "revision", 3, PLAIN;
] }

#[derive(Clone, Default)]
pub(crate) struct ExtraValue {
    pub items: Vec<String>,
}

describe! { ExtraValue, EXTRA_VALUE "ExtraValue" { .json_form(JsonForm::Items) } [
    items: "items", 1, PLAIN;
] }

#[derive(Clone, Default)]
pub(crate) struct UserInfo {
    pub username: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, ExtraValue>,
}

describe! { UserInfo, USER_INFO "UserInfo" {} [
    username: "username", 1, OMIT;
    uid:      "uid",      2, OMIT;
    groups:   "groups",   3, OMIT;
    extra:    "extra",    4, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct EmptyDir {
    pub medium: String,
    pub size_limit: Option<Quantity>,
}

describe! { EmptyDir, EMPTY_DIR "EmptyDirVolumeSource" {} [
    medium:     "medium",    1, OMIT;
    size_limit: "sizeLimit", 2, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct VolumeSource {
    pub empty_dir: Option<Box<EmptyDir>>,
}

describe! { VolumeSource, VOLUME_SOURCE "VolumeSource" {} [
    empty_dir: "emptyDir", 2, OMIT;
] }

#[derive(Clone, Default)]
pub(crate) struct Volume {
    pub name: String,
    pub source: VolumeSource,
}

describe! { Volume, VOLUME "Volume" {} [
    name:   "name", 1, PLAIN;
    source: "",     2, Flags::INLINE;
] }

/// A recursive struct with all field types that the others do not have.
#[derive(Clone, Default)]
pub(crate) struct Odd {
    pub kind: String,
    pub duration: Duration,
    pub ratio: f64,
    pub maximum: Option<f64>,
    pub bytes: Bytes,
    pub flag: bool,
    pub flags: Vec<bool>,
    pub default: Option<JsonValue>,
    pub choices: Vec<JsonValue>,
    pub counts: BTreeMap<String, i32>,
    pub not: Option<Box<Odd>>,
    pub properties: BTreeMap<String, Odd>,
    pub all_of: Vec<Odd>,
}

describe! { Odd, ODD "Odd" {} [
    kind:       "kind",        0, OMIT;
    duration:   "duration",    1, PLAIN;
    ratio:      "ratio",       2, PLAIN;
    maximum:    "maximum",     3, OMIT;
    bytes:      "bytes",       4, OMIT;
    flag:       "flag",        5, OMIT;
    flags:      "flags",       6, OMIT;
    default:    "default",     7, OMIT;
    choices:    "choices",     8, OMIT;
    counts:     "counts",      9, OMIT;
    not:        "not",        10, OMIT;
    properties: "properties", 11, OMIT;
    all_of:     "allOf",    1000, OMIT;
] }
