//! Whom another API server believes, which this one then believes too (upstream: `DynamicConfigMapCAController`,
//! `RequestHeaderAuthRequestController`): its authorities are kept in files, and handshakes follow those as they follow any.

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderName;
use serde_json::Value;
use webhook::{Client, Kubeconfig};

use super::files::{self, PUBLIC};
use crate::Error;
use crate::authentication::RequestHeaders;
use crate::backoff::Backoff;
use crate::options::Options;

/// Where a main server says whom it believes.
const CONFIG_MAP: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
/// How often that is read again.
const EVERY: Duration = Duration::from_secs(10);
/// How long an answer may take, and how many bytes it may have.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER: usize = 4 << 20;
/// How long the first pause is before the server is asked again.
const PAUSE: Duration = Duration::from_millis(500);

/// Takes the authorities of the main server for those that no flag names, and follows them. Does nothing for a server that has none. Needs
/// a tokio runtime.
///
/// # Errors
/// When they cannot be looked up, unless the options tolerate that, or cannot be kept.
pub async fn look_up(options: &mut Options) -> Result<(), Error> {
    let Some(delegation) = options.authentication.delegation.clone().filter(|d| !d.skips_lookup) else { return Ok(()) };
    let main = Main::of(&delegation.server.kubeconfig()?)?;
    let believed = Backoff::starting_with(PAUSE).retry(|_| true, || main.ask()).await;
    let believed = match believed {
        Ok(believed) => believed,
        Err(why) if delegation.tolerates_failure => {
            tracing::warn!(why, "nobody is believed by a certificate, because the authorities could not be looked up");
            return Ok(());
        }
        Err(why) => {
            return Err(Error::Options(format!("unable to load configmap based request-header-client-ca-file: {why}")));
        }
    };
    let kept = Kept::of(options, &believed);
    files::make_directory(&options.data_dir)?;
    files::make_directory(&options.serving.cert_dir)?;
    kept.write(&believed)?;
    if let Some(path) = &kept.clients {
        options.authentication.client_ca_file = Some(path.clone());
    }
    if let Some(path) = &kept.proxies {
        options.authentication.request_headers = Some((path.clone(), believed.headers.clone()));
    }
    tokio::spawn(follow(main, kept, believed));
    Ok(())
}

/// What the main server says.
#[derive(Clone, Default, PartialEq)]
struct Believed {
    /// Who signs clients and front proxies, in PEM; empty for nobody.
    clients: String,
    proxies: String,
    headers: RequestHeaders,
}

impl Believed {
    fn read(data: &Value) -> Self {
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        let list = |key: &str| serde_json::from_str::<Vec<String>>(&text(key)).unwrap_or_default();
        let names = |key: &str| list(key).iter().filter_map(|name| name.parse::<HeaderName>().ok()).collect();
        Believed {
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

/// The files that the authorities are kept in; none where a flag names another one, or there are none.
struct Kept {
    clients: Option<PathBuf>,
    proxies: Option<PathBuf>,
}

impl Kept {
    fn of(options: &Options, believed: &Believed) -> Self {
        let flags = &options.authentication;
        let file = |name: &str| options.serving.cert_dir.join(name);
        let clients = flags.client_ca_file.is_none() && !believed.clients.is_empty();
        let proxies = flags.request_headers.is_none() && !believed.proxies.is_empty();
        Kept {
            clients: clients.then(|| file("client-ca.crt")),
            proxies: proxies.then(|| file("requestheader-client-ca.crt")),
        }
    }

    fn write(&self, believed: &Believed) -> Result<(), Error> {
        for (path, pem) in [(&self.clients, &believed.clients), (&self.proxies, &believed.proxies)] {
            if let Some(path) = path.as_deref().filter(|_| !pem.is_empty()) {
                files::write(path, pem.as_bytes(), PUBLIC)?;
            }
        }
        Ok(())
    }
}

/// The main server.
struct Main {
    client: Client,
    address: http::Uri,
}

impl Main {
    fn of(config: &Kubeconfig) -> Result<Self, Error> {
        let wrong = |why: webhook::Error| Error::Options(why.to_string());
        Ok(Main { client: config.client().map_err(wrong)?, address: config.at(CONFIG_MAP).map_err(wrong)? })
    }

    async fn ask(&self) -> Result<Believed, String> {
        let reply = self.client.get(&self.address, TIMEOUT, MAX_ANSWER).await.map_err(|why| why.to_string())?;
        if let Some(refusal) = reply.refusal() {
            return Err(refusal);
        }
        let map: Value = serde_json::from_slice(&reply.body).map_err(|why| why.to_string())?;
        Ok(Believed::read(&map["data"]))
    }
}

/// Keeps the files in step. Does not end.
async fn follow(main: Main, kept: Kept, mut last: Believed) {
    loop {
        tokio::time::sleep(EVERY).await;
        // While the main server is away, what it said counts on.
        let Ok(now) = main.ask().await else { continue };
        if now == last {
            continue;
        }
        if now.headers != last.headers {
            tracing::warn!("the headers of front proxies are others now; a restart takes them over");
        }
        match kept.write(&now) {
            Ok(()) => last = now,
            Err(why) => tracing::warn!(%why, "the authorities of the main server cannot be kept"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Program;
    use crate::testing::Https;
    use machinery::features::KnownGates;
    use serde_json::json;

    #[tokio::test]
    async fn what_the_main_server_believes_counts() {
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
        let mut options = Options::parse_for(Program::Delegating("shop"), &KnownGates::default(), flags).unwrap();
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
