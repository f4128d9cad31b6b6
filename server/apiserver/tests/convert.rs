//! Conversion of encoded objects between encodings and versions.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use apiserver::convert::{Error, Object, ObjectEncoding, decode, detect, encode, find_kind, to_version};
use kubernetes::catalog;
use serde_json::{Value, json};

const FORMS: [ObjectEncoding; 4] =
    [ObjectEncoding::Json, ObjectEncoding::Yaml, ObjectEncoding::Protobuf, ObjectEncoding::Cbor];

fn read(input: &[u8]) -> Object {
    decode(catalog(), input, None).unwrap()
}

fn refusal(input: &[u8]) -> String {
    decode(catalog(), input, None).map(drop).unwrap_err().to_string()
}

fn tree(object: &mut Object) -> Value {
    serde_json::from_slice(&encode(object, ObjectEncoding::Json).unwrap()).unwrap()
}

/// Converts JSON to a version, and returns JSON.
fn converted(object: &Value, version: &str) -> Result<Value, Error> {
    let object = to_version(catalog(), read(object.to_string().as_bytes()), version);
    object.map(|mut object| tree(&mut object))
}

fn autoscaler() -> Value {
    json!({
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": { "name": "a", "namespace": "n", "labels": { "a": "b" } },
        "spec": {
            "maxReplicas": 3,
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "d" },
            "targetCPUUtilizationPercentage": 70,
        },
        "status": { "currentReplicas": 0, "desiredReplicas": 0 },
    })
}

#[test]
fn an_object_survives_every_encoding() {
    let mut object = read(autoscaler().to_string().as_bytes());
    let expected = tree(&mut object);
    assert_eq!(expected["spec"], autoscaler()["spec"]);
    for form in FORMS {
        let encoded = encode(&mut object, form).unwrap();
        assert_eq!(detect(&encoded), form);
        let mut again = read(&encoded);
        assert_eq!((tree(&mut again), again.api_version.as_str()), (expected.clone(), "autoscaling/v1"), "{form:?}");
        object = again;
    }
}

#[test]
fn the_first_bytes_determine_the_encoding() {
    for (input, form) in [
        (&b" \n{\"kind\": 1}"[..], ObjectEncoding::Json),
        (b"kind: Pod", ObjectEncoding::Yaml),
        (b"", ObjectEncoding::Yaml),
        (b"[]", ObjectEncoding::Yaml),
        (b"k8s\0", ObjectEncoding::Protobuf),
        (b"\xd9\xd9\xf7\xa0", ObjectEncoding::Cbor),
    ] {
        assert_eq!(detect(input), form, "{input:?}");
    }
}

#[test]
fn versions_convert_through_the_hub() {
    let newer = converted(&autoscaler(), "v2").unwrap();
    assert_eq!(newer["apiVersion"], "autoscaling/v2");
    let target = json!({ "type": "Utilization", "averageUtilization": 70 });
    assert_eq!(
        newer["spec"]["metrics"],
        json!([{ "type": "Resource", "resource": { "name": "cpu", "target": target } }])
    );
    let back = converted(&newer, "autoscaling/v1").unwrap();
    assert_eq!((&back["spec"], &back["metadata"]["labels"]), (&autoscaler()["spec"], &json!({ "a": "b" })));
    assert_eq!(converted(&back, "autoscaling/v2").unwrap(), newer);
}

#[test]
fn a_version_without_the_kind_is_refused_with_those_that_have_it() {
    let why = converted(&autoscaler(), "v3").unwrap_err().to_string();
    let known = "autoscaling/v1, autoscaling/v2";
    assert!(why.starts_with("HorizontalPodAutoscaler exists in no version \"v3\"; it has: "), "{why}");
    assert!(known.split(", ").all(|version| why.contains(version)), "{why}");
    let why = converted(&autoscaler(), "apps/v1").unwrap_err().to_string();
    assert!(why.contains("exists in no version \"apps/v1\""), "{why}");
}

#[test]
fn an_event_may_change_its_group() {
    let event = json!({ "apiVersion": "v1", "kind": "Event", "metadata": { "name": "a", "namespace": "n" },
                        "involvedObject": { "kind": "Pod", "name": "p" }, "message": "m" });
    let changed = converted(&event, "events.k8s.io/v1").unwrap();
    assert_eq!((&changed["apiVersion"], &changed["note"]), (&json!("events.k8s.io/v1"), &json!("m")));
    assert_eq!(changed["regarding"], json!({ "kind": "Pod", "name": "p" }));
}

#[test]
fn kinds_of_the_machinery_belong_to_every_version() {
    for version in ["v1", "apps/v1", "example.com/v1"] {
        assert_eq!(find_kind(catalog(), version, "DeleteOptions").unwrap().group, "meta.k8s.io", "{version}");
    }
    assert!(find_kind(catalog(), "apps/v1", "Pod").is_none());
    let options = json!({ "apiVersion": "apps/v1", "kind": "DeleteOptions", "gracePeriodSeconds": 5 });
    assert_eq!(tree(&mut read(options.to_string().as_bytes())), options, "the version of the input is kept");
}

#[test]
fn input_without_a_known_kind_is_refused() {
    let none = "the input has no type metadata: `kind` and `apiVersion` are required";
    for input in ["{}", "metadata: {}", r#"{"apiVersion": "v1"}"#] {
        assert_eq!(refusal(input.as_bytes()), none, "{input}");
    }
    let unknown = r#"no kind "Odd" is registered for version "v1""#;
    assert_eq!(refusal(br#"{"apiVersion": "v1", "kind": "Odd"}"#), unknown);
    assert_eq!(refusal(b"apiVersion: v1\nkind: Odd\n"), unknown);
    let without = r#"no kind "Pod" is registered for version """#;
    assert_eq!(refusal(br#"{"kind": "Pod"}"#), without);
}

#[test]
fn a_hint_replaces_absent_type_metadata_only() {
    let text = br#"{"metadata": {"name": "a"}, "data": {"k": "v"}}"#;
    let mut hinted = decode(catalog(), text, Some(("v1", "ConfigMap"))).unwrap();
    assert_eq!((hinted.kind.kind, hinted.api_version.as_str()), ("ConfigMap", "v1"));
    assert_eq!(tree(&mut hinted)["data"], json!({ "k": "v" }));
    let other = br#"{"apiVersion": "v1", "kind": "Secret"}"#;
    assert_eq!(decode(catalog(), other, Some(("v1", "ConfigMap"))).unwrap().kind.kind, "Secret");
}

#[test]
fn unreadable_input_is_reported_with_its_encoding() {
    for (input, start) in [
        (&br#"{"apiVersion": "v1", "kind": "Pod""#[..], "cannot decode the JSON input: unexpected end of JSON input"),
        (br#"{"apiVersion": "v1", "kind": "Pod", "spec": 1}"#, "cannot decode the JSON input: json: cannot unmarshal"),
        (b"kind: [", "cannot decode the YAML input: "),
        (b"kind: Pod\napiVersion: v1\nspec: 1\n", "cannot decode the YAML input: json: cannot unmarshal"),
        (b"k8s\0\xff\xff", "cannot decode the protobuf input: "),
        (b"\xd9\xd9\xf7\xa1", "cannot decode the CBOR input: "),
    ] {
        let why = refusal(input);
        assert!(why.starts_with(start), "{input:?}: {why}");
    }
    let mut pod = read(br#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}"#);
    let encoded = encode(&mut pod, ObjectEncoding::Protobuf).unwrap();
    let why = refusal(&encoded[..encoded.len() - 3]);
    assert!(why.starts_with("cannot decode the protobuf input: "), "{why}");
}
