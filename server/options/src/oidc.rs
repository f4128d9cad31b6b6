//! Flags and configuration file of OpenID Connect (upstream: `OIDCAuthenticationOptions`).

use std::path::PathBuf;

use apimachinery::apiserverconfig::v1::{
    AuthenticationConfiguration, ClaimMappings, ClaimValidationRule, Issuer, JWTAuthenticator,
    PrefixedClaimOrExpression,
};

use crate::algorithm::Algorithm;
use crate::error::{FlagError, ValueError};
use crate::values::FlagValues;

/// The `--oidc-*` flags besides issuer URL and client ID.
const DETAILS: [&str; 7] = [
    "oidc-ca-file",
    "oidc-groups-claim",
    "oidc-groups-prefix",
    "oidc-required-claim",
    "oidc-signing-algs",
    "oidc-username-claim",
    "oidc-username-prefix",
];

/// Options of token issuers.
#[derive(Clone, Default)]
pub struct IssuerOptions {
    /// An AuthenticationConfiguration file, reloaded on changes.
    pub config_file: Option<PathBuf>,
    /// The issuer of the flags as a configuration, without its CA.
    pub configuration: AuthenticationConfiguration,
    /// The CA file of the flags' issuer.
    pub ca_file: Option<PathBuf>,
    /// The allowed signing algorithms.
    pub algorithms: Vec<Algorithm>,
}

impl std::fmt::Debug for IssuerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuerOptions").field("config_file", &self.config_file).finish_non_exhaustive()
    }
}

impl FlagValues {
    pub(super) fn issuers(&self) -> Result<IssuerOptions, FlagError> {
        let (issuer, client) = ("oidc-issuer-url", "oidc-client-id");
        let is_set = DETAILS.iter().chain([&issuer, &client]).any(|flag| self.is_given(flag));
        let config_file = self.path("authentication-config");
        if config_file.is_some() {
            if is_set {
                return Err(FlagError::OidcAndConfiguration);
            }
            return Ok(IssuerOptions { config_file, algorithms: Algorithm::all(), ..IssuerOptions::default() });
        }
        if !is_set {
            return Ok(IssuerOptions::default());
        }
        if self.text(issuer).is_empty() || self.text(client).is_empty() {
            return Err(FlagError::OidcIncomplete);
        }
        Ok(IssuerOptions {
            config_file: None,
            configuration: AuthenticationConfiguration { jwt: vec![self.jwt()?], ..Default::default() },
            ca_file: self.path("oidc-ca-file"),
            algorithms: self.signing_algorithms()?,
        })
    }

    /// The issuer that the flags describe.
    fn jwt(&self) -> Result<JWTAuthenticator, FlagError> {
        let text = |flag: &str| self.text(flag).to_owned();
        let (url, claim, groups) = (text("oidc-issuer-url"), text("oidc-username-claim"), text("oidc-groups-claim"));
        let prefix = match self.text("oidc-username-prefix") {
            // Prevents collisions with names of other issuers and of this cluster.
            "" if claim != "email" => format!("{url}#"),
            "-" => String::new(),
            prefix => prefix.to_owned(),
        };
        let groups_prefix = (!groups.is_empty()).then(|| text("oidc-groups-prefix"));
        Ok(JWTAuthenticator {
            issuer: Issuer { url, audiences: vec![text("oidc-client-id")], ..Issuer::default() },
            claim_validation_rules: self.required_claims()?,
            claim_mappings: ClaimMappings {
                username: PrefixedClaimOrExpression { claim, prefix: Some(prefix), ..Default::default() },
                groups: PrefixedClaimOrExpression { claim: groups, prefix: groups_prefix, ..Default::default() },
                ..ClaimMappings::default()
            },
            ..JWTAuthenticator::default()
        })
    }

    fn required_claims(&self) -> Result<Vec<ClaimValidationRule>, FlagError> {
        let flag = "oidc-required-claim";
        let rule = |text: &str| {
            let (claim, value) = text.split_once('=')?;
            let (claim, required_value) = (claim.to_owned(), value.to_owned());
            Some(ClaimValidationRule { claim, required_value, ..ClaimValidationRule::default() })
        };
        let of = |text: &str| rule(text).ok_or_else(|| self.invalid(flag, ValueError::Pair));
        self.list(flag).into_iter().map(of).collect()
    }

    fn signing_algorithms(&self) -> Result<Vec<Algorithm>, FlagError> {
        let flag = "oidc-signing-algs";
        let wrong = |name: &str| self.invalid(flag, ValueError::Algorithm { name: name.to_owned() });
        let of = |name: &str| Algorithm::of_name(name).ok_or_else(|| wrong(name));
        self.list(flag).into_iter().map(of).collect()
    }
}
