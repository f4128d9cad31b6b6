//! The debug endpoints over a Unix socket (`--debug-socket-path`; upstream: `routes.DebugSocket`).

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
use request::{Body, Handler, RequestInfo, Response, respond};
use tokio::net::{UnixListener, UnixStream};

use super::{DebugHandler, pprof};
use crate::Error;

/// The path that upstream serves only at the socket.
const COMMAND_LINE: &str = "/debug/pprof/cmdline";
/// The pause after a failed accept; the usual cause is too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Creates the socket, replacing a stale one, and serves it until the runtime ends. Only the user
/// of this process can open it.
///
/// # Errors
/// The socket cannot be created at this path.
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
                    tracing::warn!(%error, "cannot accept a connection on the debug socket");
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
        tracing::debug!(%error, "debug socket connection failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn socket_serves_debug_paths_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("debug.sock");
        std::fs::write(&path, "left behind").unwrap();
        listen(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for (path_and_query, expect) in [
            ("/debug/flags/", "HTTP/1.1 200 OK"),
            ("/debug/pprof/cmdline", "HTTP/1.1 200 OK"),
            ("/api", "HTTP/1.1 404 Not Found"),
        ] {
            let mut stream = UnixStream::connect(&path).await.unwrap();
            let request = format!("GET {path_and_query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with(expect), "{answer}");
        }
    }
}
