//! One server with the flags that the benchmark requires.

use std::fs;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use rcgen::{CertificateParams, KeyPair};
use reqwest::Method;
use rustls::crypto::ring::cipher_suite;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{DEFAULT, TIMEOUT, User, WARN_ONLY, event, is_stored, pod, service_with_external_address};
use crate::common::Server;
use crate::tls::{Authority, Dialer};

const LIMITS: &str = "
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits: [{type: Namespace, qps: 1, burst: 2}]
";

const ENCRYPTION: &str = "
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - secretbox: {keys: [{name: one, secret: AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=}]}
";

const POLICY: &str = "
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: RequestResponse, resources: [{group: '', resources: [configmaps]}]}
- {level: Metadata}
";

/// A request body that never yields a frame.
struct PendingBody;

impl hyper::body::Body for PendingBody {
    type Data = hyper::body::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        Poll::Pending
    }
}

/// A server with the flags of the benchmark, and its users.
struct Hardened {
    server: Server,
    folder: TempDir,
    admin: User,
    anonymous: User,
    /// A user without rights.
    jane: User,
    kubelet: User,
}

impl Hardened {
    fn start() -> Hardened {
        let (folder, clients) = (tempfile::tempdir().unwrap(), Authority::new("clients"));
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let serving = CertificateParams::new(names).unwrap().self_signed(&key).unwrap().pem();
        let file = |flag: &str, name: &str, text: &str| {
            fs::write(folder.path().join(name), text).unwrap();
            format!("--{flag}={}", folder.path().join(name).display())
        };
        let flags = [
            "--anonymous-auth=false".to_owned(),
            "--authorization-mode=Node,RBAC".to_owned(),
            "--enable-admission-plugins=NodeRestriction,AlwaysPullImages,DenyServiceExternalIPs,EventRateLimit"
                .to_owned(),
            "--profiling=false".to_owned(),
            "--audit-log-maxage=30".to_owned(),
            "--audit-log-maxbackup=2".to_owned(),
            "--audit-log-maxsize=1".to_owned(),
            "--request-timeout=20s".to_owned(),
            "--service-account-lookup=true".to_owned(),
            "--service-account-extend-token-expiration=false".to_owned(),
            "--tls-min-version=VersionTLS12".to_owned(),
            "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384".to_owned(),
            file("admission-control-config-file", "admission.yaml", LIMITS),
            file("encryption-provider-config", "encryption.yaml", ENCRYPTION),
            file("audit-policy-file", "policy.yaml", POLICY),
            format!("--audit-log-path={}", folder.path().join("audit.log").display()),
            file("client-ca-file", "clients.crt", &clients.pem),
            file("tls-cert-file", "serving.crt", &serving),
            file("tls-private-key-file", "serving.key", &key.serialize_pem()),
        ];
        let server = Server::start_with(folder.path(), &flags.each_ref().map(String::as_str));
        let user = |name: &str, groups: &[&str]| {
            User::new(&server.url, &serving, Some(&clients.issue(name, groups, 60 * TIMEOUT)))
        };
        let (admin, jane) = (user("root", &["system:masters"]), user("jane", &[]));
        let kubelet = user("system:node:node-a", &["system:nodes"]);
        let anonymous = User::new(&server.url, &serving, None);
        Hardened { server, folder, admin, anonymous, jane, kubelet }
    }

    /// Counts the rotated audit logs.
    fn backups(&self) -> usize {
        let names = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("audit-")).count()
    }
}

/// CIS 1.2.1, 1.2.2, 1.2.6 to 1.2.8, 1.2.14, 1.2.15, 1.2.25: authentication and authorization.
#[tokio::test]
async fn hardened_flags_restrict_users() {
    let hardened = Hardened::start();
    let Hardened { admin, anonymous, jane, kubelet, .. } = &hardened;
    for path in ["/livez", "/version", "/api/v1/secrets", "/debug/pprof/"] {
        assert_eq!(anonymous.code(path).await, 401, "{path}");
        assert_eq!(anonymous.code_with("any-token", path).await, 401, "{path}");
    }
    assert_eq!(admin.code("/debug/pprof/").await, 404, "--profiling=false");
    assert_eq!(jane.code("/api/v1/secrets").await, 403, "no AlwaysAllow");
    assert_eq!(admin.code("/api/v1/secrets").await, 200);

    for name in ["node-a", "node-b"] {
        assert_eq!(admin.create("/api/v1/nodes", &json!({"metadata": {"name": name}})).await.code, 201);
    }
    let secret = json!({"metadata": {"name": "of-no-pod"}});
    assert_eq!(admin.create(&format!("{DEFAULT}/secrets"), &secret).await.code, 201);
    assert_eq!(kubelet.code(&format!("{DEFAULT}/secrets/of-no-pod")).await, 403, "the Node authorizer");
    let begin = Instant::now();
    while kubelet.code("/api/v1/nodes/node-a").await != 200 {
        assert!(begin.elapsed() < TIMEOUT, "the kubelet may not read its node");
    }
    let label = json!({"metadata": {"labels": {"node-restriction.kubernetes.io/a": "b"}}});
    let refused = kubelet.send(Method::PATCH, "/api/v1/nodes/node-a", &label).await;
    assert_eq!(refused.code, 403, "NodeRestriction: {}", refused.body);
    assert!(!hardened.server.kubeconfig().exists(), "a client of an authority beside --client-ca-file");
}

/// CIS 1.2.3, 1.2.9, 1.2.11, 1.2.27, 1.2.28, 1.2.30: admission, encryption at rest, and token
/// lifetimes.
#[tokio::test]
async fn hardened_flags_restrict_objects() {
    let hardened = Hardened::start();
    let admin = &hardened.admin;
    admin.create(&format!("{DEFAULT}/serviceaccounts"), &json!({"metadata": {"name": "default"}})).await;
    assert_eq!(admin.create("/api/v1/nodes", &json!({"metadata": {"name": "node-a"}})).await.code, 201);
    let created = admin.create(&format!("{DEFAULT}/pods"), &pod("web")).await;
    let policy = &created.body["spec"]["containers"][0]["imagePullPolicy"];
    assert_eq!((created.code, policy), (201, &json!("Always")), "AlwaysPullImages: {}", created.body);
    let service = admin.create(&format!("{DEFAULT}/services"), &service_with_external_address()).await;
    assert_eq!(service.code, 403, "DenyServiceExternalIPs: {}", service.body);
    let mut codes = Vec::new();
    for number in 0..100 {
        codes.push(admin.create(&format!("{DEFAULT}/events"), &event(number)).await.code);
        if codes.ends_with(&[429]) {
            break;
        }
    }
    assert_eq!(codes.last(), Some(&429), "EventRateLimit: {codes:?}");
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"key": "encrypted-83b1"}});
    let plain = json!({"metadata": {"name": "m"}, "data": {"key": "not-encrypted-93c7"}});
    assert_eq!(admin.create(&format!("{DEFAULT}/secrets"), &secret).await.code, 201);
    assert_eq!(admin.create(&format!("{DEFAULT}/configmaps"), &plain).await.code, 201);
    let is_stored = |text: &str| is_stored(hardened.server.data(), text);
    assert!(is_stored("not-encrypted-93c7") && is_stored("k8s:enc:secretbox:v1:one:"));
    // Unencrypted JSON contains "encrypted-83b1" in base64, unencrypted protobuf contains the plain
    // text.
    assert!(!is_stored("encrypted-83b1") && !is_stored("ZW5jcnlwdGVkLTgzYjE="), "a secret is stored in the clear");
    assert_eq!(admin.token_life("web").await, WARN_ONLY, "--service-account-extend-token-expiration=false");
}

/// CIS 1.2.16 to 1.2.20: the audit log contains every request, its files are rotated by size and
/// count, requests time out.
#[tokio::test]
async fn hardened_flags_keep_an_audit_log() {
    let hardened = Hardened::start();
    let (admin, folder): (&User, &Path) = (&hardened.admin, hardened.folder.path());
    let begin = Instant::now();
    for number in 0.. {
        let map = json!({"metadata": {"name": format!("map-{number}")}, "data": {"key": "x".repeat(400_000)}});
        assert_eq!(admin.create(&format!("{DEFAULT}/configmaps"), &map).await.code, 201);
        if number >= 12 && hardened.backups() == 2 {
            break;
        }
        assert!(begin.elapsed() < TIMEOUT && number < 100, "{} logs are set aside", hardened.backups());
    }
    assert_eq!(hardened.jane.code("/api/v1/secrets").await, 403);
    let recorded = || {
        let log = fs::read_to_string(folder.join("audit.log")).unwrap();
        let mut events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.any(|event| event["user"]["username"] == "jane" && event["responseStatus"]["code"] == 403)
    };
    while !recorded() {
        assert!(begin.elapsed() < 2 * TIMEOUT, "the denied request is not recorded");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let body = reqwest::Body::wrap(PendingBody);
    let request =
        admin.client.post(format!("{}{DEFAULT}/configmaps", admin.url)).header("Content-Type", "application/json");
    let answered = tokio::time::timeout(2 * TIMEOUT, request.body(body).send()).await.expect("--request-timeout");
    assert!(answered.is_err() || !answered.unwrap().status().is_success());
}

/// CIS 1.2.24, 1.2.29: only the certificate and the cipher suites of the flags are used.
#[tokio::test]
async fn hardened_flags_restrict_handshakes() {
    let hardened = Hardened::start();
    let trusted = hardened.folder.path().join("serving.crt");
    let speaks = async |suite| Dialer::with_suites(&hardened.server, &trusted, &[suite]).tls().await.is_ok();
    assert!(speaks(cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384).await);
    assert!(!speaks(cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256).await);
    assert!(speaks(cipher_suite::TLS13_AES_128_GCM_SHA256).await, "TLS 1.3 has its own");
    // The users of `Hardened` trust only the certificate of --tls-cert-file.
    assert_eq!(hardened.admin.code("/livez").await, 200);
}
