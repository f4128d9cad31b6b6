//! `ServiceAccount`: every pod has an account, and a token of it where it wants one.

mod mountable;

use endpoints::{Attributes, Environment, Operation};
use generated::core::v1::{
    ConfigMapProjection, Container, DownwardAPIProjection, DownwardAPIVolumeFile, KeyToPath, LocalObjectReference,
    ObjectFieldSelector, Pod, PodSpec, ProjectedVolumeSource, ServiceAccount, ServiceAccountTokenProjection, Volume,
    VolumeMount, VolumeProjection, VolumeSource,
};
use machinery::features::parse_bool;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::forbidden;
use super::lookup::find;

/// Pods use only the secrets that their account names.
const ENFORCE_MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";
const MIRROR_POD: &str = "kubernetes.io/config.mirror";
const DEFAULT_ACCOUNT: &str = "default";
/// Where programs look for their token (`DefaultAPITokenMountPath`).
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX: &str = "kube-api-access-";
/// An hour, and a little so that kubelets can tell these tokens apart (`WarnOnlyBoundTokenExpirationSeconds`).
const TOKEN_SECONDS: i64 = 3607;
const READABLE_BY_ALL: i32 = 0o644;

/// Names the account of a new pod and mounts its token.
pub async fn admit(environment: &Environment, attributes: &Attributes, object: &mut Owned) -> Result<(), Status> {
    let Some(pod) = object.downcast_mut::<Pod>().filter(|_| attributes.operation == Operation::Create) else {
        return Ok(());
    };
    if pod.metadata.annotations.contains_key(MIRROR_POD) {
        return validate_mirror(&pod.spec).map_err(|why| forbidden(attributes, why));
    }
    let spec = &mut pod.spec;
    if spec.service_account_name.is_empty() {
        spec.service_account_name = DEFAULT_ACCOUNT.into();
    }
    spec.service_account = spec.service_account_name.clone();
    let name = spec.service_account_name.clone();
    let found =
        find::<ServiceAccount>(environment, attributes, ("", "serviceaccounts"), (&attributes.namespace, &name))
            .await?;
    let account = found.ok_or_else(|| {
        let namespace = &attributes.namespace;
        forbidden(
            attributes,
            format!("error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found"),
        )
    })?;
    if account.metadata.annotations.get(ENFORCE_MOUNTABLE).and_then(|value| parse_bool(value)) == Some(true) {
        mountable::check(spec, &account).map_err(|why| forbidden(attributes, why))?;
    }
    if spec.automount_service_account_token.or(account.automount_service_account_token).unwrap_or(true) {
        mount_token(spec);
    }
    if spec.image_pull_secrets.is_empty() {
        spec.image_pull_secrets = account.image_pull_secrets.clone();
    }
    Ok(())
}

/// A kubelet's own pods are not run as anybody.
fn validate_mirror(spec: &PodSpec) -> Result<(), &'static str> {
    if !spec.service_account_name.is_empty() {
        return Err("a mirror pod may not reference service accounts");
    }
    if spec.volumes.iter().any(|v| v.volume_source.secret.is_some()) {
        return Err("a mirror pod may not reference secrets");
    }
    Ok(())
}

/// Mounts the token into containers that have nothing in its place.
fn mount_token(spec: &mut PodSpec) {
    let existing =
        spec.volumes.iter().find(|v| v.volume_source.projected.is_some() && v.name.starts_with(VOLUME_PREFIX));
    let has_volume = existing.is_some();
    let name = existing.map_or_else(|| registry::random_suffix(VOLUME_PREFIX), |v| v.name.clone());
    let mut mounted = false;
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        mounted |= mount(container, &name);
    }
    if mounted && !has_volume {
        spec.volumes.push(token_volume(name));
    }
}

fn mount(container: &mut Container, volume: &str) -> bool {
    if container.volume_mounts.iter().any(|m| m.mount_path == MOUNT_PATH) {
        return false;
    }
    let mount =
        VolumeMount { name: volume.into(), read_only: true, mount_path: MOUNT_PATH.into(), ..VolumeMount::default() };
    container.volume_mounts.push(mount);
    true
}

/// Token, certificate of the cluster, namespace (`TokenVolumeSource`).
fn token_volume(name: String) -> Volume {
    let token = ServiceAccountTokenProjection {
        path: "token".into(),
        expiration_seconds: Some(TOKEN_SECONDS),
        ..Default::default()
    };
    let certificates = ConfigMapProjection {
        local_object_reference: LocalObjectReference { name: "kube-root-ca.crt".into() },
        items: vec![KeyToPath { key: "ca.crt".into(), path: "ca.crt".into(), mode: None }],
        optional: None,
    };
    let namespace = DownwardAPIVolumeFile {
        path: "namespace".into(),
        field_ref: Some(Box::new(ObjectFieldSelector {
            api_version: "v1".into(),
            field_path: "metadata.namespace".into(),
        })),
        ..Default::default()
    };
    let sources = vec![
        VolumeProjection { service_account_token: Some(Box::new(token)), ..Default::default() },
        VolumeProjection { config_map: Some(Box::new(certificates)), ..Default::default() },
        VolumeProjection {
            downward_api: Some(Box::new(DownwardAPIProjection { items: vec![namespace] })),
            ..Default::default()
        },
    ];
    let projected = ProjectedVolumeSource { sources, default_mode: Some(READABLE_BY_ALL) };
    Volume { name, volume_source: VolumeSource { projected: Some(Box::new(projected)), ..Default::default() } }
}
