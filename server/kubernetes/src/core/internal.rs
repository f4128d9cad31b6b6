//! Upstream's internal types, and tables of their differences from the declarations
//! (`pkg/apis/core/types.go`). Messages show an invalid value that is a struct as JSON of its internal
//! type.

use machinery::def::StructDef;
use machinery::diff;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::json::{self, InternalType};
use machinery::reflect::{Ref, Struct};
use machinery::request_document::RequestDocument;

use crate::Error;

/// A struct in the form shown in messages.
pub fn internal_value<T: Struct>(value: &T) -> BadValue {
    BadValue::large(|| {
        let mut out = Vec::new();
        json::encode_internal(Ref::of(value), find, &mut out);
        BadValue::Json(String::from_utf8_lossy(&out).into_owned())
    })
}

/// A list of structs in the form shown in messages; upstream's lists are nil when empty.
pub fn internal_values<T: Struct>(values: &[T]) -> BadValue {
    if values.is_empty() {
        return BadValue::None;
    }
    BadValue::large(|| {
        let items: Vec<String> = values.iter().map(|value| internal_value(value).to_string()).collect();
        BadValue::Json(format!("[{}]", items.join(",")))
    })
}

/// The difference that a forbidden change would make, at a path of the request.
pub fn internal_diff<T: Struct>(sent: &RequestDocument, path: &Path<'_>, old: &T, new: &T) -> String {
    let text = |value| json::encode_internal_lines(Ref::of(value), find);
    diff::unified(&text(old), &sent.complete_text(text(new), &path.to_string(), T::def()))
}

/// The tables of differences, by the module of their group.
static TABLES: [(&str, &[InternalType]); 4] =
    [("::apps::", &APPS), ("::certificates::", &CERTIFICATES), ("::core::", &CORE), ("::resource::", &RESOURCE)];

pub(crate) fn find(def: &StructDef) -> Option<&'static InternalType> {
    let (_, table) = TABLES.iter().find(|(module, _)| def.rust_path().contains(module))?;
    table.iter().find(|t| t.name == def.name)
}

const fn names(name: &'static str, names: &'static [(&'static str, &'static str)]) -> InternalType {
    InternalType { name, names, ..InternalType::PLAIN }
}

const fn order(name: &'static str, order: &'static [&'static str]) -> InternalType {
    InternalType { name, order, ..InternalType::PLAIN }
}

const fn numbers(name: &'static str, numbers: &'static [&'static str]) -> InternalType {
    InternalType { name, numbers, ..InternalType::PLAIN }
}

static APPS: [InternalType; 3] = [
    numbers("RollingUpdateDaemonSet", &["maxUnavailable", "maxSurge"]),
    numbers("RollingUpdateDeployment", &["maxUnavailable", "maxSurge"]),
    numbers("RollingUpdateStatefulSetStrategy", &["partition"]),
];

static CERTIFICATES: [InternalType; 1] = [names("PodCertificateRequestSpec", &[("pkixPublicKey", "PKIXPublicKey")])];

const RBD: &[(&str, &str)] =
    &[("monitors", "CephMonitors"), ("image", "RBDImage"), ("pool", "RBDPool"), ("user", "RadosUser")];
const ISCSI: &[(&str, &str)] = &[("chapAuthDiscovery", "DiscoveryCHAPAuth"), ("chapAuthSession", "SessionCHAPAuth")];
const GLUSTERFS: &[(&str, &str)] = &[("endpoints", "EndpointsName")];
const VOLUMES: &[(&str, &str)] = &[("cephfs", "CephFS"), ("storageos", "StorageOS")];

static CORE: [InternalType; 19] = [
    names("AzureDiskVolumeSource", &[("diskURI", "DataDiskURI")]),
    names("ContainerStatus", &[("lastState", "LastTerminationState")]),
    names("Event", &[("reportingComponent", "ReportingController")]),
    names("FCVolumeSource", &[("wwids", "WWIDs")]),
    names("GlusterfsPersistentVolumeSource", GLUSTERFS),
    names("GlusterfsVolumeSource", GLUSTERFS),
    names("ISCSIPersistentVolumeSource", ISCSI),
    names("ISCSIVolumeSource", ISCSI),
    InternalType {
        name: "NodeSpec",
        names: &[("externalID", "DoNotUseExternalID")],
        order: &["podCIDRs", "providerID", "unschedulable", "taints", "configSource", "externalID"],
        numbers: &[],
    },
    InternalType { name: "PersistentVolumeSource", names: VOLUMES, order: PERSISTENT_VOLUME_SOURCE, numbers: &[] },
    names("PhotonPersistentDiskVolumeSource", &[("pdID", "PdID")]),
    order("PodSecurityContext", POD_SECURITY_CONTEXT),
    order("PodSpec", POD_SPEC),
    order("PodStatus", POD_STATUS),
    names("RBDPersistentVolumeSource", RBD),
    names("RBDVolumeSource", RBD),
    order("Secret", &["metadata", "immutable", "data", "type"]),
    order("ServiceSpec", SERVICE_SPEC),
    InternalType { name: "VolumeSource", names: VOLUMES, order: VOLUME_SOURCE, numbers: &[] },
];

#[rustfmt::skip]
const PERSISTENT_VOLUME_SOURCE: &[&str] = &[
    "gcePersistentDisk", "awsElasticBlockStore", "hostPath", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "flexVolume", "cinder",
    "cephfs", "fc", "flocker", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk", "portworxVolume", "scaleIO", "local",
    "storageos", "csi",
];

/// Fields about the host's namespaces: internal types have them in the security context, declared types
/// in the pod spec.
#[rustfmt::skip]
const POD_SECURITY_CONTEXT: &[&str] = &[
    "^hostNetwork", "^hostPID", "^hostIPC", "^shareProcessNamespace", "^hostUsers", "seLinuxOptions", "windowsOptions", "runAsUser",
    "runAsGroup", "runAsNonRoot", "supplementalGroups", "supplementalGroupsPolicy", "fsGroup", "fsGroupChangePolicy", "sysctls",
    "seccompProfile", "appArmorProfile", "seLinuxChangePolicy",
];

#[rustfmt::skip]
const POD_SPEC: &[&str] = &[
    "volumes", "initContainers", "containers", "ephemeralContainers", "restartPolicy", "terminationGracePeriodSeconds",
    "activeDeadlineSeconds", "dnsPolicy", "nodeSelector", "serviceAccountName", "automountServiceAccountToken", "nodeName",
    "securityContext", "imagePullSecrets", "hostname", "subdomain", "setHostnameAsFQDN", "affinity", "schedulerName", "tolerations",
    "hostAliases", "priorityClassName", "priority", "preemptionPolicy", "dnsConfig", "readinessGates", "runtimeClassName", "overhead",
    "enableServiceLinks", "topologySpreadConstraints", "os", "schedulingGates", "resourceClaims", "resources", "hostnameOverride",
    "schedulingGroup",
];

#[rustfmt::skip]
const POD_STATUS: &[&str] = &[
    "observedGeneration", "phase", "conditions", "message", "reason", "nominatedNodeName", "hostIP", "hostIPs", "podIPs", "startTime",
    "qosClass", "initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses", "resize", "resourceClaimStatuses",
    "extendedResourceClaimStatus", "allocatedResources", "resources",
];

#[rustfmt::skip]
const SERVICE_SPEC: &[&str] = &[
    "type", "ports", "selector", "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "externalName", "externalIPs",
    "loadBalancerIP", "sessionAffinity", "sessionAffinityConfig", "loadBalancerSourceRanges", "externalTrafficPolicy",
    "healthCheckNodePort", "publishNotReadyAddresses", "allocateLoadBalancerNodePorts", "loadBalancerClass", "internalTrafficPolicy",
    "trafficDistribution",
];

#[rustfmt::skip]
const VOLUME_SOURCE: &[&str] = &[
    "hostPath", "emptyDir", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "secret", "nfs", "iscsi", "glusterfs",
    "persistentVolumeClaim", "rbd", "quobyte", "flexVolume", "cinder", "cephfs", "flocker", "downwardAPI", "fc", "azureFile",
    "configMap", "vsphereVolume", "azureDisk", "photonPersistentDisk", "projected", "portworxVolume", "scaleIO", "storageos", "csi",
    "ephemeral", "image",
];

#[rustfmt::skip]
static RESOURCE: [InternalType; 1] = [names("DeviceAttribute", &[
    ("int", "IntValue"), ("bool", "BoolValue"), ("string", "StringValue"), ("version", "VersionValue"), ("ints", "IntValues"),
    ("bools", "BoolValues"), ("strings", "StringValues"), ("versions", "VersionValues"),
])];

/// The error of Go's decoder for a list of an internal type, whose fields have no JSON names. `error`
/// is that for the list as the field `list` of a type of a version.
pub fn internal_list_error(error: &Error, list: &str) -> String {
    let error = error.to_string();
    let parts = || {
        let (start, rest) = error.split_once("Go struct field ")?;
        let (field, wanted) = rest.split_once(" of type ")?;
        let (owner, path) = field.split_once('.')?;
        Some((start, owner, path.strip_prefix(list)?, wanted.replace("v1.", "core.")))
    };
    let Some((start, owner, below, wanted)) = parts() else { return error };
    let mut name = below.chars().skip(1);
    match name.next() {
        None => format!("{start}Go value of type {wanted}"),
        Some(first) => {
            let name: String = first.to_uppercase().chain(name).collect();
            format!("{start}Go struct field {owner}.{name} of type {wanted}")
        }
    }
}
