//! A server in this process, for tests: as the program runs it, on a free port, with a data folder that goes away with it.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, WARNING};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use serving::certificates;
use serving::options::Options;
use tempfile::TempDir;
use tokio::sync::oneshot;
use webhook::{Kubeconfig, Reply};

use crate::Server;
use crate::run::{POLLS_BETWEEN_EVENTS, PreparedServer};

/// How long an answer to the client may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How many bytes it may have.
const MAX_ANSWER: usize = 256 << 20;
/// How long what the server does besides may take to end.
const END: Duration = Duration::from_secs(1);

/// A running server; dropping it ends it.
pub struct InProcess {
    /// Where it is, such as `https://127.0.0.1:40123`.
    pub url: String,
    kubeconfig: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Goes away last.
    _folder: TempDir,
}

/// What a server says when it can be used.
struct Started {
    url: String,
    kubeconfig: PathBuf,
}

impl InProcess {
    pub(crate) fn start(server: Server) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|why| why.to_string())?;
        let options = options(&server, folder.path())?;
        let (started, is_started) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || serve(&server, options, &started, stopped));
        let started = is_started.recv().map_err(|_| "the server ended while it started".to_owned()).flatten()?;
        let Started { url, kubeconfig } = started;
        Ok(InProcess { url, kubeconfig, stop: Some(stop), thread: Some(thread), _folder: folder })
    }

    /// The kubeconfig of its administrator, with everything in it: for kubectl, and for clients such as that of the `kube` crate.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A client that is its administrator.
    ///
    /// # Errors
    /// When the kubeconfig cannot be used.
    pub fn client(&self) -> Result<Client, webhook::Error> {
        let server = Kubeconfig::load(&self.kubeconfig)?;
        Ok(Client { inner: server.client()?, server })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic of the server has been written out where it happened
        }
    }
}

/// Options of a server that nobody else is to reach, and that need not outlive a power cut.
fn options(server: &Server, folder: &Path) -> Result<Options, String> {
    let flags = [
        server.program.name().to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        "--secure-port=0".to_owned(),
        format!("--data-dir={}", folder.display()),
    ];
    let flags = flags.into_iter().chain(server.flags.iter().cloned());
    let mut options = Options::parse_for(server.program, &server.gates()?, flags).map_err(|why| why.to_string())?;
    options.storage.durable = false;
    match server.program.delegates() {
        true => options.stand_alone(),
        false => {
            let key = folder.join("tokens.key");
            certificates::make_quick_key(&key).map_err(|why| why.to_string())?;
            options.authentication.service_account_signing_key_file = Some(key);
        }
    }
    Ok(options)
}

fn serve(
    server: &Server,
    options: Options,
    started: &mpsc::Sender<Result<Started, String>>,
    stopped: oneshot::Receiver<()>,
) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.worker_threads(2).enable_all().event_interval(POLLS_BETWEEN_EVENTS).build() {
        Ok(runtime) => runtime,
        Err(why) => return drop(started.send(Err(why.to_string()))),
    };
    runtime.block_on(async {
        let ready = PreparedServer::make(server, options).await.and_then(|ready| Ok((place(&ready)?, ready)));
        let ready = match ready {
            Ok((place, ready)) => {
                let _ = started.send(Ok(place)); // whoever started it waits
                ready
            }
            Err(why) => return drop(started.send(Err(why))),
        };
        tokio::select! {
            _ = ready.listening.serve(ready.front) => {}
            error = ready.backends.failed() => tracing::error!(%error, "the store takes no more writes; the server ends"),
            _ = stopped => {}
        }
        let _ = ready.backends.close().await;
    });
    runtime.shutdown_timeout(END);
}

fn place(ready: &PreparedServer) -> Result<Started, String> {
    let address = ready.listening.address().map_err(|why| why.to_string())?;
    let kubeconfig = ready.listening.certificates.write_kubeconfig(address).map_err(|why| why.to_string())?;
    let kubeconfig = kubeconfig.ok_or("the server knows no administrator")?.to_owned();
    Ok(Started { url: format!("https://{address}"), kubeconfig })
}

/// A client of one server, for tests that need no more than documents.
pub struct Client {
    inner: webhook::Client,
    server: Kubeconfig,
}

impl Client {
    /// Sends a request; a body of `null` is none. That of a PATCH is applied (server-side apply). Gives status and document of the answer.
    ///
    /// # Errors
    /// When there is no answer, or it is no JSON.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> Result<(StatusCode, Value), webhook::Error> {
        document(self.exchange(method, path, body, "application/json").await?)
    }

    /// Sends a request in the same way, and gives the headers `Warning` of the answer.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn warnings(&self, method: Method, path: &str, body: &Value) -> Result<Vec<String>, webhook::Error> {
        let reply = self.exchange(method, path, body, "application/json").await?;
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Ok(reply.headers.get_all(WARNING).iter().map(text).collect())
    }

    /// Reads a path in a form of its own, such as `application/json;as=Table;v=v1;g=meta.k8s.io`. Gives status and document.
    ///
    /// # Errors
    /// When there is no answer, or it is no JSON.
    pub async fn get_as(&self, path: &str, accept: &'static str) -> Result<(StatusCode, Value), webhook::Error> {
        document(self.exchange(Method::GET, path, &Value::Null, accept).await?)
    }

    /// What is at a path that answers with text, such as `/metrics`.
    ///
    /// # Errors
    /// When there is no answer.
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
        self.inner.exchange(request, TIMEOUT, MAX_ANSWER).await
    }
}

/// Status and document of an answer.
fn document(reply: Reply) -> Result<(StatusCode, Value), webhook::Error> {
    let document = serde_json::from_slice(&reply.body);
    let document = document.map_err(|why| webhook::Error::Configuration(format!("the answer is no JSON: {why}")))?;
    Ok((reply.status, document))
}
