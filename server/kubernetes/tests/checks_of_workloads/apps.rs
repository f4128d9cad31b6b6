//! Tests of deployments, sets and revisions.

use serde_json::{Value, json};

use super::{app, errors, errors_at, merge, with_status};

#[test]
fn deployment_errors_are_in_upstream_order() {
    let found = errors(&app(
        "Deployment",
        json!({
            "replicas": -1,
            "selector": { "matchLabels": null },
            "template": { "spec": { "restartPolicy": "Never", "activeDeadlineSeconds": 1 } },
            "strategy": { "type": "Odd", "rollingUpdate": { "maxSurge": 1 } },
            "minReadySeconds": -2,
            "revisionHistoryLimit": -3,
            "progressDeadlineSeconds": -4,
        }),
    ));
    let negative =
        |place: &str, number: i32| format!("spec.{place}: Invalid value: {number}: must be greater than or equal to 0");
    assert_eq!(
        found,
        [
            negative("replicas", -1),
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment".into(),
            r#"spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always""#.into(),
            "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"
                .into(),
            concat!(
                r#"spec.strategy: Unsupported value: "#,
                r#"{"Type":"Odd","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":1}}: "#,
                r#"supported values: "Recreate", "RollingUpdate""#
            )
            .into(),
            negative("minReadySeconds", -2),
            negative("revisionHistoryLimit", -3),
            negative("progressDeadlineSeconds", -4),
            "spec.progressDeadlineSeconds: Invalid value: -4: must be greater than minReadySeconds".into(),
        ]
    );
}

#[test]
fn invalid_selector_skips_template_validation_of_replica_set() {
    let selector = json!({ "matchExpressions": [{ "key": "a", "operator": "Odd" }] });
    let template = json!({ "spec": { "restartPolicy": "Never" } });
    let found = errors(&app("ReplicaSet", json!({ "selector": selector, "template": template })));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("spec.selector.matchExpressions[0].operator: Invalid value: \"Odd\""), "{found:?}");
    assert!(found[1].ends_with(": invalid label selector"), "{found:?}");
    let found = errors(&app("StatefulSet", json!({ "selector": selector, "template": template })));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[2].starts_with("spec.template.spec.restartPolicy: Unsupported value"), "{found:?}");
}

#[test]
fn numbers_and_percentages_of_rolling_updates() {
    let of = |kind: &str, strategy: &str, unavailable: Value, surge: Value| {
        let update = json!({ "maxUnavailable": unavailable, "maxSurge": surge });
        errors(&app(kind, json!({ strategy: { "type": "RollingUpdate", "rollingUpdate": update } })))
    };
    let deployment = |unavailable, surge| of("Deployment", "strategy", unavailable, surge);
    let daemons = |unavailable, surge| of("DaemonSet", "updateStrategy", unavailable, surge);
    let (place, update) = ("spec.strategy.rollingUpdate", "spec.updateStrategy.rollingUpdate");
    assert_eq!(deployment(json!("100%"), json!("300%")), [""; 0]);
    assert_eq!(
        deployment(json!("0101%"), json!(-1)),
        [
            format!("{place}.maxSurge: Invalid value: -1: must be greater than or equal to 0"),
            format!("{place}.maxUnavailable: Invalid value: \"0101%\": must not be greater than 100%"),
        ]
    );
    assert_eq!(
        deployment(json!("00%"), json!("0%")),
        [format!("{place}.maxUnavailable: Invalid value: \"00%\": may not be 0 when `maxSurge` is 0")]
    );
    assert_eq!(
        daemons(json!(1), json!("200%")),
        [
            format!("{update}.maxSurge: Invalid value: \"200%\": must not be greater than 100%"),
            format!("{update}.maxSurge: Invalid value: \"200%\": may not be set when maxUnavailable is non-zero"),
        ]
    );
    assert_eq!(
        daemons(json!(0), json!(0)),
        [format!("{update}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0")]
    );
    let found = deployment(json!("<"), json!(1));
    assert!(found[0].starts_with(&format!("{place}.maxUnavailable: Invalid value: \"\\u003c\": ")), "{found:?}");
}

#[test]
fn stateful_set_update_keeps_previously_valid_values() {
    let wrong = json!({
        "serviceName": "A",
        "template": { "spec": { "containers": [{ "name": "A", "image": "a" }] } },
        "volumeClaimTemplates": [{ "metadata": { "name": "c" }, "spec": { "accessModes": ["ReadWriteOnce"] } }],
    });
    let stored = app("StatefulSet", wrong.clone());
    let found = errors(&stored);
    let starts = [
        "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
        "spec.serviceName: Invalid value: \"A\": ",
        "spec.template.spec.containers[0].name: Invalid value: \"A\": ",
    ];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    found.iter().zip(starts).for_each(|(found, start)| assert!(found.starts_with(start), "{found}"));
    let mut spec = wrong;
    merge(&mut spec, json!({ "replicas": 3 }));
    assert_eq!(errors_at("", &app("StatefulSet", spec.clone()), Some(&stored)), [""; 0]);
    merge(&mut spec, json!({ "serviceName": "B", "replicas": -1 }));
    let found = errors_at("", &app("StatefulSet", spec), Some(&stored));
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], "spec.replicas: Invalid value: -1: must be greater than or equal to 0");
    assert!(found[1].starts_with("spec: Forbidden: updates to statefulset spec for fields other than"), "{found:?}");
}

#[test]
fn stateful_set_errors_show_absent_partition() {
    let of = |strategy: Value| errors(&app("StatefulSet", json!({ "updateStrategy": strategy })));
    assert_eq!(
        of(json!({ "type": "OnDelete", "rollingUpdate": {} })),
        [concat!(
            r#"spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":0,"MaxUnavailable":null}: "#,
            "only allowed for updateStrategy 'RollingUpdate'"
        )]
    );
    assert_eq!(
        of(json!({ "type": "Odd", "rollingUpdate": {} })),
        [concat!(
            r#"spec.updateStrategy: Invalid value: "#,
            r#"{"Type":"Odd","RollingUpdate":{"Partition":0,"MaxUnavailable":null}}: "#,
            "must be 'RollingUpdate' or 'OnDelete'"
        )]
    );
    assert_eq!(
        errors(&app("StatefulSet", json!({ "podManagementPolicy": "Odd" }))),
        [r#"spec.podManagementPolicy: Invalid value: "Odd": must be 'OrderedReady' or 'Parallel'"#]
    );
}

#[test]
fn ready_replicas_are_at_most_replicas() {
    let set = app("StatefulSet", json!({}));
    let old = with_status(set.clone(), json!({ "replicas": 1, "availableReplicas": 0, "collisionCount": 2 }));
    let status = json!({ "replicas": 1, "readyReplicas": 2, "availableReplicas": 3, "observedGeneration": -1 });
    assert_eq!(
        errors_at("status", &with_status(set, status), Some(&old)),
        [
            "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0",
            "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
            "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
            "status.availableReplicas: Invalid value: 3: cannot be greater than status.readyReplicas",
            "status.collisionCount: Invalid value: 0: cannot be decremented",
        ]
    );
    let deployment = app("Deployment", json!({}));
    let status = json!({ "availableReplicas": 1, "terminatingReplicas": -1 });
    assert_eq!(
        errors_at("status", &with_status(deployment.clone(), status), Some(&deployment)),
        [
            "status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0",
            "status.availableReplicas: Invalid value: 1: cannot be greater than status.replicas",
            "status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas",
        ]
    );
}

#[test]
fn controller_revision_data_is_immutable_object() {
    let of = |data: Value| {
        let metadata = json!({ "name": "a", "namespace": "a", "uid": "u", "resourceVersion": "1" });
        let (version, kind) = ("apps/v1", "ControllerRevision");
        json!({ "apiVersion": version, "kind": kind, "metadata": metadata, "revision": -1, "data": data })
    };
    let revision = "revision: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(errors(&of(json!(null))), [revision, "data: Required value: data is mandatory"]);
    assert_eq!(errors(&of(json!([]))), [revision, "data: Required value: data must be a valid JSON object"]);
    assert_eq!(
        errors_at("", &of(json!({ "a": "<" })), Some(&of(json!({})))),
        [revision, r#"data: Invalid value: {"a":"\u003c"}: field is immutable"#]
    );
}
