//! Who is believed by configuration: issuers of tokens and who comes in without credentials, from flags or from a file that is read again when
//! it changes (upstream: `AuthenticationConfiguration`, KEP-3331).

use std::path::Path;
use std::sync::Arc;

use apimachinery::apiserverconfig::v1::AuthenticationConfiguration;
use machinery::field_error::FieldError;
use machinery::field_path;
use prometheus::Registry;

use super::{Anonymous, Issuers};
use crate::Error;
use crate::configuration::{self, Unknown};
use crate::options::AuthenticationOptions;
use crate::reload::{self, Reloads};
use crate::tokens::Algorithm;

const GROUP: &str = "apiserver.config.k8s.io";
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// What was configured.
#[derive(Clone)]
pub struct Configured {
    /// None when no tokens of others are believed.
    pub issuers: Option<Arc<Issuers>>,
    pub anonymous: Anonymous,
}

impl Configured {
    /// Reads the configuration of the options; one of a file is followed. Needs a tokio runtime.
    ///
    /// # Errors
    /// When a file cannot be read or is not right.
    pub fn load(options: &AuthenticationOptions, registry: &Registry, hostname: &str) -> Result<Self, Error> {
        let own = &options.service_account_issuers;
        let issuers = &options.issuers;
        let Some(path) = &issuers.config_file else {
            let configuration = with_authorities(&issuers.configuration, issuers.ca_file.as_deref())?;
            let believed =
                (!configuration.jwt.is_empty()).then(|| Issuers::new(&configuration, &issuers.algorithms, own));
            let believed = believed.transpose().map_err(Error::Options)?.map(Arc::new);
            return Ok(Configured { issuers: believed, anonymous: by_flag(options) });
        };
        let text = std::fs::read(path).map_err(Error::file(path))?;
        let wrong = |why: String| {
            Error::Options(format!(
                "failed to load authentication configuration from file {:?}: {why}",
                path.display().to_string()
            ))
        };
        let configuration = parse(&text).map_err(wrong)?;
        let anonymous = match &configuration.anonymous {
            Some(_) if options.anonymous_is_given => {
                let why = "--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file";
                return Err(Error::Options(format!("anonymous: Forbidden: {why}")));
            }
            Some(_) => by_file(&configuration),
            None => by_flag(options),
        };
        let believed = Issuers::new(&configuration, &issuers.algorithms, own).map_err(Error::Options)?;
        let believed = Arc::new(believed);
        let change = Change {
            issuers: believed.clone(),
            algorithms: issuers.algorithms.clone(),
            own: own.clone(),
            anonymous: anonymous_of(&configuration),
        };
        let reloads = Reloads::register(registry, "authentication", hostname);
        reload::follow(path.clone(), text, reloads, move |text| change.apply(text));
        Ok(Configured { issuers: Some(believed), anonymous })
    }
}

/// What has to be known when the file changes.
struct Change {
    issuers: Arc<Issuers>,
    algorithms: Vec<Algorithm>,
    own: Vec<String>,
    /// Who comes in without credentials does not change while the server runs.
    anonymous: Option<(bool, Vec<String>)>,
}

impl Change {
    fn apply(&self, text: &[u8]) -> Result<(), String> {
        let configuration = parse(text)?;
        let mut also = Vec::new();
        if anonymous_of(&configuration) != self.anonymous {
            let why = "changed from initial configuration file";
            also.push(FieldError::forbidden(&field_path::Path::new("anonymous"), why));
        }
        self.issuers.replace(&configuration, &self.algorithms, &self.own, also)
    }
}

fn parse(text: &[u8]) -> Result<AuthenticationConfiguration, String> {
    if text.is_empty() {
        return Err("empty config data".into());
    }
    configuration::parse(text, GROUP, &VERSIONS, "AuthenticationConfiguration", Unknown::Refused)
}

fn anonymous_of(configuration: &AuthenticationConfiguration) -> Option<(bool, Vec<String>)> {
    let anonymous = configuration.anonymous.as_ref()?;
    Some((anonymous.enabled, anonymous.conditions.iter().map(|condition| condition.path.clone()).collect()))
}

fn by_file(configuration: &AuthenticationConfiguration) -> Anonymous {
    match anonymous_of(configuration) {
        Some((true, paths)) if paths.is_empty() => Anonymous::Everybody,
        Some((true, paths)) => Anonymous::To(paths),
        _ => Anonymous::Nobody,
    }
}

fn by_flag(options: &AuthenticationOptions) -> Anonymous {
    if options.anonymous { Anonymous::Everybody } else { Anonymous::Nobody }
}

/// The configuration with the authorities of a file for its issuer.
fn with_authorities(
    configuration: &AuthenticationConfiguration,
    file: Option<&Path>,
) -> Result<AuthenticationConfiguration, Error> {
    let mut configuration = configuration.clone();
    if let (Some(path), Some(jwt)) = (file, configuration.jwt.first_mut()) {
        jwt.issuer.certificate_authority = std::fs::read_to_string(path).map_err(Error::file(path))?;
    }
    Ok(configuration)
}
