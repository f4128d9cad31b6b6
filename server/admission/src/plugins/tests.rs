//! The requests that each plugin handles, by upstream's plugins and their tests.

use machinery::def::{Shape, StructDef};
use options::PLUGINS;

use super::*;

#[test]
fn all_plugins_of_flags_exist() {
    for (name, _) in PLUGINS {
        assert_eq!(Plugin::named(name).map(Plugin::name), Some(*name));
    }
}

fn handles(plugin: Plugin, operation: Operation, group: &str, plural: &str, subresource: &str) -> bool {
    let handled = [Admit, Validate].map(|step| Plugin::all_of(step, operation).contains(plugin));
    handled.contains(&true) && TABLES.with_scope(group, plural, subresource).contains(plugin)
}

/// Returns the operations that a plugin handles on a resource, as their first letters.
fn operations(plugin: &str, resource: &str) -> String {
    let plugin = Plugin::named(plugin).unwrap();
    let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
    let (plural, subresource) = resource.split_once(':').unwrap_or((resource, ""));
    let all = [(Create, 'c'), (Update, 'u'), (Delete, 'd'), (Connect, 'x')];
    let taken = all.into_iter().filter(|(operation, _)| handles(plugin, *operation, group, plural, subresource));
    taken.map(|(_, letter)| letter).collect()
}

/// A plugin, resources as `plural:subresource.group`, and the handled operations.
const TABLE: &[(&str, &str, &str)] = &[
    ("AlwaysPullImages", "pods pods:ephemeralcontainers", "cu"),
    ("AlwaysPullImages", "pods:status pods:resize pods:binding services deployments.apps", ""),
    ("CertificateApproval", "certificatesigningrequests:approval.certificates.k8s.io", "u"),
    ("CertificateApproval", "certificatesigningrequests.certificates.k8s.io pods:approval", ""),
    ("CertificateSigning", "certificatesigningrequests:status.certificates.k8s.io", "u"),
    ("CertificateSigning", "certificatesigningrequests.certificates.k8s.io pods:status", ""),
    ("CertificateSubjectRestriction", "certificatesigningrequests.certificates.k8s.io", "c"),
    ("CertificateSubjectRestriction", "certificatesigningrequests:status.certificates.k8s.io", ""),
    ("ClusterTrustBundleAttest", "clustertrustbundles.certificates.k8s.io", "cu"),
    ("ClusterTrustBundleAttest", "clustertrustbundles:any.certificates.k8s.io", "cu"),
    ("ClusterTrustBundleAttest", "clustertrustbundles", ""),
    ("DefaultIngressClass", "ingresses.networking.k8s.io", "c"),
    ("DefaultIngressClass", "ingresses:status.networking.k8s.io ingresses", ""),
    ("DefaultStorageClass", "persistentvolumeclaims", "c"),
    ("DefaultStorageClass", "persistentvolumeclaims:status persistentvolumes", ""),
    ("DefaultTolerationSeconds", "pods", "cu"),
    ("DefaultTolerationSeconds", "pods:status pods:ephemeralcontainers pods:resize", ""),
    ("DenyServiceExternalIPs", "services", "cu"),
    ("DenyServiceExternalIPs", "services:status services:proxy", ""),
    ("EventRateLimit", "events events.events.k8s.io", "cu"),
    ("EventRateLimit", "pods events.example.com", ""),
    ("ExtendedResourceToleration", "pods", "cu"),
    ("ExtendedResourceToleration", "pods:resize pods:status", ""),
    ("ImagePolicyWebhook", "pods pods:ephemeralcontainers", "cu"),
    ("ImagePolicyWebhook", "pods:status pods:exec services", ""),
    ("JobValidation", "jobs.batch", "u"),
    ("JobValidation", "jobs:status.batch cronjobs.batch", ""),
    ("LimitPodHardAntiAffinityTopology", "pods", "cu"),
    ("LimitPodHardAntiAffinityTopology", "pods:ephemeralcontainers pods:status", ""),
    ("LimitRanger", "pods pods:resize persistentvolumeclaims", "cu"),
    ("LimitRanger", "pods:status pods:ephemeralcontainers persistentvolumeclaims:status services", ""),
    ("NamespaceAutoProvision", "pods pods:binding namespaces configmaps", "c"),
    ("NamespaceExists", "pods pods:status configmaps", "cud"),
    ("NamespaceLifecycle", "pods pods:eviction pods:binding configmaps widgets.example.com namespaces", "cud"),
    ("NodeDeclaredFeatureValidator", "pods pods:resize", "u"),
    ("NodeDeclaredFeatureValidator", "pods:status pods:ephemeralcontainers", ""),
    ("NodeRestriction", "pods pods:status pods:eviction nodes leases.coordination.k8s.io", "cud"),
    ("OwnerReferencesPermissionEnforcement", "pods pods:binding configmaps widgets.example.com deployments.apps", "cu"),
    ("PersistentVolumeClaimResize", "persistentvolumeclaims", "u"),
    ("PersistentVolumeClaimResize", "persistentvolumeclaims:status", ""),
    ("PodGroupProtection", "podgroups.scheduling.k8s.io", "c"),
    ("PodGroupWorkloadExists", "podgroups.scheduling.k8s.io", "c"),
    ("PodGroupWorkloadExists", "podgroups:status.scheduling.k8s.io podgroups", ""),
    ("PodNodeSelector", "pods", "c"),
    ("PodNodeSelector", "pods:resize pods:binding", ""),
    ("PodResizeValidator", "pods:resize", "u"),
    ("PodResizeValidator", "pods pods:status", ""),
    ("PodSecurity", "pods pods:ephemeralcontainers pods:resize pods:of-a-later-release namespaces", "cu"),
    (
        "PodSecurity",
        "pods:exec pods:attach pods:binding pods:eviction pods:log pods:portforward pods:proxy pods:status",
        "",
    ),
    ("PodSecurity", "podtemplates replicationcontrollers deployments.apps replicasets.apps statefulsets.apps", "cu"),
    ("PodSecurity", "daemonsets.apps jobs.batch cronjobs.batch", "cu"),
    (
        "PodSecurity",
        "namespaces:status namespaces:finalize deployments:scale.apps deployments:status.apps configmaps",
        "",
    ),
    ("PodTolerationRestriction", "pods", "cu"),
    ("PodTolerationRestriction", "pods:status pods:ephemeralcontainers", ""),
    ("PodTopologyLabels", "pods pods:binding", "c"),
    ("PodTopologyLabels", "pods:eviction pods:status bindings", ""),
    ("Priority", "pods podgroups.scheduling.k8s.io priorityclasses.scheduling.k8s.io", "cud"),
    ("Priority", "pods:status pods:resize priorityclasses", ""),
    ("ResourceQuota", "pods pods:resize services persistentvolumeclaims configmaps widgets.example.com", "cu"),
    ("RuntimeClass", "pods", "c"),
    ("RuntimeClass", "pods:status runtimeclasses.node.k8s.io", ""),
    ("ServiceAccount", "pods pods:ephemeralcontainers pods:resize pods:of-a-later-release", "cu"),
    (
        "ServiceAccount",
        "pods:exec pods:attach pods:binding pods:eviction pods:log pods:portforward pods:proxy pods:status",
        "",
    ),
    ("ServiceAccount", "deployments.apps serviceaccounts secrets", ""),
    (
        "StorageObjectInUseProtection",
        "persistentvolumes persistentvolumeclaims volumeattributesclasses.storage.k8s.io",
        "c",
    ),
    ("StorageObjectInUseProtection", "persistentvolumes:status storageclasses.storage.k8s.io", ""),
    ("TaintNodesByCondition", "nodes", "c"),
    ("TaintNodesByCondition", "nodes:status", ""),
    ("MutatingAdmissionWebhook", "pods pods:exec pods:status services:proxy widgets.example.com", "cudx"),
    ("ValidatingAdmissionWebhook", "pods pods:exec pods:status services:proxy widgets.example.com", "cudx"),
    ("MutatingAdmissionPolicy", "pods pods:exec pods:status nodes:proxy widgets.example.com", "cudx"),
    ("ValidatingAdmissionPolicy", "pods pods:exec pods:status nodes:proxy widgets.example.com", "cudx"),
    ("AlwaysDeny", "pods pods:exec widgets.example.com", "cudx"),
];

#[test]
fn plugins_handle_what_upstreams_do() {
    for (plugin, resources, expect) in TABLE {
        for resource in resources.split(' ') {
            assert_eq!(operations(plugin, resource), *expect, "{plugin} {resource}");
        }
    }
    for (plugin, _) in PLUGINS {
        let is_listed = TABLE.iter().any(|(name, ..)| name == plugin) || *plugin == "AlwaysAdmit";
        assert!(is_listed, "{plugin} has no row");
    }
}

/// Whether a type contains a pod template.
fn has_pod_template(def: &'static StructDef, above: &mut Vec<&'static str>) -> bool {
    if def.name == "PodTemplateSpec" {
        return true;
    }
    if above.contains(&def.name) {
        return false;
    }
    above.push(def.name);
    let found =
        def.fields.iter().filter_map(|field| Shape::struct_def(field.shape())).any(|d| has_pod_template(d, above));
    above.pop();
    found
}

/// Fails if `PodSecurity` does not handle a kind that is added later and has a pod template.
#[test]
fn pod_security_handles_every_kind_with_a_template_of_pods() {
    let mut kinds = 0;
    for kind in kubernetes::catalog().kinds.iter() {
        let Some(resource) = kind.resource.filter(|_| has_pod_template(kind.def, &mut Vec::new())) else { continue };
        kinds += 1;
        assert!(handles(Plugin::PodSecurity, Create, kind.group, resource.plural, ""), "{}", kind.kind);
    }
    assert!(kinds >= 8, "{kinds}");
}
