//! The discovery documents of the service account issuer: configuration and keys (OpenID Connect Discovery 1.0).

use std::sync::Arc;

use http::{HeaderValue, Method, header};
use machinery::status::Status;
use request::{BoxFuture, Handler, Request, RequestExt, Response, respond};
use serde_json::json;

use super::keys::VerifyingKey;
use super::token_keys::TokenKeys;
use crate::Error;

/// The path of the configuration.
pub const CONFIGURATION: &str = "/.well-known/openid-configuration";
/// The path of the key set.
pub const KEY_SET: &str = "/openid/v1/jwks";

const KEY_SET_TYPE: &str = "application/jwk-set+json";

/// The encoded documents.
pub struct Documents {
    configuration: Vec<u8>,
    keys: Vec<u8>,
    /// The keys of the documents.
    token_keys: Arc<TokenKeys>,
}

impl Documents {
    /// Creates the documents of an issuer. `jwks_uri` is the URL of the key set.
    ///
    /// # Errors
    /// When OpenID Connect does not allow the issuer or `jwks_uri` (`NewOpenIDMetadataProvider`).
    pub fn new(issuer: &str, jwks_uri: &str, token_keys: Arc<TokenKeys>) -> Result<Self, Error> {
        if !issuer.starts_with("https://") {
            return Err(Error::IssuerScheme(issuer.to_owned()));
        }
        let parts = [('?', "query"), ('#', "fragment")];
        if let Some((_, part)) = parts.into_iter().find(|(mark, _)| issuer.contains(*mark)) {
            return Err(Error::IssuerPart { part, issuer: issuer.to_owned() });
        }
        if !jwks_uri.starts_with("https://") {
            return Err(Error::KeySetScheme(jwks_uri.to_owned()));
        }
        let mut algorithms: Vec<&str> = token_keys.published().map(|key| key.algorithm().name()).collect();
        algorithms.sort_unstable();
        algorithms.dedup();
        let configuration = json!({
            "issuer": issuer,
            "jwks_uri": jwks_uri,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        });
        let keys = json!({"keys": token_keys.published().map(VerifyingKey::jwk).collect::<Vec<_>>()});
        let (configuration, keys) = (configuration.to_string().into_bytes(), keys.to_string().into_bytes());
        Ok(Documents { configuration, keys, token_keys })
    }
}

/// Serves the documents. Requests wait for them while the signing key is being generated.
pub struct OpenId(pub tokio::sync::watch::Receiver<Option<Documents>>);

impl OpenId {
    /// The paths, for the path list at `/`.
    pub const PATHS: [&'static str; 2] = [CONFIGURATION, KEY_SET];

    /// Whether the path is one of [`Self::PATHS`] or below one.
    pub fn serves(path: &str) -> bool {
        Self::PATHS
            .iter()
            .any(|base| path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    async fn reply(&self, request: Request) -> Response {
        let path = request.path().trim_end_matches('/');
        let media_type = if path == KEY_SET { KEY_SET_TYPE } else { "application/json" };
        if !Self::PATHS.contains(&path) {
            return respond::failure(&request, &Status::path_not_found());
        }
        if request.method() != Method::GET {
            return respond::failure(&request, &Status::method_not_allowed());
        }
        if !accepts(&request, media_type) {
            return respond::not_acceptable(&request, media_type);
        }
        let mut documents = self.0.clone();
        // The sender is dropped if OpenID Connect does not allow the issuer; then there are no documents.
        let Ok(documents) = documents.wait_for(Option::is_some).await else { return respond::not_found() };
        let Some(documents) = documents.as_ref() else { return respond::not_found() };
        let body = if path == KEY_SET { documents.keys.clone() } else { documents.configuration.clone() };
        let mut response = respond::bytes(200, HeaderValue::from_static(media_type), body);
        let age = format!("public, max-age={}", documents.token_keys.max_age().as_secs());
        response.headers_mut().extend(HeaderValue::try_from(age).ok().map(|age| (header::CACHE_CONTROL, age)));
        response
    }
}

/// Whether the client accepts this media type. As in go-restful, parameters are ignored.
fn accepts(request: &Request, media_type: &str) -> bool {
    let Some(accept) = request.headers().get(header::ACCEPT).and_then(|v| v.to_str().ok()) else { return true };
    accept.is_empty()
        || accept.split(',').any(|clause| {
            let wanted = clause.split(';').next().unwrap_or("").trim();
            wanted == "*/*" || wanted == media_type
        })
}

impl Handler for OpenId {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(self.reply(request))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Instant;

    use super::*;
    use request::testing::{request, seen};
    use tokio::sync::watch;

    /// An empty key set.
    fn no_keys() -> Arc<TokenKeys> {
        Arc::new(TokenKeys::of_signer(Vec::new(), HashSet::new(), Instant::now()))
    }

    async fn reply(method: &str, path: &str, accept: &str) -> (u16, String) {
        let documents = Documents::new("https://issuer", "https://host/openid/v1/jwks", no_keys()).unwrap();
        let (_keep, receiver) = watch::channel(Some(documents));
        let mut request = request(method, path);
        request.headers_mut().insert("accept", accept.parse().unwrap());
        seen(OpenId(receiver).handle(request).await).await
    }

    #[tokio::test]
    async fn negotiates_media_type() {
        assert_eq!(reply("GET", KEY_SET, "*/*").await, (200, r#"{"keys":[]}"#.into()));
        assert_eq!(reply("GET", "/openid/v1/jwks/", KEY_SET_TYPE).await.0, 200);
        assert_eq!(reply("GET", CONFIGURATION, "application/json").await.0, 200);
        let (code, body) = reply("GET", KEY_SET, "application/json").await;
        assert!(code == 406 && body.contains("Available representations: application/jwk-set+json"), "{body}");
        assert_eq!(reply("POST", KEY_SET, "*/*").await.0, 405);
        assert_eq!(reply("GET", "/openid/v1/jwks/x", "*/*").await.0, 404);
    }

    #[test]
    fn rejects_invalid_issuers() {
        for issuer in ["http://a", "kubernetes", "https://a?b=c", "https://a#b"] {
            assert!(Documents::new(issuer, "https://host", no_keys()).is_err(), "{issuer}");
        }
    }
}
