//! Rewrites links in responses of a backend to lead through this server (upstream:
//! `proxy.Transport`).

mod html;
mod page;

use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LOCATION};
use machinery::status::Status;
use request::{Body, Response, User};
use serving::work::memory::{self, HeldMemory};

use crate::headers;
use page::{ContentEncoding, Page};

/// How long the client of a page may read nothing.
const STALLED: Duration = Duration::from_secs(5 * 60);

/// The addresses of a backend: its own, and those for clients.
pub(crate) struct Links {
    /// The path prefix of the backend on this server.
    pub prefix: String,
    /// `host:port` of the backend.
    pub backend: String,
    /// The host of the client's request.
    pub client_host: String,
}

impl Links {
    /// Converts a path of the backend to a path on this server.
    pub fn external_path(&self, path: &str) -> String {
        let slash = if path.ends_with('/') { "/" } else { "" };
        let joined = clean(&format!("{}/{path}", self.prefix));
        if joined == "/" { joined } else { format!("{joined}{slash}") }
    }

    /// Rewrites the redirect or the links of a response to this user. A page is rewritten while it
    /// is sent.
    ///
    /// # Errors
    /// Returns an error if the user, or all users together, exceed their memory limit.
    pub fn rewrite(self, mut response: Response, user: Arc<User>) -> Result<Response, Status> {
        if let Some(to) = text(&response, &LOCATION) {
            let rewritten = self.address(&to).unwrap_or(to);
            headers::set(response.headers_mut(), LOCATION, &rewritten);
            return Ok(response);
        }
        let media_type = text(&response, &CONTENT_TYPE).unwrap_or_default();
        if media_type.split(';').next().map(str::trim) != Some("text/html") {
            return Ok(response);
        }
        let encoding = match text(&response, &CONTENT_ENCODING).as_deref() {
            None => ContentEncoding::Plain,
            Some("gzip") => ContentEncoding::Gzip,
            Some("deflate") => ContentEncoding::Deflate,
            Some(_) => return Ok(response),
        };
        let mut held = HeldMemory::default();
        held.add(&user, memory::STREAM)?;
        response.headers_mut().remove(CONTENT_LENGTH);
        let rewritten = |body| Body::stream(Page::new(body, encoding, move |address: &str| self.address(address)));
        Ok(response.map(|body| rewritten(body).hold(held).end_when_stalled(STALLED)))
    }

    /// Rewrites a page that arrives in pieces of this length.
    #[cfg(fuzzing)]
    pub fn rewrite_pieces(&self, page: &[u8], length: usize) -> Vec<u8> {
        let (mut rewriter, mut out) = (html::Rewriter::new(|address: &str| self.address(address)), Vec::new());
        page.chunks(length.max(1)).for_each(|piece| rewriter.push(piece, &mut out));
        rewriter.finish(&mut out);
        out
    }

    /// Rewrites an address of a response; nothing if it is unchanged (`Transport.rewriteURL`).
    fn address(&self, address: &str) -> Option<String> {
        let server_ends = match address.find("//") {
            Some(at) if ["", "http:", "https:"].contains(&&address[..at]) => {
                let host = &address[at + 2..];
                at + 2 + host.find(['/', '?', '#']).unwrap_or(host.len())
            }
            _ => 0,
        };
        let (server, path) = address.split_at(server_ends);
        let host = server.rsplit('/').next().unwrap_or_default();
        if !path.starts_with('/') || !["", &self.backend, &self.client_host].contains(&host) {
            return None;
        }
        let (path, rest) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
        let path = if path.starts_with(&self.prefix) { path.to_owned() } else { self.external_path(path) };
        // An address with the host of the client's request keeps it.
        let server = if !host.is_empty() && host == self.client_host { server } else { "" };
        Some(format!("{server}{path}{rest}"))
    }
}

/// Removes empty and dot segments of a path (Go: `path.Clean`).
fn clean(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

fn text(response: &Response, name: &HeaderName) -> Option<String> {
    let value = response.headers().get(name)?.to_str().ok()?;
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use flate2::Compression;
    use flate2::read::{DeflateDecoder, DeflateEncoder, GzDecoder, GzEncoder};
    use http_body::Frame;
    use http_body_util::{BodyExt, StreamBody};
    use request::BodyError;

    use super::*;

    fn links() -> Links {
        Links { prefix: "/proxy/web".into(), backend: "10.0.0.1:80".into(), client_host: "front:6443".into() }
    }

    #[test]
    fn rewrites_addresses_of_backend() {
        let check = |address: &str, expect: Option<&str>| {
            assert_eq!(links().address(address).as_deref(), expect, "{address}");
        };
        check("/a/b?q#f", Some("/proxy/web/a/b?q#f"));
        check("/a/", Some("/proxy/web/a/"));
        check("/", Some("/proxy/web/"));
        check("/proxy/web/a", Some("/proxy/web/a"));
        check("http://10.0.0.1:80/a", Some("/proxy/web/a"));
        check("//10.0.0.1:80/a", Some("/proxy/web/a"));
        check("https://front:6443/a", Some("https://front:6443/proxy/web/a"));
        for stays in ["a/b", "#top", "https://elsewhere.example.com/a", "mailto:a@b", "javascript:a//b/c", ""] {
            check(stays, None);
        }
    }

    /// Builds a page with this encoding, which arrives in pieces of some bytes.
    fn page(text: &str, encoding: &str, piece: usize) -> Response {
        let mut bytes = Vec::new();
        let read = match encoding {
            "gzip" => GzEncoder::new(text.as_bytes(), Compression::fast()).read_to_end(&mut bytes),
            "deflate" => DeflateEncoder::new(text.as_bytes(), Compression::fast()).read_to_end(&mut bytes),
            _ => text.as_bytes().read_to_end(&mut bytes),
        };
        assert!(read.is_ok());
        let pieces: Vec<Result<_, BodyError>> =
            bytes.chunks(piece).map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
        let body = Body::stream(StreamBody::new(futures_util::stream::iter(pieces)));
        let mut response = Response::new(body);
        response.headers_mut().insert(CONTENT_TYPE, "text/html; charset=utf-8".parse().unwrap());
        response.headers_mut().insert(CONTENT_ENCODING, encoding.parse().unwrap());
        response
    }

    fn decoded(bytes: &[u8], encoding: &str) -> String {
        let mut text = String::new();
        let read = match encoding {
            "gzip" => GzDecoder::new(bytes).read_to_string(&mut text),
            "deflate" => DeflateDecoder::new(bytes).read_to_string(&mut text),
            _ => (&bytes[..]).read_to_string(&mut text),
        };
        assert!(read.is_ok());
        text
    }

    #[tokio::test]
    async fn rewrites_compressed_pages() {
        let text = "<p><a href=\"/a\">a</a></p>".repeat(2_000);
        for encoding in ["", "gzip", "deflate"] {
            for piece in [7, 1 << 20] {
                let rewritten = links().rewrite(page(&text, encoding, piece), Arc::default()).unwrap();
                let sent = rewritten.into_body().read(1 << 20).await.unwrap();
                assert_eq!(decoded(&sent, encoding), text.replace("/a\"", "/proxy/web/a\""), "{encoding}, {piece}");
            }
        }
    }

    #[tokio::test]
    async fn reads_page_only_as_sent() {
        let polled = Arc::new(AtomicUsize::new(0));
        let counter = polled.clone();
        let endless = futures_util::stream::repeat_with(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok::<_, BodyError>(Frame::data(Bytes::from(vec![b'x'; 1 << 16])))
        });
        let mut response = Response::new(Body::stream(StreamBody::new(endless)));
        response.headers_mut().insert(CONTENT_TYPE, "text/html".parse().unwrap());
        let mut body = links().rewrite(response, Arc::default()).unwrap().into_body();
        for _ in 0..3 {
            body.frame().await.unwrap().unwrap();
        }
        assert_eq!(polled.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn does_not_rewrite_other_media_types() {
        let mut response = Response::new(Body::full("<a href=\"/a\">"));
        response.headers_mut().insert(CONTENT_TYPE, "text/plain".parse().unwrap());
        let body = links().rewrite(response, Arc::default()).unwrap().into_body().read(100).await.unwrap();
        assert_eq!(body, "<a href=\"/a\">");
    }
}
