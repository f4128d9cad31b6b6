//! Keys and certificates: those of the flags, or ones of the server's own making, kept in the data directory.
//!
//! Upstream makes a self-signed serving certificate only, and leaves authorities, client certificates and the keys of service accounts to
//! installers such as kubeadm. This server makes what kubeadm would, so that it can be started and used without any.

mod files;
mod kubeconfig;
mod main_server;
mod pki;
mod service_accounts;
mod tls_files;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub use main_server::look_up;
pub use service_accounts::make_quick_key;
#[cfg(test)]
pub(crate) use service_accounts::rsa_key;
pub use tls_files::{KeyPairPem, TlsContents, TlsFiles};

use crate::Error;
use crate::authentication::RequestHeaders;
use crate::options::Options;
use crate::tokens::ServiceAccountKeys;
use crate::user::SYSTEM_MASTERS;
use pki::{Authority, Purpose};

/// The user of the kubeconfig that is written.
const ADMIN: &str = "kubernetes-admin";

/// The authority of the front proxy that this server is, and what it is called (as kubeadm has it).
const FRONT_PROXY_CA: &str = "front-proxy-ca";
const FRONT_PROXY: &str = "front-proxy-client";

/// What the server shows of itself, and what it believes.
pub struct Certificates {
    /// What handshakes are made with, as it was when the server was started.
    pub tls: TlsContents,
    /// Where that was read, and is read again.
    pub(crate) tls_files: TlsFiles,
    /// What clients know the server by, in PEM.
    pub server_ca: Vec<u8>,
    /// Keys of service account tokens.
    pub service_accounts: ServiceAccountKeys,
    /// Certificate and key of the administrator, unless clients are signed by an authority that is not ours.
    admin: Option<(Vec<u8>, Vec<u8>)>,
    kubeconfig: PathBuf,
}

impl Certificates {
    /// Reads what the flags name, makes what they do not, and renews what is about to expire. Blocks; the first start takes seconds.
    pub fn prepare(options: &Options) -> Result<Self, Error> {
        let directory = &options.serving.cert_dir;
        files::make_directory(&options.data_dir)?;
        files::make_directory(directory)?;
        let own = Authority::load_or_make(directory, "ca")?;
        let admin = match options.authentication.client_ca_file {
            Some(_) => None,
            None => Some(own.issue("admin", &Purpose::Client { name: ADMIN, groups: &[SYSTEM_MASTERS] })?),
        };
        // As upstream, a pair that is already in --cert-dir is used (`MaybeDefaultWithSelfSignedCerts`). A certificate
        // that this server made is renewed.
        let is_given = options.serving.tls.is_some() || own.is_given("apiserver")?;
        if !is_given {
            own.issue("apiserver", &Purpose::Server { names: &names(options) })?;
        }
        let tls_files = TlsFiles::new(options, directory);
        let tls = tls_files.read()?;
        check_proxies(options, &tls.client_ca, tls.proxy_ca.as_deref())?;
        let server_ca = if is_given { tls.serving.certificate.clone() } else { own.certificate_pem().into() };
        Ok(Certificates {
            tls,
            tls_files,
            server_ca,
            service_accounts: service_accounts::prepare(directory, &options.authentication)?,
            admin,
            kubeconfig: options.data_dir.join("admin.kubeconfig"),
        })
    }

    /// Writes a kubeconfig for the administrator of a server at this address, and says where it is. None if the server cannot vouch for
    /// one, because clients are signed by somebody else.
    pub fn write_kubeconfig(&self, address: SocketAddr) -> Result<Option<&Path>, Error> {
        let Some((certificate, key)) = &self.admin else { return Ok(None) };
        let host = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => "127.0.0.1".into(),
            IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".into(),
            IpAddr::V6(ip) => format!("[{ip}]"),
            IpAddr::V4(ip) => ip.to_string(),
        };
        let text =
            kubeconfig::text(&format!("https://{host}:{}", address.port()), &self.server_ca, ADMIN, certificate, key);
        files::write(&self.kubeconfig, text.as_bytes(), files::SECRET)?;
        Ok(Some(&self.kubeconfig))
    }
}

/// Makes the certificate by which aggregated servers know this one, and what they are told of it, unless a flag says something of front
/// proxies. Its authority signs nothing else.
pub(crate) fn provide_front_proxy(options: &mut Options) -> Result<(), Error> {
    let said = options.aggregation.certificate.is_some() || options.authentication.request_headers.is_some();
    if said || options.program.delegates() {
        return Ok(());
    }
    let directory = options.serving.cert_dir.clone();
    files::make_directory(&options.data_dir)?;
    files::make_directory(&directory)?;
    Authority::load_or_make(&directory, FRONT_PROXY_CA)?
        .issue(FRONT_PROXY, &Purpose::Client { name: FRONT_PROXY, groups: &[] })?;
    let file = |name: &str, extension: &str| directory.join(format!("{name}.{extension}"));
    options.aggregation.certificate = Some((file(FRONT_PROXY, "crt"), file(FRONT_PROXY, "key")));
    options.authentication.request_headers = Some((file(FRONT_PROXY_CA, "crt"), RequestHeaders::usual(FRONT_PROXY)));
    Ok(())
}

/// Clients whose certificates are those of proxies could claim to be anybody, unless proxies are told by their names.
fn check_proxies(options: &Options, client_ca: &[u8], proxy_ca: Option<&[u8]>) -> Result<(), Error> {
    let Some(((path, headers), proxy_ca)) = options.authentication.request_headers.as_ref().zip(proxy_ca) else {
        return Ok(());
    };
    let clients = certificates(Path::new("client CA"), client_ca)?;
    let overlap = certificates(path, proxy_ca)?.iter().any(|authority| clients.contains(authority));
    if overlap && headers.allowed_names.is_empty() {
        return Err(Error::Options(
            "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users".into(),
        ));
    }
    Ok(())
}

/// What the serving certificate is good for.
fn names(options: &Options) -> Vec<String> {
    let is_main = !options.program.delegates();
    let main = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
    let main = main.into_iter().filter(|_| is_main);
    let mut names: Vec<String> = std::iter::once("localhost").chain(main).map(String::from).collect();
    let serving = &options.serving;
    let ranges = options.services.cluster_ip_ranges.iter().filter(|_| is_main);
    let first_services = ranges.filter_map(|range| range.nth(1));
    let mut addresses: Vec<IpAddr> = vec![[127, 0, 0, 1].into(), std::net::Ipv6Addr::LOCALHOST.into()];
    addresses.extend(
        first_services.chain(serving.advertise_address).chain([serving.bind_address]).filter(|ip| !ip.is_unspecified()),
    );
    names.extend(addresses.iter().map(IpAddr::to_string));
    names.extend(
        Some(serving.external_hostname.split(':').next().unwrap_or("").to_owned()).filter(|name| !name.is_empty()),
    );
    names.sort();
    names.dedup();
    names
}

/// The certificates of a PEM file.
pub(crate) fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|why| Error::content(path, why.to_string()))?;
    if found.is_empty() { Err(Error::content(path, "no certificate in PEM found")) } else { Ok(found) }
}

pub(crate) fn private_key(path: &Path, pem: &[u8]) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|why| Error::content(path, format!("private key: {why}")))
}

#[cfg(test)]
mod tests;
