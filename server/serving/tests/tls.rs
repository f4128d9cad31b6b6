//! TLS certificates, versions and cipher suites of a complete server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use authz::AlwaysDeny;
use authz::rbac::{RbacPolicy, RuleSource};
use options::Options;
use request::handler::FromFn;
use request::{Body, Response};
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CipherSuite, ClientConfig, ProtocolVersion, RootCertStore};
use serving::shutdown::Shutdown;
use serving::{Access, Handlers, Server};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

struct Running {
    address: SocketAddr,
    directory: TempDir,
    shutdown: Shutdown,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.initiate();
    }
}

/// Creates a self-signed certificate for these names in a directory, and returns it.
fn make(directory: &Path, file: &str, names: &[&str]) -> CertificateDer<'static> {
    let key = rcgen::KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let certificate = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    std::fs::write(directory.join(format!("{file}.key")), key.serialize_pem()).unwrap();
    std::fs::write(directory.join(format!("{file}.crt")), certificate.pem()).unwrap();
    certificate.der().clone()
}

/// Starts a server. `DIR` in flags stands for a temporary directory; `prepare` writes files to it.
fn start(flags: &[&str], prepare: impl FnOnce(&Path)) -> Running {
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let signing = directory.path().join("sa.pem");
    std::fs::write(&signing, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let required = [
        format!("--data-dir={}", directory.path().join("data").display()),
        "--secure-port=0".into(),
        format!("--service-account-signing-key-file={}", signing.display()),
    ];
    let flags = flags.iter().map(|flag| flag.replace("DIR", &directory.path().display().to_string()));
    let options =
        Options::parse_from(std::iter::once("kube-apiserver".to_owned()).chain(required).chain(flags)).unwrap();
    let server = Server::prepare(options).unwrap();
    let (address, shutdown) = (server.address().unwrap(), server.shutdown.clone());
    let roles: Arc<dyn RuleSource> = Arc::new(RbacPolicy::default());
    let authorizer = server.authorizer(roles.clone(), || Ok(Arc::new(AlwaysDeny) as _)).unwrap();
    let access = Access { authentication: server.authentication().unwrap(), authorizer, roles };
    let handler = Arc::new(FromFn(|_| Response::new(Body::empty())));
    tokio::spawn(server.run(Handlers { handler, paths: Box::new(Vec::new), access }));
    Running { address, directory, shutdown }
}

/// The result of a handshake: server certificate, TLS version and cipher suite.
type Handshake = (CertificateDer<'static>, ProtocolVersion, CipherSuite);

async fn handshake(
    running: &Running,
    name: &str,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Option<Handshake> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    for entry in std::fs::read_dir(running.directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "crt") {
            roots.add(CertificateDer::from_pem_file(&path).unwrap()).unwrap();
        }
    }
    let server_ca = CertificateDer::from_pem_file(running.directory.path().join("data/pki/ca.crt")).unwrap();
    roots.add(server_ca).unwrap();
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_webpki_verifier(verifier)
        .with_no_client_auth();
    let stream = TcpStream::connect(running.address).await.unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.ok()?;
    let session = stream.get_ref().1;
    Some((
        session.peer_certificates()?[0].clone().into_owned(),
        session.protocol_version()?,
        session.negotiated_cipher_suite()?.suite(),
    ))
}

const BOTH: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];
const OLD: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS12];

#[tokio::test]
async fn selects_certificate_by_server_name() {
    let mut certificates = Vec::new();
    let flags = [
        "--tls-cert-file=DIR/default.crt",
        "--tls-private-key-file=DIR/default.key",
        "--tls-sni-cert-key=DIR/own.crt,DIR/own.key",
        "--tls-sni-cert-key=DIR/wild.crt,DIR/wild.key:*.apps.test,listed.test",
    ];
    let running = start(&flags, |directory| {
        certificates.push(make(directory, "default", &["localhost", "elsewhere.test"]));
        certificates.push(make(directory, "own", &["own.test", "*.wide.test"]));
        certificates.push(make(directory, "wild", &["one.apps.test", "listed.test"]));
    });
    for (name, expect) in [
        ("localhost", 0),
        ("elsewhere.test", 0),
        ("own.test", 1),
        ("a.wide.test", 1),
        ("one.apps.test", 2),
        ("listed.test", 2),
    ] {
        let (certificate, version, _) = handshake(&running, name, BOTH).await.unwrap();
        assert_eq!((certificate, version), (certificates[expect].clone(), ProtocolVersion::TLSv1_3), "{name}");
    }
}

#[tokio::test]
async fn reloads_renewed_certificate() {
    let mut first = None;
    let flags = ["--tls-cert-file=DIR/default.crt", "--tls-private-key-file=DIR/default.key"];
    let running = start(&flags, |directory| first = Some(make(directory, "default", &["localhost"])));
    assert_eq!(handshake(&running, "localhost", BOTH).await.map(|found| found.0), first);
    std::fs::write(running.directory.path().join("default.key"), "half a file").unwrap();
    let second = make(running.directory.path(), "default", &["localhost"]);
    let begin = std::time::Instant::now();
    while handshake(&running, "localhost", BOTH).await.map(|found| found.0) != Some(second.clone()) {
        assert!(begin.elapsed().as_secs() < 30, "the server does not present the new certificate");
    }
}

#[tokio::test]
async fn applies_tls_version_and_cipher_suites_of_flags() {
    let running = start(&["--tls-min-version=VersionTLS13"], |_| ());
    assert!(handshake(&running, "localhost", OLD).await.is_none());
    assert!(handshake(&running, "localhost", BOTH).await.is_some());
    let running = start(&["--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"], |_| ());
    let (_, version, suite) = handshake(&running, "localhost", OLD).await.unwrap();
    let expect = CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256;
    assert_eq!((version, suite), (ProtocolVersion::TLSv1_2, expect));
}
