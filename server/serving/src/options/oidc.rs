//! Flags about an OpenID Connect issuer (upstream: `OIDCAuthenticationOptions`).

use std::path::PathBuf;

use super::values::Values;
use crate::tokens::Algorithm;

/// An issuer of tokens, and how its claims are read.
#[derive(Clone, Debug)]
pub struct OidcOptions {
    pub issuer: String,
    /// The audience that tokens have to name.
    pub client_id: String,
    pub ca_file: Option<PathBuf>,
    pub username_claim: String,
    pub username_prefix: String,
    /// No groups are read when it is empty.
    pub groups_claim: String,
    pub groups_prefix: String,
    /// Claims that have to be there with these values.
    pub required_claims: Vec<(String, String)>,
    pub algorithms: Vec<Algorithm>,
}

impl Values {
    pub(super) fn oidc(&self) -> Result<Option<OidcOptions>, String> {
        let (issuer, client_id) = (self.text("oidc-issuer-url").to_owned(), self.text("oidc-client-id").to_owned());
        let others =
            ["oidc-ca-file", "oidc-groups-claim", "oidc-groups-prefix", "oidc-username-prefix", "oidc-required-claim"];
        let set = !issuer.is_empty() || !client_id.is_empty() || others.iter().any(|flag| !self.text(flag).is_empty());
        if !set {
            return Ok(None);
        }
        if issuer.is_empty() || client_id.is_empty() {
            return Err(
                "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set".into()
            );
        }
        if !issuer.starts_with("https://") {
            return Err(format!("jwt[0].issuer.url: Invalid value: {issuer:?}: URL scheme must be https"));
        }
        let username_claim = self.text("oidc-username-claim").to_owned();
        Ok(Some(OidcOptions {
            username_prefix: match self.text("oidc-username-prefix") {
                // Names of other issuers and of this cluster must not be taken.
                "" if username_claim != "email" => format!("{issuer}#"),
                "-" => String::new(),
                prefix => prefix.to_owned(),
            },
            username_claim,
            ca_file: self.path("oidc-ca-file"),
            groups_claim: self.text("oidc-groups-claim").to_owned(),
            groups_prefix: self.text("oidc-groups-prefix").to_owned(),
            required_claims: self.required_claims()?,
            algorithms: self.signing_algorithms()?,
            issuer,
            client_id,
        }))
    }

    fn required_claims(&self) -> Result<Vec<(String, String)>, String> {
        let flag = "oidc-required-claim";
        let pair = |text: &str| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        let of = |text: &str| pair(text).ok_or_else(|| self.invalid(flag, "malformed pair, expect string=string"));
        self.list(flag).into_iter().map(of).collect()
    }

    fn signing_algorithms(&self) -> Result<Vec<Algorithm>, String> {
        let flag = "oidc-signing-algs";
        let of =
            |name: &str| Algorithm::of_name(name).ok_or_else(|| self.invalid(flag, format!("unsupported {name:?}")));
        self.list(flag).into_iter().map(of).collect()
    }
}
