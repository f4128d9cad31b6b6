//! Tokens of an issuer that speaks HTTPS.

use super::*;
use crate::options::Options;
use crate::tokens::SigningKey;
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

struct Issuer {
    url: String,
    key: SigningKey,
    /// Its certificate, in a file.
    certificate: tempfile::NamedTempFile,
}

/// Serves the documents of an issuer.
async fn issuer() -> Issuer {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    let key = SigningKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
    let tls_key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&tls_key).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), certificate.pem()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(tls_key.serialize_der()).unwrap())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let discovery = json!({"issuer": url, "jwks_uri": format!("{url}/keys")}).to_string();
    let keys = json!({"keys": [key.public.jwk()]}).to_string();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = vec![0; 4096];
            let read = stream.read(&mut head).await.unwrap();
            let body = if head[..read].starts_with(b"GET /keys ") { &keys } else { &discovery };
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            let _ = stream.shutdown().await;
        }
    });
    Issuer { url, key, certificate: file }
}

impl Issuer {
    fn believer(&self, flags: &[&str]) -> Oidc {
        let own = [
            format!("--oidc-issuer-url={}", self.url),
            "--oidc-client-id=cluster".into(),
            "--oidc-signing-algs=ES256".into(),
            format!("--oidc-ca-file={}", self.certificate.path().display()),
        ];
        let args = ["kube-apiserver".to_owned()].into_iter().chain(own).chain(flags.iter().map(|f| (*f).to_owned()));
        let options = Options::parse_from(args).unwrap();
        Oidc::new(options.authentication.oidc.as_ref().unwrap()).unwrap()
    }

    /// A token with these claims besides those that every token needs.
    fn token(&self, claims: &Value) -> String {
        let mut all = json!({"iss": self.url, "aud": ["cluster"], "exp": 4_000_000_000_u64, "sub": "jane"});
        for (key, value) in claims.as_object().unwrap() {
            all[key] = value.clone();
        }
        Jws::sign(&self.key, all.to_string().as_bytes()).unwrap()
    }
}

async fn said(oidc: &Oidc, token: &str) -> String {
    match oidc.verify(token).await {
        Ok(None) => "nobody".into(),
        Ok(Some(user)) => format!("{} {:?}", user.name, user.groups),
        Err(why) => why,
    }
}

#[tokio::test]
async fn who_a_token_belongs_to() {
    let issuer = issuer().await;
    let plain =
        issuer.believer(&["--oidc-username-prefix=-", "--oidc-groups-claim=roles", "--oidc-groups-prefix=oidc:"]);
    for (claims, expect) in [
        (json!({}), "jane []"),
        (json!({"aud": "cluster", "roles": ["dev", "ops"]}), "jane [\"oidc:dev\", \"oidc:ops\"]"),
        (json!({"roles": "dev"}), "jane [\"oidc:dev\"]"),
        (json!({"iss": "https://elsewhere"}), "nobody"),
        (json!({"aud": ["other"]}), "oidc: verify token: oidc: expected audience \"cluster\" got [\"other\"]"),
        (json!({"exp": 1}), "oidc: verify token: oidc: token is expired (Token Expiry: 1970-01-01T00:00:01Z)"),
        (json!({"nbf": 4_000_000_000_u64}), "oidc: verify token: oidc: current time before the nbf (not before) time"),
    ] {
        assert_eq!(said(&plain, &issuer.token(&claims)).await, expect, "{claims}");
    }
    assert_eq!(said(&plain, "no.token").await, "nobody");

    let prefixed = issuer.believer(&[]);
    assert_eq!(said(&prefixed, &issuer.token(&json!({}))).await, format!("{}#jane []", issuer.url));

    let mail = issuer.believer(&["--oidc-username-claim=email", "--oidc-required-claim=hd=example.com"]);
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
        assert_eq!(said(&mail, &issuer.token(&claims)).await, expect, "{claims}");
    }
}

#[tokio::test]
async fn only_the_issuers_keys_count() {
    let (issuer, other) = tokio::join!(issuer(), issuer());
    let believer = issuer.believer(&[]);
    let forged = other.token(&json!({"iss": issuer.url}));
    let why = "oidc: verify token: failed to verify signature: failed to verify id token signature";
    assert_eq!(said(&believer, &forged).await, why);
    let distrustful = Oidc { client: Client::new(&Trust::default()).unwrap(), ..issuer.believer(&[]) };
    let why = said(&distrustful, &issuer.token(&json!({}))).await;
    assert!(why.ends_with("x509: certificate signed by unknown authority"), "{why}");
}
