//! The embedded files. `.ci/console` builds them from `server/console/ui` into
//! `server/console/assets`; all are compressed.

use std::io::Read;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use flate2::read::GzDecoder;
use http::header::{ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, ETAG, IF_NONE_MATCH, LOCATION, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use request::{Body, Request, Response, respond};
use sha2::{Digest, Sha256};

use crate::origin::text;

/// A file: path, media type, compressed content.
type File = (&'static str, &'static str, &'static [u8]);

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

const FILES: [File; 10] = [
    ("/swagger-ui/", HTML, include_bytes!("../assets/swagger-ui/index.html.gz")),
    ("/swagger-ui/page.css", STYLE, include_bytes!("../assets/swagger-ui/page.css.gz")),
    ("/swagger-ui/page.js", SCRIPT, include_bytes!("../assets/swagger-ui/page.js.gz")),
    ("/swagger-ui/swagger-ui-bundle.js", SCRIPT, include_bytes!("../assets/swagger-ui/swagger-ui-bundle.js.gz")),
    ("/swagger-ui/swagger-ui.css", STYLE, include_bytes!("../assets/swagger-ui/swagger-ui.css.gz")),
    ("/ui/", HTML, include_bytes!("../assets/ui/index.html.gz")),
    ("/ui/app.js", SCRIPT, include_bytes!("../assets/ui/app.js.gz")),
    ("/ui/icon.svg", "image/svg+xml", include_bytes!("../assets/ui/icon.svg.gz")),
    ("/ui/index.css", STYLE, include_bytes!("../assets/ui/index.css.gz")),
    ("/ui/licences.txt", TEXT, include_bytes!("../assets/ui/licences.txt.gz")),
];

/// The entity tags of [`FILES`], without quotes: digests of the contents.
static TAGS: LazyLock<[String; FILES.len()]> = LazyLock::new(|| {
    let digest = |content: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(content)[..18]);
    FILES.map(|(.., content)| digest(content))
});

/// Scripts, styles and connections of this server only; no page may show these pages in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Headers of all responses of this crate.
const HEADERS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
];

/// Adds the headers that restrict what browsers do with a response.
pub fn secure(mut response: Response) -> Response {
    let headers = HEADERS.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    response.headers_mut().extend(headers);
    response
}

/// Serves the file at a path.
pub fn answer(request: &Request, path: &str) -> Response {
    if let "/ui" | "/swagger-ui" = path {
        return redirect(path);
    }
    let found = FILES.iter().zip(TAGS.iter()).find(|((name, ..), _)| *name == path);
    let Some(((_, media_type, content), tag)) = found else { return respond::not_found() };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = respond::text_error(405, "Method Not Allowed");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let is_compressed = accepts_gzip(request.headers());
    let tag = if is_compressed { format!("\"{tag}\"") } else { format!("\"{tag}-plain\"") };
    let is_known = is_listed(text(request.headers(), &IF_NONE_MATCH), &tag);
    let body = match () {
        () if is_known || request.method() == Method::HEAD => Body::empty(),
        () if is_compressed => Body::full(*content),
        () => Body::full(decompressed(content)),
    };
    let mut response = respond::bytes(200, HeaderValue::from_static(media_type), body);
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    // Names are the same in all versions, so browsers check the tag before each use.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.extend(HeaderValue::try_from(tag).ok().map(|tag| (ETAG, tag)));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}

fn redirect(path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    response.headers_mut().extend(HeaderValue::try_from(format!("{path}/")).ok().map(|to| (LOCATION, to)));
    response
}

/// Whether the client accepts gzip with a weight above zero.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    text(headers, &ACCEPT_ENCODING).split(',').any(|clause| {
        let (coding, parameters) = clause.split_once(';').unwrap_or((clause, ""));
        let is_refused = parameters
            .split(';')
            .any(|one| one.trim().strip_prefix("q=").is_some_and(|weight| weight.trim_matches(['0', '.']).is_empty()));
        matches!(coding.trim(), "gzip" | "*") && !is_refused
    })
}

/// Whether `If-None-Match` has the tag.
fn is_listed(header: &str, tag: &str) -> bool {
    header.split(',').map(|one| one.trim().trim_start_matches("W/")).any(|one| one == "*" || one == tag)
}

fn decompressed(content: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    // The content is compressed at build time; the tests decompress all files.
    let _ = GzDecoder::new(content).read_to_end(&mut plain);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::request;

    fn get(path: &str, headers: &[(&'static str, &str)]) -> Response {
        let mut request = request("GET", "/");
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        answer(&request, path)
    }

    #[tokio::test]
    async fn files_are_served_compressed_and_plain() {
        let mut total = 0;
        for (path, media_type, content) in FILES {
            let compressed = get(path, &[("accept-encoding", "br, gzip")]);
            assert_eq!(
                (compressed.status().as_u16(), &compressed.headers()["content-type"]),
                (200, &HeaderValue::from_static(media_type))
            );
            assert_eq!(compressed.headers()["content-encoding"], "gzip");
            assert_eq!(compressed.into_body().read(1 << 20).await.unwrap(), content);
            for refused in ["", "br", "gzip;q=0", "gzip; q=0.000"] {
                let plain = get(path, &[("accept-encoding", refused)]);
                assert_eq!(plain.headers().get("content-encoding"), None, "{refused}");
                assert!(plain.into_body().read(4 << 20).await.unwrap().len() > 100, "{path}");
            }
            total += content.len();
        }
        assert!(total < 1_500_000, "{total} bytes");
    }

    #[test]
    fn known_content_is_not_sent_again() {
        let tag = get("/ui/", &[("accept-encoding", "gzip")]).headers()["etag"].to_str().unwrap().to_owned();
        for header in [tag.clone(), format!("\"x\", W/{tag}"), "*".into()] {
            let response = get("/ui/", &[("accept-encoding", "gzip"), ("if-none-match", &header)]);
            assert_eq!((response.status().as_u16(), response.body().known()), (304, None), "{header}");
            assert_eq!(response.headers()["etag"], tag.as_str());
        }
        assert_eq!(get("/ui/", &[("accept-encoding", "gzip"), ("if-none-match", "\"x\"")]).status(), 200);
        assert_eq!(get("/ui/", &[("if-none-match", &tag)]).status(), 200, "the tag of another encoding");
    }

    #[test]
    fn unknown_paths_are_not_found() {
        for path in [
            "/ui/x",
            "/ui/index.html/",
            "/ui/../api",
            "/ui//",
            "/ui/app.js.gz",
            "/swagger-ui/ui/app.js",
            "/ui/%2e%2e/x",
        ] {
            assert_eq!(get(path, &[]).status(), 404, "{path}");
        }
        assert_eq!(get("/ui", &[]).headers()["location"], "/ui/");
        assert_eq!(answer(&request("POST", "/"), "/ui/").status(), 405);
        assert!(answer(&request("HEAD", "/"), "/ui/").body().known().is_none());
    }
}
