//! Tokens of an issuer that serves its keys over HTTPS.

use options::Options;

use super::*;
use crate::anonymous::Anonymous;
use crate::configured::AuthenticationConfig;
use crate::testing::Https;
use crate::tokens::SigningKey;
use prometheus::Registry;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use serde_json::json;
use std::sync::OnceLock;

struct Issuer {
    server: Https,
    url: String,
    key: SigningKey,
}

/// Serves the documents of an issuer.
async fn issuer() -> Issuer {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    let key = SigningKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
    let keys = json!({"keys": [key.public.jwk()]});
    let url = Arc::new(OnceLock::<String>::new());
    let own = url.clone();
    let server = Https::start(move |path, _| match path {
        "/keys" => (200, keys.clone()),
        _ => (200, json!({"issuer": own.get(), "jwks_uri": format!("{}/keys", own.get().unwrap())})),
    })
    .await;
    let url = url.get_or_init(|| server.url.clone()).clone();
    Issuer { server, url, key }
}

impl Issuer {
    /// The authenticator of this issuer from flags, without `--oidc-ca-file`.
    fn authenticator_without_ca(&self, flags: &[&str]) -> Arc<Issuers> {
        let issuer = [format!("--oidc-issuer-url={}", self.url), "--oidc-client-id=cluster".into()];
        let flags = issuer.into_iter().chain(flags.iter().map(|flag| (*flag).to_owned()));
        let options = Options::parse_from(["kube-apiserver".to_owned()].into_iter().chain(flags)).unwrap();
        AuthenticationConfig::load(&options.authentication, &Registry::new(), "").unwrap().issuers.unwrap()
    }

    /// The authenticator of this issuer from flags, with its certificate authority.
    fn authenticator(&self, flags: &[&str]) -> Arc<Issuers> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &self.server.certificate).unwrap();
        let authority = format!("--oidc-ca-file={}", file.path().display());
        self.authenticator_without_ca(&[&["--oidc-signing-algs=ES256", &authority], flags].concat())
    }

    /// A token with these claims and the required ones.
    fn token(&self, claims: &Value) -> String {
        let mut all = json!({"iss": self.url, "aud": ["cluster"], "exp": 4_000_000_000_u64, "sub": "jane"});
        for (key, value) in claims.as_object().unwrap() {
            all[key] = value.clone();
        }
        Jws::sign(&self.key, all.to_string().as_bytes()).unwrap()
    }
}

/// The name and groups of the user of a token, or the error.
async fn authenticated(issuers: &Issuers, token: &str) -> String {
    match issuers.verify(token).await {
        Ok(None) => "unknown".into(),
        Ok(Some(user)) => format!("{} {:?}", user.name, user.groups),
        Err(why) => why.to_string(),
    }
}

#[tokio::test]
async fn maps_token_to_user() {
    let issuer = issuer().await;
    let plain =
        issuer.authenticator(&["--oidc-username-prefix=-", "--oidc-groups-claim=roles", "--oidc-groups-prefix=oidc:"]);
    for (claims, expect) in [
        (json!({}), "jane []"),
        (json!({"aud": "cluster", "roles": ["dev", "ops"]}), "jane [\"oidc:dev\", \"oidc:ops\"]"),
        (json!({"roles": "dev"}), "jane [\"oidc:dev\"]"),
        (json!({"iss": "https://elsewhere"}), "unknown"),
        (json!({"aud": ["other"]}), "oidc: verify token: oidc: expected audience \"cluster\" got [\"other\"]"),
        (json!({"exp": 1}), "oidc: verify token: oidc: token is expired (Token Expiry: 1970-01-01T00:00:01Z)"),
        (json!({"nbf": 4_000_000_000_u64}), "oidc: verify token: oidc: current time before the nbf (not before) time"),
    ] {
        assert_eq!(authenticated(&plain, &issuer.token(&claims)).await, expect, "{claims}");
    }
    assert_eq!(authenticated(&plain, "no.token").await, "unknown");

    let prefixed = issuer.authenticator(&[]);
    assert_eq!(authenticated(&prefixed, &issuer.token(&json!({}))).await, format!("{}#jane []", issuer.url));

    let mail = issuer.authenticator(&["--oidc-username-claim=email", "--oidc-required-claim=hd=example.com"]);
    for (claims, expect) in [
        (json!({"email": "j@x", "hd": "example.com"}), "j@x []"),
        (json!({"email": "j@x", "email_verified": true, "hd": "example.com"}), "j@x []"),
        (json!({"email": "j@x", "email_verified": false}), "oidc: email not verified"),
        (json!({"email": "j@x"}), "oidc: required claim hd not present in ID token"),
        (
            json!({"email": "j@x", "hd": "evil"}),
            "oidc: required claim hd value does not match. Got = evil, want = example.com",
        ),
    ] {
        assert_eq!(authenticated(&mail, &issuer.token(&claims)).await, expect, "{claims}");
    }
}

#[tokio::test]
async fn rejects_token_with_signature_of_other_issuer() {
    let (issuer, other) = tokio::join!(issuer(), issuer());
    let authenticator = issuer.authenticator(&[]);
    let forged = other.token(&json!({"iss": issuer.url}));
    let why = "oidc: verify token: failed to verify signature: failed to verify id token signature";
    assert_eq!(authenticated(&authenticator, &forged).await, why);
    let without_ca = issuer.authenticator_without_ca(&["--oidc-signing-algs=ES256"]);
    let why = authenticated(&without_ca, &issuer.token(&json!({}))).await;
    assert!(why.ends_with("x509: certificate signed by unknown authority"), "{why}");
}

/// A configuration file with these issuers.
fn configuration(issuers: &[(&Issuer, Value)]) -> Value {
    let jwt = issuers.iter().map(|(issuer, more)| {
        let mut jwt = json!({"issuer": {"url": issuer.url, "audiences": ["cluster", "other"],
            "audienceMatchPolicy": "MatchAny", "certificateAuthority": issuer.server.certificate}});
        jwt.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        jwt
    });
    json!({"apiVersion": "apiserver.config.k8s.io/v1beta1", "kind": "AuthenticationConfiguration",
        "jwt": jwt.collect::<Vec<_>>()})
}

fn load(file: &std::path::Path, flags: &[&str]) -> Result<AuthenticationConfig, Error> {
    let flag = format!("--authentication-config={}", file.display());
    let options = Options::parse_from(["kube-apiserver", &flag].iter().chain(flags))?;
    AuthenticationConfig::load(&options.authentication, &Registry::new(), "")
}

#[tokio::test]
async fn maps_claims_with_expressions_and_reloads() {
    let (one, other) = tokio::join!(issuer(), issuer());
    let mapped = json!({
        "claimMappings": {
            "username": {"expression": "claims.sub + '@one'"},
            "groups": {"expression": "claims.?roles.orValue([])"},
            "uid": {"claim": "id"},
            "extra": [{"key": "example.com/team", "valueExpression": "claims.?team.orValue('')"}],
        },
        "claimValidationRules": [
            {"claim": "hd", "requiredValue": "example.com"},
            {"expression": "claims.exp > 5.0", "message": "too short"},
        ],
        "userValidationRules": [{"expression": "!user.username.startsWith('system:')", "message": "reserved"}],
    });
    let plain = json!({"claimMappings": {"username": {"claim": "sub", "prefix": "two:"}}});
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), configuration(&[(&one, mapped), (&other, plain.clone())]).to_string()).unwrap();
    let issuers = load(file.path(), &[]).unwrap().issuers.unwrap();
    let claims = json!({"aud": "other", "hd": "example.com", "id": "7", "roles": ["dev", ""], "team": "red"});
    let user = issuers.verify(&one.token(&claims)).await.unwrap().unwrap();
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("jane@one", "7"));
    assert_eq!(
        (user.groups.as_slice(), &user.extra["example.com/team"]),
        (&["dev".to_owned()][..], &vec!["red".to_owned()])
    );
    assert_eq!(authenticated(&issuers, &other.token(&json!({}))).await, "two:jane []");
    for (claims, expect) in [
        (
            json!({"hd": "evil", "id": "7"}),
            "oidc: required claim hd value does not match. Got = evil, want = example.com",
        ),
        (json!({"hd": "example.com"}), "oidc: parse uid claim \"id\": claim not present"),
        (
            json!({"hd": "example.com", "id": "7", "sub": "system:x"}),
            "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('system:')' failed: reserved",
        ),
        (
            json!({"aud": "third"}),
            "oidc: verify token: oidc: expected audience in [\"cluster\", \"other\"] got [\"third\"]",
        ),
    ] {
        assert_eq!(authenticated(&issuers, &one.token(&claims)).await, expect, "{claims}");
    }

    // The configuration file changes: one issuer is removed.
    std::fs::write(file.path(), configuration(&[(&other, plain)]).to_string()).unwrap();
    while authenticated(&issuers, &one.token(&claims)).await != "unknown" {
        tokio::task::yield_now().await;
    }
    assert_eq!(authenticated(&issuers, &other.token(&json!({}))).await, "two:jane []");
}

#[tokio::test]
async fn rejects_invalid_configurations() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let check = |document: &str, flags: &[&str], expect: &str| {
        let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
        std::fs::write(file.path(), format!("{head}{document}")).unwrap();
        let why = load(file.path(), flags).map(drop).unwrap_err().to_string();
        assert!(why.contains(expect), "{document}\n{why}");
    };
    check("jwt: []\nodd: 1", &[], "strict decoding error: unknown field \"odd\"");
    check(
        "jwt: [{issuer: {url: 'http://x', audiences: []}, claimMappings: {username: {claim: sub}}}]",
        &[],
        "[jwt[0].issuer.url: Invalid value: \"http://x\": URL scheme must be https, jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required, jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing]",
    );
    let jwt = |mappings: &str| {
        format!("jwt: [{{issuer: {{url: 'https://x', audiences: [a]}}, claimMappings: {{{mappings}}}}}]")
    };
    check(&jwt(""), &[], "jwt[0].claimMappings.username: Required value: claim or expression is required");
    check(
        &jwt("username: {expression: claims.email}"),
        &[],
        "claims.email_verified must be used in claimMappings.username.expression",
    );
    check(
        &jwt("username: {expression: 'claims.'}"),
        &[],
        "jwt[0].claimMappings.username.expression: Invalid value: \"claims.\": compilation failed: ERROR: <input>:1:",
    );
    check(
        &jwt(
            "username: {claim: sub, prefix: ''}, extra: [{key: k8s.io/x, valueExpression: '1'}, {key: 'y', valueExpression: ''}]",
        ),
        &[],
        "jwt[0].claimMappings.extra[0].key: Invalid value: \"k8s.io/x\": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use",
    );
    check(
        "jwt: [{issuer: {url: 'https://kubernetes.default.svc', audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ''}}}]",
        &[],
        "URL must not overlap with disallowed issuers: [https://kubernetes.default.svc]",
    );
    check(
        "anonymous: {enabled: true}",
        &["--anonymous-auth=true"],
        "--anonymous-auth flag cannot be set when anonymous field is configured",
    );
    check("jwt: []", &["--oidc-client-id=x"], "authentication-config file and oidc-* flags are mutually exclusive");
    std::fs::write(file.path(), "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true, conditions: [{path: /livez}]}").unwrap();
    assert_eq!(load(file.path(), &[]).unwrap().anonymous, Anonymous::Paths(vec!["/livez".into()]));
}
