//! What the declared checks of `apps` and `batch` find, in upstream's order and words, where recorded conversations do
//! not look.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use machinery::defaulting::{apply_defaults, normalize};
use machinery::field_path::Path;
use machinery::hooks::Context;
use machinery::reflect::Owned;
use machinery::validate::{Half, Scope, Validator};
use serde_json::{Value, json};

fn hub(object: &Value) -> Owned {
    let body = serde_json::to_vec(object).unwrap();
    let mut object = convert::decode(kubernetes::catalog(), &body, None).unwrap();
    apply_defaults(object.value.as_mut());
    let mut hub = object.kind.to_hub(object.value);
    normalize(hub.as_mut());
    hub
}

/// What is wrong with an object that is written to a subresource, or to none, and may replace one.
fn errors_at(subresource: &str, new: &Value, old: Option<&Value>) -> Vec<String> {
    let (new, old) = (hub(new), old.map(hub));
    let context = Context { subresource: subresource.to_owned(), ..Context::default() };
    let validator = Validator { scope: Scope::Tagged, half: Half::Both, context: &context, rules: None };
    let mut errors = Vec::new();
    validator.validate(new.as_ref(), old.as_ref().map(Owned::as_ref), &Path::NONE, &mut errors);
    errors.iter().map(|error| format!("{}: {}", error.field, error.body())).collect()
}

fn errors(new: &Value) -> Vec<String> {
    errors_at("", new, None)
}

/// A workload whose template is as it should be; `spec` replaces and adds.
fn workload(version: &str, kind: &str, spec: Value) -> Value {
    let mut all = json!({
        "selector": { "matchLabels": { "a": "b" } },
        "template": {
            "metadata": { "labels": { "a": "b" } },
            "spec": { "containers": [{ "name": "a", "image": "a" }] },
        },
    });
    merge(&mut all, spec);
    let metadata = json!({ "name": "a", "namespace": "a", "uid": "u", "resourceVersion": "1" });
    json!({ "apiVersion": version, "kind": kind, "metadata": metadata, "spec": all })
}

fn app(kind: &str, spec: Value) -> Value {
    workload("apps/v1", kind, spec)
}

/// A job that selects its pods itself.
fn job(spec: Value) -> Value {
    let mut all = json!({ "manualSelector": true, "template": { "spec": { "restartPolicy": "Never" } } });
    merge(&mut all, spec);
    workload("batch/v1", "Job", all)
}

fn with_status(mut object: Value, status: Value) -> Value {
    object["status"] = status;
    object
}

/// A merge patch.
fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (name, value) in patch {
                if value.is_null() {
                    target.remove(&name);
                } else {
                    merge(target.entry(name).or_insert(Value::Null), value);
                }
            }
        }
        (target, patch) => *target = patch,
    }
}

#[test]
fn a_deployment_is_checked_in_the_order_of_upstream() {
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
    let negative = |place: &str, number: i32| {
        format!("spec.{place}: Invalid value: {number}: must be greater than or equal to 0")
    };
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
fn a_selector_that_cannot_be_used_keeps_the_template_unchecked() {
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
fn stateful_sets_keep_what_was_not_always_checked() {
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
fn stateful_sets_show_a_partition_that_is_not_given() {
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
fn replicas_that_are_ready_are_some_of_all() {
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
fn revisions_hold_an_object_that_stays() {
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

#[test]
fn indexed_jobs_of_many_pods_run_few_at_a_time() {
    let found = errors(&job(json!({
        "completionMode": "Indexed",
        "completions": 100_001,
        "parallelism": 100_001,
        "backoffLimitPerIndex": 1,
        "maxFailedIndexes": 100_002,
    })));
    let many =
        "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index";
    assert_eq!(
        found,
        [
            "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is \
                Indexed"
                .to_owned(),
            "spec.maxFailedIndexes: Invalid value: 100002: must be less than or equal to completions".into(),
            "spec.maxFailedIndexes: Invalid value: 100002: must be less than or equal to 100000".into(),
            format!("spec.parallelism: Invalid value: 100001: {many}"),
            format!("spec.maxFailedIndexes: Invalid value: 100002: {many}"),
        ]
    );
    assert_eq!(
        errors(&job(json!({ "completions": 1, "maxFailedIndexes": 1 }))),
        [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
        ]
    );
}

#[test]
fn rules_for_failed_pods_are_checked_one_after_the_other() {
    let pattern = json!({ "type": "A", "status": "Odd" });
    let found = errors(&job(json!({
        "podReplacementPolicy": "TerminatingOrFailed",
        "podFailurePolicy": { "rules": [
            {
                "action": "FailIndex",
                "onExitCodes": { "containerName": "b", "operator": "In", "values": [2, 0, 0] },
                "onPodConditions": [pattern],
            },
            { "action": "", "onExitCodes": { "operator": "", "values": [] } },
            { "action": "Odd" },
        ] },
    })));
    let rule = |index: usize, rest: &str| format!("spec.podFailurePolicy.rules[{index}]{rest}");
    assert_eq!(
        found,
        [
            rule(0, r#".action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set"#),
            rule(
                0,
                ".onExitCodes.containerName: Invalid value: \"b\": must be one of the container or initContainer \
                    names in the pod template"
            ),
            rule(0, ".onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator"),
            rule(0, ".onExitCodes.values[2]: Invalid value: 0: must not be 0 for the In operator"),
            rule(0, ".onExitCodes.values[2]: Duplicate value: 0"),
            rule(0, ".onExitCodes.values: Invalid value: [2,0,0]: must be ordered"),
            rule(
                0,
                r#".onPodConditions[0].status: Unsupported value: "Odd": supported values: "False", "True", "Unknown""#
            ),
            rule(0, ": Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"),
            rule(1, r#".action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]"#),
            rule(1, r#".onExitCodes.operator: Required value: valid values: ["In" "NotIn"]"#),
            rule(1, ".onExitCodes.values: Invalid value: null: at least one value is required"),
            rule(
                2,
                concat!(
                    r#".action: Unsupported value: "Odd": supported values: "Count", "FailIndex", "FailJob", "#,
                    r#""Ignore""#
                )
            ),
            rule(2, ": Invalid value: specifying one of OnExitCodes and OnPodConditions is required"),
            r#"spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed""#.into(),
        ]
    );
}

#[test]
fn rules_for_success_count_indexes() {
    let policy = json!({ "rules": [{}, { "succeededIndexes": "0-1", "succeededCount": 4 }] });
    let indexed = json!({ "completionMode": "Indexed", "completions": 3, "successPolicy": policy });
    let rule = |index: usize, rest: &str| format!("spec.successPolicy.rules[{index}]{rest}");
    assert_eq!(
        errors(&job(indexed)),
        [
            rule(0, ": Required value: at least one of succeededCount or succeededIndexes must be specified"),
            rule(
                1,
                ".succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified \
                    completions)"
            ),
            rule(
                1,
                ".succeededCount: Invalid value: 4: must be less than or equal to 2 (the number of indexes in the \
                    specified succeededIndexes field)"
            ),
        ]
    );
    assert_eq!(
        errors(&job(json!({ "completions": 3, "successPolicy": { "rules": [] } }))),
        [r#"spec.successPolicy: Invalid value: {"Rules":null}: requires indexed completion mode"#]
    );
}

#[test]
fn pods_of_jobs_end() {
    let of = |policy: &str| errors(&job(json!({ "template": { "spec": { "restartPolicy": policy } } })));
    let place = "spec.template.spec.restartPolicy";
    assert_eq!(of("Always"), [format!("{place}: Required value: valid values: \"OnFailure\", \"Never\"")]);
    let odd = of("Odd");
    assert_eq!(
        odd.last().unwrap(),
        &format!("{place}: Unsupported value: \"Odd\": supported values: \"OnFailure\", \"Never\"")
    );
}

#[test]
fn a_job_changes_within_bounds() {
    let old = job(json!({ "completionMode": "Indexed", "completions": 2, "parallelism": 2 }));
    let new = job(json!({
        "completionMode": "Indexed",
        "completions": 3,
        "parallelism": 2,
        "managedBy": "a/b",
        "backoffLimitPerIndex": 1,
    }));
    assert_eq!(
        errors_at("", &new, Some(&old)),
        [
            "spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism",
            "spec.backoffLimitPerIndex: Invalid value: 1: field is immutable",
            r#"spec.managedBy: Invalid value: "a/b": field is immutable"#,
        ]
    );
    let (old, new) = (job(json!({ "completions": 2 })), job(json!({ "completions": 3 })));
    assert_eq!(errors_at("", &new, Some(&old)), ["spec.completions: Invalid value: 3: field is immutable"]);
    let new = job(json!({ "completions": 2, "selector": { "matchLabels": { "a": "c" } } }));
    let unselected = r#"{"a":"b"}: `selector` does not match template `labels`"#;
    assert_eq!(
        errors_at("", &new, Some(&old)),
        [
            format!("spec.template.metadata.labels: Invalid value: {unselected}"),
            format!("spec.template.metadata.labels: Invalid value: {unselected}"),
            r#"spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable"#.into(),
        ]
    );
}

#[test]
fn uids_are_uncounted_once() {
    let (old, pods) = (job(json!({})), json!({ "succeeded": ["a", ""], "failed": ["a"] }));
    let new = with_status(old.clone(), json!({ "active": -1, "terminating": -2, "uncountedTerminatedPods": pods }));
    assert_eq!(
        errors_at("status", &new, Some(&old)),
        [
            "status.active: Invalid value: -1: must be greater than or equal to 0",
            "status.terminating: Invalid value: -2: must be greater than or equal to 0",
            r#"status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty"#,
            r#"status.uncountedTerminatedPods.failed[0]: Duplicate value: "a""#,
        ]
    );
}

#[test]
fn cron_jobs_leave_room_for_the_time() {
    let cron_job = |name: &str, spec: Value| {
        let template = json!({ "spec": { "containers": [{ "name": "a", "image": "a" }], "restartPolicy": "Never" } });
        let mut all = json!({ "schedule": "* * * * *", "jobTemplate": { "spec": { "template": template } } });
        merge(&mut all, spec);
        let metadata = json!({ "name": name, "namespace": "a", "uid": "u", "resourceVersion": "1" });
        json!({ "apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": all })
    };
    let (long, selector) = ("a".repeat(53), json!({ "matchLabels": { "a": "b" } }));
    let wrong = json!({
        "schedule": null,
        "startingDeadlineSeconds": -1,
        "timeZone": "Local",
        "concurrencyPolicy": "Odd",
        "jobTemplate": { "spec": { "selector": selector, "manualSelector": true } },
        "failedJobsHistoryLimit": -2,
    });
    let wrong = cron_job(&long, wrong);
    let negative = "must be greater than or equal to 0";
    let zone = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    let found = [
        "spec.schedule: Required value".to_owned(),
        format!("spec.startingDeadlineSeconds: Invalid value: -1: {negative}"),
        format!("spec.timeZone: Invalid value: \"Local\": {zone}"),
        r#"spec.concurrencyPolicy: Unsupported value: "Odd": supported values: "Allow", "Forbid", "Replace""#.into(),
        concat!(
            r#"spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: "#,
            "`selector` will be auto-generated"
        )
        .into(),
        r#"spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false""#.into(),
        format!("spec.failedJobsHistoryLimit: Invalid value: -2: {negative}"),
        format!("metadata.name: Invalid value: \"{long}\": must be no more than 52 characters"),
    ];
    assert_eq!(errors(&wrong), found);
    // What is stored keeps its zone and its name.
    let kept: Vec<&String> = found.iter().filter(|error| !error.contains("Zone") && !error.contains("52")).collect();
    assert_eq!(errors_at("", &wrong, Some(&wrong)).iter().collect::<Vec<_>>(), kept);
    assert_eq!(errors_at("status", &wrong, Some(&wrong)), [""; 0]);
}
