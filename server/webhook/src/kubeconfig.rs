//! Kubeconfig files of webhooks for authentication, authorization and audit (upstream:
//! `clientcmd`), and the in-cluster configuration of a pod (`rest.InClusterConfig`).

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use machinery::{json, yaml};
use serde_json::Value;

use crate::token::Authorization;
use crate::{Client, Error, Route, Trust};

/// Directory of a pod's token and CA bundle.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A server and the credentials for it: the current context of a kubeconfig.
#[derive(Clone)]
pub struct Kubeconfig {
    /// The base URL of the server.
    pub server: Uri,
    trust: Trust,
    authorization: Option<Authorization>,
}

impl Kubeconfig {
    /// Loads a file. Relative paths in it are relative to its directory.
    ///
    /// # Errors
    /// Returns an error if the file is unreadable, or has no server for its current context.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = read(path)?;
        let parsed = yaml::to_value(&text, &mut json::Issues::ignore()).map_err(Error::from);
        let directory = path.parent().unwrap_or(Path::new("."));
        parsed.and_then(|config| Self::of(&config, directory)).map_err(Error::within(path.display()))
    }

    /// Returns the configuration of the cluster in which this program runs as a pod.
    ///
    /// # Errors
    /// Returns an error if it does not run in a pod.
    pub fn in_cluster() -> Result<Self, Error> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (host, port) =
            variable("KUBERNETES_SERVICE_HOST").zip(variable("KUBERNETES_SERVICE_PORT")).ok_or(Error::NotInCluster)?;
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let server = format!("https://{host}:{port}");
        let directory = Path::new(SERVICE_ACCOUNT);
        Ok(Kubeconfig {
            server: server_uri(&server)?,
            trust: Trust { authorities: read(&directory.join("ca.crt"))?, ..Trust::default() },
            authorization: Some(Authorization::file(directory.join("token"))),
        })
    }

    /// Returns the URI of a path on the server.
    ///
    /// # Errors
    /// Returns an error for a malformed path.
    pub fn at(&self, path: &str) -> Result<Uri, Error> {
        let server = self.server.to_string();
        let address = format!("{}{path}", server.trim_end_matches('/'));
        address.parse().map_err(|source| Error::Address { address, source })
    }

    fn of(config: &Value, directory: &Path) -> Result<Self, Error> {
        let current = text(config, "current-context");
        let context = match current {
            "" => first(config, "contexts"),
            name => named(config, "contexts", name),
        };
        let context = context.map(|entry| &entry["context"]).ok_or(Error::NoContext)?;
        let cluster = named(config, "clusters", text(context, "cluster"));
        let cluster = cluster.map(|entry| &entry["cluster"]).ok_or(Error::NoCluster)?;
        let user = named(config, "users", text(context, "user")).map(|entry| &entry["user"]).unwrap_or(&Value::Null);
        let server = text(cluster, "server");
        let certificate = material(user, "client-certificate", directory)?;
        let key = material(user, "client-key", directory)?;
        Ok(Kubeconfig {
            server: server_uri(server)?,
            trust: Trust {
                authorities: material(cluster, "certificate-authority", directory)?.unwrap_or_default(),
                insecure: cluster["insecure-skip-tls-verify"].as_bool().unwrap_or(false),
                identity: certificate.zip(key),
                server_name: Some(text(cluster, "tls-server-name")).filter(|name| !name.is_empty()).map(str::to_owned),
                remote_only: false,
                route: Route::DIRECT,
            },
            authorization: authorization(user, directory)?,
        })
    }

    /// Sets the route to the server.
    #[must_use]
    pub fn by(mut self, route: &Route) -> Self {
        self.trust.route = route.clone();
        self
    }

    /// Creates a client of the server.
    ///
    /// # Errors
    /// Returns an error for malformed certificates or keys.
    pub fn client(&self) -> Result<Client, Error> {
        let client = Client::new(&self.trust)?;
        Ok(match &self.authorization {
            Some(value) => client.with_authorization(value.clone()),
            None => client,
        })
    }
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn first<'a>(config: &'a Value, list: &str) -> Option<&'a Value> {
    config[list].as_array()?.first()
}

pub(crate) fn named<'a>(config: &'a Value, list: &str, name: &str) -> Option<&'a Value> {
    config[list].as_array()?.iter().find(|entry| text(entry, "name") == name)
}

/// Returns the base64 data of `<key>-data`, or the content of the file in `<key>`.
pub(crate) fn material(value: &Value, key: &str, directory: &Path) -> Result<Option<Vec<u8>>, Error> {
    match (text(value, &format!("{key}-data")), text(value, key)) {
        ("", "") => Ok(None),
        ("", file) => read(&directory.join(file)).map(Some),
        (data, _) => STANDARD.decode(data).map(Some).map_err(|source| Error::Base64 { key: key.to_owned(), source }),
    }
}

pub(crate) fn authorization(user: &Value, directory: &Path) -> Result<Option<Authorization>, Error> {
    let value = match (text(user, "token"), text(user, "tokenFile"), text(user, "username")) {
        ("", "", "") => return Ok(None),
        ("", "", name) => format!("Basic {}", STANDARD.encode(format!("{name}:{}", text(user, "password")))),
        ("", file, _) => {
            let path = directory.join(file);
            // Reads the file once, so that a missing file is an error at start-up.
            return read(&path).map(|_| Some(Authorization::file(path)));
        }
        (token, ..) => format!("Bearer {token}"),
    };
    Authorization::fixed(&value).map(Some).ok_or(Error::Token)
}

fn server_uri(server: &str) -> Result<Uri, Error> {
    server.parse().map_err(|source| Error::Server { server: server.to_owned(), source })
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })
}
