//! Admission of pods, by upstream's tests of the plugin and beyond them.

use serde_json::{Value, json};

use super::super::testing::parsed;
use super::*;

fn spec(document: Value) -> PodSpec {
    parsed(&document)
}

fn account() -> ServiceAccount {
    parsed(&json!({
        "metadata": {"name": "robot"},
        "secrets": [{"name": "foo"}],
        "imagePullSecrets": [{"name": "pull"}],
    }))
}

/// Returns the error of a spec or of an update to it.
fn refusal(new: Value, old: Option<Value>) -> String {
    let (new, old) = (spec(new), old.map(spec));
    NewSecrets::of(&new, old.as_ref()).check(&account()).map_or_else(|refusal| refusal.to_string(), |()| String::new())
}

fn env(secret: &str) -> Value {
    json!([{"name": "A", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}}])
}

fn env_from(secret: &str) -> Value {
    json!([{"prefix": "p"}, {"secretRef": {"name": secret}}])
}

fn volume(source: Value) -> Value {
    let mut volume = source;
    volume["name"] = json!("v");
    json!({"volumes": [{"name": "first", "emptyDir": {}}, volume]})
}

const SECRET: &str = "is not allowed because service account robot does not reference that secret";

#[test]
fn secrets_of_new_pods() {
    let of = |list: &str, env: &str, value: Value| json!({list: [{"name": "first"}, {"name": "c", env: value}]});
    let named = json!({"name": "bar"});
    let table = [
        (json!({}), String::new()),
        (volume(json!({"secret": {"secretName": "foo"}})), String::new()),
        (volume(json!({"secret": {"secretName": "bar"}})), format!("volume with secret.secretName=\"bar\" {SECRET}")),
        (of("containers", "env", env("foo")), String::new()),
        (of("containers", "env", json!([{"name": "A", "value": "bar"}])), String::new()),
        (
            of("containers", "env", env("bar")),
            format!("container c with envVar A referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (of("containers", "envFrom", env_from("foo")), String::new()),
        (
            of("containers", "envFrom", env_from("bar")),
            format!("container c with envFrom referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (of("initContainers", "env", env("foo")), String::new()),
        (
            of("initContainers", "env", env("bar")),
            format!("init container c with envVar A referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (
            of("initContainers", "envFrom", env_from("bar")),
            format!("init container c with envFrom referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (json!({"imagePullSecrets": [{"name": "pull"}]}), String::new()),
        (
            json!({"imagePullSecrets": [{"name": "pull"}, {"name": "foo"}]}),
            "imagePullSecrets[1].name=\"foo\" is not allowed because service account robot does not reference that \
             imagePullSecret"
                .into(),
        ),
        // A pull secret is not mountable.
        (volume(json!({"secret": {"secretName": "pull"}})), format!("volume with secret.secretName=\"pull\" {SECRET}")),
        // Beyond upstream.
        (volume(json!({"projected": {"sources": [{"secret": {"name": "foo"}}]}})), String::new()),
        (
            volume(json!({"projected": {"sources": [{"secret": named}]}})),
            format!("spec.volumes[1].projected.sources[0].secret.name referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (
            volume(json!({"csi": {"driver": "d", "nodePublishSecretRef": named}})),
            format!("spec.volumes[1].csi.nodePublishSecretRef.name referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (
            volume(json!({"azureFile": {"secretName": "bar", "shareName": "s"}})),
            format!("spec.volumes[1].azureFile.secretName referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (
            volume(json!({"cephfs": {"secretRef": named}})),
            format!("spec.volumes[1].cephfs.secretRef.name referencing secret.secretName=\"bar\" {SECRET}"),
        ),
    ];
    for (document, expect) in table {
        assert_eq!(refusal(document.clone(), None), expect, "{document}");
    }
}

#[test]
fn secrets_of_updated_pods() {
    let debug = |env: &str, value: Value| json!({"ephemeralContainers": [{"name": "d", env: value}]});
    let mounted = volume(json!({"secret": {"secretName": "bar"}}));
    let table = [
        (debug("env", env("foo")), json!({}), String::new()),
        (
            debug("env", env("bar")),
            json!({}),
            format!("ephemeral container d with envVar A referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (
            debug("envFrom", env_from("bar")),
            json!({}),
            format!("ephemeral container d with envFrom referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        // As upstream, secrets that the pod already uses count as well.
        (
            debug("env", env("bar")),
            debug("env", env("bar")),
            format!("ephemeral container d with envVar A referencing secret.secretName=\"bar\" {SECRET}"),
        ),
        (mounted.clone(), mounted.clone(), String::new()),
        (mounted, json!({}), format!("volume with secret.secretName=\"bar\" {SECRET}")),
    ];
    for (new, old, expect) in table {
        assert_eq!(refusal(new.clone(), Some(old.clone())), expect, "{new} after {old}");
    }
}

#[test]
fn rejects_references_of_mirror_pods() {
    let secrets = "a mirror pod may not reference secrets";
    let accounts = "a mirror pod may not reference service accounts";
    let table = [
        (json!({}), Ok(())),
        (volume(json!({"configMap": {"name": "c"}})), Ok(())),
        (json!({"serviceAccountName": "robot"}), Err(accounts)),
        (json!({"serviceAccount": "robot"}), Err(accounts)),
        (json!({"serviceAccountName": "robot", "imagePullSecrets": [{"name": "s"}]}), Err(accounts)),
        (volume(json!({"secret": {"secretName": "s"}})), Err(secrets)),
        (volume(json!({"projected": {"sources": [{"secret": {"name": "s"}}]}})), Err(secrets)),
        (json!({"containers": [{"name": "c", "env": env("s")}]}), Err(secrets)),
        (json!({"initContainers": [{"name": "c", "envFrom": env_from("s")}]}), Err(secrets)),
        (json!({"imagePullSecrets": [{"name": "s"}]}), Err(secrets)),
        (
            volume(json!({"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}})),
            Err("a mirror pod may not use ServiceAccountToken volume projections"),
        ),
    ];
    for (document, expect) in table {
        let found = validate_mirror(&spec(document.clone())).map_err(|reference| reference.to_string());
        assert_eq!(found, expect.map_err(str::to_owned), "{document}");
    }
}

/// Returns the mounts of all containers after a token is mounted, and the volumes.
fn mounted(document: Value) -> (Vec<String>, Vec<String>) {
    let mut spec = spec(document);
    mount_token(&mut spec);
    let mounts = spec.init_containers.iter().chain(&spec.containers).flat_map(|c| &c.volume_mounts);
    let shown = |name: &str| if name == "kube-api-access-own" { name.to_owned() } else { name[..16].to_owned() };
    let mounts =
        mounts.map(|m| format!("{} at {}{}", shown(&m.name), m.mount_path, if m.read_only { " ro" } else { "" }));
    (mounts.collect(), spec.volumes.iter().map(|v| shown(&v.name)).collect())
}

#[test]
fn mounts_tokens_at_free_paths() {
    let generated = format!("kube-api-access- at {MOUNT_PATH} ro");
    let own = json!([{"name": "kube-api-access-own", "mountPath": MOUNT_PATH}]);
    let at_own = format!("kube-api-access-own at {MOUNT_PATH}");
    let table = [
        (json!({"containers": [{"name": "c"}]}), vec![generated.clone()], vec!["kube-api-access-"]),
        (
            json!({"containers": [{"name": "c"}], "initContainers": [{"name": "i"}]}),
            vec![generated.clone(), generated],
            vec!["kube-api-access-"],
        ),
        (json!({"containers": [{"name": "c", "volumeMounts": own}]}), vec![at_own.clone()], vec![]),
        (
            json!({"containers": [{"name": "c"}], "volumes": [{"name": "kube-api-access-own", "emptyDir": {}}]}),
            vec![format!("{at_own} ro")],
            vec!["kube-api-access-own"],
        ),
        (json!({}), vec![], vec![]),
    ];
    for (document, mounts, volumes) in table {
        let (found, found_volumes) = mounted(document.clone());
        assert_eq!((found, found_volumes), (mounts, volumes.into_iter().map(str::to_owned).collect()), "{document}");
    }
}
