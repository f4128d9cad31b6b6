//! The admission plugins, and in which steps and operations each has a say (upstream: the interfaces that they implement, and
//! `admission.Handler.Handles`).

use endpoints::Operation::{self, Connect, Create, Delete, Update};

use super::metrics::Step::{self, Admit, Validate};

macro_rules! plugins {
    ($($name:ident: $steps:expr, $operations:expr;)*) => {
        /// An admission plugin.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Plugin {
            $($name,)*
        }

        impl Plugin {
            /// The plugin that is called so in flags.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self::$name),)*
                    _ => None,
                }
            }

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// Steps and operations.
            fn says(self) -> (&'static [Step], &'static [Operation]) {
                match self {
                    $(Self::$name => (&$steps, &$operations),)*
                }
            }
        }
    };
}

plugins! {
    AlwaysAdmit:                          [Admit, Validate], [Create, Update, Delete];
    NamespaceAutoProvision:               [Admit],           [Create, Update];
    NamespaceLifecycle:                   [Admit],           [Create, Update, Delete];
    NamespaceExists:                      [Validate],        [Create, Update, Delete];
    LimitPodHardAntiAffinityTopology:     [Validate],        [Create, Update];
    LimitRanger:                          [Admit, Validate], [Create, Update];
    ServiceAccount:                       [Admit, Validate], [Create, Update];
    NodeRestriction:                      [Admit],           [Create, Update, Delete];
    TaintNodesByCondition:                [Admit],           [Create];
    AlwaysPullImages:                     [Admit, Validate], [Create, Update];
    ImagePolicyWebhook:                   [Validate],        [Create, Update];
    PodSecurity:                          [Validate],        [Create, Update];
    PodNodeSelector:                      [Admit, Validate], [Create];
    Priority:                             [Admit, Validate], [Create, Update, Delete];
    DefaultTolerationSeconds:             [Admit],           [Create, Update];
    PodTolerationRestriction:             [Admit, Validate], [Create, Update];
    EventRateLimit:                       [Validate],        [Create, Update];
    ExtendedResourceToleration:           [Admit],           [Create, Update];
    DefaultStorageClass:                  [Admit],           [Create];
    StorageObjectInUseProtection:         [Admit],           [Create];
    PodGroupProtection:                   [Admit],           [Create];
    OwnerReferencesPermissionEnforcement: [Validate],        [Create, Update];
    PersistentVolumeClaimResize:          [Validate],        [Update];
    RuntimeClass:                         [Admit, Validate], [Create];
    CertificateApproval:                  [Validate],        [Update];
    CertificateSigning:                   [Validate],        [Update];
    ClusterTrustBundleAttest:             [Validate],        [Create, Update];
    CertificateSubjectRestriction:        [Validate],        [Create];
    DefaultIngressClass:                  [Admit],           [Create];
    DenyServiceExternalIPs:               [Validate],        [Create, Update];
    PodTopologyLabels:                    [Admit],           [Create];
    PodGroupWorkloadExists:               [Validate],        [Create, Update];
    NodeDeclaredFeatureValidator:         [Validate],        [Create, Update];
    JobValidation:                        [Validate],        [Create, Update];
    PodResizeValidator:                   [Validate],        [Update];
    MutatingAdmissionPolicy:              [Admit],           [Create, Update, Delete, Connect];
    MutatingAdmissionWebhook:             [Admit],           [Create, Update, Delete, Connect];
    ValidatingAdmissionPolicy:            [Validate],        [Create, Update, Delete, Connect];
    ValidatingAdmissionWebhook:           [Validate],        [Create, Update, Delete, Connect];
    ResourceQuota:                        [Validate],        [Create, Update];
    AlwaysDeny:                           [Admit, Validate], [Create, Update, Delete, Connect];
}

impl Plugin {
    /// Whether it is timed in a step: one without a say is not.
    pub fn is_timed(self, step: Step, operation: Operation) -> bool {
        let (steps, operations) = self.says();
        steps.contains(&step) && operations.contains(&operation)
    }

    /// Whether it is asked about an operation at all. Connections concern only what operators say of everything.
    pub fn has_a_say(self, operation: Operation) -> bool {
        operation != Connect || self.says().1.contains(&Connect)
    }
}

#[cfg(test)]
mod tests {
    use serving::options::PLUGINS;

    use super::*;

    #[test]
    fn every_plugin_of_the_flags_is_there() {
        for (name, _) in PLUGINS {
            assert_eq!(Plugin::named(name).map(Plugin::name), Some(*name));
        }
    }
}
