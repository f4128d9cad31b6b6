//! The programs with command lines, and the flags of an extension API server.
//!
//! An extension API server delegates authentication and authorization to another API server. Its
//! flags are those of upstream's generic API server (upstream: `RecommendedOptions`).

use std::time::Duration;

use webhook::{ReviewServer, Route};

use crate::authentication::{DelegationOptions, TokenWebhookOptions};
use crate::authorization::{AccessWebhookOptions, AuthorizationMode, AuthorizationOptions};
use crate::error::FlagError;
use crate::flag::Flag;
use crate::flag::FlagType::{Bool, List, One};
use crate::flag::Section::{self, *};
use crate::flags::{FLAGS, flag};
use crate::values::FlagValues;

/// The version of reviews.
const VERSION: &str = "v1";
/// The timeout of a review (upstream: `DelegatingAuthorizationOptions.ClientTimeout`).
const TIMEOUT: Duration = Duration::from_secs(10);

/// The program of a command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerProgram {
    /// `kube-apiserver`.
    #[default]
    KubeApiserver,
    /// An extension API server with this name, which delegates authentication and authorization.
    Delegating(&'static str),
}

/// A command beside the server itself.
#[derive(Debug)]
pub struct Subcommand {
    /// The first word of the command line.
    pub name: &'static str,
    /// What it does, for the help.
    pub summary: &'static str,
    /// Whether extension API servers have it.
    is_shared: bool,
}

const fn command(name: &'static str, is_shared: bool, summary: &'static str) -> Subcommand {
    Subcommand { name, summary, is_shared }
}

/// The subcommands of all programs, in alphabetical order.
#[rustfmt::skip]
static COMMANDS: &[Subcommand] = &[
    command("assets", false, "make a folder for KUBEBUILDER_ASSETS, so that envtest runs this program"),
    command("convert", true, "convert an encoded object to another encoding or API version"),
    command("etcd", false, "serve etcd's API from the embedded store"),
    command("help", true, "print the flags as text, Markdown, a manual page or shell completions"),
    command("kubeconfig", true, "print the kubeconfig of the administrator"),
    command("new", false, "write a crate for an API server of a group of its own"),
    command("probe", true, "check the health of a running server"),
    command("snapshot", true, "save, restore or summarize the content of a store"),
];

/// Flags that only it has, or that have another default.
#[rustfmt::skip]
static DELEGATING: &[Flag] = &[
    flag(ThisServer, "data-dir", One, "apiserver-data", "DIR", "Directory of objects, certificates and keys."),
    flag(ThisServer, "kubeconfig", One, "", "FILE", "Kubeconfig of the API server for authentication, authorization, and namespaces, unless a specific flag is given. When empty: that of the cluster that this program runs in."),
    flag(Authentication, "authentication-kubeconfig", One, "", "FILE", "Kubeconfig of the API server for token reviews (TokenReview) and client CAs. When empty: that of --kubeconfig."),
    flag(Authentication, "authentication-skip-lookup", Bool, "false", "", "Do not look for authorities in the API server: those of flags count alone."),
    flag(Authentication, "authentication-token-webhook-cache-ttl", One, "10s", "DURATION", "For how long the answers about tokens count."),
    flag(Authentication, "authentication-tolerate-lookup-failure", Bool, "false", "", "Start although the client CAs cannot be looked up; client certificates are then not accepted."),
    flag(Authorization, "authorization-always-allow-paths", List, "/healthz,/readyz,/livez", "PATH,...", "Paths that all users may get; a * at the end stands for the rest."),
    flag(Authorization, "authorization-kubeconfig", One, "", "FILE", "Kubeconfig of the API server for access reviews (SubjectAccessReview). When empty: that of --kubeconfig."),
    flag(Authorization, "authorization-webhook-cache-authorized-ttl", One, "10s", "DURATION", "For how long permissions count."),
    flag(Authorization, "authorization-webhook-cache-unauthorized-ttl", One, "10s", "DURATION", "For how long refusals count."),
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

impl ServerProgram {
    /// The name of the program.
    pub fn name(self) -> &'static str {
        match self {
            ServerProgram::KubeApiserver => "kube-apiserver",
            ServerProgram::Delegating(name) => name,
        }
    }

    /// Whether it delegates to another API server.
    pub fn delegates(self) -> bool {
        matches!(self, ServerProgram::Delegating(_))
    }

    /// The subcommands, in alphabetical order.
    pub fn commands(self) -> impl Iterator<Item = &'static Subcommand> {
        COMMANDS.iter().filter(move |command| command.is_shared || !self.delegates())
    }

    /// The flags of the program.
    pub(super) fn flags(self) -> Vec<&'static Flag> {
        if !self.delegates() {
            return FLAGS.iter().collect();
        }
        let own = |flag: &&Flag| DELEGATING.iter().any(|own| own.name == flag.name);
        let shared = |flag: &&Flag| SHARED.contains(&flag.section) || ALSO.contains(&flag.name);
        FLAGS.iter().filter(|flag| shared(flag) && !own(flag)).chain(DELEGATING).collect()
    }
}

impl FlagValues {
    /// The options of delegated authentication.
    pub(super) fn delegation(&self) -> Result<DelegationOptions, FlagError> {
        Ok(DelegationOptions {
            server: self.server("authentication-kubeconfig"),
            skips_lookup: self.bool("authentication-skip-lookup")?,
            tolerates_failure: self.bool("authentication-tolerate-lookup-failure")?,
        })
    }

    /// The options of token reviews by another API server.
    pub(super) fn token_reviews(&self) -> Result<TokenWebhookOptions, FlagError> {
        Ok(TokenWebhookOptions {
            server: self.server("authentication-kubeconfig"),
            version: VERSION.into(),
            cache_ttl: self.duration("authentication-token-webhook-cache-ttl")?,
            route: Route::DIRECT,
        })
    }

    /// The options of access reviews by another API server.
    pub(super) fn access_reviews(&self) -> Result<AuthorizationOptions, FlagError> {
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
