//! Flags of the controllers that run in this program (upstream: `cmd/kube-controller-manager`).

use std::path::PathBuf;
use std::time::Duration;

use crate::error::FlagError;
use crate::values::FlagValues;

const FLAG: &str = "controllers";
const TEST_SERVER: &str = "test-server";
/// Selects all controllers that are on by default.
const ALL: &str = "*";
/// Selects no controller. Upstream has no such value, because its program is nothing else.
const NONE: &str = "-*";

/// A controller of upstream's kube-controller-manager, or `unscheduled-pod-controller`, which only this
/// program has.
#[derive(Debug)]
pub struct KnownController {
    /// The canonical name of upstream 1.36.
    pub name: &'static str,
    /// The name before 1.28, which upstream's flag still accepts; may be empty.
    pub alias: &'static str,
    /// Whether this program has it.
    pub is_built: bool,
}

const fn built(name: &'static str, alias: &'static str) -> KnownController {
    KnownController { name, alias, is_built: true }
}

const fn absent(name: &'static str, alias: &'static str) -> KnownController {
    KnownController { name, alias, is_built: false }
}

/// All controllers of kube-controller-manager 1.36, and the one of this program.
#[rustfmt::skip]
pub static CONTROLLERS: &[KnownController] = &[
    absent("bootstrap-signer-controller", "bootstrapsigner"),
    built("certificatesigningrequest-approving-controller", "csrapproving"),
    built("certificatesigningrequest-cleaner-controller", "csrcleaner"),
    built("certificatesigningrequest-signing-controller", "csrsigning"),
    absent("cloud-node-lifecycle-controller", "cloud-node-lifecycle"),
    built("clusterrole-aggregation-controller", "clusterrole-aggregation"),
    absent("cronjob-controller", "cronjob"),
    absent("daemonset-controller", "daemonset"),
    absent("deployment-controller", "deployment"),
    absent("device-taint-eviction-controller", ""),
    absent("disruption-controller", "disruption"),
    built("endpoints-controller", "endpoint"),
    built("endpointslice-controller", "endpointslice"),
    built("endpointslice-mirroring-controller", "endpointslicemirroring"),
    absent("ephemeral-volume-controller", "ephemeral-volume"),
    built("garbage-collector-controller", "garbagecollector"),
    absent("horizontal-pod-autoscaler-controller", "horizontalpodautoscaling"),
    absent("job-controller", "job"),
    absent("kube-apiserver-serving-clustertrustbundle-publisher-controller", ""),
    built("legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner"),
    built("namespace-controller", "namespace"),
    absent("node-ipam-controller", "nodeipam"),
    absent("node-lifecycle-controller", "nodelifecycle"),
    absent("node-route-controller", "route"),
    absent("persistentvolume-attach-detach-controller", "attachdetach"),
    absent("persistentvolume-binder-controller", "persistentvolume-binder"),
    absent("persistentvolume-expander-controller", "persistentvolume-expander"),
    built("persistentvolume-protection-controller", "pv-protection"),
    built("persistentvolumeclaim-protection-controller", "pvc-protection"),
    absent("pod-garbage-collector-controller", "podgc"),
    absent("podcertificaterequest-cleaner-controller", ""),
    absent("podgroup-protection-controller", ""),
    absent("replicaset-controller", "replicaset"),
    absent("replicationcontroller-controller", "replicationcontroller"),
    absent("resourceclaim-controller", "resource-claim-controller"),
    absent("resourcepoolstatusrequest-controller", ""),
    built("resourcequota-controller", "resourcequota"),
    built("root-ca-certificate-publisher-controller", "root-ca-cert-publisher"),
    absent("selinux-warning-controller", ""),
    absent("service-cidr-controller", ""),
    absent("service-lb-controller", "service"),
    built("serviceaccount-controller", "serviceaccount"),
    absent("serviceaccount-token-controller", "serviceaccount-token"),
    absent("statefulset-controller", "statefulset"),
    built("storage-version-migrator-controller", "svm"),
    absent("storageversion-garbage-collector-controller", "storage-version-gc"),
    absent("taint-eviction-controller", ""),
    absent("token-cleaner-controller", "tokencleaner"),
    built("ttl-after-finished-controller", "ttl-after-finished"),
    absent("ttl-controller", "ttl"),
    built("unscheduled-pod-controller", ""),
    built("validatingadmissionpolicy-status-controller", ""),
    absent("volumeattributesclass-protection-controller", ""),
];

/// The controllers that run in this program.
#[derive(Clone, Debug, Default)]
pub struct ControllerOptions {
    /// Canonical names, in the order of [`CONTROLLERS`].
    pub enabled: Vec<&'static str>,
    /// The signing of certificate requests.
    pub signing: SigningOptions,
    /// How long a generated token of a service account may be unused.
    pub token_clean_up_period: Duration,
}

/// The signing of certificate requests.
#[derive(Clone, Debug, Default)]
pub struct SigningOptions {
    /// The files of the certificate and the private key of the authority.
    pub files: Option<(PathBuf, PathBuf)>,
    /// Longest validity of a certificate.
    pub duration: Duration,
}

impl ControllerOptions {
    /// Whether a controller runs, by its canonical name.
    pub fn runs(&self, name: &str) -> bool {
        self.enabled.contains(&name)
    }

    /// Upstream's controllers that do not run here, in the order of [`CONTROLLERS`].
    pub fn others(&self) -> impl Iterator<Item = &'static str> {
        CONTROLLERS.iter().map(|known| known.name).filter(|name| !self.runs(name))
    }
}

impl FlagValues {
    /// Reads `--controllers`. Without it, all run if the objects are in the data directory or the
    /// server is one of a test, and none if the objects are in the etcd of a cluster, where a
    /// kube-controller-manager is expected.
    pub(super) fn controllers(&self) -> Result<ControllerOptions, FlagError> {
        let mut chosen = self.list(FLAG);
        if chosen.is_empty() {
            // An invalid value is reported with the option.
            let is_test = self.bool(TEST_SERVER).unwrap_or_default();
            chosen.push(if is_test || self.list("etcd-servers").is_empty() { ALL } else { NONE });
        }
        let enabled = CONTROLLERS.iter().filter(|known| known.is_built && is_chosen(known, &chosen));
        let enabled = enabled.map(|known| known.name).collect();
        for text in chosen.iter().filter(|text| !matches!(**text, ALL | NONE)) {
            let (name, is_wanted) = text.strip_prefix('-').map_or((*text, true), |name| (name, false));
            match CONTROLLERS.iter().find(|known| known.is_named(name)) {
                None => return Err(FlagError::UnknownController { controller: name.to_owned() }),
                Some(known) if is_wanted && !known.is_built => {
                    return Err(FlagError::AbsentController { controller: known.name });
                }
                Some(_) => {}
            }
        }
        let token_clean_up_period = self.duration("legacy-service-account-token-clean-up-period")?;
        if token_clean_up_period.is_zero() {
            return Err(FlagError::TokenCleanUpPeriod);
        }
        Ok(ControllerOptions { enabled, signing: self.signing()?, token_clean_up_period })
    }

    fn signing(&self) -> Result<SigningOptions, FlagError> {
        const FILES: [&str; 2] = ["cluster-signing-cert-file", "cluster-signing-key-file"];
        let files = match FILES.map(|flag| self.path(flag)) {
            [Some(certificate), Some(key)] => Some((certificate, key)),
            [None, None] => None,
            _ => return Err(FlagError::Together { first: FILES[0], second: FILES[1] }),
        };
        Ok(SigningOptions { files, duration: self.duration("cluster-signing-duration")? })
    }
}

impl KnownController {
    fn is_named(&self, name: &str) -> bool {
        self.name == name || (!self.alias.is_empty() && self.alias == name)
    }
}

/// Whether a list selects a controller: the first entry that names it decides
/// (`genericcontrollermanager.IsControllerEnabled`).
fn is_chosen(known: &KnownController, chosen: &[&str]) -> bool {
    let named = chosen.iter().find_map(|text| match text.strip_prefix('-') {
        Some(name) => known.is_named(name).then_some(false),
        None => known.is_named(text).then_some(true),
    });
    named.unwrap_or_else(|| chosen.contains(&ALL) && !chosen.contains(&NONE))
}

#[cfg(test)]
mod tests {
    use crate::{Error, Options};

    fn enabled(flags: &[&str]) -> Result<Vec<&'static str>, Error> {
        let all = ["kube-apiserver"].iter().chain(flags);
        Options::parse_from(all).map(|options| options.controllers.enabled)
    }

    #[test]
    fn controllers_run_unless_the_store_is_etcd() {
        let all = enabled(&[]).unwrap();
        assert!(all.contains(&"namespace-controller") && !all.contains(&"deployment-controller"));
        assert_eq!(enabled(&["--etcd-servers=http://127.0.0.1:1"]).unwrap(), [""; 0]);
        assert_eq!(enabled(&["--etcd-servers=http://127.0.0.1:1", "--controllers=*"]).unwrap(), all);
        assert_eq!(enabled(&["--controllers=-*"]).unwrap(), [""; 0]);
        let of_test = ["--test-server", "--etcd-servers=http://127.0.0.1:1"];
        assert_eq!(enabled(&of_test).unwrap(), all);
        assert_eq!(enabled(&[&of_test[..], &["--controllers=-*"]].concat()).unwrap(), [""; 0]);
        assert_eq!(enabled(&[&of_test[..], &["--controllers=namespace"]].concat()).unwrap(), ["namespace-controller"]);
        assert_eq!(enabled(&[&of_test[..], &["--test-server=false"]].concat()).unwrap(), [""; 0]);
    }

    #[test]
    fn the_first_entry_of_a_controller_decides() {
        assert_eq!(enabled(&["--controllers=namespace"]).unwrap(), ["namespace-controller"]);
        assert_eq!(enabled(&["--controllers=-*,namespace-controller"]).unwrap(), ["namespace-controller"]);
        assert_eq!(enabled(&["--controllers=-namespace,namespace-controller"]).unwrap(), [""; 0]);
        let but_one = enabled(&["--controllers=*,-namespace-controller,-deployment-controller"]).unwrap();
        assert!(!but_one.contains(&"namespace-controller") && but_one.contains(&"serviceaccount-controller"));
    }

    #[test]
    fn signing_needs_certificate_and_key() {
        let signing = |flags: &[&str]| {
            let all = ["kube-apiserver"].iter().chain(flags);
            Options::parse_from(all).map(|options| options.controllers.signing)
        };
        let default = signing(&[]).unwrap();
        assert_eq!((default.files, default.duration.as_secs()), (None, 365 * 24 * 3600));
        let files = ["--cluster-signing-cert-file=a", "--cluster-signing-key-file=b"];
        assert_eq!(signing(&files).unwrap().files, Some(("a".into(), "b".into())));
        let why = signing(&files[..1]).unwrap_err().to_string();
        assert!(why.contains("cluster-signing-key-file"), "{why}");
        assert!(signing(&["--legacy-service-account-token-clean-up-period=0s"]).is_err());
    }

    #[test]
    fn rejects_unknown_and_absent_controllers() {
        let why = enabled(&["--controllers=*,made-up"]).unwrap_err().to_string();
        assert!(why.contains("\"made-up\" is not in the list of known controllers"), "{why}");
        let why = enabled(&["--controllers=deployment"]).unwrap_err().to_string();
        assert!(why.contains("deployment-controller") && why.contains("kube-controller-manager"), "{why}");
    }
}
