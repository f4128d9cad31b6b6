//! Tests of jobs and cron jobs.

use serde_json::{Value, json};

use super::{errors, errors_at, job, merge, with_status};

#[test]
fn large_indexed_jobs_have_limited_parallelism() {
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
fn pod_failure_policy_rules_are_checked_in_order() {
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
fn success_policy_rules_count_indexes() {
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
fn job_pods_do_not_restart_always() {
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
fn job_update_is_restricted() {
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
fn uncounted_uids_are_unique() {
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
fn cron_job_name_leaves_room_for_timestamp() {
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
    // A stored zone and a stored name stay valid.
    let kept: Vec<&String> = found.iter().filter(|error| !error.contains("Zone") && !error.contains("52")).collect();
    assert_eq!(errors_at("", &wrong, Some(&wrong)).iter().collect::<Vec<_>>(), kept);
    assert_eq!(errors_at("status", &wrong, Some(&wrong)), [""; 0]);
}
