//! Aggregated servers: how they are reached, and whether they answer.

use std::sync::Arc;
use std::time::Duration;

use endpoints::{Backend, Registration};
use http::{Request, Uri};
use serving::user::SYSTEM_MASTERS;
use serving::{RequestInfo, User};
use webhook::{Body, Client, Error, Identity, Reply, Route, Services, Trust};

/// Who this server is when it asks an aggregated server for itself.
const AGGREGATOR: &str = "system:kube-aggregator";
/// How long an aggregated server may take to say what it serves.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many bytes a document of an aggregated server may have.
pub(crate) const MAX_DOCUMENT: usize = 64 << 20;
/// How many questions are asked at once before a server counts as away: one of its endpoints may be.
const ATTEMPTS: usize = 5;

/// Reaches aggregated servers.
pub struct Backends {
    services: Arc<Services>,
    /// Certificate and key of this server as a front proxy, in PEM.
    identity: Option<Identity>,
}

impl Backends {
    /// Reaches servers as services, known to them by this certificate and key.
    pub fn new(services: Arc<Services>, identity: Option<Identity>) -> Self {
        Backends { services, identity }
    }

    /// A client that makes sure that it speaks with this server.
    pub(crate) fn client(&self, backend: &Backend) -> Result<Client, Error> {
        self.services.client(Trust {
            authorities: backend.ca_bundle.clone(),
            insecure: backend.insecure,
            identity: self.identity.clone(),
            server_name: Some(format!("{}.{}.svc", backend.name, backend.namespace)),
            remote_only: false,
            route: Route::DIRECT,
        })
    }

    /// `host:port` of the server at this moment.
    pub(crate) fn resolve(&self, backend: &Backend) -> Result<String, Error> {
        self.services.resolve(&backend.namespace, &backend.name, backend.port)
    }

    /// Gets a document of the server, as this server.
    pub(crate) async fn get(
        &self,
        backend: &Backend,
        path: &str,
        headers: &[(http::HeaderName, &str)],
    ) -> Result<Reply, Error> {
        let uri = uri(&self.resolve(backend)?, path)?;
        self.client(backend)?.exchange(question(&uri, &asker(), headers)?, PATIENCE, MAX_DOCUMENT).await
    }

    /// Whether a server answers for its group version (upstream: the probe of `remote.AvailableConditionController`). The error is the
    /// message of the condition.
    ///
    /// # Errors
    /// When none of several questions is answered well.
    pub async fn probe(self: &Arc<Self>, registration: &Registration) -> Result<(), String> {
        let Some(backend) = registration.backend.clone() else { return Ok(()) };
        let path = match (registration.group.as_str(), registration.version.as_str()) {
            ("", version) => format!("/api/{version}"),
            (group, version) => format!("/apis/{group}/{version}"),
        };
        let mut asked = tokio::task::JoinSet::new();
        for _ in 0..ATTEMPTS {
            let (backends, backend, path) = (self.clone(), backend.clone(), path.clone());
            asked.spawn(async move { backends.ask(&backend, &path).await });
        }
        let mut last = Ok(());
        while let Some(answer) = asked.join_next().await {
            match answer {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(why)) => last = Err(why),
                Err(why) => last = Err(why.to_string()),
            }
        }
        last
    }

    async fn ask(&self, backend: &Backend, path: &str) -> Result<(), String> {
        let uri = self.resolve(backend).and_then(|host| uri(&host, path)).map_err(|why| why.to_string())?;
        let client = self.client(backend).map_err(|why| why.to_string())?;
        let missing = |why: &str| format!("failing or missing response from {uri}: {why}");
        let question = question(&uri, &asker(), &[]).map_err(|why| why.to_string())?;
        match client.exchange(question, PATIENCE, MAX_DOCUMENT).await {
            Ok(reply) if reply.status.is_success() => Ok(()),
            Ok(reply) => Err(missing(&format!("bad status from {uri}: {}", reply.status.as_u16()))),
            Err(why) => Err(missing(&why.to_string())),
        }
    }
}

pub(crate) fn uri(host: &str, path_and_query: &str) -> Result<Uri, Error> {
    format!("https://{host}{path_and_query}").parse().map_err(|why| Error::Service(format!("{host}: {why}")))
}

fn asker() -> User {
    User::new(AGGREGATOR, [SYSTEM_MASTERS])
}

/// Where a request goes on another server. Path and query are written from what was parsed, so that the other server parses the same.
pub(crate) fn target(host: &str, info: &RequestInfo) -> Result<Uri, Error> {
    let mark = if info.query.is_empty() { "" } else { "?" };
    uri(host, &format!("{}{mark}{}", proxy::escape_path(&info.path), info.query.encode()))
}

/// A request for a document, in the name of a user.
pub(crate) fn question(uri: &Uri, user: &User, headers: &[(http::HeaderName, &str)]) -> Result<Request<Body>, Error> {
    let mut request = proxy::question(uri.clone(), user).map_err(|status| Error::Service(status.message))?;
    for (name, value) in headers {
        if let Ok(value) = http::HeaderValue::from_str(value) {
            request.headers_mut().insert(name, value);
        }
    }
    Ok(request)
}
