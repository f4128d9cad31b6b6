//! Tests of declared checks of Kubernetes' groups, with upstream's order and messages, for cases that
//! recorded conversations do not cover.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use apiserver::convert;
use machinery::defaulting::{apply_defaults, normalize};
use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::validate::{Half, ValidationScope, Validator};
use serde_json::{Value, json};

/// Errors of a new object.
fn errors(object: &Value) -> Vec<String> {
    let body = serde_json::to_vec(object).unwrap();
    let mut object = convert::decode(kubernetes::catalog(), &body, None).unwrap();
    apply_defaults(object.value.as_mut());
    let mut hub = object.kind.to_hub(object.value);
    normalize(hub.as_mut());
    let context = WriteContext::default();
    let validator = Validator { scope: ValidationScope::Tagged, half: Half::Both, context: &context, rules: None };
    let mut errors = Vec::new();
    validator.validate(hub.as_ref(), None, &Path::NONE, &mut errors);
    errors.iter().map(|error| format!("{}: {}", error.field, error.body())).collect()
}

fn pod(spec: Value) -> Value {
    let mut spec = spec;
    let containers = json!([{ "name": "a", "image": "a" }]);
    spec.as_object_mut().unwrap().entry("containers").or_insert(containers);
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "a", "namespace": "a" }, "spec": spec })
}

#[test]
fn windows_pods_reject_linux_fields() {
    let context = json!({ "runAsUser": 1, "capabilities": {}, "seccompProfile": { "type": "Unconfined" } });
    let found = errors(&pod(json!({
        "os": { "name": "windows" },
        "hostPID": true,
        "hostUsers": true,
        "securityContext": { "fsGroup": 1, "sysctls": [{ "name": "a", "value": "b" }] },
        "containers": [{ "name": "a", "image": "a", "securityContext": context }],
    })));
    let places = [
        "spec.hostUsers",
        "spec.hostPID",
        "spec.securityContext.fsGroup",
        "spec.securityContext.sysctls",
        "spec.containers[0].securityContext.seccompProfile",
        "spec.containers[0].securityContext.capabilities",
        "spec.containers[0].securityContext.runAsUser",
    ];
    assert_eq!(found, places.map(|place| format!("{place}: Forbidden: cannot be set for a windows pod")));
    assert_eq!(errors(&pod(json!({ "os": { "name": "windows" } }))), [""; 0]);
}

#[test]
fn claim_references_resolve_to_requests() {
    let all = json!({ "deviceClassName": "c", "allocationMode": "All", "count": 1 });
    let found = errors(&json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "x", "namespace": "a" },
        "spec": { "devices": {
            "requests": [
                { "name": "a", "exactly": all },
                { "name": "a", "firstAvailable": [{ "name": "x", "deviceClassName": "", "count": -1 }] },
            ],
            "constraints": [{ "requests": ["a", "a/x", "b", "a/x/y", "a"], "matchAttribute": "model" }],
            "config": [{ "opaque": { "driver": "a.example.com", "parameters": [1] } }],
        } },
    }));
    let request = "must be the name of a request in the claim or the name of a request and a subrequest separated by \
                   '/'";
    let domain = "a fully qualified name must be a domain and a name separated by a slash";
    let expect = [
        "requests[0].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'".to_owned(),
        "requests[1].firstAvailable[0].deviceClassName: Required value".to_owned(),
        "requests[1].firstAvailable[0].count: Invalid value: -1: must be greater than zero".to_owned(),
        "requests[1]: Duplicate value: \"a\"".to_owned(),
        format!("constraints[0].requests[2]: Invalid value: \"b\": {request}"),
        format!("constraints[0].requests[3]: Invalid value: \"a/x/y\": {request}"),
        "constraints[0].requests[4]: Duplicate value: \"a\"".to_owned(),
        format!("constraints[0].matchAttribute: Invalid value: \"model\": {domain}"),
        "config[0].opaque.parameters: Invalid value: \"<value omitted>\": must be a valid JSON object".to_owned(),
    ];
    assert_eq!(found, expect.map(|error| format!("spec.devices.{error}")));
}

#[test]
fn long_attribute_names_are_truncated_in_errors() {
    let long = format!("{}.com/{}", "a".repeat(60), "b".repeat(40));
    let found = errors(&json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "x" },
        "spec": {
            "driver": "a.example.com", "allNodes": true, "nodeName": "n",
            "pool": { "name": "p", "generation": -1, "resourceSliceCount": 0 },
            "devices": [
                { "name": "d", "attributes": { long: { "version": "1.2" } }, "bindingFailureConditions": ["A", "A"],
                  "bindingConditions": ["A"] },
                { "name": "d" },
            ],
        },
    }));
    let ways = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but \
                multiple fields are set";
    let overlap = "bindingFailureConditions must not overlap with bindingConditions";
    let short = format!("{}...a.com/{}", "a".repeat(47), "b".repeat(40));
    let version = "must be a string compatible with semver.org spec 2.0.0";
    let expect = [
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero".to_owned(),
        "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero".to_owned(),
        format!("spec: Invalid value: \"{{`nodeName`, `allNodes`}}\": {ways}"),
        "spec.devices[0].attributes: Too long: may not be more than 63 bytes".to_owned(),
        "spec.devices[0].attributes: Too long: may not be more than 32 bytes".to_owned(),
        format!("spec.devices[0].attributes[{short}].version: Invalid value: \"1.2\": {version}"),
        format!("spec.devices[0].bindingFailureConditions[0]: Invalid value: \"A\": {overlap}"),
        "spec.devices[0].bindingFailureConditions[1]: Duplicate value: \"A\"".to_owned(),
        format!("spec.devices[0].bindingFailureConditions[1]: Invalid value: \"A\": {overlap}"),
        "spec.devices[1]: Duplicate value: \"d\"".to_owned(),
    ];
    assert_eq!(found, expect);
}

#[test]
fn volume_has_one_source_with_upstream_names() {
    let found = errors(&pod(json!({ "volumes": [
        {
            "name": "a", "gcePersistentDisk": { "pdName": "" }, "cephfs": { "monitors": [] },
            "image": { "reference": "a" },
        },
        { "name": "a", "iscsi": { "targetPortal": "a", "iqn": "iqn.x", "lun": 256, "initiatorName": "x" } },
        { "name": "c", "configMap": { "name": "c", "items": [{ "key": "a", "path": "../a", "mode": 512 }] } },
    ] })));
    let expect = [
        "spec.volumes[0].persistentDisk.pdName: Required value",
        "spec.volumes[0].cephFS: Forbidden: may not specify more than 1 volume type",
        "spec.volumes[0].image: Forbidden: may not specify more than 1 volume type",
        "spec.volumes[1].iscsi.iqn: Invalid value: \"iqn.x\": must be valid format",
        "spec.volumes[1].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
        "spec.volumes[1].iscsi.initiatorname: Invalid value: \"x\": must be valid format starting with iqn, eui, or \
         naa",
        "spec.volumes[2].configMap.items[0].path: Invalid value: \"../a\": must not contain '..'",
        "spec.volumes[2].configMap.items[0].mode: Invalid value: 512: must be a number between 0 and 0777 (octal), \
         both inclusive",
    ];
    assert_eq!(found, expect);
}

#[test]
fn container_errors_have_upstream_paths() {
    let found = errors(&pod(json!({ "restartPolicy": "Never", "containers": [{
        "name": "a",
        "image": " a",
        "ports": [{ "name": "p", "containerPort": 1 }, { "name": "p", "containerPort": 0, "hostPort": 70000 }],
        "env": [{ "name": "a", "value": "b", "valueFrom": { "secretKeyRef": { "name": "s", "key": "" } } }],
        "envFrom": [{}],
        "resizePolicy": [
            { "resourceName": "cpu", "restartPolicy": "RestartContainer" },
            { "resourceName": "cpu", "restartPolicy": "NotRequired" },
        ],
        "livenessProbe": { "exec": { "command": [] }, "tcpSocket": { "port": 1 }, "successThreshold": 2 },
        "lifecycle": { "preStop": { "sleep": { "seconds": 31 } }, "stopSignal": "SIGTERM" },
    }] })));
    let at = |field: &str| format!("spec.containers[0].{field}");
    let expect = [
        at("ports[1].name: Duplicate value: \"p\""),
        at("ports[1].containerPort: Required value"),
        at("ports[1].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive"),
        at("env[0].valueFrom.secretKeyRef.key: Required value"),
        at("env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"),
        at("envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`"),
        at("resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when `restartPolicy` is 'Never'"),
        at("resizePolicy[1]: Duplicate value: \"cpu\""),
        at("lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than \
            terminationGracePeriodSeconds (30)"),
        at("lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"),
        at("livenessProbe.exec.command: Required value"),
        at("livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"),
        at("livenessProbe.successThreshold: Invalid value: 2: must be 1"),
        at("image: Invalid value: \" a\": must not have leading or trailing whitespace"),
    ];
    assert_eq!(found, expect);
}

#[test]
fn service_fields_depend_on_type() {
    let meta = json!({ "name": "a", "namespace": "a" });
    let service =
        |spec: Value| errors(&json!({ "apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec }));
    let alias = service(json!({ "type": "ExternalName", "externalName": ".", "ipFamilies": ["IPv4"] }));
    let expect =
        ["spec.ipFamilies: Forbidden: may not be set for ExternalName services", "spec.externalName: Required value"];
    assert_eq!(alias, expect);
    let found = service(json!({
        "type": "NodePort",
        "clusterIP": "None",
        "clusterIPs": ["None"],
        "ports": [{ "port": 1, "targetPort": "a--b" }, { "name": "b", "port": 1, "targetPort": 1 }],
        "sessionAffinity": "ClientIP",
        "sessionAffinityConfig": { "clientIP": { "timeoutSeconds": 86401 } },
        "loadBalancerClass": "a",
        "healthCheckNodePort": 1,
    }));
    let begins = [
        "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
        "spec.ports[0].name: Required value",
        "spec.ports[0].targetPort: Invalid value: \"a--b\": must not contain consecutive hyphens",
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0",
        "spec.ports[1]: Duplicate value: ",
        "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
        "spec.healthCheckNodePort: Invalid value: 1: may only be set when `type` is 'LoadBalancer'",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    found.iter().zip(begins).for_each(|(found, begin)| assert!(found.starts_with(begin), "{found}"));
}

#[test]
fn tolerations_and_node_selectors_are_checked_by_operator() {
    let required = json!({ "nodeSelectorTerms": [
        { "matchExpressions": [
            { "key": "a", "operator": "Gt", "values": [] },
            { "key": "a", "operator": "In", "values": ["-"] },
        ] },
        { "matchFields": [{ "key": "b", "operator": "Exists" }] },
    ] });
    let found = errors(&pod(json!({
        "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": required } },
        "tolerations": [
            { "operator": "Equal" },
            { "key": "a", "operator": "Exists", "value": "b" },
            { "key": "a", "operator": "X" },
        ],
    })));
    let terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    let begins = [
        format!("{terms}[0].matchExpressions[0].values: Required value: must be specified single value"),
        format!("{terms}[0].matchExpressions[1].values[0]: Invalid value: \"-\": a valid label must be"),
        format!("{terms}[1].matchFields[0].operator: Invalid value: \"Exists\": not a valid selector operator"),
        format!("{terms}[1].matchFields[0].key: Invalid value: \"b\": not a valid field selector key"),
        "spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty".into(),
        "spec.tolerations[1].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'".into(),
        "spec.tolerations[2].operator: Unsupported value: \"X\": supported values: \"Equal\", \"Exists\"".into(),
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    found.iter().zip(begins).for_each(|(found, begin)| assert!(found.starts_with(&begin), "{found}"));
}

#[test]
fn volume_attachment_has_one_source() {
    let attachment = |source: Value| {
        let spec = json!({ "attacher": "a", "nodeName": "a", "source": source });
        let kind = ("storage.k8s.io/v1", "VolumeAttachment");
        json!({ "apiVersion": kind.0, "kind": kind.1, "metadata": { "name": "a" }, "spec": spec })
    };
    let one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    assert_eq!(errors(&attachment(json!({}))), [format!("spec.source: Required value: {one}")]);
    let both = json!({ "persistentVolumeName": "a", "inlineVolumeSpec": {} });
    assert_eq!(errors(&attachment(both)), [format!("spec.source: Forbidden: {one}")]);
    let empty = errors(&attachment(json!({ "persistentVolumeName": "" })));
    let expect = "spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName";
    assert_eq!(empty[0], expect);
}

#[test]
fn csi_driver_error_paths_match_upstream() {
    let token = |audience: &str, seconds: i64| json!({ "audience": audience, "expirationSeconds": seconds });
    let driver = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": { "name": "a" },
        "spec": {
            "volumeLifecycleModes": ["Persistent", "Other"],
            "tokenRequests": [token("a", 1), token("a", 1), token("b", 1_i64 << 33)],
        },
    });
    let found = errors(&driver);
    let begins = [
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
        "spec.tokenRequests[1].audience: Duplicate value: \"a\"",
        "spec.tokenRequests[2].expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than",
        "spec.volumeLifecycleModes: Unsupported value: \"Other\": supported values: \"Persistent\", \"Ephemeral\"",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    found.iter().zip(begins).for_each(|(found, begin)| assert!(found.starts_with(begin), "{found}"));
}

#[test]
fn subjects_are_checked_by_kind() {
    let binding = |kind: &str, subjects: Value, role: &str| {
        let api = "rbac.authorization.k8s.io";
        json!({
            "apiVersion": format!("{api}/v1"), "kind": kind, "metadata": { "name": "a" },
            "subjects": subjects, "roleRef": { "apiGroup": api, "kind": role, "name": "a" },
        })
    };
    let account = json!([{ "kind": "ServiceAccount", "name": "A" }]);
    let found = errors(&binding("ClusterRoleBinding", account.clone(), "Role"));
    assert_eq!(found[0], "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"");
    assert!(
        found[1].starts_with("subjects[0].name: Invalid value: \"A\": a lowercase RFC 1123 subdomain"),
        "{found:?}"
    );
    assert_eq!(found[2..], ["subjects[0].namespace: Required value"]);
    assert_eq!(errors(&binding("RoleBinding", account, "Role")).len(), 1);
    let other = errors(&binding("RoleBinding", json!([{ "kind": "Robot", "name": "a" }]), "Role"));
    let expect =
        "subjects[0].kind: Unsupported value: \"Robot\": supported values: \"ServiceAccount\", \"User\", \"Group\"";
    assert_eq!(other, [expect]);
}

#[test]
fn role_rules_have_resources_or_paths() {
    let role = |kind: &str, rule: Value| {
        let api = "rbac.authorization.k8s.io/v1";
        json!({ "apiVersion": api, "kind": kind, "metadata": { "name": "a" }, "rules": [rule] })
    };
    let rule = json!({ "verbs": ["get"], "nonResourceURLs": ["/a"], "resources": ["pods"] });
    let both = "rules[0].nonResourceURLs: Invalid value: [\"/a\"]: rules cannot apply to both regular resources and \
                non-resource URLs";
    assert_eq!(errors(&role("ClusterRole", rule.clone())), [both]);
    let namespaced =
        "rules[0].nonResourceURLs: Invalid value: [\"/a\"]: namespaced rules cannot apply to non-resource URLs";
    assert_eq!(errors(&role("Role", rule)), [namespaced, both]);
    let nothing = [
        "rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
    ];
    assert_eq!(errors(&role("ClusterRole", json!({ "verbs": [] }))), nothing);
}

#[test]
fn endpoint_addresses_match_slice_family() {
    let slice = |family: &str, endpoint: Value| {
        let api = "discovery.k8s.io/v1";
        json!({
            "apiVersion": api, "kind": "EndpointSlice", "metadata": { "name": "a", "namespace": "a" },
            "addressType": family, "endpoints": [endpoint], "ports": [],
        })
    };
    let found = errors(&slice("IPv6", json!({ "addresses": ["10.0.0.1"] })));
    assert_eq!(found[0], "endpoints[0].addresses: Invalid value: \"10.0.0.1\": must be an IPv6 address");
    let zones = json!([{ "name": "a" }, { "name": "a" }, { "name": "-" }]);
    let hints = json!({ "addresses": ["a.example.com"], "hints": { "forZones": zones, "forNodes": [] } });
    let found = errors(&slice("FQDN", hints));
    assert_eq!(found[0], "endpoints[0].hints.forZones[1].name: Duplicate value: \"a\"");
    assert!(found[1].starts_with("endpoints[0].hints.forZones[2].name: Invalid value: \"-\""), "{found:?}");
    assert_eq!(found.len(), 2);
}

#[test]
fn disruption_budget_accepts_percentages() {
    let budget = |spec: Value| {
        let meta = json!({ "name": "a", "namespace": "a" });
        json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec })
    };
    assert_eq!(errors(&budget(json!({ "minAvailable": "100%" }))), [""; 0]);
    let over = "spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%";
    assert_eq!(errors(&budget(json!({ "minAvailable": "101%" }))), [over]);
    let found = errors(&budget(json!({ "minAvailable": 1, "maxUnavailable": -1 })));
    assert!(found[0].starts_with("spec: Invalid value: {"), "{found:?}");
    assert!(found[0].ends_with("minAvailable and maxUnavailable cannot be both set"), "{found:?}");
    assert_eq!(found[1..], ["spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"]);
}

#[test]
fn ingress_backend_is_service_or_resource() {
    let ingress = |backend: Value| {
        let meta = json!({ "name": "a", "namespace": "a" });
        let spec = json!({ "defaultBackend": backend });
        json!({ "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": meta, "spec": spec })
    };
    let service = |port: Value| json!({ "service": { "name": "a", "port": port } });
    assert_eq!(errors(&ingress(service(json!({ "name": "http" })))), [""; 0]);
    let found = errors(&ingress(service(json!({}))));
    assert_eq!(found, ["spec.defaultBackend: Required value: port name or number is required"]);
    let found = errors(&ingress(service(json!({ "name": "http", "number": 80 }))));
    assert_eq!(found, ["spec.defaultBackend: Invalid value: \"\": cannot set both port name & port number"]);
    let found = errors(&ingress(service(json!({ "number": 70_000 }))));
    let expect =
        "spec.defaultBackend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive";
    assert_eq!(found, [expect]);
    let found = errors(&ingress(json!({})));
    assert_eq!(found, ["spec.defaultBackend: Invalid value: \"\": resource or service backend is required"]);
}

#[test]
fn ingress_rules_have_hosts_and_paths() {
    let ingress = |host: &str, path: Value| {
        let meta = json!({ "name": "a", "namespace": "a" });
        let rules = json!([{ "host": host, "http": { "paths": [path] } }]);
        let spec = json!({ "rules": rules });
        json!({ "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": meta, "spec": spec })
    };
    let backend = json!({ "service": { "name": "a", "port": { "number": 80 } } });
    let path = |kind: &str, path: &str| json!({ "pathType": kind, "path": path, "backend": backend });
    assert_eq!(errors(&ingress("*.example.com", path("ImplementationSpecific", ""))), [""; 0]);
    let found = errors(&ingress("10.0.0.1", path("Exact", "a//b/..")));
    let place = "spec.rules[0].http.paths[0]";
    let expect = [
        "spec.rules[0].host: Invalid value: \"10.0.0.1\": must be a DNS name, not an IP address".to_owned(),
        format!("{place}.path: Invalid value: \"a//b/..\": must be an absolute path"),
        format!("{place}.path: Invalid value: \"a//b/..\": must not contain '//'"),
        format!("{place}.path: Invalid value: \"a//b/..\": cannot end with '/..'"),
    ];
    assert_eq!(found, expect);
    let found = errors(&ingress("a.example.com", json!({ "path": "a", "backend": {} })));
    assert_eq!(found, [format!("{place}.pathType: Required value: pathType must be specified")]);
}
