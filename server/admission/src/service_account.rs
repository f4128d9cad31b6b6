//! `ServiceAccount`: sets the service account of pods, mounts its token, and limits the secrets of
//! pods.

mod mountable;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::{
    ConfigMapProjection, Container, DownwardAPIProjection, DownwardAPIVolumeFile, KeyToPath, LocalObjectReference,
    ObjectFieldSelector, Pod, PodSpec, ProjectedVolumeSource, ServiceAccount, ServiceAccountTokenProjection, Volume,
    VolumeMount, VolumeProjection, VolumeSource,
};
use machinery::features::parse_bool;
use machinery::format::is_path_segment_name;
use machinery::reflect::Owned;
use machinery::status::Status;
use options::Options;
use registry::Stores;

use super::lookup::find;
use super::{body, body_mut, forbidden, hints};
use kubernetes::core::pod_references::{ReferenceKind, visit_pod};
use mountable::NewSecrets;

/// The subresource that adds containers to a running pod.
const EPHEMERAL: &str = "ephemeralcontainers";
/// The annotation that restricts pods to the secrets of their service account.
const ENFORCE_MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";
const MIRROR_POD: &str = "kubernetes.io/config.mirror";
const DEFAULT_ACCOUNT: &str = "default";
/// The mount path of the token (`DefaultAPITokenMountPath`).
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX: &str = "kube-api-access-";
/// One hour and seven seconds, so that kubelets recognize these tokens
/// (`WarnOnlyBoundTokenExpirationSeconds`).
const TOKEN_SECONDS: i64 = 3607;
const READABLE_BY_ALL: i32 = 0o644;

/// Sets the service account of a new pod, mounts its token, and sets its pull secrets.
pub async fn admit(
    options: &Options,
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &mut Owned,
) -> Result<(), Status> {
    if attributes.operation != Operation::Create {
        return Ok(());
    }
    let pod = body_mut::<Pod>(object)?;
    if !pod.metadata.annotations.contains_key(MIRROR_POD) {
        let spec = &mut pod.spec;
        if spec.service_account_name.is_empty() {
            spec.service_account_name = DEFAULT_ACCOUNT.into();
        }
        spec.service_account.clone_from(&spec.service_account_name);
        let account = account(options, stores, attributes, &spec.service_account_name).await?;
        if spec.automount_service_account_token.or(account.automount_service_account_token).unwrap_or(true) {
            mount_token(spec);
        }
        if spec.image_pull_secrets.is_empty() {
            spec.image_pull_secrets.clone_from(&account.image_pull_secrets);
        }
    }
    validate(options, stores, attributes, object, None).await
}

/// Rejects pods without a service account, and secrets that the service account does not reference.
///
/// Upstream checks new pods and `pods/ephemeralcontainers`. Here secrets that any other update adds
/// are rejected too.
pub async fn validate(
    options: &Options,
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let pod = body::<Pod>(object)?;
    let creates = attributes.operation == Operation::Create;
    if creates && pod.metadata.annotations.contains_key(MIRROR_POD) {
        return validate_mirror(&pod.spec).map_err(|why| forbidden(attributes, why));
    }
    let old = old.and_then(Owned::downcast_ref::<Pod>).filter(|_| !creates).map(|old| &old.spec);
    // Computed lazily, because few service accounts limit secrets.
    let secrets = || NewSecrets::of(&pod.spec, old);
    if !creates && attributes.subresource != EPHEMERAL && secrets().is_empty() {
        return Ok(());
    }
    if pod.spec.service_account_name.is_empty() {
        let (namespace, name) = (&attributes.namespace, &pod.metadata.name);
        return Err(forbidden(attributes, format!("no service account specified for pod {namespace}/{name}")));
    }
    let account = account(options, stores, attributes, &pod.spec.service_account_name).await?;
    if enforces_mountable_secrets(&account) {
        secrets().check(&account).map_err(|why| forbidden(attributes, why))?;
    }
    Ok(())
}

async fn account(
    options: &Options,
    stores: &Stores,
    attributes: &AdmissionAttributes,
    name: &str,
) -> Result<Arc<ServiceAccount>, Status> {
    let namespace = &attributes.namespace;
    // Upstream's client rejects such names.
    let wrong = is_path_segment_name(name);
    if !wrong.is_empty() {
        let why = format!("invalid resource name {name:?}: [{}]", wrong.join(" "));
        return Err(forbidden(attributes, format!("error looking up service account {namespace}/{name}: {why}")));
    }
    let found = find(stores, attributes, ("", "serviceaccounts"), (namespace, name)).await?;
    let why = || format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
    found.ok_or_else(|| {
        hints::missing_service_account(options, attributes, name);
        forbidden(attributes, why())
    })
}

fn enforces_mountable_secrets(account: &ServiceAccount) -> bool {
    account.metadata.annotations.get(ENFORCE_MOUNTABLE).and_then(|value| parse_bool(value)) == Some(true)
}

/// What a mirror pod references.
#[derive(Debug, thiserror::Error)]
enum MirrorPodReference {
    #[error("a mirror pod may not reference service accounts")]
    ServiceAccount,
    #[error("a mirror pod may not reference secrets")]
    Secret,
    #[error("a mirror pod may not use ServiceAccountToken volume projections")]
    Token,
}

/// Rejects mirror pods that reference service accounts, secrets, or tokens.
fn validate_mirror(spec: &PodSpec) -> Result<(), MirrorPodReference> {
    let mut refusal = None;
    visit_pod(spec, &mut |reference| match reference.kind {
        ReferenceKind::ServiceAccount => refusal = Some(MirrorPodReference::ServiceAccount),
        ReferenceKind::Secret => {
            refusal.get_or_insert(MirrorPodReference::Secret);
        }
        _ => {}
    });
    let projected = spec.volumes.iter().filter_map(|volume| volume.volume_source.projected.as_ref());
    if projected.flat_map(|volume| &volume.sources).any(|source| source.service_account_token.is_some()) {
        refusal.get_or_insert(MirrorPodReference::Token);
    }
    refusal.map_or(Ok(()), Err)
}

/// Mounts the token into containers without a mount at its path.
fn mount_token(spec: &mut PodSpec) {
    let existing = spec.volumes.iter().find(|v| v.name.starts_with(VOLUME_PREFIX));
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

/// Builds the volume with token, cluster CA, and namespace (`TokenVolumeSource`).
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
