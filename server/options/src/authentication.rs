//! Flags of authentication (upstream: `BuiltInAuthenticationOptions`).

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderName;
use webhook::{ReviewServer, Route};

use crate::error::{FlagError, ValueError};
use crate::oidc::IssuerOptions;
use crate::request_headers::RequestHeaders;
use crate::values::FlagValues;

/// Options of authentication.
#[derive(Clone, Debug)]
pub struct AuthenticationOptions {
    pub anonymous: bool,
    /// Whether the command line sets it.
    pub anonymous_is_given: bool,
    pub client_ca_file: Option<PathBuf>,
    pub token_auth_file: Option<PathBuf>,
    /// Issuers of service account tokens; the first one issues.
    pub service_account_issuers: Vec<String>,
    pub service_account_key_files: Vec<PathBuf>,
    pub service_account_signing_key_file: Option<PathBuf>,
    /// The Unix socket of an external signer: a path, or `@` and a name.
    pub service_account_signing_endpoint: Option<String>,
    /// The URL of the keys of service account tokens; `None` means this server.
    pub service_account_jwks_uri: Option<String>,
    /// Audiences of this server; defaults to the first issuer.
    pub api_audiences: Vec<String>,
    /// Whether tokens of Secrets are compared with the Secrets.
    pub service_account_lookup: bool,
    /// Whether tokens requested by admission get an extended lifetime, until clients renew them.
    pub service_account_extend_expiration: bool,
    /// The maximum lifetime of a token; `None` means no limit.
    pub service_account_max_expiration: Option<Duration>,
    /// Whether Secrets of type `bootstrap.kubernetes.io/token` are tokens.
    pub bootstrap_tokens: bool,
    /// The CAs of front proxies, and the headers that they set.
    pub request_headers: Option<(PathBuf, RequestHeaders)>,
    /// OpenID Connect issuers.
    pub issuers: IssuerOptions,
    pub webhook: Option<TokenWebhookOptions>,
    /// Look-up of client CAs in another API server.
    pub delegation: Option<DelegationOptions>,
}

/// Options of delegated authentication (upstream: `DelegatingAuthenticationOptions`).
#[derive(Clone, Debug)]
pub struct DelegationOptions {
    pub server: ReviewServer,
    /// Uses only the CAs of the flags.
    pub skips_lookup: bool,
    pub tolerates_failure: bool,
}

/// Options of the token review webhook.
#[derive(Clone, Debug)]
pub struct TokenWebhookOptions {
    pub server: ReviewServer,
    /// `v1` or `v1beta1`.
    pub version: String,
    /// How long results are cached.
    pub cache_ttl: Duration,
    pub route: Route,
}

impl FlagValues {
    pub(super) fn authentication(&self) -> Result<AuthenticationOptions, FlagError> {
        let mut issuers = self.repeated("service-account-issuer");
        if issuers.is_empty() {
            issuers.push(self.text("service-account-issuer").to_owned());
        }
        for issuer in &issuers {
            if issuer.contains(':') && issuer.parse::<http::Uri>().is_err() {
                return Err(self.invalid("service-account-issuer", ValueError::Issuer { issuer: issuer.clone() }));
            }
        }
        let mut api_audiences: Vec<String> = self.list("api-audiences").into_iter().map(String::from).collect();
        if api_audiences.is_empty() {
            api_audiences.clone_from(&issuers);
        }
        Ok(AuthenticationOptions {
            anonymous: self.bool("anonymous-auth")?,
            anonymous_is_given: self.is_given("anonymous-auth"),
            client_ca_file: self.path("client-ca-file"),
            token_auth_file: self.path("token-auth-file"),
            service_account_issuers: issuers,
            service_account_key_files: self
                .repeated("service-account-key-file")
                .into_iter()
                .map(PathBuf::from)
                .collect(),
            service_account_signing_key_file: self.path("service-account-signing-key-file"),
            service_account_signing_endpoint: self.signing_endpoint()?,
            service_account_jwks_uri: self.jwks_uri()?,
            api_audiences,
            service_account_lookup: self.bool("service-account-lookup")?,
            service_account_extend_expiration: self.bool("service-account-extend-token-expiration")?,
            service_account_max_expiration: self.max_expiration()?,
            bootstrap_tokens: self.bool("enable-bootstrap-token-auth")?,
            request_headers: self.request_headers()?,
            issuers: self.issuers()?,
            webhook: self.token_webhook()?,
            delegation: None,
        })
    }

    fn token_webhook(&self) -> Result<Option<TokenWebhookOptions>, FlagError> {
        let Some(config_file) = self.path("authentication-token-webhook-config-file") else { return Ok(None) };
        Ok(Some(TokenWebhookOptions {
            server: config_file.into(),
            version: self.webhook_version("authentication-token-webhook-version")?,
            cache_ttl: self.duration("authentication-token-webhook-cache-ttl")?,
            route: Route::DIRECT,
        }))
    }

    fn max_expiration(&self) -> Result<Option<Duration>, FlagError> {
        let limit = self.duration("service-account-max-token-expiration")?;
        match limit.as_secs() {
            0 if limit.is_zero() => Ok(None),
            3600..=0x1_0000_0000 => Ok(Some(limit)),
            _ => Err(FlagError::MaxTokenExpiration),
        }
    }

    /// `validateServiceAccountTokenSigningConfig`
    fn signing_endpoint(&self) -> Result<Option<String>, FlagError> {
        let endpoint = self.text("service-account-signing-endpoint");
        if endpoint.is_empty() {
            return Ok(None);
        }
        if self.is_given("service-account-signing-key-file") {
            return Err(FlagError::SigningKeyAndEndpoint);
        }
        if self.is_given("service-account-key-file") {
            return Err(FlagError::KeysAndSigningEndpoint);
        }
        let is_part =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if endpoint.strip_prefix('@').is_some_and(|name| !name.split('.').all(is_part)) {
            return Err(FlagError::SigningEndpoint { endpoint: endpoint.to_owned() });
        }
        Ok(Some(endpoint.to_owned()))
    }

    /// `RequestHeaderAuthenticationOptions.ToAuthenticationRequestHeaderConfig`
    fn request_headers(&self) -> Result<Option<(PathBuf, RequestHeaders)>, FlagError> {
        let Some(authorities) = self.path("requestheader-client-ca-file") else { return Ok(None) };
        let names = |flag: &str| -> Result<Vec<HeaderName>, FlagError> {
            self.list(flag).into_iter().map(|name| self.parsed(flag, name)).collect()
        };
        let owned = |flag: &str| self.list(flag).into_iter().map(str::to_owned).collect();
        let headers = RequestHeaders {
            user_names: names("requestheader-username-headers")?,
            uids: names("requestheader-uid-headers")?,
            groups: names("requestheader-group-headers")?,
            extra_prefixes: self
                .list("requestheader-extra-headers-prefix")
                .into_iter()
                .map(str::to_ascii_lowercase)
                .collect(),
            allowed_names: owned("requestheader-allowed-names"),
        };
        Ok(Some((authorities, headers)))
    }

    fn jwks_uri(&self) -> Result<Option<String>, FlagError> {
        match self.text("service-account-jwks-uri") {
            "" => Ok(None),
            uri if uri.starts_with("https://") && uri.parse::<http::Uri>().is_ok() => Ok(Some(uri.to_owned())),
            uri => Err(FlagError::JwksUri { uri: uri.to_owned() }),
        }
    }
}
