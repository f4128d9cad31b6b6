//! In which steps and operations plugins have a say (upstream: the interfaces that they implement, and `admission.Handler.Handles`).

use endpoints::Operation::{self, Create, Delete, Update};

use super::metrics::Step::{self, Admit, Validate};

/// Plugins that have a say in everything.
const OF_OPERATORS: [&str; 5] = [
    "AlwaysDeny",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
];

/// Steps and operations of the others; what is not here has a say in writes, in both steps.
#[rustfmt::skip]
static SAYS: &[(&str, &[Step], &[Operation])] = &[
    ("NamespaceAutoProvision",               &[Admit],           &[Create, Update]),
    ("NamespaceLifecycle",                   &[Admit],           &[Create, Update, Delete]),
    ("NamespaceExists",                      &[Validate],        &[Create, Update, Delete]),
    ("LimitPodHardAntiAffinityTopology",     &[Validate],        &[Create, Update]),
    ("NodeRestriction",                      &[Admit],           &[Create, Update, Delete]),
    ("TaintNodesByCondition",                &[Admit],           &[Create]),
    ("ImagePolicyWebhook",                   &[Validate],        &[Create, Update]),
    ("PodSecurity",                          &[Validate],        &[Create, Update]),
    ("PodNodeSelector",                      &[Admit, Validate], &[Create]),
    ("Priority",                             &[Admit, Validate], &[Create, Update, Delete]),
    ("DefaultTolerationSeconds",             &[Admit],           &[Create, Update]),
    ("EventRateLimit",                       &[Validate],        &[Create, Update]),
    ("ExtendedResourceToleration",           &[Admit],           &[Create, Update]),
    ("DefaultStorageClass",                  &[Admit],           &[Create]),
    ("StorageObjectInUseProtection",         &[Admit],           &[Create]),
    ("PodGroupProtection",                   &[Admit],           &[Create]),
    ("OwnerReferencesPermissionEnforcement", &[Validate],        &[Create, Update]),
    ("PersistentVolumeClaimResize",          &[Validate],        &[Update]),
    ("RuntimeClass",                         &[Admit, Validate], &[Create]),
    ("CertificateApproval",                  &[Validate],        &[Update]),
    ("CertificateSigning",                   &[Validate],        &[Update]),
    ("ClusterTrustBundleAttest",             &[Validate],        &[Create, Update]),
    ("CertificateSubjectRestriction",        &[Validate],        &[Create]),
    ("DefaultIngressClass",                  &[Admit],           &[Create]),
    ("DenyServiceExternalIPs",               &[Validate],        &[Create, Update]),
    ("PodTopologyLabels",                    &[Admit],           &[Create]),
    ("PodGroupWorkloadExists",               &[Validate],        &[Create, Update]),
    ("NodeDeclaredFeatureValidator",         &[Validate],        &[Create, Update]),
    ("JobValidation",                        &[Validate],        &[Create, Update]),
    ("PodResizeValidator",                   &[Validate],        &[Update]),
    ("ResourceQuota",                        &[Validate],        &[Create, Update]),
];

/// Whether a plugin is timed in a step: one without a say is not.
pub fn is_timed(plugin: &str, step: Step, operation: Operation) -> bool {
    match plugin {
        "MutatingAdmissionPolicy" | "MutatingAdmissionWebhook" => step == Admit,
        "ValidatingAdmissionPolicy" | "ValidatingAdmissionWebhook" => step == Validate,
        "AlwaysAdmit" | "AlwaysDeny" => true,
        _ => match SAYS.iter().find(|(name, ..)| *name == plugin) {
            Some((_, steps, operations)) => steps.contains(&step) && operations.contains(&operation),
            None => matches!(operation, Create | Update),
        },
    }
}

/// Whether a plugin is asked about an operation at all.
pub fn has_a_say(plugin: &str, operation: Operation) -> bool {
    operation != Operation::Connect || OF_OPERATORS.contains(&plugin)
}
