//! Tests of structs in error messages: in the form of upstream's internal types, with Go's field names
//! and empty fields.

use apimachinery::meta::v1::{LabelSelector, ObjectMeta};
use generated::core::v1::{
    Endpoints, HostPathVolumeSource, LocalVolumeSource, NodeAddress, PersistentVolumeSource, PodSpec, PodTemplateSpec,
    ServicePort, Taint, Volume, VolumeSource,
};
use generated::networking::v1::{IPAddressSpec, ParentReference};
use kubernetes::core::internal::{internal_diff, internal_value, internal_values};
use machinery::field_path::Path;
use machinery::reflect::Struct;
use machinery::request_document::RequestDocument;

fn check<T: Struct>(value: T, expect: &str) {
    assert_eq!(internal_value(&value).to_string(), expect);
}

#[test]
fn shows_every_field_under_its_go_name() {
    check(
        ServicePort { protocol: "TCP".into(), port: 81, ..Default::default() },
        r#"{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":81,"TargetPort":0,"NodePort":0}"#,
    );
    check(
        Taint { key: "<k>".into(), effect: "NoSchedule".into(), ..Default::default() },
        r#"{"Key":"\u003ck\u003e","Value":"","Effect":"NoSchedule","TimeAdded":null}"#,
    );
    check(
        ParentReference { resource: "services".into(), name: "other".into(), ..Default::default() },
        r#"{"Group":"","Resource":"services","Namespace":"","Name":"other"}"#,
    );
    check(IPAddressSpec::default(), r#"{"ParentRef":null}"#);
    let addresses = [NodeAddress { r#type: "InternalIP".into(), address: "192.0.2.1".into() }];
    assert_eq!(internal_values(&addresses).to_string(), r#"[{"Type":"InternalIP","Address":"192.0.2.1"}]"#);
    assert_eq!(internal_values::<NodeAddress>(&[]).to_string(), "null");
}

#[test]
fn meta_keeps_tags_and_embedded_structs_are_flat() {
    let match_labels = [("a".to_owned(), "b".to_owned())].into();
    check(LabelSelector { match_labels, ..Default::default() }, r#"{"matchLabels":{"a":"b"}}"#);
    let metadata = ObjectMeta { name: "n".into(), ..Default::default() };
    check(Endpoints { metadata, ..Default::default() }, r#"{"name":"n","Subsets":null}"#);
    let template = internal_value(&PodTemplateSpec::default()).to_string();
    assert!(template.starts_with(r#"{"Spec":{"Volumes":null,"InitContainers":null,"#), "{template}");
    let host_path = Some(Box::new(HostPathVolumeSource { path: "/x".into(), r#type: None }));
    let volume = Volume { name: "v".into(), volume_source: VolumeSource { host_path, ..Default::default() } };
    let shown = internal_value(&volume).to_string();
    assert!(shown.starts_with(r#"{"Name":"v","HostPath":{"Path":"/x","Type":null},"EmptyDir":null,"#), "{shown}");
}

#[test]
fn host_namespaces_are_in_security_context() {
    let spec = PodSpec { host_pid: true, security_context: Some(Box::default()), ..Default::default() };
    let shown = internal_value(&spec).to_string();
    let context = concat!(
        r#""SecurityContext":{"HostNetwork":false,"HostPID":true,"HostIPC":false,"#,
        r#""ShareProcessNamespace":null,"HostUsers":null,"#,
    );
    assert!(shown.contains(context), "{shown}");
    assert!(shown.ends_with(r#""HostnameOverride":null,"SchedulingGroup":null}"#), "{shown}");
}

#[test]
fn diff_is_line_based() {
    let old = PersistentVolumeSource {
        local: Some(Box::new(LocalVolumeSource { path: "/d".into(), ..Default::default() })),
        ..Default::default()
    };
    let mut new = old.clone();
    new.local.as_mut().unwrap().path = "/e".into();
    let expect = "@@ -19,7 +19,7 @@\n  \"PortworxVolume\": null,\n  \"ScaleIO\": null,\n  \"Local\": {\n\
        -  \"Path\": \"/d\",\n+  \
                  \"Path\": \"/e\",\n   \"FSType\": null\n  },\n  \"StorageOS\": null,\n";
    assert_eq!(internal_diff(&RequestDocument::default(), &Path::new("spec"), &old, &new), expect);
}
