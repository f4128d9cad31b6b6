use super::*;
use std::os::unix::fs::PermissionsExt;

/// Options with a separate directory and a signing key, so that no test waits for key generation.
fn options(directory: &Path, flags: &[&str]) -> Options {
    let signing = directory.join("signing.pem");
    std::fs::write(&signing, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let required = [
        format!("--data-dir={}", directory.join("data").display()),
        format!("--service-account-signing-key-file={}", signing.display()),
    ];
    let flags = flags.iter().map(|f| (*f).to_owned());
    Options::parse_from(std::iter::once("kube-apiserver".to_owned()).chain(required).chain(flags)).unwrap()
}

#[test]
fn reuses_generated_files() {
    let directory = tempfile::tempdir().unwrap();
    let first = Certificates::prepare(&options(directory.path(), &[])).unwrap();
    let second = Certificates::prepare(&options(directory.path(), &[])).unwrap();
    assert_eq!((&first.tls, &first.admin, &first.server_ca), (&second.tls, &second.admin, &second.server_ca));
    for (file, mode) in [
        ("pki/ca.key", 0o600),
        ("pki/apiserver.key", 0o600),
        ("pki/admin.key", 0o600),
        ("pki/ca.crt", 0o644),
        ("pki", 0o700),
    ] {
        let found = std::fs::metadata(directory.path().join("data").join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{file}");
    }
}

/// envtest starts servers in the folders of test packages, which are part of a repository.
#[test]
fn creates_data_directory_only_for_content() {
    let directory = tempfile::tempdir().unwrap();
    Certificates::prepare(&options(directory.path(), &[])).unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let client_ca = format!("--client-ca-file={}", path("data/pki/ca.crt"));
    let others =
        [client_ca, format!("--cert-dir={}", path("certificates")), "--etcd-servers=http://192.0.2.1:2".into()];
    let exists = |flags: &[&String]| {
        let data = format!("--data-dir={}", path("unused"));
        let flags: Vec<&str> = flags.iter().copied().chain([&data]).map(String::as_str).collect();
        Certificates::prepare(&options(directory.path(), &flags)).unwrap();
        let exists = directory.path().join("unused").exists();
        let _ = std::fs::remove_dir_all(directory.path().join("unused")); // absent in one case
        exists
    };
    assert!(!exists(&[&others[0], &others[1], &others[2]]));
    assert!(exists(&[&others[0], &others[1]]), "the store");
    assert!(exists(&[&others[0], &others[2]]), "the certificates");
    assert!(exists(&[&others[1], &others[2]]), "the kubeconfig");
}

#[test]
fn reissues_serving_certificate_for_other_names() {
    let directory = tempfile::tempdir().unwrap();
    let first = Certificates::prepare(&options(directory.path(), &[])).unwrap();
    let second = Certificates::prepare(&options(directory.path(), &["--advertise-address=192.0.2.7"])).unwrap();
    assert_ne!(first.tls.serving, second.tls.serving);
    assert_eq!((&first.admin, &first.server_ca), (&second.admin, &second.server_ca));
}

#[test]
fn reissues_certificates_of_other_authority() {
    let directory = tempfile::tempdir().unwrap();
    let first = Certificates::prepare(&options(directory.path(), &[])).unwrap();
    std::fs::remove_file(directory.path().join("data/pki/ca.key")).unwrap();
    let second = Certificates::prepare(&options(directory.path(), &[])).unwrap();
    assert!(
        first.tls.serving != second.tls.serving && first.admin != second.admin && first.server_ca != second.server_ca
    );
}

#[test]
fn error_names_malformed_key_file() {
    let directory = tempfile::tempdir().unwrap();
    Certificates::prepare(&options(directory.path(), &[])).unwrap();
    let key = directory.path().join("data/pki/ca.key");
    std::fs::write(&key, "no key").unwrap();
    let why = Certificates::prepare(&options(directory.path(), &[])).err().unwrap().to_string();
    assert!(why.starts_with(&format!("{}: not the private key of an authority", key.display())), "{why}");
}

/// As upstream: envtest and kubeadm put the serving certificate into the directory, without a flag.
#[test]
fn uses_existing_serving_certificate_of_directory() {
    let directory = tempfile::tempdir().unwrap();
    let (pki, given) =
        (directory.path().join("given"), rcgen::generate_simple_self_signed(["localhost".into()]).unwrap());
    std::fs::create_dir(&pki).unwrap();
    std::fs::write(pki.join("apiserver.crt"), given.cert.pem()).unwrap();
    let flag = format!("--cert-dir={}", pki.display());
    let refused = Certificates::prepare(&options(directory.path(), &[&flag])).err().map(|why| why.to_string());
    assert!(refused.as_ref().is_some_and(|why| why.contains("no key beside")), "{refused:?}");
    std::fs::write(pki.join("apiserver.key"), given.signing_key.serialize_pem()).unwrap();
    let prepared =
        Certificates::prepare(&options(directory.path(), &[&flag, "--external-hostname=a.example"])).unwrap();
    assert_eq!(
        (prepared.tls.serving.certificate, prepared.server_ca),
        (given.cert.pem().into(), given.cert.pem().into())
    );
}

#[test]
fn serving_certificate_has_upstream_names() {
    let directory = tempfile::tempdir().unwrap();
    let names = serving_names(&options(
        directory.path(),
        &[
            "--service-cluster-ip-range=10.0.0.0/16",
            "--bind-address=0.0.0.0",
            "--external-hostname=api.example.com:443",
        ],
    ));
    let expect = [
        "10.0.0.1",
        "127.0.0.1",
        "::1",
        "api.example.com",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "localhost",
    ];
    assert_eq!(names, expect);
}

#[test]
fn writes_kubeconfig_of_administrator() {
    let directory = tempfile::tempdir().unwrap();
    let certificates = Certificates::prepare(&options(directory.path(), &[])).unwrap();
    let path = certificates.write_kubeconfig("0.0.0.0:7443".parse().unwrap()).unwrap().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.contains("server: https://127.0.0.1:7443\n")
            && text.contains("current-context: kubernetes-admin@kubernetes\n"),
        "{text}"
    );
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn uses_files_of_flags() {
    let directory = tempfile::tempdir().unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let pem = rcgen::CertificateParams::new(vec!["example.com".into()]).unwrap().self_signed(&key).unwrap().pem();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (certificate, key) = (file("tls.crt", &pem), file("tls.key", &key.serialize_pem()));
    let flags = [
        format!("--tls-cert-file={certificate}"),
        format!("--tls-private-key-file={key}"),
        format!("--client-ca-file={certificate}"),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let certificates = Certificates::prepare(&options(directory.path(), &flags)).unwrap();
    let tls = &certificates.tls;
    assert_eq!((tls.client_ca.as_slice(), tls.serving.certificate.as_slice()), (pem.as_bytes(), pem.as_bytes()));
    assert_eq!(certificates.write_kubeconfig("127.0.0.1:1".parse().unwrap()).unwrap(), None);
    let broken = file("broken.crt", "nothing");
    let flags = [format!("--tls-cert-file={broken}"), format!("--tls-private-key-file={key}")];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let options = options(directory.path(), &flags);
    let certificates = Certificates::prepare(&options).unwrap();
    let error = crate::listener::Listener::check(&options, &certificates).unwrap_err().to_string();
    assert_eq!(error, format!("{broken}: no certificate in PEM found"));
}

#[test]
fn broken_authorities_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let broken = directory.path().join("broken.crt");
    std::fs::write(&broken, "nothing").unwrap();
    let flag = format!("--client-ca-file={}", broken.display());
    let options = options(directory.path(), &[&flag]);
    let error = match Certificates::prepare(&options) {
        Ok(certificates) => crate::listener::Listener::check(&options, &certificates).unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(error.to_string(), format!("{}: no certificate in PEM found", broken.display()));
}
