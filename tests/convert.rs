//! `kube-apiserver convert`: converts an encoded object into any other format or version, without a
//! server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::process::Command;

use common::{Outcome, PROGRAM};

const AUTOSCALER: &str = r#"{
  "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
  "metadata": {"name": "web"},
  "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 5, "targetCPUUtilizationPercentage": 60}
}"#;

fn convert(args: &[&str], input: &[u8]) -> Outcome {
    common::run(Command::new(PROGRAM).arg("convert").args(args), input)
}

/// Returns the output of a conversion.
fn bytes(args: &[&str], input: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("object");
    std::fs::write(&file, input).unwrap();
    let output = Command::new(PROGRAM).arg("convert").args(args).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn formats_round_trip_the_whole_object() {
    let plain = bytes(&["-o", "json"], AUTOSCALER.as_bytes());
    for form in ["json", "yaml", "protobuf", "cbor"] {
        let encoded = bytes(&["-o", form], AUTOSCALER.as_bytes());
        assert_eq!(json(&bytes(&["-o=json"], &encoded)), json(&plain), "through {form}");
    }
    assert!(bytes(&["-o", "protobuf"], AUTOSCALER.as_bytes()).starts_with(b"k8s\0"));
    assert!(bytes(&["-o", "cbor"], AUTOSCALER.as_bytes()).starts_with(&[0xd9, 0xd9, 0xf7]));
    assert!(
        bytes(&["-o", "yaml"], AUTOSCALER.as_bytes())
            .starts_with(b"apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\n")
    );
}

#[test]
fn versions_round_trip_the_same_values() {
    let v2 = json(&bytes(&["--to", "v2"], AUTOSCALER.as_bytes()));
    assert_eq!(v2["apiVersion"], "autoscaling/v2");
    let target = &v2["spec"]["metrics"][0]["resource"];
    assert_eq!((&target["name"], &target["target"]["averageUtilization"]), (&"cpu".into(), &60.into()));
    let back = json(&bytes(&["--to", "autoscaling/v1"], v2.to_string().as_bytes()));
    assert_eq!(back["spec"]["targetCPUUtilizationPercentage"], 60);
}

#[test]
fn conversion_errors_are_printed_to_stderr() {
    let cases: &[(&[&str], &str, &str)] = &[
        (&["--to", "v9"], AUTOSCALER, "HorizontalPodAutoscaler exists in no version \"v9\""),
        (&[], r#"{"metadata": {}}"#, "the input has no type metadata"),
        (&[], r#"{"apiVersion": "v1", "kind": "Nothing"}"#, "no kind \"Nothing\" is registered for version \"v1\""),
        (&["-o", "xml"], AUTOSCALER, "unknown form \"xml\""),
    ];
    for (args, input, message) in cases {
        let outcome = convert(args, input.as_bytes());
        assert!(!outcome.ok && outcome.stdout.is_empty(), "{args:?}: {}", outcome.stdout);
        assert!(outcome.stderr.contains(message), "{args:?}: {}", outcome.stderr);
    }
}
