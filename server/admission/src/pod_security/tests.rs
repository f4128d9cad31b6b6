//! Pods that each check rejects, by level and release, from upstream's fixtures and tests of the
//! checks.

use serde_json::{Value, json};

use super::super::testing::parsed;
use super::*;

/// Returns the violations of a level of a release by a pod.
fn check(level: PodSecurityLevel, version: policy::PodSecurityVersion, pod: &Value) -> String {
    let pod: Pod = parsed(pod);
    violations(LevelVersion { level, version }, &CheckedPod::of_pod(&pod)).unwrap_or_default()
}

/// A pod that satisfies all levels in all releases.
fn valid() -> Value {
    let security = json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
    json!({
        "metadata": {"name": "p", "annotations": {}},
        "spec": {
            "initContainers": [{"name": "init", "image": "i", "securityContext": security}],
            "containers": [{"name": "main", "image": "i", "securityContext": security}],
            "ephemeralContainers": [{"name": "debug", "image": "i", "securityContext": security}],
            "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        },
    })
}

/// Sets a field by its JSON pointer and creates missing objects; null removes the field.
fn set(object: &mut Value, pointer: &str, value: Value) {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    if !parent.is_empty() && object.pointer(parent).is_none_or(Value::is_null) {
        set(object, parent, json!({}));
    }
    let parent = object.pointer_mut(parent).unwrap();
    match parent {
        Value::Array(items) => items[field.parse::<usize>().unwrap()] = value,
        parent => parent[field.replace("~1", "/")] = value,
    }
}

/// A change to the valid pod, and the releases in which the level rejects it: `from..until`.
struct Row {
    level: PodSecurityLevel,
    changes: Vec<(String, Value)>,
    from: u32,
    until: u32,
}

const NEVER: u32 = u32::MAX;
const EACH: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

#[derive(Default)]
struct Table(Vec<Row>);

impl Table {
    /// Adds a change that a level rejects from a release on.
    fn rejected(&mut self, level: PodSecurityLevel, from: u32, pointer: &str, value: Value) {
        self.between(level, (from, NEVER), &[(pointer, value)]);
    }

    /// Adds a change that no level rejects in any release.
    fn allowed(&mut self, pointer: &str, value: Value) {
        self.between(PodSecurityLevel::Restricted, (NEVER, NEVER), &[(pointer, value)]);
    }

    fn between(&mut self, level: PodSecurityLevel, (from, until): (u32, u32), changes: &[(&str, Value)]) {
        let changes = changes.iter().map(|(pointer, value)| ((*pointer).to_owned(), value.clone())).collect();
        self.0.push(Row { level, changes, from, until });
    }

    /// Adds the change for a field of the containers of each type.
    fn rejected_in_each(&mut self, level: PodSecurityLevel, from: u32, pointer: &str, value: Value) {
        for list in EACH {
            self.rejected(level, from, &format!("/spec/{list}/0/{pointer}"), value.clone());
        }
    }

    fn allowed_in_each(&mut self, pointer: &str, value: Value) {
        for list in EACH {
            self.allowed(&format!("/spec/{list}/0/{pointer}"), value.clone());
        }
    }

    /// Checks each row in each release. Levels that are less strict than the row's level never
    /// reject the pod.
    fn run(self) -> usize {
        let mut rows = 0;
        for row in self.0 {
            let mut pod = valid();
            row.changes.iter().for_each(|(pointer, value)| set(&mut pod, pointer, value.clone()));
            for version in (0..=36).map(Some).chain([None]) {
                let minor = version.unwrap_or(NEVER - 1);
                let is_refused = (row.from..row.until).contains(&minor);
                for level in [PodSecurityLevel::Privileged, PodSecurityLevel::Baseline, PodSecurityLevel::Restricted] {
                    let found = check(level, version, &pod);
                    let shown = format!("{:?} {level:?} {version:?}: {found}", row.changes);
                    assert_eq!(!found.is_empty(), is_refused && level >= row.level, "{shown}");
                    rows += 1;
                }
            }
        }
        rows
    }
}

use PodSecurityLevel::{Baseline, Restricted};

#[test]
fn host_access() {
    let mut table = Table::default();
    table.allowed("/metadata/name", json!("p"));
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        table.rejected(Baseline, 0, &format!("/spec/{field}"), json!(true));
        table.allowed(&format!("/spec/{field}"), json!(false));
    }
    table.rejected(
        Baseline,
        0,
        "/spec/volumes",
        json!([{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": {"path": "/"}}]),
    );
    table.rejected_in_each(Baseline, 0, "ports", json!([{"containerPort": 1}, {"containerPort": 2, "hostPort": 2}]));
    table.allowed_in_each("ports", json!([{"containerPort": 1}, {"containerPort": 2, "hostPort": 0}]));
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        for (action, host) in
            [("httpGet", "bad.host"), ("tcpSocket", "8.8.8.8"), ("httpGet", "127.0.0.1"), ("tcpSocket", "::1")]
        {
            table.rejected_in_each(Baseline, 34, probe, json!({action: {"host": host, "port": 80}}));
            table.allowed_in_each(probe, json!({action: {"port": 80}}));
        }
    }
    for hook in ["postStart", "preStop"] {
        for action in ["httpGet", "tcpSocket"] {
            table.rejected_in_each(Baseline, 34, "lifecycle", json!({hook: {action: {"host": "h", "port": 80}}}));
            table.allowed_in_each("lifecycle", json!({hook: {action: {"port": 80}}}));
        }
    }
    table.rejected(Baseline, 0, "/spec/securityContext/windowsOptions", json!({"hostProcess": true}));
    table.rejected_in_each(Baseline, 0, "securityContext/windowsOptions", json!({"hostProcess": true}));
    table.allowed("/spec/securityContext/windowsOptions", json!({"hostProcess": false}));
    assert!(table.run() > 10_000);
}

#[test]
fn privileges_and_capabilities() {
    const BASELINE: [&str; 13] = [
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    ];
    let mut table = Table::default();
    table.rejected_in_each(Baseline, 0, "securityContext/privileged", json!(true));
    table.allowed_in_each("securityContext/privileged", json!(false));
    for name in BASELINE.into_iter().filter(|name| *name != "NET_BIND_SERVICE") {
        table.rejected_in_each(Restricted, 22, "securityContext/capabilities/add", json!([name]));
    }
    table.allowed_in_each("securityContext/capabilities/add", json!(["NET_BIND_SERVICE"]));
    for name in ["NET_RAW", "SYS_ADMIN", "ALL", "chown", "CAP_CHOWN", "bogus", ""] {
        table.rejected_in_each(Baseline, 0, "securityContext/capabilities/add", json!([name]));
    }
    table.rejected_in_each(Restricted, 22, "securityContext/capabilities/drop", json!([]));
    table.rejected_in_each(Restricted, 22, "securityContext/capabilities/drop", json!(BASELINE));
    table.rejected_in_each(Restricted, 22, "securityContext/capabilities/drop", json!(["all"]));
    table.rejected_in_each(Restricted, 22, "securityContext/capabilities", json!(null));
    table.allowed_in_each("securityContext/capabilities/drop", json!(["CHOWN", "ALL"]));
    table.rejected_in_each(Restricted, 8, "securityContext/allowPrivilegeEscalation", json!(true));
    table.rejected_in_each(Restricted, 8, "securityContext/allowPrivilegeEscalation", json!(null));
    table.rejected_in_each(Restricted, 8, "securityContext", json!(null));
    assert!(table.run() > 8_000);
}

#[test]
fn users_and_volumes() {
    let mut table = Table::default();
    table.rejected(Restricted, 0, "/spec/securityContext/runAsNonRoot", json!(null));
    table.rejected(Restricted, 0, "/spec/securityContext/runAsNonRoot", json!(false));
    table.rejected_in_each(Restricted, 0, "securityContext/runAsNonRoot", json!(false));
    table.allowed_in_each("securityContext/runAsNonRoot", json!(true));
    table.rejected(Restricted, 23, "/spec/securityContext/runAsUser", json!(0));
    table.allowed("/spec/securityContext/runAsUser", json!(1000));
    table.rejected_in_each(Restricted, 23, "securityContext/runAsUser", json!(0));
    table.allowed_in_each("securityContext/runAsUser", json!(1000));
    // In a user namespace, root is allowed from release 35 on.
    for (pointer, value, from) in [("runAsNonRoot", json!(false), 0), ("runAsUser", json!(0), 23)] {
        let pointer = format!("/spec/securityContext/{pointer}");
        table.between(Restricted, (from, 35), &[("/spec/hostUsers", json!(false)), (&pointer, value)]);
    }
    for source in [
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    ] {
        table.allowed("/spec/volumes", json!([{"name": "v", source: {}}]));
    }
    for source in [
        "gcePersistentDisk",
        "awsElasticBlockStore",
        "gitRepo",
        "nfs",
        "iscsi",
        "glusterfs",
        "rbd",
        "flexVolume",
        "cinder",
        "cephfs",
        "flocker",
        "fc",
        "azureFile",
        "vsphereVolume",
        "quobyte",
        "azureDisk",
        "portworxVolume",
        "scaleIO",
        "storageos",
        "photonPersistentDisk",
    ] {
        table.rejected(
            Restricted,
            0,
            "/spec/volumes",
            json!([{"name": "ok", "emptyDir": {}}, {"name": "v", source: {}}]),
        );
    }
    assert!(table.run() > 4_000);
}

#[test]
fn profiles() {
    let mut table = Table::default();
    for (kind, is_good) in [("RuntimeDefault", true), ("Localhost", true), ("Unconfined", false), ("", false)] {
        for field in ["seccompProfile", "appArmorProfile"] {
            // Seccomp profiles are fields since release 19.
            let from = if field == "seccompProfile" { 19 } else { 0 };
            let (of_pod, of_container) = (format!("/spec/securityContext/{field}"), format!("securityContext/{field}"));
            match is_good {
                true => {
                    table.allowed(&of_pod, json!({"type": kind}));
                    table.allowed_in_each(&of_container, json!({"type": kind}));
                }
                false => {
                    table.rejected(Baseline, from, &of_pod, json!({"type": kind}));
                    table.rejected_in_each(Baseline, from, &of_container, json!({"type": kind}));
                }
            }
        }
    }
    table.rejected(Restricted, 19, "/spec/securityContext/seccompProfile", json!(null));
    let annotation = |name: &str| format!("/metadata/annotations/{}", name.replace('/', "~1"));
    let app_armor = annotation("container.apparmor.security.beta.kubernetes.io/main");
    for value in ["runtime/default", "localhost/foo", ""] {
        table.allowed(&app_armor, json!(value));
    }
    for value in ["unconfined", "runtime/defaultx", "local", " "] {
        table.rejected(Baseline, 0, &app_armor, json!(value));
    }
    table.rejected(
        Baseline,
        0,
        &annotation("container.apparmor.security.beta.kubernetes.io/unknown"),
        json!("unconfined"),
    );
    for of in [
        "seccomp.security.alpha.kubernetes.io/pod",
        "container.seccomp.security.alpha.kubernetes.io/main",
        "container.seccomp.security.alpha.kubernetes.io/init",
        "container.seccomp.security.alpha.kubernetes.io/debug",
    ] {
        for value in ["unconfined", "runtime", "localhost", ""] {
            table.between(Baseline, (0, 19), &[(&annotation(of), json!(value))]);
        }
        for value in ["runtime/default", "docker/default", "localhost/", "localhost/foo"] {
            table.allowed(&annotation(of), json!(value));
        }
    }
    table.allowed(&annotation("container.seccomp.security.alpha.kubernetes.io/unknown"), json!("unconfined"));
    assert!(table.run() > 4_000);
}

#[test]
fn kernel_settings() {
    let mut table = Table::default();
    for list in EACH {
        let mount = format!("/spec/{list}/0/securityContext/procMount");
        for value in ["Unmasked", "other", ""] {
            table.rejected(Baseline, 0, &mount, json!(value));
            // In a user namespace, the baseline allows it from release 35 on; restricted does not.
            let pod = [("/spec/hostUsers", json!(false)), (mount.as_str(), json!(value))];
            table.between(Restricted, (35, NEVER), &pod);
            let last = table.0.pop().unwrap();
            let mut changed = valid();
            last.changes.iter().for_each(|(pointer, value)| set(&mut changed, pointer, value.clone()));
            for (level, version, rejected) in
                [(Baseline, 34, true), (Baseline, 35, false), (Restricted, 34, true), (Restricted, 35, true)]
            {
                let found = check(level, Some(version), &changed);
                assert_eq!(!found.is_empty(), rejected, "{level:?} {version} {value}: {found}");
            }
        }
        table.allowed(&mount, json!("Default"));
    }
    for at in ["/spec/securityContext", "/spec/containers/0/securityContext", "/spec/initContainers/0/securityContext"]
    {
        let options = format!("{at}/seLinuxOptions");
        for kind in ["", "container_t", "container_init_t", "container_kvm_t"] {
            table.allowed(&options, json!({"type": kind, "level": "any"}));
        }
        table.between(Baseline, (0, 31), &[(&options, json!({"type": "container_engine_t"}))]);
        for bad in [json!({"type": "other"}), json!({"user": "u"}), json!({"role": "r"})] {
            table.rejected(Baseline, 0, &options, bad);
        }
    }
    let since = [
        (
            0,
            "kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies net.ipv4.ping_group_range net.ipv4.ip_unprivileged_port_start",
        ),
        (27, "net.ipv4.ip_local_reserved_ports"),
        (
            29,
            "net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes",
        ),
        (32, "net.ipv4.tcp_rmem net.ipv4.tcp_wmem"),
    ];
    for (release, names) in since {
        for name in names.split(' ') {
            table.between(
                Baseline,
                (0, release),
                &[("/spec/securityContext/sysctls", json!([{"name": name, "value": "1"}]))],
            );
        }
    }
    for name in ["other", "kernel.msgmax", "net.ipv4.tcp_syncookiesx", ""] {
        table.rejected(Baseline, 0, "/spec/securityContext/sysctls", json!([{"name": name, "value": "1"}]));
    }
    assert!(table.run() > 4_000);
}

/// Windows has neither capabilities nor seccomp; from release 25 on, its pods need not set them.
#[test]
fn pods_for_windows() {
    let bare = json!({
        "metadata": {"name": "p"},
        "spec": {
            "os": {"name": "windows"},
            "containers": [{"name": "main", "image": "i"}],
            "securityContext": {"runAsNonRoot": true},
        },
    });
    for (version, rejected) in [(7, false), (8, true), (19, true), (22, true), (24, true), (25, false), (36, false)] {
        let found = check(Restricted, Some(version), &bare);
        assert_eq!(!found.is_empty(), rejected, "{version}: {found}");
    }
    let mut host = bare;
    host["spec"]["securityContext"]["windowsOptions"] = json!({"hostProcess": true});
    assert_ne!(check(Baseline, None, &host), "");
}

#[test]
fn evaluates_significant_updates() {
    let check = |field: &str, old: Value, new: Value, expect: bool| {
        let of = |value: Value| parsed::<Pod>(&json!({"metadata": {"labels": {"a": "b"}}, "spec": {field: value}}));
        assert_eq!(is_significant_update(&of(new.clone()), &of(old.clone())), expect, "{field}: {old} to {new}");
    };
    let c = |name: &str, image: &str| json!({"name": name, "image": image});
    for field in EACH {
        check(field, json!([c("a", "i")]), json!([c("a", "i")]), false);
        check(field, json!([c("a", "i")]), json!([c("a", "j")]), true);
        check(field, json!([]), json!([c("a", "i")]), true);
        check(field, json!([c("a", "i")]), json!([c("a", "i"), c("b", "i")]), true);
    }
    check("containers", json!([c("a", "i")]), json!([]), true);
    check("ephemeralContainers", json!([c("a", "i")]), json!([]), false);
    check("ephemeralContainers", json!([c("a", "i"), c("b", "j")]), json!([c("b", "j"), c("a", "i")]), false);
    check("ephemeralContainers", json!([c("a", "i"), c("b", "j")]), json!([c("b", "i"), c("a", "j")]), true);
    check("activeDeadlineSeconds", json!(5), json!(4), false);
}

#[test]
fn orders_findings_as_upstream() {
    let with =
        |security: Value| json!({"spec": {"containers": [{"name": "c", "image": "i", "securityContext": security}]}});
    let table = [
        (
            Baseline,
            None,
            with(json!({"privileged": true, "capabilities": {"add": ["SYS_ADMIN", "CHOWN", "BPF"]}})),
            "non-default capabilities (container \"c\" must not include \"BPF\", \"SYS_ADMIN\" in securityContext.capabilities.add), privileged (container \"c\" must not set securityContext.privileged=true)",
        ),
        (
            Baseline,
            None,
            json!({"spec": {"hostNetwork": true, "containers": [{"name": "a", "ports": [{"hostPort": 80}]}, {"name": "b", "ports": [{"hostPort": 81}]}]}}),
            "host namespaces (hostNetwork=true), hostPort (containers \"a\", \"b\" use hostPorts 80, 81)",
        ),
        (
            Baseline,
            Some(28),
            json!({"spec": {"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_rmem"}, {"name": "net.ipv4.ip_local_reserved_ports"}]}}}),
            "forbidden sysctls (net.ipv4.tcp_rmem)",
        ),
        (
            Restricted,
            Some(7),
            json!({"spec": {"containers": [{"name": "c"}], "volumes": [{"name": "v", "hostPath": {"path": "/"}}], "securityContext": {"runAsNonRoot": true}}}),
            "restricted volume types (volume \"v\" uses restricted volume type \"hostPath\")",
        ),
    ];
    for (level, version, pod, expect) in table {
        assert_eq!(check(level, version, &pod), expect, "{pod}");
    }
}
