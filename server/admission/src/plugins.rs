//! The admission plugins: which steps, operations and resources each of them handles.
//!
//! Upstream spreads these facts over the interfaces that a plugin implements,
//! `admission.NewHandler`, and the first lines of `Admit` and `Validate`. Here they are one table.
//! A plugin runs only for requests in its scope, and handles all requests in that scope.

use std::collections::HashMap;
use std::sync::LazyLock;

use endpoints::AdmissionAttributes;
use endpoints::Operation::{self, Connect, Create, Delete, Update};
use foldhash::fast::RandomState;

use super::step::AdmissionStep::{self, Admit, Validate};
use super::step::{OPERATIONS, STEPS};

/// The resources that a plugin handles.
#[derive(Clone, Copy, Debug)]
enum Scope {
    /// All resources.
    Every,
    /// Only these resources.
    Of(&'static [Handled]),
}

/// A resource and its subresources that a plugin handles.
#[derive(Clone, Copy, Debug)]
struct Handled {
    group: &'static str,
    plural: &'static str,
    subresources: Subresources,
}

#[derive(Clone, Copy, Debug)]
enum Subresources {
    /// Only these subresources. The empty name is the main resource.
    Only(&'static [&'static str]),
    /// All subresources but these. A subresource that is added later is handled.
    Except(&'static [&'static str]),
}

impl Scope {
    fn contains(self, group: &str, plural: &str, subresource: &str) -> bool {
        let Scope::Of(handled) = self else { return true };
        let is_of = |one: &&Handled| one.group == group && one.plural == plural;
        handled.iter().find(is_of).is_some_and(|one| match one.subresources {
            Subresources::Only(names) => names.contains(&subresource),
            Subresources::Except(names) => !names.contains(&subresource),
        })
    }
}

const fn only(group: &'static str, plural: &'static str, names: &'static [&'static str]) -> Handled {
    Handled { group, plural, subresources: Subresources::Only(names) }
}

/// Subresources of pods that have no pod body or change only the status.
const WITHOUT_POD_SPEC: &[&str] = &["attach", "binding", "eviction", "exec", "log", "portforward", "proxy", "status"];

const CERTIFICATES: &str = "certificates.k8s.io";
const SCHEDULING: &str = "scheduling.k8s.io";

const POD: Handled = only("", "pods", &[""]);
/// All subresources that write a pod's spec.
const POD_SPEC: Handled = Handled { group: "", plural: "pods", subresources: Subresources::Except(WITHOUT_POD_SPEC) };
const PODS: Scope = Scope::Of(&[POD]);
const POD_SPECS: Scope = Scope::Of(&[POD_SPEC]);
const POD_IMAGES: Scope = Scope::Of(&[only("", "pods", &["", "ephemeralcontainers"])]);
const POD_BINDINGS: Scope = Scope::Of(&[only("", "pods", &["", "binding"])]);
const POD_RESIZES: Scope = Scope::Of(&[only("", "pods", &["resize"])]);
const POD_RESIZES_AND_UPDATES: Scope = Scope::Of(&[only("", "pods", &["", "resize"])]);
const LIMITED: Scope = Scope::Of(&[only("", "pods", &["", "resize"]), only("", "persistentvolumeclaims", &[""])]);
const PRIORITIES: Scope =
    Scope::Of(&[POD, only(SCHEDULING, "podgroups", &[""]), only(SCHEDULING, "priorityclasses", &[""])]);
/// Pods, resources with a pod template, and namespaces, which have the level labels.
const POD_SECURITY: Scope = Scope::Of(&[
    POD_SPEC,
    only("", "namespaces", &[""]),
    only("", "podtemplates", &[""]),
    only("", "replicationcontrollers", &[""]),
    only("apps", "daemonsets", &[""]),
    only("apps", "deployments", &[""]),
    only("apps", "replicasets", &[""]),
    only("apps", "statefulsets", &[""]),
    only("batch", "cronjobs", &[""]),
    only("batch", "jobs", &[""]),
]);
const PROTECTED: Scope = Scope::Of(&[
    only("", "persistentvolumes", &[""]),
    only("", "persistentvolumeclaims", &[""]),
    only("storage.k8s.io", "volumeattributesclasses", &[""]),
]);
const EVENTS: Scope = Scope::Of(&[only("", "events", &[""]), only("events.k8s.io", "events", &[""])]);
const CLAIMS: Scope = Scope::Of(&[only("", "persistentvolumeclaims", &[""])]);
const NODES: Scope = Scope::Of(&[only("", "nodes", &[""])]);
const SERVICES: Scope = Scope::Of(&[only("", "services", &[""])]);
const INGRESSES: Scope = Scope::Of(&[only("networking.k8s.io", "ingresses", &[""])]);
const JOBS: Scope = Scope::Of(&[only("batch", "jobs", &[""])]);
const POD_GROUPS: Scope = Scope::Of(&[only(SCHEDULING, "podgroups", &[""])]);
const CSR_APPROVALS: Scope = Scope::Of(&[only(CERTIFICATES, "certificatesigningrequests", &["approval"])]);
const CSR_STATUSES: Scope = Scope::Of(&[only(CERTIFICATES, "certificatesigningrequests", &["status"])]);
const CSRS: Scope = Scope::Of(&[only(CERTIFICATES, "certificatesigningrequests", &[""])]);
const TRUST_BUNDLES: Scope = Scope::Of(&[Handled {
    group: CERTIFICATES,
    plural: "clustertrustbundles",
    subresources: Subresources::Except(&[]),
}]);

macro_rules! plugins {
    ($($name:ident: $steps:expr, $operations:expr, $scope:expr;)*) => {
        /// An admission plugin.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Plugin {
            $($name,)*
        }

        impl Plugin {
            /// All plugins.
            pub const ALL: &'static [Plugin] = &[$(Plugin::$name),*];

            /// Returns the plugin with this name in flags.
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

            fn steps(self) -> &'static [AdmissionStep] {
                match self {
                    $(Self::$name => &$steps,)*
                }
            }

            fn operations(self) -> &'static [Operation] {
                match self {
                    $(Self::$name => &$operations,)*
                }
            }

            fn scope(self) -> Scope {
                match self {
                    $(Self::$name => $scope,)*
                }
            }
        }
    };
}

plugins! {
    AlwaysAdmit: [Admit, Validate], [Create, Update, Delete], Scope::Every;
    NamespaceAutoProvision: [Admit], [Create], Scope::Every;
    NamespaceLifecycle: [Admit], [Create, Update, Delete], Scope::Every;
    NamespaceExists: [Validate], [Create, Update, Delete], Scope::Every;
    LimitPodHardAntiAffinityTopology: [Validate], [Create, Update], PODS;
    LimitRanger: [Admit, Validate], [Create, Update], LIMITED;
    ServiceAccount: [Admit, Validate], [Create, Update], POD_SPECS;
    NodeRestriction: [Admit], [Create, Update, Delete], Scope::Every;
    TaintNodesByCondition: [Admit], [Create], NODES;
    AlwaysPullImages: [Admit, Validate], [Create, Update], POD_IMAGES;
    ImagePolicyWebhook: [Validate], [Create, Update], POD_IMAGES;
    PodSecurity: [Validate], [Create, Update], POD_SECURITY;
    PodNodeSelector: [Admit, Validate], [Create], PODS;
    Priority: [Admit, Validate], [Create, Update, Delete], PRIORITIES;
    DefaultTolerationSeconds: [Admit], [Create, Update], PODS;
    PodTolerationRestriction: [Admit, Validate], [Create, Update], PODS;
    EventRateLimit: [Validate], [Create, Update], EVENTS;
    ExtendedResourceToleration: [Admit], [Create, Update], PODS;
    DefaultStorageClass: [Admit], [Create], CLAIMS;
    StorageObjectInUseProtection: [Admit], [Create], PROTECTED;
    PodGroupProtection: [Admit], [Create], POD_GROUPS;
    OwnerReferencesPermissionEnforcement: [Validate], [Create, Update], Scope::Every;
    PersistentVolumeClaimResize: [Validate], [Update], CLAIMS;
    RuntimeClass: [Admit, Validate], [Create], PODS;
    CertificateApproval: [Validate], [Update], CSR_APPROVALS;
    CertificateSigning: [Validate], [Update], CSR_STATUSES;
    ClusterTrustBundleAttest: [Validate], [Create, Update], TRUST_BUNDLES;
    CertificateSubjectRestriction: [Validate], [Create], CSRS;
    DefaultIngressClass: [Admit], [Create], INGRESSES;
    DenyServiceExternalIPs: [Validate], [Create, Update], SERVICES;
    PodTopologyLabels: [Admit], [Create], POD_BINDINGS;
    PodGroupWorkloadExists: [Validate], [Create], POD_GROUPS;
    NodeDeclaredFeatureValidator: [Validate], [Update], POD_RESIZES_AND_UPDATES;
    JobValidation: [Validate], [Update], JOBS;
    PodResizeValidator: [Validate], [Update], POD_RESIZES;
    MutatingAdmissionPolicy: [Admit], [Create, Update, Delete, Connect], Scope::Every;
    MutatingAdmissionWebhook: [Admit], [Create, Update, Delete, Connect], Scope::Every;
    ValidatingAdmissionPolicy: [Validate], [Create, Update, Delete, Connect], Scope::Every;
    ValidatingAdmissionWebhook: [Validate], [Create, Update, Delete, Connect], Scope::Every;
    ResourceQuota: [Validate], [Create, Update], Scope::Every;
    AlwaysDeny: [Admit, Validate], [Create, Update, Delete, Connect], Scope::Every;
}

impl Plugin {
    /// The plugins that handle a step of an operation. The metrics of a plugin also count requests
    /// outside its scope, as upstream's handler does.
    pub fn all_of(step: AdmissionStep, operation: Operation) -> PluginSet {
        TABLES.handled[step as usize][operation as usize]
    }

    /// The plugins with the resource of a request in their scope.
    pub fn all_with_scope_of(attributes: &AdmissionAttributes) -> PluginSet {
        TABLES.with_scope(attributes.group, attributes.plural, &attributes.subresource)
    }
}

const _: () = assert!(Plugin::ALL.len() <= u64::BITS as usize, "a `PluginSet` has one bit per plugin");

/// A set of plugins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PluginSet(u64);

impl PluginSet {
    fn of(contains: impl Fn(Plugin) -> bool) -> Self {
        let plugins = Plugin::ALL.iter().filter(|plugin| contains(**plugin));
        PluginSet(plugins.fold(0, |bits, plugin| bits | 1 << *plugin as u64))
    }

    pub fn contains(self, plugin: Plugin) -> bool {
        self.0 & 1 << plugin as u64 != 0
    }

    /// Returns the set with one more plugin.
    pub fn with(self, plugin: Plugin) -> Self {
        PluginSet(self.0 | 1 << plugin as u64)
    }
}

/// The table of plugins, indexed by request. Most requests are in the scope of few plugins; without
/// the index each request compares the names of all scopes.
struct Tables {
    handled: [[PluginSet; OPERATIONS]; STEPS],
    /// The resources that scopes list, by group and plural.
    resources: HashMap<(&'static str, &'static str), Scopes, RandomState>,
    /// The plugins with all resources in their scope.
    others: PluginSet,
}

/// The plugins with a resource in their scope, by subresource.
struct Scopes {
    /// By subresource that a scope lists. The empty name is the resource itself.
    named: Vec<(&'static str, PluginSet)>,
    others: PluginSet,
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

/// A subresource that no scope lists: a path segment has no slash.
const UNLISTED: &str = "/";

impl Tables {
    fn new() -> Self {
        let handles = |step: AdmissionStep, operation: Operation| {
            PluginSet::of(|plugin| plugin.steps().contains(&step) && plugin.operations().contains(&operation))
        };
        let of_step = |step| [Create, Update, Delete, Connect].map(|operation| handles(step, operation));
        let mut resources: HashMap<(&str, &str), Scopes, RandomState> = HashMap::default();
        let listed = |plugin: &Plugin| match plugin.scope() {
            Scope::Every => [].as_slice(),
            Scope::Of(handled) => handled,
        };
        for one in Plugin::ALL.iter().flat_map(listed) {
            let with =
                |subresource| PluginSet::of(|plugin| plugin.scope().contains(one.group, one.plural, subresource));
            let scopes = resources
                .entry((one.group, one.plural))
                .or_insert_with(|| Scopes { named: vec![("", with(""))], others: with(UNLISTED) });
            let (Subresources::Only(names) | Subresources::Except(names)) = one.subresources;
            scopes.named.extend(names.iter().filter(|name| !name.is_empty()).map(|name| (*name, with(name))));
        }
        Tables {
            handled: [of_step(Admit), of_step(Validate)],
            resources,
            others: PluginSet::of(|plugin| matches!(plugin.scope(), Scope::Every)),
        }
    }

    fn with_scope(&self, group: &str, plural: &str, subresource: &str) -> PluginSet {
        let Some(scopes) = self.resources.get(&(group, plural)) else { return self.others };
        let named = scopes.named.iter().find(|(name, _)| *name == subresource);
        named.map_or(scopes.others, |(_, plugins)| *plugins)
    }
}

#[cfg(test)]
mod tests;
