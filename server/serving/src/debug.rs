//! Debug endpoints of the process: `/debug/pprof`, `/debug/flags`.
//!
//! Upstream: `routes.Profiling`, `routes.DebugFlags`.

mod pprof;
mod socket;

use http::{HeaderValue, Method, StatusCode, header};
use request::{BoxFuture, Handler, Request, RequestExt, Response, respond};
use telemetry::logging;

use pprof::HTML;
pub(crate) use socket::listen;

const PROFILES: &str = "/debug/pprof";
const FLAGS: &str = "/debug/flags";
/// The longest verbosity text that is read.
const MAX_VERBOSITY: usize = 1024;

/// The page of the flags that can be changed: only `v`.
const CHANGEABLE: &str = "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n\
                          <tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n";

/// Handles these paths.
#[derive(Clone, Copy)]
pub(crate) struct DebugHandler;

impl DebugHandler {
    /// Whether the path is handled here.
    pub(crate) fn serves(path: &str) -> bool {
        let below = |root| path.strip_prefix(root).is_some_and(|rest: &str| rest.is_empty() || rest.starts_with('/'));
        below(PROFILES) || below(FLAGS)
    }
}

impl Handler for DebugHandler {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(async move {
            match request.path() {
                PROFILES => found(request.method(), "/debug/pprof/"),
                path if path.starts_with(PROFILES) => pprof::serve(request).await,
                "/debug/flags/v" => verbosity(request).await,
                _ => respond::bytes(200, HTML, CHANGEABLE),
            }
        })
    }
}

/// A redirect with the body that Go's `http.Redirect` writes.
fn found(method: &Method, location: &'static str) -> Response {
    let mut response = match *method {
        Method::GET | Method::HEAD => respond::bytes(302, HTML, format!("<a href=\"{location}\">Found</a>.\n\n")),
        _ => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::FOUND;
            response
        }
    };
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(location));
    response
}

/// Changes the log verbosity (upstream: `routes.StringFlagPutHandler`).
async fn verbosity(request: Request) -> Response {
    if request.method() != Method::PUT {
        return plain(406, "unsupported http method");
    }
    let text = match request.into_body().read(MAX_VERBOSITY).await {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(why) => return plain(400, &format!("error reading request body: {why}")),
    };
    match logging::set_verbosity(&text) {
        Ok(message) => plain(200, &message),
        Err(why) => plain(400, &why.to_string()),
    }
}

fn plain(code: u16, text: &str) -> Response {
    let mut response = respond::bytes(code, HeaderValue::from_static("text/plain"), format!("{text}\n"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use options::Options;
    use request::Body;
    use request::testing::{request, seen};

    #[tokio::test]
    async fn serves_debug_paths() {
        let call = async |method: &str, path: &str, body: &'static str| {
            let request = request(method, path).map(|_| Body::full(body));
            seen(DebugHandler.handle(request).await).await
        };
        assert_eq!(call("GET", "/debug/pprof", "").await.0, 302);
        assert!(call("GET", "/debug/flags", "").await.1.contains("<tr>v<br>"));
        assert_eq!(call("GET", "/debug/flags/v", "").await, (406, "unsupported http method\n".into()));
        let why = "strconv.ParseUint: parsing \"high\": invalid syntax\n";
        assert_eq!(call("PUT", "/debug/flags/v", "high").await, (400, why.into()));
        logging::init(&Options::parse_from(["kube-apiserver"]).unwrap().logs);
        assert!(!tracing::enabled!(tracing::Level::DEBUG));
        let done = "successfully set klog.logging.verbosity to 4\n";
        assert_eq!(call("PUT", "/debug/flags/v", "4").await, (200, done.into()));
        assert!(tracing::enabled!(tracing::Level::DEBUG));
        call("PUT", "/debug/flags/v", "0").await;
        assert_eq!(call("GET", "/debug/pprof/cmdline", "").await, (404, "Unknown profile\n".into()));
        assert!(DebugHandler::serves("/debug/pprof/profile") && !DebugHandler::serves("/debug/pprofile"));
    }
}
