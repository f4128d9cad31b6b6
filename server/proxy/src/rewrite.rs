//! Addresses in answers of a backend, made to lead through this server (upstream: `proxy.Transport`).

mod html;

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::{DeflateDecoder, GzDecoder};
use flate2::write::{DeflateEncoder, GzEncoder};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LOCATION};
use machinery::status::Status;
use serving::{Body, Response};

use crate::headers;

/// The longest page that is read to find its links.
const MAX_PAGE: usize = 64 << 20;

/// Where a backend is, and where clients find it.
pub(crate) struct Links {
    /// What stands before the backend's own paths here.
    pub prefix: String,
    /// `host:port` of the backend.
    pub backend: String,
    /// The host that the client asked.
    pub asked: String,
}

impl Links {
    /// A path of the backend as clients reach it.
    pub fn through(&self, path: &str) -> String {
        let slash = if path.ends_with('/') { "/" } else { "" };
        let joined = clean(&format!("{}/{path}", self.prefix));
        if joined == "/" { joined } else { format!("{joined}{slash}") }
    }

    /// An answer whose redirect or links lead through this server.
    ///
    /// # Errors
    /// When a page cannot be read.
    pub async fn rewrite(&self, mut response: Response) -> Result<Response, Status> {
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
            None => Encoding::Plain,
            Some("gzip") => Encoding::Gzip,
            Some("deflate") => Encoding::Deflate,
            Some(_) => return Ok(response),
        };
        let (mut parts, body) = response.into_parts();
        let body = body.read(MAX_PAGE).await.map_err(|why| Status::service_unavailable(why.to_string()))?;
        let page = encoding.read(&body).map_err(|why| Status::new(500, "", why.to_string()))?;
        let page = html::rewrite(&page, |address| self.address(address));
        let body = encoding.write(page).map_err(|why| Status::new(500, "", why.to_string()))?;
        parts.headers.remove(CONTENT_LENGTH);
        Ok(Response::from_parts(parts, Body::full(body)))
    }

    /// A page with its links rewritten.
    #[cfg(fuzzing)]
    pub fn rewrite_page(&self, page: &[u8]) -> Vec<u8> {
        html::rewrite(page, |address| self.address(address))
    }

    /// An address that stands in an answer; nothing when it may stay (`Transport.rewriteURL`).
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
        if !path.starts_with('/') || !["", &self.backend, &self.asked].contains(&host) {
            return None;
        }
        let (path, rest) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
        let path = if path.starts_with(&self.prefix) { path.to_owned() } else { self.through(path) };
        // An address that names the host which the client asked goes on to name it.
        let server = if !host.is_empty() && host == self.asked { server } else { "" };
        Some(format!("{server}{path}{rest}"))
    }
}

/// A path without empty segments and dots (Go: `path.Clean`).
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

/// How a page is compressed.
enum Encoding {
    Plain,
    Gzip,
    Deflate,
}

impl Encoding {
    fn read(&self, body: &Bytes) -> std::io::Result<Vec<u8>> {
        let mut page = Vec::new();
        let limit = MAX_PAGE as u64;
        match self {
            Encoding::Plain => page.extend_from_slice(body),
            Encoding::Gzip => drop(GzDecoder::new(&**body).take(limit).read_to_end(&mut page)?),
            Encoding::Deflate => drop(DeflateDecoder::new(&**body).take(limit).read_to_end(&mut page)?),
        }
        Ok(page)
    }

    fn write(&self, page: Vec<u8>) -> std::io::Result<Vec<u8>> {
        match self {
            Encoding::Plain => Ok(page),
            Encoding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(&page)?;
                encoder.finish()
            }
            Encoding::Deflate => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(&page)?;
                encoder.finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> Links {
        Links { prefix: "/proxy/web".into(), backend: "10.0.0.1:80".into(), asked: "front:6443".into() }
    }

    #[test]
    fn addresses_of_the_backend_lead_through_this_server() {
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

    #[tokio::test]
    async fn pages_are_rewritten_however_they_are_compressed() {
        let page = "<p><a href=\"/a\">a</a></p>";
        for (name, encoding) in [("", Encoding::Plain), ("gzip", Encoding::Gzip), ("deflate", Encoding::Deflate)] {
            let mut response = Response::new(Body::full(encoding.write(page.into()).unwrap()));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, "text/html; charset=utf-8".parse().unwrap());
            headers.insert(CONTENT_ENCODING, name.parse().unwrap());
            let rewritten = links().rewrite(response).await.unwrap().into_body().read(1 << 20).await.unwrap();
            let text = String::from_utf8(encoding.read(&rewritten).unwrap()).unwrap();
            assert_eq!(text, "<p><a href=\"/proxy/web/a\">a</a></p>", "{name}");
        }
    }

    #[tokio::test]
    async fn what_is_no_page_stays() {
        let mut response = Response::new(Body::full("<a href=\"/a\">"));
        response.headers_mut().insert(CONTENT_TYPE, "text/plain".parse().unwrap());
        let body = links().rewrite(response).await.unwrap().into_body().read(100).await.unwrap();
        assert_eq!(body, "<a href=\"/a\">");
    }
}
