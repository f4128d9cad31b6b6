//! TLS of client connections. The files are read again while the server runs.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustls::{
    RootCertStore, ServerConfig, SupportedProtocolVersion,
    crypto::{CryptoProvider, ring::default_provider},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use tokio_rustls::TlsAcceptor;

use crate::{Error, TlsOptions};

/// Interval at which the files are read. The contents are compared, so most reads change nothing.
const RELOAD: Duration = Duration::from_secs(10);

/// The configuration of new connections.
pub(crate) struct Tls {
    options: TlsOptions,
    current: Mutex<Current>,
}

struct Current {
    contents: Contents,
    acceptor: TlsAcceptor,
}

/// The contents of the files.
#[derive(PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
}

impl Tls {
    /// Reads the files. Blocks.
    ///
    /// # Errors
    /// A file cannot be read or used.
    pub(crate) fn new(options: TlsOptions) -> Result<Self, Error> {
        let contents = Contents::read(&options)?;
        let acceptor = acceptor(&options, &contents)?;
        Ok(Self { options, current: Mutex::new(Current { contents, acceptor }) })
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.lock().acceptor.clone()
    }

    /// Uses changed files for new connections, for ever. Files that cannot be used change nothing.
    pub(crate) async fn follow(self: Arc<Self>) {
        loop {
            tokio::time::sleep(RELOAD).await;
            let tls = Arc::clone(&self);
            match tokio::task::spawn_blocking(move || tls.reload()).await {
                Ok(Ok(())) | Err(_) => {}
                Ok(Err(error)) => tracing::warn!(%error, "changed certificates cannot be used"),
            }
        }
    }

    fn reload(&self) -> Result<(), Error> {
        let contents = Contents::read(&self.options)?;
        if self.lock().contents == contents {
            return Ok(());
        }
        let acceptor = acceptor(&self.options, &contents)?;
        *self.lock() = Current { contents, acceptor };
        tracing::info!("changed certificates are used for new connections");
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner) // each change under the lock is complete
    }
}

impl Contents {
    fn read(options: &TlsOptions) -> Result<Self, Error> {
        let read = |file: &Path| {
            std::fs::read(file).map_err(|error| Error::Certificate { file: file.to_owned(), reason: error.to_string() })
        };
        Ok(Self {
            certificate: read(&options.certificate)?,
            key: read(&options.key)?,
            client_ca: options.client_ca.as_deref().map(read).transpose()?,
        })
    }
}

fn acceptor(options: &TlsOptions, contents: &Contents) -> Result<TlsAcceptor, Error> {
    let mut provider = default_provider();
    if !options.cipher_suites.is_empty() {
        // As in Go, the suites of TLS 1.3 cannot be selected.
        let is_selected = |suite: &rustls::SupportedCipherSuite| {
            suite.tls13().is_some() || options.cipher_suites.contains(&suite.suite())
        };
        provider.cipher_suites.retain(is_selected);
    }
    let provider = Arc::new(provider);
    let mut versions: Vec<&'static SupportedProtocolVersion> = Vec::new();
    if options.tls13 {
        versions.push(&rustls::version::TLS13);
    }
    if options.tls12 {
        versions.push(&rustls::version::TLS12);
    }
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(&versions)?;
    let builder = match (&options.client_ca, &contents.client_ca) {
        (Some(file), Some(pem)) => builder.with_client_cert_verifier(verifier(file, pem, provider)?),
        _ => builder.with_no_client_auth(),
    };
    let chain = certificates(&options.certificate, &contents.certificate)?;
    let key = PrivateKeyDer::from_pem_slice(&contents.key).map_err(|why| unusable(&options.key, why))?;
    let mut config = builder.with_single_cert(chain, key).map_err(|why| unusable(&options.key, why))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn verifier(
    file: &Path,
    pem: &[u8],
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file, pem)? {
        roots.add(certificate).map_err(|why| unusable(file, why))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(|why| unusable(file, why))
}

fn certificates(file: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err(unusable(file, "it has no certificate in PEM")),
        Ok(certificates) => Ok(certificates),
        Err(why) => Err(unusable(file, why)),
    }
}

fn unusable(file: &Path, reason: impl ToString) -> Error {
    Error::Certificate { file: file.to_owned(), reason: reason.to_string() }
}
