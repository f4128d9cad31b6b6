//! Flags and the file about issuers of OpenID Connect tokens (upstream: `OIDCAuthenticationOptions`).

use std::path::PathBuf;

use apimachinery::apiserverconfig::v1::{
    AuthenticationConfiguration, ClaimMappings, ClaimValidationRule, Issuer, JWTAuthenticator,
    PrefixedClaimOrExpression,
};

use super::values::Values;
use crate::tokens::Algorithm;

/// What `--oidc-*` flags are about, besides the ones that name issuer and client.
const DETAILS: [&str; 7] = [
    "oidc-ca-file",
    "oidc-groups-claim",
    "oidc-groups-prefix",
    "oidc-required-claim",
    "oidc-signing-algs",
    "oidc-username-claim",
    "oidc-username-prefix",
];

/// Issuers of tokens, and how their claims are read.
#[derive(Clone, Default)]
pub struct IssuerOptions {
    /// An AuthenticationConfiguration, which is read again when it changes.
    pub config_file: Option<PathBuf>,
    /// What the flags say, in the same terms; without the authorities of the issuer.
    pub configuration: AuthenticationConfiguration,
    /// The authorities of the flags' issuer.
    pub ca_file: Option<PathBuf>,
    /// How tokens may be signed.
    pub algorithms: Vec<Algorithm>,
}

impl std::fmt::Debug for IssuerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuerOptions").field("config_file", &self.config_file).finish_non_exhaustive()
    }
}

impl Values {
    pub(super) fn issuers(&self) -> Result<IssuerOptions, String> {
        let (issuer, client) = ("oidc-issuer-url", "oidc-client-id");
        let is_set = DETAILS.iter().chain([&issuer, &client]).any(|flag| self.is_given(flag));
        let config_file = self.path("authentication-config");
        if config_file.is_some() {
            if is_set {
                return Err("authentication-config file and oidc-* flags are mutually exclusive".into());
            }
            return Ok(IssuerOptions { config_file, algorithms: Algorithm::all(), ..IssuerOptions::default() });
        }
        if !is_set {
            return Ok(IssuerOptions::default());
        }
        if self.text(issuer).is_empty() || self.text(client).is_empty() {
            return Err(
                "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set".into()
            );
        }
        Ok(IssuerOptions {
            config_file: None,
            configuration: AuthenticationConfiguration { jwt: vec![self.jwt()?], ..Default::default() },
            ca_file: self.path("oidc-ca-file"),
            algorithms: self.signing_algorithms()?,
        })
    }

    /// What the flags say of their issuer.
    fn jwt(&self) -> Result<JWTAuthenticator, String> {
        let text = |flag: &str| self.text(flag).to_owned();
        let (url, claim, groups) = (text("oidc-issuer-url"), text("oidc-username-claim"), text("oidc-groups-claim"));
        let prefix = match self.text("oidc-username-prefix") {
            // Names of other issuers and of this cluster must not be taken.
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

    fn required_claims(&self) -> Result<Vec<ClaimValidationRule>, String> {
        let flag = "oidc-required-claim";
        let rule = |text: &str| {
            let (claim, value) = text.split_once('=')?;
            let (claim, required_value) = (claim.to_owned(), value.to_owned());
            Some(ClaimValidationRule { claim, required_value, ..ClaimValidationRule::default() })
        };
        let of = |text: &str| rule(text).ok_or_else(|| self.invalid(flag, "malformed pair, expect string=string"));
        self.list(flag).into_iter().map(of).collect()
    }

    fn signing_algorithms(&self) -> Result<Vec<Algorithm>, String> {
        let flag = "oidc-signing-algs";
        let of =
            |name: &str| Algorithm::of_name(name).ok_or_else(|| self.invalid(flag, format!("unsupported {name:?}")));
        self.list(flag).into_iter().map(of).collect()
    }
}
