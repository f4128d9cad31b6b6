//! Programs whose command lines are read, and the flags of one that serves groups of somebody's own.
//!
//! Such a program asks another API server whom to believe and who may do what; its flags are those of upstream's generic API server
//! (upstream: `RecommendedOptions`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Kind::{Bool, List, One};
use super::Section::{self, *};
use super::flags::{FLAGS, works};
use super::values::Values;
use super::{
    AccessWebhookOptions, AuthorizationMode, AuthorizationOptions, DelegationOptions, Flag, ReviewServer,
    TokenWebhookOptions,
};
use crate::Error;
use webhook::{Kubeconfig, Route};

/// The version of the reviews that are asked for.
const VERSION: &str = "v1";
/// How long a review may take (upstream: `DelegatingAuthorizationOptions.ClientTimeout`).
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whose command line it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Program {
    /// `kube-apiserver`.
    #[default]
    KubeApiserver,
    /// A server of other groups, by its name, which delegates authentication and authorization.
    Delegating(&'static str),
}

/// Flags that it has besides those it shares, or with another default.
#[rustfmt::skip]
static DELEGATING: &[Flag] = &[
    works(ThisServer, "data-dir", One, "apiserver-data", "DIR", "Where this server keeps objects, certificates and keys."),
    works(ThisServer, "kubeconfig", One, "", "FILE", "Kubeconfig of the API server that is asked whom to believe, who may do what, and which namespaces there are, unless a flag for one of these says otherwise. When empty: the one of the cluster that this program runs in."),
    works(Authentication, "authentication-kubeconfig", One, "", "FILE", "Kubeconfig of the API server that knows tokens (TokenReview) and authorities. When empty: that of --kubeconfig."),
    works(Authentication, "authentication-skip-lookup", Bool, "false", "", "Do not look for authorities in the API server: those of flags count alone."),
    works(Authentication, "authentication-token-webhook-cache-ttl", One, "10s", "DURATION", "For how long the answers about tokens count."),
    works(Authentication, "authentication-tolerate-lookup-failure", Bool, "false", "", "Start although the authorities cannot be looked up; nobody is believed then by a certificate."),
    works(Authorization, "authorization-always-allow-paths", List, "/healthz,/readyz,/livez", "PATH,...", "Paths that everybody may get; a * at the end stands for the rest."),
    works(Authorization, "authorization-kubeconfig", One, "", "FILE", "Kubeconfig of the API server that knows who may do what (SubjectAccessReview). When empty: that of --kubeconfig."),
    works(Authorization, "authorization-webhook-cache-authorized-ttl", One, "10s", "DURATION", "For how long permissions count."),
    works(Authorization, "authorization-webhook-cache-unauthorized-ttl", One, "10s", "DURATION", "For how long refusals count."),
];

/// Sections of which it has all flags.
const SHARED: [Section; 9] =
    [ThisServer, Generic, Storage, SecureServing, Auditing, ApiEnablement, Metrics, Logs, Traces];
/// Other flags that it has.
const ALSO: [&str; 8] = [
    "client-ca-file",
    "profiling",
    "requestheader-allowed-names",
    "requestheader-client-ca-file",
    "requestheader-extra-headers-prefix",
    "requestheader-group-headers",
    "requestheader-uid-headers",
    "requestheader-username-headers",
];

impl Program {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Program::KubeApiserver => "kube-apiserver",
            Program::Delegating(name) => name,
        }
    }

    /// Whether it asks another API server.
    pub fn delegates(self) -> bool {
        matches!(self, Program::Delegating(_))
    }

    /// The commands besides running the server, in alphabetical order.
    pub fn commands(self) -> &'static [&'static str] {
        if self.delegates() { &["convert", "help", "snapshot"] } else { &["convert", "help", "new", "snapshot"] }
    }

    /// Its flags.
    pub(super) fn flags(self) -> Vec<&'static Flag> {
        if !self.delegates() {
            return FLAGS.iter().collect();
        }
        let own = |flag: &&Flag| DELEGATING.iter().any(|own| own.name == flag.name);
        let shared = |flag: &&Flag| SHARED.contains(&flag.section) || ALSO.contains(&flag.name);
        FLAGS.iter().filter(|flag| shared(flag) && !own(flag)).chain(DELEGATING).collect()
    }
}

impl Values {
    /// How another API server is asked for authorities.
    pub(super) fn delegation(&self) -> Result<DelegationOptions, String> {
        Ok(DelegationOptions {
            server: self.server("authentication-kubeconfig"),
            skips_lookup: self.bool("authentication-skip-lookup")?,
            tolerates_failure: self.bool("authentication-tolerate-lookup-failure")?,
        })
    }

    /// How another API server is asked whose a token is.
    pub(super) fn token_reviews(&self) -> Result<TokenWebhookOptions, String> {
        Ok(TokenWebhookOptions {
            server: self.server("authentication-kubeconfig"),
            version: VERSION.into(),
            remembered: self.duration("authentication-token-webhook-cache-ttl")?,
            route: Route::DIRECT,
        })
    }

    /// How another API server is asked who may do what.
    pub(super) fn access_reviews(&self) -> Result<AuthorizationOptions, String> {
        let paths = self.list("authorization-always-allow-paths").into_iter().map(str::to_owned).collect();
        Ok(AuthorizationOptions {
            config_file: None,
            modes: vec![AuthorizationMode::Webhook],
            policy_file: None,
            webhook: Some(AccessWebhookOptions {
                name: "default".into(),
                server: self.server("authorization-kubeconfig"),
                version: VERSION.into(),
                allowed: self.duration("authorization-webhook-cache-authorized-ttl")?,
                refused: self.duration("authorization-webhook-cache-unauthorized-ttl")?,
                timeout: TIMEOUT,
                denies_on_error: false,
                route: Route::DIRECT,
            }),
            always_allowed_paths: paths,
        })
    }

    fn server(&self, flag: &str) -> ReviewServer {
        ReviewServer::ApiServer(self.path(flag).or_else(|| self.path("kubeconfig")))
    }
}

impl ReviewServer {
    /// The kubeconfig file that names it; none for the server of the cluster that this program runs in.
    pub fn file(&self) -> Option<&Path> {
        match self {
            ReviewServer::Webhook(file) => Some(file),
            ReviewServer::ApiServer(file) => file.as_deref(),
        }
    }
}

impl ReviewServer {
    /// Where it is, and how to be known to it.
    ///
    /// # Errors
    /// When the file cannot be used, or the program runs in no cluster.
    pub fn kubeconfig(&self) -> Result<Kubeconfig, Error> {
        let config = match self.file() {
            Some(file) => Kubeconfig::load(file),
            None => Kubeconfig::in_cluster(),
        };
        config.map_err(|why| Error::Options(why.to_string()))
    }
}

impl From<PathBuf> for ReviewServer {
    fn from(file: PathBuf) -> Self {
        ReviewServer::Webhook(file)
    }
}
