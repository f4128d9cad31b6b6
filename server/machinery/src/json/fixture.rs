//! Structs with a field of every form, for tests of the codecs.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::def::{Flags, JsonForm};
use crate::scalar::{Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

/// Messages show the version in the module path as a Go package.
pub(crate) mod v1 {
    use super::*;

    #[derive(Default, Clone)]
    pub(crate) struct TypeMeta {
        pub kind: String,
        pub api_version: String,
    }
    crate::describe!(TypeMeta, TYPE_META "TypeMeta" {} [
        kind: "kind", 1, Flags::OMIT_EMPTY;
        api_version: "apiVersion", 2, Flags::OMIT_EMPTY;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct ObjectMeta {
        pub name: String,
        pub creation_timestamp: Time,
        pub labels: BTreeMap<String, String>,
        pub fields: FieldsV1,
    }
    crate::describe!(ObjectMeta, OBJECT_META "ObjectMeta" {} [
        name: "name", 1, Flags::OMIT_EMPTY;
        creation_timestamp: "creationTimestamp", 8, Flags::OMIT_EMPTY;
        labels: "labels", 11, Flags::OMIT_EMPTY;
        fields: "fieldsV1", 12, Flags::OMIT_EMPTY;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct Source {
        pub path: Option<String>,
        pub deep: Option<Box<Pod>>,
    }
    crate::describe!(Source, SOURCE "VolumeSource" {} [
        path: "path", 1, Flags::OMIT_EMPTY;
        deep: "deep", 2, Flags::OMIT_EMPTY;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct Verbs {
        pub items: Vec<String>,
    }
    crate::describe!(Verbs, VERBS "Verbs" { .json_form(JsonForm::Items) } [
        items: "items", 1, Flags::NONE;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct Port {
        pub name: String,
        pub port: i32,
        pub target: IntOrString,
        pub source: Source,
    }
    crate::describe!(Port, PORT "ServicePort" {} [
        name: "name", 1, Flags::OMIT_EMPTY;
        port: "port", 2, Flags::NONE;
        target: "targetPort", 3, Flags::OMIT_EMPTY;
        source: "", 4, Flags::INLINE;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct Spec {
        pub replicas: Option<i32>,
        pub paused: bool,
        pub big: i64,
        pub ratio: Option<f64>,
        pub ports: Vec<Port>,
        pub named: BTreeMap<String, Port>,
        pub args: Vec<String>,
        pub limits: BTreeMap<String, Quantity>,
        pub data: BTreeMap<String, Bytes>,
        pub bundle: Bytes,
        pub micro: Option<MicroTime>,
        pub timeout: Option<Duration>,
        pub raw: RawExtension,
        pub any: Option<JsonValue>,
        pub extra: BTreeMap<String, Verbs>,
    }
    crate::describe!(Spec, SPEC "PodSpec" {} [
        replicas: "replicas", 1, Flags::OMIT_EMPTY;
        paused: "paused", 2, Flags::OMIT_EMPTY;
        big: "big", 3, Flags::OMIT_EMPTY;
        ratio: "ratio", 4, Flags::OMIT_EMPTY;
        ports: "ports", 5, Flags::NONE;
        named: "named", 6, Flags::OMIT_EMPTY;
        args: "args", 7, Flags::OMIT_EMPTY;
        limits: "limits", 8, Flags::OMIT_EMPTY;
        data: "data", 9, Flags::OMIT_EMPTY;
        bundle: "bundle", 10, Flags::OMIT_EMPTY;
        micro: "micro", 11, Flags::OMIT_EMPTY;
        timeout: "timeout", 12, Flags::OMIT_EMPTY;
        raw: "raw", 13, Flags::OMIT_EMPTY;
        any: "any", 14, Flags::OMIT_EMPTY;
        extra: "extra", 15, Flags::OMIT_EMPTY;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct Pod {
        pub type_meta: TypeMeta,
        pub metadata: ObjectMeta,
        pub spec: Spec,
        pub schema: Option<Box<Schema>>,
    }
    crate::describe!(Pod, POD "Pod" {} [
        type_meta: "", 0, Flags::INLINE;
        metadata: "metadata", 1, Flags::OMIT_EMPTY;
        spec: "spec", 2, Flags::OMIT_EMPTY;
        schema: "schema", 3, Flags::OMIT_EMPTY;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct Schema {
        pub kind: String,
        pub items: Option<Box<OrArray>>,
        pub additional: Option<Box<OrBool>>,
        pub dependencies: BTreeMap<String, OrStrings>,
    }
    crate::describe!(Schema, SCHEMA "JSONSchemaProps" {} [
        kind: "type", 1, Flags::OMIT_EMPTY;
        items: "items", 2, Flags::OMIT_EMPTY;
        additional: "additionalProperties", 3, Flags::OMIT_EMPTY;
        dependencies: "dependencies", 4, Flags::OMIT_EMPTY;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct OrArray {
        pub schema: Option<Box<Schema>>,
        pub json_schemas: Vec<Schema>,
    }
    crate::describe!(OrArray, OR_ARRAY "JSONSchemaPropsOrArray" { .json_form(JsonForm::SchemaOrArray) } [
        schema: "schema", 1, Flags::NONE;
        json_schemas: "jsonSchemas", 2, Flags::NONE;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct OrBool {
        pub allows: bool,
        pub schema: Option<Box<Schema>>,
    }
    crate::describe!(OrBool, OR_BOOL "JSONSchemaPropsOrBool" { .json_form(JsonForm::SchemaOrBool) } [
        allows: "allows", 1, Flags::NONE;
        schema: "schema", 2, Flags::NONE;
    ]);

    #[derive(Default, Clone)]
    pub(crate) struct OrStrings {
        pub schema: Option<Box<Schema>>,
        pub property: Vec<String>,
    }
    crate::describe!(OrStrings, OR_STRINGS "JSONSchemaPropsOrStringArray" { .json_form(JsonForm::SchemaOrStrings) } [
        schema: "schema", 1, Flags::NONE;
        property: "property", 2, Flags::NONE;
    ]);
}
