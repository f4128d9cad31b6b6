//! Certificate authorities and front proxy headers of the main API server (upstream: `DynamicConfigMapCAController`,
//! `RequestHeaderAuthRequestController`).
//!
//! An extension API server reads them from a ConfigMap of the main API server. The certificate authorities are
//! stored in files, which are reloaded like those of the flags.

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderName;
use options::{Options, RequestHeaders};
use serde_json::Value;
use webhook::{Backoff, Client, Kubeconfig};

use super::files::{self, PUBLIC};
use crate::Error;
use crate::error::MainServerError;

/// The ConfigMap in which the main API server publishes its client CA and front proxy configuration.
const CONFIG_MAP: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
/// The interval between reads of the ConfigMap.
const RELOAD_INTERVAL: Duration = Duration::from_secs(10);
/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a response, in bytes.
const MAX_RESPONSE: usize = 4 << 20;
/// The first backoff before a request is retried.
const INITIAL_BACKOFF: Duration = Duration::from_millis(500);

/// Loads the certificate authorities of the main API server and polls them for changes.
///
/// Certificate authorities that a flag names are not replaced.
/// Does nothing if authentication is not delegated. Needs a tokio runtime.
///
/// # Errors
/// When the lookup fails and the options do not tolerate that, or when the files cannot be written.
pub async fn look_up(options: &mut Options) -> Result<(), Error> {
    let Some(delegation) = options.authentication.delegation.clone().filter(|d| !d.skips_lookup) else { return Ok(()) };
    let main = MainServer::new(&delegation.server.kubeconfig().map_err(options::Error::from)?)?;
    let info = Backoff::starting_with(INITIAL_BACKOFF).retry(|_| true, || main.fetch()).await;
    let info = match info {
        Ok(info) => info,
        Err(why) if delegation.tolerates_failure => {
            tracing::warn!(
                %why,
                "client certificate authentication disabled: cannot read the certificate authorities of the main API server"
            );
            return Ok(());
        }
        Err(why) => return Err(why.into()),
    };
    let ca_files = CaFiles::new(options, &info);
    super::make_directories(options)?;
    ca_files.write(&info)?;
    if let Some(path) = &ca_files.clients {
        options.authentication.client_ca_file = Some(path.clone());
    }
    if let Some(path) = &ca_files.proxies {
        options.authentication.request_headers = Some((path.clone(), info.headers.clone()));
    }
    tokio::spawn(reload(main, ca_files, info));
    Ok(())
}

/// The content of the ConfigMap (upstream: `ClusterAuthenticationInfo`).
#[derive(Clone, Default, PartialEq)]
struct ClusterAuthenticationInfo {
    /// The client CA, in PEM; empty if there is none.
    clients: String,
    /// The front proxy CA, in PEM; empty if there is none.
    proxies: String,
    headers: RequestHeaders,
}

impl ClusterAuthenticationInfo {
    fn read(data: &Value) -> Self {
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        let list = |key: &str| serde_json::from_str::<Vec<String>>(&text(key)).unwrap_or_default();
        let names = |key: &str| list(key).iter().filter_map(|name| name.parse::<HeaderName>().ok()).collect();
        ClusterAuthenticationInfo {
            clients: text("client-ca-file"),
            proxies: text("requestheader-client-ca-file"),
            headers: RequestHeaders {
                user_names: names("requestheader-username-headers"),
                uids: names("requestheader-uid-headers"),
                groups: names("requestheader-group-headers"),
                extra_prefixes: list("requestheader-extra-headers-prefix")
                    .iter()
                    .map(|prefix| prefix.to_ascii_lowercase())
                    .collect(),
                allowed_names: list("requestheader-allowed-names"),
            },
        }
    }
}

/// The files for the certificate authorities; `None` if a flag names the file, or if there is no authority.
struct CaFiles {
    clients: Option<PathBuf>,
    proxies: Option<PathBuf>,
}

impl CaFiles {
    fn new(options: &Options, info: &ClusterAuthenticationInfo) -> Self {
        let flags = &options.authentication;
        let file = |name: &str| options.serving.cert_dir.join(name);
        let clients = flags.client_ca_file.is_none() && !info.clients.is_empty();
        let proxies = flags.request_headers.is_none() && !info.proxies.is_empty();
        CaFiles {
            clients: clients.then(|| file("client-ca.crt")),
            proxies: proxies.then(|| file("requestheader-client-ca.crt")),
        }
    }

    fn write(&self, info: &ClusterAuthenticationInfo) -> Result<(), Error> {
        for (path, pem) in [(&self.clients, &info.clients), (&self.proxies, &info.proxies)] {
            if let Some(path) = path.as_deref().filter(|_| !pem.is_empty()) {
                files::write(path, pem.as_bytes(), PUBLIC)?;
            }
        }
        Ok(())
    }
}

/// A client of the main API server.
struct MainServer {
    client: Client,
    address: http::Uri,
}

impl MainServer {
    fn new(config: &Kubeconfig) -> Result<Self, Error> {
        let client = config.client().map_err(options::Error::from)?;
        Ok(MainServer { client, address: config.at(CONFIG_MAP).map_err(options::Error::from)? })
    }

    async fn fetch(&self) -> Result<ClusterAuthenticationInfo, MainServerError> {
        let reply = self.client.get(&self.address, TIMEOUT, MAX_RESPONSE).await?;
        if let Some(refusal) = reply.refusal() {
            return Err(MainServerError::Refused(refusal));
        }
        let map: Value = serde_json::from_slice(&reply.body)?;
        Ok(ClusterAuthenticationInfo::read(&map["data"]))
    }
}

/// Updates the files whenever the ConfigMap changes. Never returns.
async fn reload(main: MainServer, files: CaFiles, mut last: ClusterAuthenticationInfo) {
    loop {
        tokio::time::sleep(RELOAD_INTERVAL).await;
        // If the main API server is unavailable, the last content stays in effect.
        let Ok(now) = main.fetch().await else { continue };
        if now == last {
            continue;
        }
        if now.headers != last.headers {
            tracing::warn!("front proxy headers of the main API server changed; restart this server to apply them");
        }
        match files.write(&now) {
            Ok(()) => last = now,
            Err(why) => {
                tracing::warn!(%why, "cannot write the certificate authorities; keeping the previous ones")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Https;
    use machinery::features::KnownGates;
    use options::ServerProgram;
    use serde_json::json;

    #[tokio::test]
    async fn loads_authorities_of_main_server() {
        let main = Https::start(|path, _| match path {
            CONFIG_MAP => (
                200,
                json!({"data": {
                    "client-ca-file": "clients", "requestheader-client-ca-file": "proxies",
                    "requestheader-username-headers": "[\"X-Remote-User\"]",
                    "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
                    "requestheader-allowed-names": "[\"front-proxy-client\"]"
                }}),
            ),
            _ => (404, json!({})),
        })
        .await;
        let (kubeconfig, folder) = (main.kubeconfig(), tempfile::tempdir().unwrap());
        let flags = [
            "shop".to_owned(),
            format!("--kubeconfig={}", kubeconfig.path().display()),
            format!("--data-dir={}", folder.path().display()),
        ];
        let mut options = Options::parse_for(ServerProgram::Delegating("shop"), &KnownGates::default(), flags).unwrap();
        look_up(&mut options).await.unwrap();
        let (file, headers) = options.authentication.request_headers.unwrap();
        let clients = options.authentication.client_ca_file.unwrap();
        assert_eq!((std::fs::read_to_string(file).unwrap(), headers.user_names.len()), ("proxies".into(), 1));
        assert_eq!(
            (headers.extra_prefixes, headers.allowed_names),
            (vec!["x-remote-extra-".into()], vec!["front-proxy-client".into()])
        );
        assert_eq!(std::fs::read_to_string(clients).unwrap(), "clients");
    }
}
