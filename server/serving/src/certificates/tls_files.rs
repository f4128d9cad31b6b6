//! The files of TLS keys and certificates. They are reloaded at runtime, so a renewal needs no restart.

use std::path::{Path, PathBuf};

use options::{Options, SniCertificate};

use super::files::read;
use crate::Error;

/// The paths of certificates, keys and certificate authorities.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The default serving certificate and its key.
    pub(super) serving: (PathBuf, PathBuf),
    sni: Vec<SniCertificate>,
    pub(super) client_ca: PathBuf,
    pub(super) proxy_ca: Option<PathBuf>,
}

/// A certificate with its chain, and its key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPairPem {
    pub path: PathBuf,
    pub key_path: PathBuf,
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
}

/// The contents of the files, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsContents {
    pub serving: KeyPairPem,
    /// Certificates with their server names; if the names are empty, those of the certificate apply.
    pub sni: Vec<(KeyPairPem, Vec<String>)>,
    /// The certificate authorities of client certificates.
    pub client_ca: Vec<u8>,
    /// The certificate authorities of front proxies.
    pub proxy_ca: Option<Vec<u8>>,
    /// The files of both, for errors.
    pub ca_paths: (PathBuf, Option<PathBuf>),
}

impl TlsFiles {
    /// The files of the flags, or those that the server generated in `directory`.
    pub(super) fn new(options: &Options, directory: &Path) -> Self {
        let generated = || (directory.join("apiserver.crt"), directory.join("apiserver.key"));
        TlsFiles {
            serving: options.serving.tls.clone().unwrap_or_else(generated),
            sni: options.serving.sni.clone(),
            client_ca: options.authentication.client_ca_file.clone().unwrap_or_else(|| directory.join("ca.crt")),
            proxy_ca: options.authentication.request_headers.as_ref().map(|(path, _)| path.clone()),
        }
    }

    /// Reads the files. Blocks.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(&self) -> Result<TlsContents, Error> {
        let named = |sni: &SniCertificate| Ok((key_pair(&sni.certificate, &sni.key)?, sni.names.clone()));
        Ok(TlsContents {
            serving: key_pair(&self.serving.0, &self.serving.1)?,
            sni: self.sni.iter().map(named).collect::<Result<_, Error>>()?,
            client_ca: read(&self.client_ca)?,
            proxy_ca: self.proxy_ca.as_deref().map(read).transpose()?,
            ca_paths: (self.client_ca.clone(), self.proxy_ca.clone()),
        })
    }
}

fn key_pair(certificate: &Path, key: &Path) -> Result<KeyPairPem, Error> {
    Ok(KeyPairPem {
        path: certificate.to_owned(),
        key_path: key.to_owned(),
        certificate: read(certificate)?,
        key: read(key)?,
    })
}
