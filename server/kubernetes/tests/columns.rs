//! Tests of tables: cells of computed columns, and the columns of tables.

use machinery::catalog::KindDef;
use machinery::json::{Issues, decode};
use machinery::print::{Cell, Column, Columns, PrintContext};
use machinery::protobuf;
use machinery::reflect::Owned;
use machinery::scalar::Time;

/// 2026-01-02T03:04:05Z; the objects below are one minute old unless they state another time.
const NOW: PrintContext = PrintContext { now: Time::from_unix(1_767_323_045) };

fn read(kind: &KindDef, object: &str) -> Owned {
    let mut owned = Owned::new(kind.def);
    decode(object.as_bytes(), owned.as_mut(), &mut Issues::ignore()).expect("the object reads");
    kind.to_hub(owned)
}

/// The parts of an object that a column declares to read; the whole object if it does not declare any.
fn part(kind: &KindDef, object: &str, column: &'static Column) -> Owned {
    let declared =
        Columns::Declared(std::slice::from_ref(column)).read_by(kind.def).filter(|_| kind.conversion.is_none());
    let Some(mask) = declared else { return read(kind, object) };
    let (mut raw, mut part) = (Vec::new(), Owned::new(kind.def));
    protobuf::encode(read(kind, object).as_ref(), &mut raw);
    protobuf::decode_masked(&raw, &mask, part.as_mut()).expect("the object reads");
    part
}

fn cell_text(cell: Cell) -> String {
    match cell {
        Cell::Null => "null".into(),
        Cell::Text(text) => text,
        Cell::Int(n) => format!("int {n}"),
        Cell::Float(f) => format!("float {f}"),
        Cell::Bool(b) => format!("bool {b}"),
    }
}

/// Checks cells of objects, both with the whole objects and with only the parts that columns declare to
/// read.
fn check(group: &str, version: &str, plural: &str, columns: &[&str], rows: &[(&str, &[&str])]) {
    let kind = kubernetes::catalog().resource(group, version, plural).expect("the resource exists");
    let declared = kind.resource.expect("it is a resource").columns;
    for (object, want) in rows {
        let object_of = read(kind, object);
        let cell = |name: &&str| {
            let column =
                declared.iter().find(|c| c.name == *name).unwrap_or_else(|| panic!("{plural} has no column {name}"));
            let text = cell_text(column.cell.cell(object_of.as_ref(), &NOW));
            let of_part = column.cell.cell(part(kind, object, column).as_ref(), &NOW);
            assert_eq!(cell_text(of_part), text, "{name} of {plural} does not say all that it reads: {object}");
            text
        };
        let got: Vec<String> = columns.iter().map(cell).collect();
        assert_eq!(got, *want, "{columns:?} of {plural} {object}");
    }
}

#[test]
fn pod_columns_show_container_states() {
    let columns = ["Ready", "Status", "Restarts", "Readiness Gates"];
    let rows: &[(&str, &[&str])] = &[
        (r#"{"status":{"phase":"Pending"}}"#, &["0/0", "Pending", "0", "<none>"]),
        (r#"{"status":{"phase":"Failed","reason":"Evicted"}}"#, &["0/0", "Evicted", "0", "<none>"]),
        (
            r#"{"spec":{"readinessGates":[{"conditionType":"a"},{"conditionType":"b"}]},
                "status":{"phase":"Pending","conditions":
                [{"type":"PodScheduled","status":"False","reason":"SchedulingGated"},{"type":"b","status":"True"}]}}"#,
            &["0/0", "SchedulingGated", "0", "1/2"],
        ),
        // A running container beside a crashed one; the first container's reason is kept.
        (
            r#"{"spec":{"containers":[{"name":"c"},{"name":"d"}]},"status":{"phase":"Running","containerStatuses":[
                {"name":"c","restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
                 "lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-02T03:03:05Z"}}},
                {"name":"d","ready":true,"restartCount":1,"state":{"running":{}}}]}}"#,
            &["1/2", "CrashLoopBackOff", "4 (60s ago)", "<none>"],
        ),
        // The second of three init containers runs, and a sidecar is started.
        (
            r#"{"spec":{"initContainers":[{"name":"s","restartPolicy":"Always"},{"name":"i"},{"name":"j"}],
                "containers":[{"name":"c"}]},
                "status":{"phase":"Pending","initContainerStatuses":[
                {"name":"s","ready":true,"started":true,"restartCount":2,"state":{"running":{}}},
                {"name":"i","restartCount":1,"state":{"running":{}}}]}}"#,
            &["1/2", "Init:1/3", "3", "<none>"],
        ),
        (
            r#"{"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c"}]},"status":{"phase":"Pending",
                "initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":2}}}]}}"#,
            &["0/1", "Init:ExitCode:2", "0", "<none>"],
        ),
        (
            r#"{"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c"}]},"status":{"phase":"Pending",
                "initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}}"#,
            &["0/1", "Init:ImagePullBackOff", "0", "<none>"],
        ),
        // Restarts of a finished init container do not count, those of a sidecar do.
        (
            r#"{"spec":{"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],
                "containers":[{"name":"c"}]},
                "status":{"phase":"Running","initContainerStatuses":[
                {"name":"i","restartCount":5,"state":{"terminated":{"exitCode":0}}},
                {"name":"s","ready":true,"started":true,"restartCount":2,"state":{"running":{}}}],
                "containerStatuses":[{"name":"c","ready":true,"restartCount":1,"state":{"running":{}}}]}}"#,
            &["2/2", "Running", "3", "<none>"],
        ),
        // One container is finished, the other one runs.
        (
            r#"{"spec":{"containers":[{"name":"c"},{"name":"d"}]},"status":{"phase":"Running",
                "conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[
                {"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"d",
                "ready":true,"state":{"running":{}}}]}}"#,
            &["1/2", "Running", "0", "<none>"],
        ),
        (
            r#"{"spec":{"containers":[{"name":"c"},{"name":"d"}]},"status":{"phase":"Running","containerStatuses":[
                {"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"d",
                "ready":true,"state":{"running":{}}}]}}"#,
            &["1/2", "NotReady", "0", "<none>"],
        ),
        (
            r#"{"spec":{"containers":[{"name":"c"},{"name":"d"}]},"status":{"phase":"Failed","containerStatuses":[
                {"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
                {"name":"d","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}}"#,
            &["0/2", "Error", "0", "<none>"],
        ),
        (
            r#"{"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Running"}}"#,
            &["0/0", "Terminating", "0", "<none>"],
        ),
        (
            r#"{"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Running",
                "reason":"NodeLost"}}"#,
            &["0/0", "Unknown", "0", "<none>"],
        ),
        (
            r#"{"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Succeeded"}}"#,
            &["0/0", "Succeeded", "0", "<none>"],
        ),
    ];
    check("", "v1", "pods", &columns, rows);
}

#[test]
fn node_columns_show_readiness_and_roles() {
    let columns = ["Status", "Roles", "Internal-IP", "Kernel-Version", "OS-Image"];
    let rows: &[(&str, &[&str])] = &[
        ("{}", &["Unknown", "<none>", "<none>", "<unknown>", "<unknown>"]),
        (
            r#"{"metadata":{"labels":{"node-role.kubernetes.io/x":"","node-role.kubernetes.io/":"",
                "kubernetes.io/role":"a"}},
                "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"False"}],
                "addresses":[{"type":"Hostname","address":"h"},{"type":"InternalIP","address":"192.0.2.1"}],
                "nodeInfo":{"kernelVersion":"6.1","architecture":"arm64","osImage":"OS"}}}"#,
            &["NotReady,SchedulingDisabled", "a,x", "192.0.2.1", "6.1 (arm64)", "OS"],
        ),
    ];
    check("", "v1", "nodes", &columns, rows);
}

#[test]
fn service_columns_show_addresses() {
    let columns = ["Type", "Cluster-IP", "External-IP", "Port(s)", "Selector"];
    let rows: &[(&str, &[&str])] = &[
        (
            r#"{"spec":{"type":"NodePort","clusterIPs":["10.0.0.1"],"ports":[{"port":80,"nodePort":31000,
                "protocol":"TCP"},
                {"port":53,"protocol":"UDP"}],"selector":{"b":"2","a":"1"}}}"#,
            &["NodePort", "10.0.0.1", "<none>", "80:31000/TCP,53/UDP", "a=1,b=2"],
        ),
        (r#"{"spec":{"type":"LoadBalancer"}}"#, &["LoadBalancer", "<none>", "<pending>", "<none>", "<none>"]),
        (
            r#"{"spec":{"type":"LoadBalancer","externalIPs":["192.0.2.7"]},"status":{"loadBalancer":{"ingress":[
                {"hostname":"lb.example.com"},{"ip":"198.51.100.1"},{"ip":"198.51.100.1"}]}}}"#,
            &["LoadBalancer", "<none>", "198.51.100.1,lb.example.com,192.0.2.7", "<none>", "<none>"],
        ),
        (
            r#"{"spec":{"type":"ExternalName","externalName":"e.example.com"}}"#,
            &["ExternalName", "<none>", "e.example.com", "<none>", "<none>"],
        ),
    ];
    check("", "v1", "services", &columns, rows);
}

#[test]
fn job_columns_show_progress() {
    let columns = ["Status", "Completions", "Duration", "Containers", "Images"];
    let rows: &[(&str, &[&str])] = &[
        (
            r#"{"spec":{"parallelism":3,"template":{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b",
                "image":"y"}]}}}}"#,
            &["Running", "0/1 of 3", "", "a,b", "x,y"],
        ),
        (
            r#"{"spec":{"completions":2},"status":{"succeeded":1,"startTime":"2026-01-02T03:02:00Z"}}"#,
            &["Running", "1/2", "2m5s", "", ""],
        ),
        (
            r#"{"status":{"succeeded":1,"startTime":"2026-01-02T03:02:00Z",
                "completionTime":"2026-01-02T03:02:30Z","conditions":[
                {"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}}"#,
            &["Complete", "1/1", "30s", "", ""],
        ),
    ];
    check("batch", "v1", "jobs", &columns, rows);
}

#[test]
fn autoscaler_columns_show_current_and_target_values() {
    let rows: &[(&str, &[&str])] = &[
        (r#"{"spec":{"maxReplicas":5}}"#, &["<none>", "<unset>", "int 5"]),
        (
            r#"{"spec":{"minReplicas":2,"metrics":[
                {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}},
                {"type":"External","external":{"metric":{"name":"q"},"target":{"type":"AverageValue",
                "averageValue":"30"}}}]},
                "status":{"currentMetrics":[{"type":"Resource","resource":{"name":"cpu",
                "current":{"averageUtilization":12}}}]}}"#,
            &["cpu: 12%/70%, <unknown>/30 (avg)", "2", "int 0"],
        ),
        (
            r#"{"spec":{"metrics":[{"type":"Pods","pods":{"metric":{"name":"p"},"target":{"averageValue":"1k"}}},
                {"type":"Object","object":{"target":{"value":"7"}}},{"type":"Pods"}]},"status":{"currentMetrics":[
                {"type":"Pods","pods":{"current":{"averageValue":"500m"}}},{"type":"Object",
                "object":{"current":{"value":"3"}}}]}}"#,
            &["500m/1k, 3/7 + 1 more...", "<unset>", "int 0"],
        ),
    ];
    check("autoscaling", "v2", "horizontalpodautoscalers", &["Targets", "MinPods", "MaxPods"], rows);
}

#[test]
fn long_lists_are_truncated_with_count() {
    check(
        "",
        "v1",
        "endpoints",
        &["Endpoints"],
        &[
            ("{}", &["<none>"]),
            (r#"{"subsets":[{"notReadyAddresses":[{"ip":"192.0.2.1"}]}]}"#, &[""]),
            (r#"{"subsets":[{"addresses":[{"ip":"::1"}],"ports":[{"port":1},{"port":2}]}]}"#, &["[::1]:1,[::1]:2"]),
            (
                r#"{"subsets":[{"addresses":[{"ip":"a"},{"ip":"b"}],"ports":[{"port":1},{"port":2}]}]}"#,
                &["a:1,b:1,a:2 + 1 more..."],
            ),
        ],
    );
    check(
        "networking.k8s.io",
        "v1",
        "ingresses",
        &["Hosts", "Address", "Ports"],
        &[
            (r#"{"spec":{"rules":[{}]}}"#, &["*", "", "80"]),
            (r#"{"spec":{"rules":[{"host":"a"},{},{"host":"b"},{"host":"c"}],"tls":[{}]}}"#, &["a,b,c", "", "80, 443"]),
            (r#"{"spec":{"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{}]}}"#, &["a,b,c + 1 more...", "", "80"]),
        ],
    );
}

#[test]
fn absent_values_match_upstream() {
    check(
        "storage.k8s.io",
        "v1",
        "storageclasses",
        &["Name", "AllowVolumeExpansion"],
        &[(
            r#"{"metadata":{"name":"x","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}}}"#,
            &["x (default)", "bool false"],
        )],
    );
    check(
        "storage.k8s.io",
        "v1",
        "csidrivers",
        &["AttachRequired", "TokenRequests", "Modes"],
        &[(r#"{"spec":{"tokenRequests":[{"audience":"a"},{"audience":"b"}]}}"#, &["bool true", "a,b", "<none>"])],
    );
    check("storage.k8s.io", "v1", "volumeattachments", &["PV", "Attached"], &[("{}", &["", "bool false"])]);
    check("", "v1", "persistentvolumes", &["Capacity", "Claim", "VolumeMode"], &[("{}", &["0", "", "<unset>"])]);
    check(
        "",
        "v1",
        "events",
        &["Last Seen", "Count", "Object"],
        &[
            ("{}", &["<unknown>", "int 1", ""]),
            (
                r#"{"involvedObject":{"kind":"Pod","name":"p"},"series":{"count":4,
                    "lastObservedTime":"2026-01-02T03:03:05.000000Z"}}"#,
                &["60s", "int 4", "pod/p"],
            ),
        ],
    );
    check(
        "policy",
        "v1",
        "poddisruptionbudgets",
        &["Min Available", "Max Unavailable"],
        &[(r#"{"spec":{"minAvailable":0}}"#, &["0", "N/A"]), (r#"{"spec":{"maxUnavailable":"25%"}}"#, &["N/A", "25%"])],
    );
}

#[test]
fn kind_uses_columns_of_stored_kind() {
    let event =
        r#"{"note":" padded ","regarding":{"kind":"Pod","name":"p"},"eventTime":"2026-01-02T03:03:05.000000Z"}"#;
    check(
        "events.k8s.io",
        "v1",
        "events",
        &["First Seen", "Object", "Message"],
        &[(event, &["60s", "pod/p", "padded"])],
    );
}

#[test]
fn every_table_has_one_name_column() {
    for kind in kubernetes::catalog().kinds.iter().filter(|k| k.resource.is_some_and(|r| !r.columns.is_empty())) {
        let names = kind.resource.into_iter().flat_map(|r| r.columns).filter(|c| c.name == "Name").count();
        assert_eq!(names, 1, "{} {}", kind.api_version(), kind.kind);
    }
}

#[test]
fn finished_pods_have_completed_condition() {
    let kind = kubernetes::catalog().resource("", "v1", "pods").expect("pods exist");
    let resource = kind.resource.expect("it is a resource");
    let pod = read(kind, r#"{"metadata":{"name":"p"},"status":{"phase":"Succeeded"}}"#);
    let shown: Vec<String> =
        Columns::Declared(&resource.columns[..3]).cells(pod.as_ref(), &NOW).into_iter().map(cell_text).collect();
    assert_eq!(shown, ["p", "0/0", "Succeeded"]);
    let conditions = resource.hooks.rows.expect("pods have conditions")(pod.as_ref());
    assert_eq!(
        conditions.iter().map(|c| (c.kind, c.status, c.reason, c.message)).collect::<Vec<_>>(),
        [("Completed", "True", "Succeeded", "The pod has completed successfully.")]
    );
}

#[test]
fn kinds_without_columns_have_name_and_creation_time() {
    let kind = kubernetes::catalog().resource("", "v1", "limitranges").expect("limit ranges exist");
    let range = read(kind, r#"{"metadata":{"name":"r","creationTimestamp":"2026-01-02T03:03:05Z"}}"#);
    let columns = Columns::declared(kind.resource.expect("it is a resource").columns);
    assert_eq!(
        columns.definitions().iter().map(|c| (c.name.as_ref(), c.kind.as_ref())).collect::<Vec<(&str, &str)>>(),
        [("Name", "string"), ("Created At", "date")]
    );
    let shown: Vec<String> = columns.cells(range.as_ref(), &NOW).into_iter().map(cell_text).collect();
    assert_eq!(shown, ["r", "2026-01-02T03:03:05Z"]);
}

#[test]
fn every_column_has_description_and_reads() {
    for kind in kubernetes::catalog().kinds {
        for column in kind.resource.iter().flat_map(|resource| resource.columns) {
            let (name, of) = (column.name, kind.def.name);
            assert!(!column.description.is_empty(), "{name} of {of} has no description");
            let is_declared = kind.conversion.is_some()
                || Columns::Declared(std::slice::from_ref(column)).read_by(kind.def).is_some();
            assert!(is_declared, "{name} of {of} does not declare what it reads");
        }
    }
}
