//! Authenticators from flags or the configuration file (upstream: `AuthenticationConfiguration`, KEP-3331).
//!
//! They configure token issuers and anonymous requests. The file is reloaded when it changes.

use std::path::Path;
use std::sync::Arc;

use apimachinery::apiserverconfig::v1::AuthenticationConfiguration;
use machinery::field_error::FieldError;
use machinery::field_path;
use options::configuration::{self, Unknown};
use options::reload::{self, Reloads};
use options::{Algorithm, AuthenticationOptions};
use prometheus::Registry;

use crate::Error;
use crate::anonymous::Anonymous;
use crate::oidc::Issuers;

const GROUP: &str = "apiserver.config.k8s.io";
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// The configured token issuers and anonymous access.
#[derive(Clone)]
pub struct AuthenticationConfig {
    /// `None` if no external issuer is configured.
    pub issuers: Option<Arc<Issuers>>,
    pub anonymous: Anonymous,
}

impl AuthenticationConfig {
    /// Reads the configuration; a configuration file is watched for changes. Needs a tokio runtime.
    ///
    /// # Errors
    /// When a file cannot be read or is invalid.
    pub fn load(options: &AuthenticationOptions, registry: &Registry, hostname: &str) -> Result<Self, Error> {
        let disallowed = &options.service_account_issuers;
        let oidc = &options.issuers;
        let Some(path) = &oidc.config_file else {
            let configuration = with_authorities(&oidc.configuration, oidc.ca_file.as_deref())?;
            let issuers =
                (!configuration.jwt.is_empty()).then(|| Issuers::new(&configuration, &oidc.algorithms, disallowed));
            let issuers = issuers.transpose()?.map(Arc::new);
            return Ok(AuthenticationConfig { issuers, anonymous: from_flag(options) });
        };
        let text = std::fs::read(path).map_err(options::Error::file(path))?;
        let configuration = parse(&text).map_err(|source| Error::ConfigurationFile {
            path: path.display().to_string(),
            source: Box::new(source),
        })?;
        let anonymous = match &configuration.anonymous {
            Some(_) if options.anonymous_is_given => return Err(Error::AnonymousTwice),
            Some(_) => from_file(&configuration),
            None => from_flag(options),
        };
        let issuers = Issuers::new(&configuration, &oidc.algorithms, disallowed)?;
        let issuers = Arc::new(issuers);
        let reloader = Reloader {
            issuers: issuers.clone(),
            algorithms: oidc.algorithms.clone(),
            disallowed: disallowed.clone(),
            anonymous: anonymous_of(&configuration),
        };
        let reloads = Reloads::register(registry, "authentication", hostname);
        reload::follow(path.clone(), text, reloads, move |text| reloader.apply(text));
        Ok(AuthenticationConfig { issuers: Some(issuers), anonymous })
    }
}

/// Applies changes of the configuration file.
struct Reloader {
    issuers: Arc<Issuers>,
    algorithms: Vec<Algorithm>,
    /// The issuers of service account tokens, which the file must not configure.
    disallowed: Vec<String>,
    /// Anonymous access as configured at startup; a change is rejected.
    anonymous: Option<(bool, Vec<String>)>,
}

impl Reloader {
    fn apply(&self, text: &[u8]) -> Result<(), Error> {
        let configuration = parse(text)?;
        let mut also = Vec::new();
        if anonymous_of(&configuration) != self.anonymous {
            let why = "changed from initial configuration file";
            also.push(FieldError::forbidden(&field_path::Path::new("anonymous"), why));
        }
        self.issuers.replace(&configuration, &self.algorithms, &self.disallowed, also)
    }
}

fn parse(text: &[u8]) -> Result<AuthenticationConfiguration, Error> {
    if text.is_empty() {
        return Err(Error::EmptyConfiguration);
    }
    Ok(configuration::parse(text, GROUP, &VERSIONS, "AuthenticationConfiguration", Unknown::Refused)?)
}

fn anonymous_of(configuration: &AuthenticationConfiguration) -> Option<(bool, Vec<String>)> {
    let anonymous = configuration.anonymous.as_ref()?;
    Some((anonymous.enabled, anonymous.conditions.iter().map(|condition| condition.path.clone()).collect()))
}

fn from_file(configuration: &AuthenticationConfiguration) -> Anonymous {
    match anonymous_of(configuration) {
        Some((true, paths)) if paths.is_empty() => Anonymous::Enabled,
        Some((true, paths)) => Anonymous::Paths(paths),
        _ => Anonymous::Disabled,
    }
}

fn from_flag(options: &AuthenticationOptions) -> Anonymous {
    if options.anonymous { Anonymous::Enabled } else { Anonymous::Disabled }
}

/// Adds the certificate authorities of `--oidc-ca-file` to the issuer of the flags.
fn with_authorities(
    configuration: &AuthenticationConfiguration,
    file: Option<&Path>,
) -> Result<AuthenticationConfiguration, Error> {
    let mut configuration = configuration.clone();
    if let (Some(path), Some(jwt)) = (file, configuration.jwt.first_mut()) {
        jwt.issuer.certificate_authority = std::fs::read_to_string(path).map_err(options::Error::file(path))?;
    }
    Ok(configuration)
}
