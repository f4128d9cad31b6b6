//! Defaults, normalizations and conversions written by hand, against what a real server answered.
//!
//! The recordings stand in `tests/conformance`.

use std::collections::BTreeSet;
use std::error::Error;

use apiserver::convert;
use conversations::archive;
use machinery::catalog::parse_api_version;
use machinery::defaulting::{apply_defaults, normalize};
use machinery::json::{self, Issues, Value};

/// Takes an object in as the server does, and shows it in `version`.
fn through_hub(body: &[u8], version: &str) -> Result<Value, Box<dyn Error>> {
    let mut object = convert::decode(kubernetes::catalog(), body, None)?;
    apply_defaults(object.value.as_mut());
    let mut hub = object.kind.to_hub(object.value);
    normalize(hub.as_mut());
    let (group, name) = parse_api_version(version);
    let target = kubernetes::catalog().kind(group, name, object.kind.kind).ok_or("no such version")?;
    let mut value = target.from_hub(hub);
    convert::set_type_meta(&mut value, version, target.kind);
    let mut shown = Vec::new();
    json::encode(value.as_ref(), &mut shown);
    Ok(json::parse(&shown, &mut Issues::ignore())?)
}

fn parse(text: &str) -> Value {
    json::parse(text.as_bytes(), &mut Issues::ignore()).expect("a test's JSON")
}

fn text(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    json::encode_value(value, &mut out);
    out
}

/// What two trees disagree in, as `path: ours, theirs` without positions.
fn differences(path: &str, ours: &Value, theirs: &Value, out: &mut BTreeSet<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let absent = Value::String("(absent)".into());
                differences(&below, a.get(key).unwrap_or(&absent), b.get(key).unwrap_or(&absent), out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| differences(path, a, b, out));
        }
        _ if ours == theirs || is_placeholder(theirs) => {}
        _ => drop(out.insert(format!("{path}: {ours}, recorded {theirs}"))),
    }
}

/// Recordings stand for what differs from run to run with `<time>`, `g<rand>.example.com` and the like.
fn is_placeholder(recorded: &Value) -> bool {
    recorded.as_str().is_some_and(|text| text.contains('<') && text.contains('>'))
}

/// Parts of an answer that registries, admission and the clock make.
const MADE_BY_THE_SERVER: &[&str] = &["metadata", "status"];

fn compare(kind: &str, ours: &Value, theirs: &Value) -> Vec<String> {
    let mut found = BTreeSet::new();
    let bare = |value: &Value| {
        let mut value = value.clone();
        if let Some(members) = value.as_object_mut() {
            MADE_BY_THE_SERVER.iter().for_each(|key| drop(members.remove(*key)));
        }
        value
    };
    differences("", &bare(ours), &bare(theirs), &mut found);
    let expected = |line: &&String| !MADE_ELSEWHERE.iter().any(|(k, path)| *k == kind && line.starts_with(path));
    found.iter().filter(expected).map(|line| format!("{kind}.{line}")).collect()
}

/// Paths that strategies and admission fill, by kind.
const MADE_ELSEWHERE: &[(&str, &str)] = &[
    ("CertificateSigningRequest", "spec.extra"),
    ("CertificateSigningRequest", "spec.groups"),
    ("CertificateSigningRequest", "spec.uid"),
    ("CertificateSigningRequest", "spec.username"),
    ("EndpointSlice", "endpoints.deprecatedTopology"),
    ("Job", "spec.selector"),
    ("Job", "spec.template.metadata.labels"),
    ("Node", "spec.taints"),
    ("PersistentVolumeClaim", "spec.dataSource"),
    ("Pod", "spec.containers.volumeMounts"),
    ("Pod", "spec.initContainers.volumeMounts"),
    ("Pod", "spec.preemptionPolicy"),
    ("Pod", "spec.priority"),
    ("Pod", "spec.serviceAccount"),
    ("Pod", "spec.tolerations"),
    ("Pod", "spec.volumes"),
    ("SelfSubjectRulesReview", "spec.namespace"),
    ("Service", "spec.clusterIPs"),
    ("Service", "spec.ipFamilies"),
    ("Service", "spec.ipFamilyPolicy"),
];

fn recordings(area: &str) -> Vec<(String, Value)> {
    let cases = archive::documents(&archive::recordings(), area).expect("the recordings can be read");
    let case = |case: serde_json::Value| {
        let name = case["name"].as_str().unwrap_or_default().to_string();
        (name, parse(&case.to_string()))
    };
    cases.into_iter().map(case).collect()
}

/// Steps that made an object: what was sent and what came back.
fn creations(case: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    case["steps"].as_array().into_iter().flatten().filter_map(|step| {
        let (sent, got) = (&step["request"]["body"], &step["response"]["body"]);
        let made = step["response"]["status"] == 201 && sent["kind"].is_string();
        (made && sent["kind"] == got["kind"] && sent["apiVersion"] == got["apiVersion"]).then_some((sent, got))
    })
}

#[test]
fn created_objects_have_the_recorded_defaults() {
    let mut failures = Vec::new();
    for (name, case) in recordings("defaults") {
        for (sent, got) in creations(&case) {
            let kind = sent["kind"].as_str().unwrap_or_default();
            match through_hub(&text(sent), sent["apiVersion"].as_str().unwrap_or_default()) {
                Ok(ours) => {
                    failures.extend(compare(kind, &ours, got).into_iter().map(|line| format!("{name}: {line}")))
                }
                Err(why) => failures.push(format!("{name}: {why}")),
            }
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn other_versions_show_what_was_recorded() {
    let mut failures = Vec::new();
    for (name, case) in recordings("conversion") {
        let Some((sent, _)) = creations(&case).next() else { continue };
        let kind = sent["kind"].as_str().unwrap_or_default();
        let steps = case["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
        // Only what was read before anything else changed the object.
        let read = steps.iter().skip(1).take_while(|step| step["request"]["method"] == "GET");
        for got in read.map(|step| &step["response"]["body"]).filter(|got| got["kind"] == sent["kind"]) {
            match through_hub(&text(sent), got["apiVersion"].as_str().unwrap_or_default()) {
                Ok(ours) => {
                    failures.extend(compare(kind, &ours, got).into_iter().map(|line| format!("{name}: {line}")));
                    let annotations = (&ours["metadata"]["annotations"], &got["metadata"]["annotations"]);
                    if annotations.0 != annotations.1 {
                        failures.push(format!("{name}: {}, recorded {}", annotations.0, annotations.1));
                    }
                }
                Err(why) => failures.push(format!("{name}: {why}")),
            }
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

/// Objects, the version they are shown in, a pointer into them, and what is there.
fn check(table: &[(&str, &str, &str, &str)]) {
    for (object, version, pointer, wanted) in table {
        let got = through_hub(object.as_bytes(), version).expect(object);
        let found = got.pointer(pointer).unwrap_or(&Value::Null);
        assert_eq!(found, &parse(wanted), "{pointer} of {object}");
    }
}

#[test]
fn images_are_pulled_always_when_their_tag_moves() {
    let digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let cases = [
        ("nginx".to_owned(), "Always"),
        ("nginx:latest".to_owned(), "Always"),
        ("registry:5000/a/b".to_owned(), "Always"),
        ("nginx:1.2".to_owned(), "IfNotPresent"),
        (format!("nginx@{digest}"), "IfNotPresent"),
        (format!("nginx:latest@{digest}"), "Always"),
        ("Nginx:latest".to_owned(), "IfNotPresent"),
        (String::new(), "IfNotPresent"),
    ];
    for (image, wanted) in cases {
        let pod =
            format!(r#"{{"apiVersion":"v1","kind":"Pod","spec":{{"containers":[{{"name":"a","image":"{image}"}}]}}}}"#);
        let got = through_hub(pod.as_bytes(), "v1").expect("a pod");
        assert_eq!(got["spec"]["containers"][0]["imagePullPolicy"], wanted, "{image}");
    }
}

#[test]
fn pods_ask_for_what_they_are_limited_to() {
    let pod = r#"{"apiVersion":"v1","kind":"Pod","spec":{"hostNetwork":true,
        "resources":{"limits":{"cpu":"3","hugepages-2Mi":"4Mi"}},
        "initContainers":[{"name":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"500m"}}}],
        "containers":[{"name":"a","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1.0001",
        "memory":"1Gi"}}}]}}"#;
    check(&[
        (pod, "v1", "/spec/containers/0/resources/requests", r#"{"cpu":"1001m","memory":"1Gi"}"#),
        (pod, "v1", "/spec/containers/0/ports/0/hostPort", "80"),
        (pod, "v1", "/spec/resources/requests", r#"{"cpu":"1501m","memory":"1Gi","hugepages-2Mi":"4Mi"}"#),
        (pod, "v1", "/spec/securityContext", "{}"),
    ]);
}

#[test]
fn old_names_of_fields_follow_the_new_ones() {
    let pod = r#"{"apiVersion":"v1","kind":"Pod","spec":{"serviceAccount":"s","terminationGracePeriodSeconds":-5,
        "volumes":[{"name":"v"}]},"status":{"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.2"}]}}"#;
    let node = r#"{"apiVersion":"v1","kind":"Node","spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]}}"#;
    let secret = r#"{"apiVersion":"v1","kind":"Secret","data":{"a":"AA==","b":"AQ=="},"stringData":{"a":"x"}}"#;
    check(&[
        (pod, "v1", "/spec/serviceAccountName", r#""s""#),
        (pod, "v1", "/spec/terminationGracePeriodSeconds", "1"),
        (pod, "v1", "/spec/volumes/0", r#"{"name":"v","emptyDir":{}}"#),
        (pod, "v1", "/status/podIPs", r#"[{"ip":"10.0.0.1"}]"#),
        (node, "v1", "/spec/podCIDR", r#""10.0.0.0/24""#),
        (secret, "v1", "/data", r#"{"a":"eA==","b":"AQ=="}"#),
        (secret, "v1", "/stringData", "null"),
    ]);
}

#[test]
fn services_are_completed_by_type() {
    let balanced = r#"{"apiVersion":"v1","kind":"Service","spec":{"type":"LoadBalancer","sessionAffinity":"ClientIP",
        "ports":[{"port":80}]},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}"#;
    let internal = r#"{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":80,"targetPort":"http"}]}}"#;
    check(&[
        (balanced, "v1", "/spec/ports/0/targetPort", "80"),
        (balanced, "v1", "/spec/externalTrafficPolicy", r#""Cluster""#),
        (balanced, "v1", "/spec/allocateLoadBalancerNodePorts", "true"),
        (balanced, "v1", "/spec/sessionAffinityConfig/clientIP/timeoutSeconds", "10800"),
        (balanced, "v1", "/status/loadBalancer/ingress/0/ipMode", r#""VIP""#),
        (internal, "v1", "/spec/ports/0/targetPort", r#""http""#),
        (internal, "v1", "/spec/internalTrafficPolicy", r#""Cluster""#),
        (internal, "v1", "/spec/externalTrafficPolicy", "null"),
    ]);
}

#[test]
fn workloads_are_completed_by_strategy() {
    let job = r#"{"apiVersion":"batch/v1","kind":"Job","spec":{"parallelism":2,
        "template":{"metadata":{"labels":{"a":"b"}}}}}"#;
    let deployment = r#"{"apiVersion":"apps/v1","kind":"Deployment",
        "metadata":{"annotations":{"deprecated.deployment.rollback.to":"+7"}},
        "spec":{"strategy":{"rollingUpdate":{"maxSurge":2}}}}"#;
    let set =
        r#"{"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"volumeClaimTemplates":[{"metadata":{"name":"d"}}]}}"#;
    let daemons = r#"{"apiVersion":"apps/v1","kind":"DaemonSet"}"#;
    let old = r#"{"apiVersion":"apps/v1beta1","kind":"Deployment","spec":{"rollbackTo":{"revision":3},
        "template":{"metadata":{"labels":{"a":"b"}}}}}"#;
    check(&[
        (job, "batch/v1", "/spec/completions", "null"),
        (job, "batch/v1", "/spec/backoffLimit", "6"),
        (job, "batch/v1", "/metadata/labels", r#"{"a":"b"}"#),
        (deployment, "apps/v1", "/spec/strategy/rollingUpdate", r#"{"maxSurge":2,"maxUnavailable":"25%"}"#),
        (deployment, "apps/v1", "/metadata/annotations", r#"{"deprecated.deployment.rollback.to":"7"}"#),
        (deployment, "apps/v1beta1", "/spec/rollbackTo", r#"{"revision":7}"#),
        (set, "apps/v1", "/spec/updateStrategy", r#"{"type":"RollingUpdate","rollingUpdate":{"partition":0}}"#),
        (set, "apps/v1", "/spec/volumeClaimTemplates/0/kind", r#""PersistentVolumeClaim""#),
        (daemons, "apps/v1", "/metadata/annotations", r#"{"deprecated.daemonset.template.generation":"0"}"#),
        (old, "apps/v1", "/spec/selector", r#"{"matchLabels":{"a":"b"}}"#),
        (old, "apps/v1", "/metadata/annotations", r#"{"deprecated.deployment.rollback.to":"3"}"#),
    ]);
}

#[test]
fn autoscalers_survive_version_1() {
    let scaler = r#"{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"x"},"spec":{
        "maxReplicas":5,"scaleTargetRef":{"kind":"Deployment","name":"d"},
        "behavior":{"scaleDown":{"tolerance":"100m","policies":[{"type":"Pods","value":1,"periodSeconds":60}]}},
        "metrics":[{"type":"External","external":{"metric":{"name":"e"},"target":{"type":"Value","value":"7"}}},
            {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":55}}}]},
        "status":{"currentMetrics":[{"type":"Resource","resource":{"name":"cpu",
        "current":{"averageUtilization":40,"averageValue":"1"}}}],
            "conditions":[{"type":"AbleToScale","status":"True","lastTransitionTime":null}],"desiredReplicas":3}}"#;
    let before = through_hub(scaler.as_bytes(), "autoscaling/v2").expect("v2");
    let first = through_hub(scaler.as_bytes(), "autoscaling/v1").expect("v1");
    assert_eq!(first["spec"]["targetCPUUtilizationPercentage"], 55);
    assert_eq!(first["status"]["currentCPUUtilizationPercentage"], 40);
    let again = through_hub(&text(&first), "autoscaling/v2").expect("v2 again");
    assert_eq!(again["spec"], before["spec"]);
    assert_eq!(again["status"], before["status"]);
    assert_eq!(again["metadata"]["annotations"], Value::Null);
}

#[test]
fn other_versions_keep_their_meaning() {
    let budget = r#"{"apiVersion":"policy/v1beta1","kind":"PodDisruptionBudget","spec":{"selector":{}}}"#;
    let exists = r#"[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"Exists"}]"#;
    let level = r#"{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration",
        "spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}}}"#;
    let slice = r#"{"apiVersion":"discovery.k8s.io/v1beta1","kind":"EndpointSlice","addressType":"IPv4",
        "endpoints":[{"addresses":[],
        "topology":{"kubernetes.io/hostname":"n","topology.kubernetes.io/zone":"z","x":"y"}}]}"#;
    let binding = r#"{"apiVersion":"rbac.authorization.k8s.io/v1alpha1","kind":"RoleBinding",
        "subjects":[{"kind":"User","name":"*"}]}"#;
    let definition = r#"{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition",
        "spec":{"group":"g.io",
        "version":"v1","names":{"plural":"ks","kind":"K"},"subresources":{"status":{}},
        "validation":{"openAPIV3Schema":{"type":"object","default":{"b":1.0,"a":2}}}}}"#;
    let version = "/spec/versions/0";
    check(&[
        (budget, "policy/v1", "/spec/selector/matchExpressions", exists),
        (budget, "policy/v1beta1", "/spec/selector", "{}"),
        (
            level,
            "flowcontrol.apiserver.k8s.io/v1beta3",
            "/metadata/annotations",
            r#"{"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares":""}"#,
        ),
        (slice, "discovery.k8s.io/v1", "/endpoints/0/zone", r#""z""#),
        (slice, "discovery.k8s.io/v1", "/endpoints/0/nodeName", r#""n""#),
        (slice, "discovery.k8s.io/v1", "/endpoints/0/deprecatedTopology", r#"{"x":"y"}"#),
        (binding, "rbac.authorization.k8s.io/v1", "/subjects/0/name", r#""system:authenticated""#),
        (definition, "apiextensions.k8s.io/v1", &format!("{version}/subresources"), r#"{"status":{}}"#),
        (
            definition,
            "apiextensions.k8s.io/v1",
            &format!("{version}/schema/openAPIV3Schema/default"),
            r#"{"a":2,"b":1}"#,
        ),
        (definition, "apiextensions.k8s.io/v1beta1", "/spec/subresources", r#"{"status":{}}"#),
        (definition, "apiextensions.k8s.io/v1beta1", version, r#"{"name":"v1","served":true,"storage":true}"#),
    ]);
}
