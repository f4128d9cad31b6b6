//! The files that handshakes are made with. They are read again while the server runs: whoever renews a certificate need not start anew.

use std::path::{Path, PathBuf};

use super::files::read;
use crate::Error;
use crate::options::{Options, SniCertificate};

/// Where certificates, keys and authorities are.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate that is shown unless a name asks for another one, and its key.
    pub(super) serving: (PathBuf, PathBuf),
    sni: Vec<SniCertificate>,
    pub(super) client_ca: PathBuf,
    pub(super) proxy_ca: Option<PathBuf>,
}

/// A certificate with its chain, and its key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPairPem {
    pub path: PathBuf,
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
}

/// What the files hold, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsContents {
    pub serving: KeyPairPem,
    /// With the names that they are shown for; without any: those in the certificate.
    pub sni: Vec<(KeyPairPem, Vec<String>)>,
    /// Who signs client certificates.
    pub client_ca: Vec<u8>,
    /// Who signs the certificates of front proxies.
    pub proxy_ca: Option<Vec<u8>>,
}

impl TlsFiles {
    /// The files of the flags, or those that the server keeps in its own directory.
    pub(super) fn new(options: &Options, directory: &Path) -> Self {
        let own = || (directory.join("apiserver.crt"), directory.join("apiserver.key"));
        TlsFiles {
            serving: options.serving.tls.clone().unwrap_or_else(own),
            sni: options.serving.sni.clone(),
            client_ca: options.authentication.client_ca_file.clone().unwrap_or_else(|| directory.join("ca.crt")),
            proxy_ca: options.authentication.request_headers.as_ref().map(|(path, _)| path.clone()),
        }
    }

    /// Reads them. Blocks.
    pub fn read(&self) -> Result<TlsContents, Error> {
        let named = |sni: &SniCertificate| Ok((key_pair(&sni.certificate, &sni.key)?, sni.names.clone()));
        Ok(TlsContents {
            serving: key_pair(&self.serving.0, &self.serving.1)?,
            sni: self.sni.iter().map(named).collect::<Result<_, Error>>()?,
            client_ca: read(&self.client_ca)?,
            proxy_ca: self.proxy_ca.as_deref().map(read).transpose()?,
        })
    }
}

fn key_pair(certificate: &Path, key: &Path) -> Result<KeyPairPem, Error> {
    Ok(KeyPairPem { path: certificate.to_owned(), certificate: read(certificate)?, key: read(key)? })
}
