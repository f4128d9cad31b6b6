//! Logs each request when its response is complete, at verbosity 3 (upstream:
//! `httplog.WithLogging`).

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderValue, StatusCode, header};
use tracing::Level;

use request::request_info::shown_target;
use request::{AuditId, BoxFuture, Handler, Peer, Request, RequestExt, Response};
use telemetry::logging::HTTP;

/// Logs requests. At a lower verbosity the filter only checks the level.
pub struct WithHttpLog<H>(pub H);

impl<H: Handler> Handler for WithHttpLog<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        if !tracing::enabled!(target: HTTP, Level::DEBUG) {
            return self.0.handle(request);
        }
        let mut line = LogLine::of(&request);
        Box::pin(async move {
            let response = self.0.handle(request).await;
            line.code = response.status();
            response.map(|body| body.hold(line))
        })
    }
}

/// The log line of a request, written on drop: when the response is sent or the request is
/// cancelled.
struct LogLine {
    began: Instant,
    verb: String,
    uri: String,
    user_agent: String,
    audit_id: String,
    peer: Option<SocketAddr>,
    /// 499 until there is a response: the client closed the connection.
    code: StatusCode,
}

impl LogLine {
    fn of(request: &Request) -> Self {
        let text = |value: Option<&HeaderValue>| {
            value.map_or(String::new(), |value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let verb = request.info().map_or_else(|| request.method().as_str(), |info| &*info.verb);
        LogLine {
            began: Instant::now(),
            verb: verb.to_ascii_uppercase(),
            uri: shown_target(request.uri()).into_owned(),
            user_agent: text(request.headers().get(header::USER_AGENT)),
            audit_id: text(request.extensions().get::<AuditId>().map(|id| &id.0)),
            peer: request.extensions().get::<Arc<Peer>>().map(|peer| peer.address),
            code: StatusCode::from_u16(499).unwrap_or_default(),
        }
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let LogLine { began, verb, uri, user_agent, audit_id, peer, code } = self;
        tracing::event!(
            target: HTTP,
            Level::DEBUG,
            verb = verb.as_str(),
            URI = uri.as_str(),
            latency = GoDuration(began.elapsed()).to_string(),
            userAgent = user_agent.as_str(),
            "audit-ID" = audit_id.as_str(),
            srcIP = peer.map(|peer| peer.to_string()).unwrap_or_default(),
            resp = code.as_u16(),
            "HTTP"
        );
    }
}

/// A duration in Go's format, rounded down to microseconds.
struct GoDuration(Duration);

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = u64::try_from(self.0.as_micros()).unwrap_or(u64::MAX);
        write!(f, "{:?}", Duration::from_micros(micros))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Mutex;

    use tracing_subscriber::filter::LevelFilter;

    use super::*;
    use request::testing::{ok, request};

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(line)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn logs_request_when_response_is_complete() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_max_level(LevelFilter::DEBUG).with_ansi(false);
        let _guard = tracing::subscriber::set_default(subscriber.with_writer(move || writer.clone()).finish());
        let mut list = request("GET", "/api/v1/pods?limit=1");
        list.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static("me/1"));
        list.extensions_mut().insert(AuditId(HeaderValue::from_static("a-1")));
        WithHttpLog(ok()).handle(list).await;
        drop(WithHttpLog(ok()).handle(request("DELETE", "/api/v1/namespaces/default/pods/x")));
        let lines = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let (first, second) = lines.split_once('\n').unwrap();
        assert!(first.contains(r#"HTTP verb="LIST" URI="/api/v1/pods?limit=1" latency=""#), "{first}");
        assert!(first.contains(r#"userAgent="me/1" audit-ID="a-1" srcIP="" resp=200"#), "{first}");
        assert!(second.contains(r#"verb="DELETE""#) && second.contains("resp=499"), "{second}");
    }

    #[test]
    fn formats_durations_in_microseconds() {
        let check = |nanos: u64, expect: &str| assert_eq!(GoDuration(Duration::from_nanos(nanos)).to_string(), expect);
        check(1_234_567, "1.234ms");
        check(12_345, "12µs");
        check(61_500_000_000, "61.5s");
    }
}
