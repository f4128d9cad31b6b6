//! Serves the log files of the host at `/logs` (`--enable-logs-handler`; upstream: `routes.Logs`,
//! `http.ServeFile`).

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::{HeaderValue, Method, header};
use http_body::Frame;
use http_body_util::StreamBody;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use request::{Body, BodyError, BoxFuture, Handler, Request, RequestExt, Response, respond};
use tokio::fs::File;
use tokio::io::AsyncReadExt;

const ROOT: &str = "/logs";
/// The log directory of the host.
const DIRECTORY: &str = "/var/log";
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// The size of a chunk, and how many bytes determine the content type (Go:
/// `http.DetectContentType`).
const CHUNK_SIZE: usize = 64 << 10;
const SNIFF_LENGTH: usize = 512;
/// The characters that are escaped in links.
const IN_LINKS: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

/// Handles `/logs` and the paths below it.
pub(crate) struct LogFiles {
    directory: PathBuf,
}

impl Default for LogFiles {
    fn default() -> Self {
        LogFiles { directory: DIRECTORY.into() }
    }
}

impl LogFiles {
    /// Whether the path is handled here.
    pub(crate) fn serves(path: &str) -> bool {
        path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    async fn answer(&self, method: Method, path: &str) -> Response {
        if method != Method::GET {
            return respond::text_error(405, "405: Method Not Allowed");
        }
        let below = path[ROOT.len()..].trim_matches('/');
        if below.split('/').any(|part| part == "..") {
            return respond::text_error(400, "invalid URL path");
        }
        let file = self.directory.join(below);
        match tokio::fs::metadata(&file).await {
            Ok(found) if found.is_dir() && !path.ends_with('/') => moved(path),
            Ok(found) if found.is_dir() => list(&file).await,
            Ok(found) if found.is_file() => send(&file, &found).await,
            Ok(_) => respond::not_found(),
            Err(error) => error_response(error.kind()),
        }
    }
}

impl Handler for LogFiles {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let (method, path) = (request.method().clone(), request.path().to_owned());
        Box::pin(async move { self.answer(method, &path).await })
    }
}

/// Redirects to the path with a slash: links of a directory are relative to it.
fn moved(path: &str) -> Response {
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut response = Response::new(Body::empty());
    *response.status_mut() = http::StatusCode::MOVED_PERMANENTLY;
    if let Ok(location) = HeaderValue::try_from(format!("{}/", utf8_percent_encode(name, IN_LINKS))) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// `http.toHTTPError`
fn error_response(why: ErrorKind) -> Response {
    match why {
        ErrorKind::PermissionDenied => respond::text_error(403, "403 Forbidden"),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => respond::not_found(),
        _ => respond::text_error(500, "500 Internal Server Error"),
    }
}

/// A page of links (Go: `http.dirList`).
async fn list(directory: &Path) -> Response {
    let mut entries = match tokio::fs::read_dir(directory).await {
        Ok(entries) => entries,
        Err(error) => return error_response(error.kind()),
    };
    let mut names = Vec::new();
    while let Ok(Some(entry)) = entries.next_entry().await {
        let slash = if entry.file_type().await.is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
        names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
    }
    names.sort();
    let link = |name: &String| format!("<a href=\"{}\">{}</a>\n", utf8_percent_encode(name, IN_LINKS), escaped(name));
    let links: String = names.iter().map(link).collect();
    let head = "<!doctype html>\n<meta name=\"viewport\" content=\"width=device-width\">\n";
    respond::bytes(200, HTML, format!("{head}<pre>\n{links}</pre>\n"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&#34;").replace('\'', "&#39;")
}

/// Sends the file up to its current length: logs grow while they are read.
async fn send(path: &Path, found: &Metadata) -> Response {
    let begin = async {
        let mut file = File::open(path).await?;
        let mut first = BytesMut::with_capacity(CHUNK_SIZE);
        file.read_buf(&mut first).await?;
        Ok((file, first.freeze()))
    };
    let (file, first): (File, Bytes) = match begin.await {
        Ok(begun) => begun,
        Err(error) => return error_response(std::io::Error::kind(&error)),
    };
    let content_type = content_type(&first[..first.len().min(SNIFF_LENGTH)]);
    let left = found.len().saturating_sub(first.len() as u64);
    let rest = stream::try_unfold((file.take(left), first), async |(mut file, ready)| {
        if ready.is_empty() {
            return Ok::<_, BodyError>(None);
        }
        let mut next = BytesMut::with_capacity(CHUNK_SIZE);
        file.read_buf(&mut next).await?;
        Ok(Some((Frame::data(ready), (file, next.freeze()))))
    });
    respond::bytes(200, content_type, Body::stream(StreamBody::new(Box::pin(rest))))
}

/// The content type of a file, by its first bytes.
fn content_type(first: &[u8]) -> HeaderValue {
    let is_text = !first.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b'\x1b'));
    match first {
        [0x1f, 0x8b, 0x08, ..] => HeaderValue::from_static("application/x-gzip"),
        _ if is_text => respond::TEXT,
        _ => HeaderValue::from_static("application/octet-stream"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{request, seen};

    #[tokio::test]
    async fn serves_files_and_directories() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::create_dir(path("pods")).unwrap();
        std::fs::write(path("a<b>.log"), "one\ntwo\n").unwrap();
        std::fs::write(path("pods/long"), vec![b'x'; 3 * CHUNK_SIZE]).unwrap();
        let files = LogFiles { directory: directory.path().into() };
        let get = async |uri: &str| seen(files.handle(request("GET", uri)).await).await;
        let (code, page) = get("/logs/").await;
        assert!(code == 200 && page.starts_with("<!doctype html>\n"), "{page}");
        let links = "<pre>\n<a href=\"a%3Cb%3E.log\">a&lt;b&gt;.log</a>\n<a href=\"pods/\">pods/</a>\n</pre>\n";
        assert!(page.ends_with(links), "{page}");
        assert_eq!(get("/logs/a%3Cb%3E.log").await, (200, "one\ntwo\n".into()));
        assert_eq!(get("/logs/pods/long").await.1.len(), 3 * CHUNK_SIZE);
        assert_eq!(get("/logs/none").await, (404, "404 page not found\n".into()));
        assert_eq!(get("/logs/%2e%2e/secret").await, (400, "invalid URL path\n".into()));
        let moved = files.handle(request("GET", "/logs/pods")).await;
        assert_eq!((moved.status().as_u16(), &moved.headers()["location"]), (301, &HeaderValue::from_static("pods/")));
        assert_eq!(files.handle(request("POST", "/logs/none")).await.status(), 405);
        assert!(LogFiles::serves("/logs") && LogFiles::serves("/logs/x") && !LogFiles::serves("/logsx"));
    }
}
