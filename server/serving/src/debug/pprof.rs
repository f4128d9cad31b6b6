//! Profiles of this process at `/debug/pprof` (upstream: `routes.Profiling`; Go: `net/http/pprof`).

mod cpu;
mod encoding;
mod messages;
mod symbols;

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, header};
use request::{Query, Request, RequestExt, Response, respond};
use tokio::task;

pub(super) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// The default duration of a CPU profile, in seconds.
const SECONDS: u64 = 30;
/// The longest list of addresses that is read.
const MAX_ADDRESSES: usize = 1 << 20;

/// The available profiles. Go programs also list the profiles of Go's runtime here.
const INDEX: &str = "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n<br>\nTypes of profiles available:\n\
                     <table>\n<thead><td>Count</td><td>Profile</td></thead>\n\
                     <tr><td>0</td><td><a href='cmdline'>cmdline</a></td></tr>\n\
                     <tr><td>0</td><td><a href='profile'>profile</a></td></tr>\n\
                     <tr><td>0</td><td><a href='symbol'>symbol</a></td></tr>\n\
                     </table>\n<br>\n<p>\nProfile Descriptions:\n<ul>\n\
                     <li>cmdline: The words that the program was started with, at the debug socket only</li>\n\
                     <li>profile: Where all threads spend CPU time during so many ?seconds=, for go tool pprof</li>\n\
                     <li>symbol: The names of the functions at addresses, which stand in the query or the body with + between them</li>\n\
                     </ul>\n</p>\n</body>\n</html>";

/// Handles the paths below `/debug/pprof`.
pub(super) async fn serve(request: Request) -> Response {
    match request.path().strip_prefix("/debug/pprof/").unwrap_or("") {
        "" => unsniffed(respond::bytes(200, HTML, INDEX)),
        "profile" => profile(request.query()).await,
        "symbol" => symbol(request).await,
        _ => failed(404, "Unknown profile"),
    }
}

/// The command line of the process. Upstream serves it at the debug socket only; elsewhere the path
/// is 404.
pub(super) fn command_line() -> Response {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    unsniffed(respond::bytes(200, respond::TEXT, words.join("\0")))
}

async fn profile(query: &Query) -> Response {
    let requested = query.get("seconds").and_then(|text| text.parse::<i64>().ok()?.try_into().ok());
    let seconds = requested.filter(|seconds| *seconds > 0).unwrap_or(SECONDS);
    match cpu::profile(Duration::from_secs(seconds)).await {
        Ok(bytes) => {
            let mut response = respond::bytes(200, HeaderValue::from_static("application/octet-stream"), bytes);
            let name = HeaderValue::from_static("attachment; filename=\"profile\"");
            response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
            unsniffed(response)
        }
        Err(why) => failed(500, &format!("Could not enable CPU profiling: {why}")),
    }
}

async fn symbol(request: Request) -> Response {
    let requested = match *request.method() {
        Method::POST => request.into_body().read(MAX_ADDRESSES).await,
        _ => Ok(Bytes::copy_from_slice(request.uri().query().unwrap_or("").as_bytes())),
    };
    // The first look-up reads the symbol tables of the whole program.
    let look_up = |bytes: Bytes| task::spawn_blocking(move || symbols::name(&String::from_utf8_lossy(&bytes)));
    let names = match requested {
        Ok(bytes) => look_up(bytes).await.unwrap_or_default(),
        Err(why) => format!("reading request: {why}\n"),
    };
    // Clients only check that the number is not 0, which means that this program has symbols.
    unsniffed(respond::bytes(200, respond::TEXT, format!("num_symbols: 1\n{names}")))
}

/// An error response in the form of `net/http/pprof`.
fn failed(code: u16, text: &str) -> Response {
    let mut response = respond::text_error(code, text);
    response.headers_mut().insert("x-go-pprof", HeaderValue::from_static("1"));
    response
}

fn unsniffed(mut response: Response) -> Response {
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::Body;
    use request::testing::{request, seen};

    #[tokio::test]
    async fn serves_paths_below_debug_pprof() {
        let address = format!("{:#x}", command_line as fn() -> Response as usize);
        // Without full debug information, names have no module path.
        let bare = |text: &str| text.replace("serving::debug::pprof::", "");
        let found = format!("num_symbols: 1\n{address} command_line\n");
        for (method, target, body, expect) in [
            ("GET", "", "", (200, INDEX)),
            ("GET", "heap", "", (404, "Unknown profile\n")),
            ("GET", "heap?seconds=1", "", (404, "Unknown profile\n")),
            ("GET", &format!("symbol?1+x+{address}"), "", (200, &*found)),
            ("POST", "symbol", &*address, (200, &*found)),
            ("POST", "symbol", "", (200, "num_symbols: 1\n")),
        ] {
            let request = request(method, &format!("/debug/pprof/{target}")).map(|_| Body::full(body.to_owned()));
            let (code, text) = seen(serve(request).await).await;
            assert_eq!((code, &*bare(&text)), expect, "{method} {target}");
        }
    }
}
