//! Paths that belong to no API group: health, metrics, version, flags, debug documents, and the
//! index.

use std::collections::BTreeSet;
use std::time::SystemTime;

use serde_json::json;

use authn::tokens::OpenId;
use flowcontrol::{Dump, FlowControl};
use options::Options;
use request::{BoxFuture, Handler, Query, Request, RequestExt, Response, respond};
use telemetry::metrics::{Metrics, MetricsHandler, exposition, reset};

use crate::debug::DebugHandler;
use crate::health::{Health, HealthHandler};
use crate::log_files::LogFiles;
use crate::version::VersionHandler;
use crate::zpages;

/// The paths for the index at `/` that are not health checks; [`Health::paths`] lists those.
const PATHS: [&str; 5] = ["/flagz", "/metrics", "/metrics/slis", "/statusz", "/version"];

/// The prefix of the debug documents of priority and fairness.
const FLOW_CONTROL: &str = "/debug/api_priority_and_fairness/";

/// Lists the paths that are currently served.
pub type ListPaths = Box<dyn Fn() -> Vec<String> + Send + Sync>;

/// Handles the system paths, and passes other requests on.
pub struct SystemPaths<H> {
    inner: H,
    /// The paths of the inner handler.
    inner_paths: ListPaths,
    health: HealthHandler,
    metrics: MetricsHandler,
    /// Whether DELETE resets the metrics of health checks.
    resets_results: bool,
    version: VersionHandler,
    openid: Option<OpenId>,
    flow_control: Option<FlowControl>,
    flags: Vec<(String, String)>,
    /// `None` if they are not served.
    debug: Option<DebugHandler>,
    log_files: Option<LogFiles>,
    begin: SystemTime,
}

impl<H> SystemPaths<H> {
    /// Creates the handler; `inner` serves `inner_paths`.
    pub fn new(inner: H, inner_paths: ListPaths, options: &Options, health: Health, metrics: Metrics) -> Self {
        SystemPaths {
            inner,
            inner_paths,
            health: HealthHandler(health),
            metrics: MetricsHandler::new(metrics, options.metrics.clone(), options.profiling),
            resets_results: options.profiling,
            version: VersionHandler::default(),
            openid: None,
            flow_control: None,
            flags: options.flags.clone(),
            debug: options.profiling.then_some(DebugHandler),
            log_files: options.serves_logs.then(LogFiles::default),
            begin: SystemTime::now(),
        }
    }

    /// Also serves the OpenID documents.
    pub fn with_openid(mut self, openid: Option<OpenId>) -> Self {
        self.openid = openid;
        self
    }

    /// Also serves the debug documents of priority and fairness.
    pub fn with_flow_control(mut self, flow_control: Option<FlowControl>) -> Self {
        self.flow_control = flow_control;
        self
    }

    /// The debug document of priority and fairness at this path.
    fn dump(&self, path: &str, query: &Query) -> Option<String> {
        let dump = match path.strip_prefix(FLOW_CONTROL)? {
            "dump_priority_levels" => Dump::PriorityLevels,
            "dump_queues" => Dump::Queues,
            "dump_requests" => Dump::Requests { details: !query.text("includeRequestDetails").is_empty() },
            _ => return None,
        };
        Some(self.flow_control.as_ref()?.dump(dump))
    }

    fn all_paths(&self) -> BTreeSet<String> {
        let mut paths: BTreeSet<String> = (self.inner_paths)().into_iter().chain(self.health.0.paths()).collect();
        paths.extend(PATHS.map(String::from));
        if self.log_files.is_some() {
            paths.insert("/logs".into());
        }
        if self.openid.is_some() {
            paths.extend(OpenId::PATHS.map(String::from));
        }
        paths
    }

    /// The index of all paths (upstream: `routes.IndexLister`).
    fn index(&self) -> Response {
        respond::bytes(200, respond::JSON, format!("{:#}", json!({ "paths": self.all_paths() })))
    }
}

impl<H: Handler> Handler for SystemPaths<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let path = request.path();
        if let Some(openid) = self.openid.as_ref().filter(|_| OpenId::serves(path)) {
            return openid.handle(request);
        }
        if let Some(debug) = self.debug.filter(|_| DebugHandler::serves(path)) {
            return Box::pin(async move { debug.handle(request).await });
        }
        if let Some(files) = self.log_files.as_ref().filter(|_| LogFiles::serves(path)) {
            return files.handle(request);
        }
        let text = match path {
            "/" | "/index.html" => return Box::pin(std::future::ready(self.index())),
            "/version" | "/version/" => return self.version.handle(request),
            "/metrics" => return self.metrics.handle(request),
            path if HealthHandler::serves(path) => return self.health.handle(request),
            "/metrics/slis" if self.resets_results && reset::is_reset_request(&request) => {
                self.health.0.reset_results();
                return Box::pin(std::future::ready(reset::done()));
            }
            "/metrics/slis" => {
                let response = exposition::encode(&request, &self.health.0.results());
                return Box::pin(std::future::ready(response));
            }
            "/flagz" => return Box::pin(std::future::ready(zpages::flagz(&request, &self.flags))),
            "/statusz" => {
                let paths = self.all_paths().into_iter();
                return Box::pin(std::future::ready(zpages::statusz(&request, self.begin, paths)));
            }
            path => match self.dump(path, request.query()) {
                Some(text) => text,
                None => return self.inner.handle(request),
            },
        };
        Box::pin(std::future::ready(respond::bytes(200, respond::TEXT, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shutdown::Shutdown;
    use request::testing::{ok, request, seen};

    fn paths<H>(inner: H, flags: &[&str]) -> SystemPaths<H> {
        let options = Options::parse_from(std::iter::once(&"kube-apiserver").chain(flags)).unwrap();
        let own = Box::new(|| vec!["/apis".to_owned()]);
        SystemPaths::new(inner, own, &options, Health::new(options.program, &Shutdown::default()), Metrics::default())
    }

    #[tokio::test]
    async fn serves_system_paths() {
        let paths = paths(ok(), &["--secure-port=7443"]);
        for (path, expect) in [
            ("/", "    \"/apis\",\n    \"/flagz\",\n    \"/healthz\",\n"),
            ("/version", "\"gitVersion\": \"v1.36.2\""),
            ("/version/", "\"minCompatibilityMinor\": \"35\""),
            ("/livez/ping", "ok"),
            ("/readyz", "ok"),
            ("/metrics/slis", "kubernetes_healthcheck{name=\"etcd\",type=\"readyz\"} 1\n"),
            ("/metrics/slis", "kubernetes_healthchecks_total{name=\"etcd\",status=\"success\",type=\"readyz\"} 1\n"),
            ("/flagz", "secure-port=7443\n"),
            ("/statusz", "Binary version: 1.36.2"),
            ("/api", "ok"),
        ] {
            let (code, text) = seen(paths.handle(request("GET", path)).await).await;
            assert!(code == 200 && text.contains(expect), "{path}: {text}");
        }
        let (_, reset) = seen(paths.handle(request("DELETE", "/metrics/slis")).await).await;
        assert_eq!(reset, "metrics reset\n");
        let after_reset = paths.handle(request("GET", "/metrics/slis")).await;
        assert_eq!(after_reset.headers().get("content-type"), None);
        assert_eq!(seen(after_reset).await, (200, String::new()));
        let mut yaml = request("GET", "/version");
        yaml.headers_mut().insert("accept", "application/yaml".parse().unwrap());
        assert_eq!(paths.handle(yaml).await.status(), 406);
    }

    #[tokio::test]
    async fn profiling_flag_controls_debug_paths() {
        for (flag, code) in [("--profiling", 302), ("--profiling=false", 404)] {
            let paths = paths(request::handler::FromFn(|_| respond::not_found()), &[flag]);
            assert_eq!(paths.handle(request("GET", "/debug/pprof")).await.status().as_u16(), code);
        }
    }
}
