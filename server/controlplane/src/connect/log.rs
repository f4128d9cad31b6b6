//! Container logs, streamed from the kubelet (upstream: `LogREST`, `LocationStreamer`).

mod options;

use ::proxy::Location;
use endpoints::ConnectRequest;
use generated::core::v1::PodLogOptions;
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use machinery::features;
use machinery::status::{GroupResource, Status};
use request::{Body, Response};

use super::{Connect, containers};
use options::{errors, query};

const SPLIT: &str = features::PodLogsQuerySplitStreams;
/// Prefix of certificate errors.
const UNVERIFIED: &str = "tls: failed to verify certificate";
/// Maximum length of a kubelet's error message in bytes.
const MAX_ERROR_TEXT: usize = 50_000;

impl Connect {
    pub(super) async fn log(&self, connected: ConnectRequest<'_>) -> Result<Response, Status> {
        let options: PodLogOptions = connected.options()?;
        self.metrics.log_requested(options.insecure_skip_tls_verify_backend);
        let splits = connected.context.enabled(SPLIT);
        let errors = errors(&options, splits);
        if !errors.is_empty() {
            let kind = GroupResource { group: "", resource: "PodLogOptions" };
            return Err(Status::invalid(kind, &connected.attributes.name, &errors));
        }
        let pod = self.pod(&connected).await?;
        let container = containers::choose(&pod, &options.container)?;
        if pod.spec.node_name.is_empty() {
            return Ok(nothing());
        }
        let kubelet = self.kubelet(&pod.spec.node_name).await?;
        let location = Location {
            scheme: "https",
            host: kubelet.host,
            port: kubelet.port,
            path: format!("/containerLogs/{}/{}/{container}", pod.metadata.namespace, pod.metadata.name),
            query: query(&options, splits),
            ..Location::default()
        };
        let client = self.client_of_kubelets(|trust| {
            if options.insecure_skip_tls_verify_backend {
                (trust.insecure, trust.authorities) = (true, Vec::new());
            }
        })?;
        let mut request = Request::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
        *request.uri_mut() = location.uri()?;
        let answer = client.send(request).await.map_err(|why| {
            if why.cause().starts_with(UNVERIFIED) {
                self.metrics.log_unverified();
            }
            Status::new(500, "", why.to_string())
        })?;
        relay(answer, &connected.attributes.name).await
    }
}

/// The response for a pod that is not scheduled.
fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Returns the kubelet's response or its error (`GenericHttpResponseChecker`).
async fn relay(answer: http::Response<hyper::body::Incoming>, pod: &str) -> Result<Response, Status> {
    let redirect = answer.headers().get(LOCATION).and_then(|to| to.to_str().ok());
    if let (true, Some(to)) = (answer.status().is_redirection(), redirect) {
        return Err(Status::new(500, "", format!("Get \"{to}\": redirects forbidden")));
    }
    let code = answer.status().as_u16();
    if !(200..=206).contains(&code) {
        return Err(refusal(code, pod, &beginning(answer.into_body()).await));
    }
    let mut response = Response::new(Body::from(answer.into_body()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

fn refusal(code: u16, pod: &str, text: &str) -> Status {
    match code {
        500 => Status::internal(text),
        400 => Status::bad_request(text),
        code => Status::answered(code, GroupResource { group: "", resource: "pods/log" }, pod, text),
    }
}

/// Returns the beginning of a body as text.
async fn beginning(mut body: hyper::body::Incoming) -> String {
    let mut text = Vec::new();
    while let (true, Some(Ok(frame))) = (text.len() < MAX_ERROR_TEXT, body.frame().await) {
        text.extend_from_slice(&frame.into_data().unwrap_or_default());
    }
    text.truncate(MAX_ERROR_TEXT);
    String::from_utf8_lossy(&text).into_owned()
}
