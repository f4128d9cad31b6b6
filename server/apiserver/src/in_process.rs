//! A server in the current process, for tests: like the program, but on a free port and with a
//! temporary data directory.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, WARNING};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use options::Options;
use serde_json::Value;
use serving::certificates;
use tempfile::TempDir;
use tokio::sync::oneshot;
use webhook::{Kubeconfig, Reply};

use crate::run::{POLLS_BETWEEN_EVENTS, PreparedServer};
use crate::{Error, Server};

/// Timeout of a client request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a response in bytes.
const MAX_RESPONSE: usize = 256 << 20;
/// How long shutdown waits for background tasks.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// A running server. Dropping it stops it.
pub struct InProcess {
    /// The base URL, such as `https://127.0.0.1:40123`.
    pub url: String,
    kubeconfig: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Dropped last.
    _folder: TempDir,
}

/// The result of a successful start.
struct Started {
    url: String,
    kubeconfig: PathBuf,
}

impl InProcess {
    pub(crate) fn start(server: Server) -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(Error::Folder)?;
        let options = options(&server, folder.path())?;
        let (started, is_started) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || serve(&server, options, &started, stopped));
        let started = is_started.recv().map_err(|_| Error::Stopped).flatten()?;
        let Started { url, kubeconfig } = started;
        Ok(InProcess { url, kubeconfig, stop: Some(stop), thread: Some(thread), _folder: folder })
    }

    /// The self-contained kubeconfig of the administrator, for kubectl and for clients such as the
    /// `kube` crate.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Creates a client with administrator credentials.
    ///
    /// # Errors
    /// Returns an error if the kubeconfig is unusable.
    pub fn client(&self) -> Result<Client, webhook::Error> {
        let server = Kubeconfig::load(&self.kubeconfig)?;
        Ok(Client { inner: server.client()?, server })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic of the server is already reported
        }
    }
}

/// Options of a local server for a test.
fn options(server: &Server, folder: &Path) -> Result<Options, Error> {
    let flags = [
        server.program.name().to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        "--secure-port=0".to_owned(),
        "--test-server".to_owned(),
        format!("--data-dir={}", folder.display()),
    ];
    let flags = flags.into_iter().chain(server.flags.iter().cloned());
    let mut options = Options::parse_for(server.program, &server.gates()?, flags)?;
    match server.program.delegates() {
        true => options.stand_alone(),
        false => {
            let key = folder.join("tokens.key");
            certificates::generate_ecdsa_key(&key)?;
            options.authentication.service_account_signing_key_file = Some(key);
        }
    }
    Ok(options)
}

fn serve(
    server: &Server,
    options: Options,
    started: &mpsc::Sender<Result<Started, Error>>,
    stopped: oneshot::Receiver<()>,
) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.worker_threads(2).enable_all().event_interval(POLLS_BETWEEN_EVENTS).build() {
        Ok(runtime) => runtime,
        Err(why) => return drop(started.send(Err(Error::Runtime(why)))),
    };
    runtime.block_on(async {
        let ready = PreparedServer::make(server, options).await.map_err(Error::from);
        let ready = match ready.and_then(|ready| Ok((connection_info(&ready)?, ready))) {
            Ok((connection_info, ready)) => {
                let _ = started.send(Ok(connection_info)); // the receiver waits for it
                ready
            }
            Err(why) => return drop(started.send(Err(why))),
        };
        tokio::select! {
            _ = ready.listening.serve(ready.front) => {}
            error = ready.backends.failed() => tracing::error!(%error, "the store failed permanently; shutting down"),
            _ = stopped => {}
        }
        ready.etcd.stop().await;
        let _ = ready.backends.close().await;
    });
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
}

fn connection_info(ready: &PreparedServer) -> Result<Started, Error> {
    let address = ready.listening.address()?;
    let kubeconfig = ready.listening.certificates.write_kubeconfig(address)?;
    let kubeconfig = kubeconfig.ok_or(Error::NoCredentials)?.to_owned();
    Ok(Started { url: format!("https://{address}"), kubeconfig })
}

/// A minimal client of one server, for tests.
pub struct Client {
    inner: webhook::Client,
    server: Kubeconfig,
}

impl Client {
    /// Sends a request and returns the status and the document of the response. A `null` body is
    /// omitted. The body of a PATCH is applied (server-side apply).
    ///
    /// # Errors
    /// Returns an error without a response, or if it is not JSON.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> Result<(StatusCode, Value), webhook::Error> {
        document(self.exchange(method, path, body, "application/json").await?)
    }

    /// Sends a request like [`send`](Self::send), and returns the `Warning` headers of the
    /// response.
    ///
    /// # Errors
    /// Returns an error without a response.
    pub async fn warnings(&self, method: Method, path: &str, body: &Value) -> Result<Vec<String>, webhook::Error> {
        let reply = self.exchange(method, path, body, "application/json").await?;
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Ok(reply.headers.get_all(WARNING).iter().map(text).collect())
    }

    /// Reads a path with an `Accept` header, such as
    /// `application/json;as=Table;v=v1;g=meta.k8s.io`. Returns the status and the document.
    ///
    /// # Errors
    /// Returns an error without a response, or if it is not JSON.
    pub async fn get_as(&self, path: &str, accept: &'static str) -> Result<(StatusCode, Value), webhook::Error> {
        document(self.exchange(Method::GET, path, &Value::Null, accept).await?)
    }

    /// Reads a path that returns text, such as `/metrics`.
    ///
    /// # Errors
    /// Returns an error without a response.
    pub async fn text(&self, path: &str) -> Result<String, webhook::Error> {
        let reply = self.exchange(Method::GET, path, &Value::Null, "*/*").await?;
        Ok(String::from_utf8_lossy(&reply.body).into_owned())
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: &Value,
        accept: &'static str,
    ) -> Result<Reply, webhook::Error> {
        let content_type = match method {
            Method::PATCH => "application/apply-patch+yaml",
            _ => "application/json",
        };
        let text = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let mut request = Request::new(Full::new(text).map_err(|never| match never {}).boxed_unsync());
        *request.method_mut() = method;
        *request.uri_mut() = self.server.at(path)?;
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accept));
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        self.inner.exchange(request, TIMEOUT, MAX_RESPONSE).await
    }
}

/// Returns the status and the document of a response.
fn document(reply: Reply) -> Result<(StatusCode, Value), webhook::Error> {
    let document = serde_json::from_slice(&reply.body);
    let document = document.map_err(|why| webhook::Error::Configuration(format!("the answer is no JSON: {why}")))?;
    Ok((reply.status, document))
}
