//! Exports the spans of requests to a gRPC collector.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use request::testing::{ok, request_by};
use request::{Handler, User};
use tokio::net::TcpListener;

use super::messages::{ExportTraceServiceRequest, Span, Value};
use super::*;

type Spans = Arc<Mutex<Vec<Span>>>;

/// The prefix of a gRPC message: compression flag and length.
const PREFIX: usize = 5;

/// A collector's response that accepts all spans.
async fn take(request: hyper::Request<Incoming>, spans: Spans) -> Result<hyper::Response<request::Body>, Infallible> {
    assert_eq!(request.uri().path(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let export = ExportTraceServiceRequest::decode(&body[PREFIX..]).unwrap();
    let sent = export.resource_spans.into_iter().flat_map(|of| of.scope_spans).flat_map(|of| of.spans);
    spans.lock().unwrap().extend(sent);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", "0".parse().unwrap());
    let frames = [Frame::data(Bytes::from_static(&[0; PREFIX])), Frame::trailers(trailers)];
    let frames = futures_util::stream::iter(frames.map(Ok::<_, Infallible>));
    let answer = hyper::Response::builder().header("content-type", "application/grpc");
    Ok(answer.body(request::Body::stream(StreamBody::new(frames))).unwrap())
}

/// A collector and the spans that it received.
async fn collector() -> (String, Spans) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, spans) = (listener.local_addr().unwrap().to_string(), Spans::default());
    let taken = spans.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let spans = taken.clone();
            let service = service_fn(move |request| take(request, spans.clone()));
            tokio::spawn(http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service));
        }
    });
    (address, spans)
}

#[tokio::test]
async fn exports_spans_of_requests() {
    let (address, spans) = collector().await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-";
    let send = async |rate: u32, group: &str, traceparent: &str| {
        let text = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: {address}\nsamplingRatePerMillion: {rate}\n"
        );
        std::fs::write(file.path(), text).unwrap();
        let tracer = Tracer::load(file.path(), "apiserver-1").unwrap();
        let mut request = request_by(User::new("alice", [group]), "GET", "/api/v1/namespaces/a/pods/b/log");
        request.headers_mut().insert("traceparent", traceparent.parse().unwrap());
        let inner = FilterSpan { name: "authorization", inner: WithResourceSpan(ok()) };
        WithTracing::new(inner, Some(tracer.clone())).handle(request).await;
        tracer.close().await;
        std::mem::take(&mut *spans.lock().unwrap())
    };
    let all = send(0, "system:masters", &format!("{parent}01")).await;
    let names: Vec<&str> = all.iter().map(|span| span.name.as_str()).collect();
    let whole = "GET /api/v1/namespaces/{:namespace}/pods/{:name}/log";
    assert_eq!(names, ["Get", "authorization", whole]);
    assert!(
        all.iter()
            .all(|span| span.trace_id[..2] == [0x0a, 0xf7] && span.start_time_unix_nano <= span.end_time_unix_nano)
    );
    assert_eq!((&all[0].parent_span_id, &all[1].parent_span_id), (&all[1].span_id, &all[2].span_id));
    assert_eq!(all[2].parent_span_id[7], 0x31);
    let code = all[2].attributes.iter().find(|of| of.key == "http.response.status_code").unwrap();
    assert_eq!(code.value.as_ref().unwrap().value, Some(Value::IntValue(200)));
    assert_eq!(send(0, "dev", &format!("{parent}01")).await.len(), 0, "others cannot make the server trace");
    assert_eq!(send(1_000_000, "system:masters", &format!("{parent}00")).await.len(), 0);
    let own = send(1_000_000, "dev", &format!("{parent}01")).await;
    assert!(own[2].parent_span_id.is_empty() && own[2].links[0].trace_id[..2] == [0x0a, 0xf7]);
}
