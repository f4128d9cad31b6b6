//! Files of a volume that are in each other's way (`warningsForOverlappingVirtualPaths`).

use std::fmt;

use machinery::scalar::go_text::quote;

use crate::core::v1::{DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection};

/// A file, and in projected volumes where it comes from.
struct File<'f> {
    path: &'f str,
    source: String,
}

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source.as_str() {
            "" => f.write_str(&quote(self.path)),
            source => write!(f, "{} ({source})", quote(self.path)),
        }
    }
}

impl<'f> File<'f> {
    fn new(path: &'f str, source: impl Into<String>) -> Self {
        File { path: path.trim_end_matches('/'), source: source.into() }
    }

    /// Whether one path is the other's, or leads through it.
    fn overlaps(&self, other: &File<'_>) -> bool {
        let leads_to =
            |from: &str, to: &str| to.strip_prefix(from).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        !self.path.is_empty()
            && !other.path.is_empty()
            && (leads_to(self.path, other.path) || leads_to(other.path, self.path))
    }
}

/// What is in the way in each of the volumes.
pub(super) fn warn(volumes: &[Volume], out: &mut Vec<String>) {
    for volume in volumes {
        let (name, source) = (quote(&volume.name), &volume.volume_source);
        if let Some(map) = source.config_map.as_deref() {
            let of = format!("ConfigMap {}", quote(&map.local_object_reference.name));
            warn_of(&name, &of, of_items(&map.items, ""), out);
        }
        if let Some(secret) = source.secret.as_deref() {
            warn_of(&name, &format!("Secret {}", quote(&secret.secret_name)), of_items(&secret.items, ""), out);
        }
        if let Some(fields) = source.downward_api.as_deref() {
            warn_of(&name, "DownwardAPI", of_fields(&fields.items, ""), out);
        }
        if let Some(projected) = source.projected.as_deref() {
            let empty = projected.sources.iter().filter(|source| **source == VolumeProjection::default());
            out.extend(empty.map(|_| format!("volume {name} (Projected) has no sources provided")));
            warn_of(&name, "Projected", projected.sources.iter().flat_map(of_projection).collect(), out);
        }
    }
}

fn warn_of(volume: &str, of: &str, files: Vec<File<'_>>, out: &mut Vec<String>) {
    for (index, file) in files.iter().enumerate() {
        let before = files[..index].iter().filter(|other| file.overlaps(other));
        out.extend(before.map(|other| format!("volume {volume} ({of}): overlapping paths: {file} with {other}")));
    }
}

fn of_items<'f>(items: &'f [KeyToPath], source: &str) -> Vec<File<'f>> {
    items.iter().map(|item| File::new(&item.path, source)).collect()
}

fn of_fields<'f>(fields: &'f [DownwardAPIVolumeFile], source: &str) -> Vec<File<'f>> {
    fields.iter().map(|field| File::new(&field.path, source)).collect()
}

fn of_projection(source: &VolumeProjection) -> Vec<File<'_>> {
    if let Some(map) = source.config_map.as_deref().filter(|map| !map.items.is_empty()) {
        of_items(&map.items, &format!("ConfigMap {}", quote(&map.local_object_reference.name)))
    } else if let Some(secret) = source.secret.as_deref().filter(|secret| !secret.items.is_empty()) {
        of_items(&secret.items, &format!("Secret {}", quote(&secret.local_object_reference.name)))
    } else if let Some(fields) = source.downward_api.as_deref().filter(|fields| !fields.items.is_empty()) {
        of_fields(&fields.items, "DownwardAPI")
    } else if let Some(token) = source.service_account_token.as_deref() {
        vec![File::new(&token.path, "ServiceAccountToken")]
    } else if let Some(bundle) = source.cluster_trust_bundle.as_deref() {
        let name = bundle.name.as_ref().or(bundle.signer_name.as_ref()).map_or("", String::as_str);
        vec![File::new(&bundle.path, format!("ClusterTrustBundle {}", quote(name)))]
    } else if let Some(certificate) = source.pod_certificate.as_deref() {
        let files = [
            (&certificate.certificate_chain_path, "PodCertificate chain"),
            (&certificate.key_path, "PodCertificate key"),
            (&certificate.credential_bundle_path, "PodCertificate credential bundle"),
        ];
        files.into_iter().filter(|(path, _)| !path.is_empty()).map(|(path, of)| File::new(path, of)).collect()
    } else {
        Vec::new()
    }
}
