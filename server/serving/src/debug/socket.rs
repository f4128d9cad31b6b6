//! The same over a Unix socket, for everybody who can open it (`--debug-socket-path`; upstream: `routes.DebugSocket`).

use std::convert::Infallible;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{UnixListener, UnixStream};

use super::{DebugHandler, pprof};
use crate::body::Body;
use crate::handler::Handler;
use crate::respond;
use crate::{Error, RequestInfo, Response};

/// What upstream tells here only.
const COMMAND_LINE: &str = "/debug/pprof/cmdline";
/// How long to wait when a connection cannot be accepted, mostly because there are too many files.
const PAUSE: Duration = Duration::from_millis(50);

/// Makes the socket, in the place of one that was left behind, and answers there for as long as the runtime lives. Only the user of this
/// process can open it.
///
/// # Errors
/// When there cannot be a socket at this path.
pub(crate) fn listen(path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Listen { address: path.display().to_string(), source };
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(serve(stream))),
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection of the debug socket");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    });
    Ok(())
}

async fn serve(stream: UnixStream) {
    let service = service_fn(|request: hyper::Request<Incoming>| async move {
        let info = Arc::new(RequestInfo::of_parts(request.method(), request.uri()));
        let mut request = request.map(Body::from);
        request.extensions_mut().insert(Arc::clone(&info));
        let response = match info.path.as_str() {
            COMMAND_LINE => pprof::command_line(),
            path if DebugHandler::serves(path) => DebugHandler.handle(request).await,
            _ => respond::not_found(),
        };
        Ok::<Response, Infallible>(response)
    });
    if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection of the debug socket ended");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn the_socket_answers_its_paths_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("debug.sock");
        std::fs::write(&path, "left behind").unwrap();
        listen(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for (asked, expect) in [
            ("/debug/flags/", "HTTP/1.1 200 OK"),
            ("/debug/pprof/cmdline", "HTTP/1.1 200 OK"),
            ("/api", "HTTP/1.1 404 Not Found"),
        ] {
            let mut stream = UnixStream::connect(&path).await.unwrap();
            let request = format!("GET {asked} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with(expect), "{answer}");
        }
    }
}
