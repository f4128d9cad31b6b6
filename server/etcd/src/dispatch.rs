//! gRPC methods by their paths.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use http::{HeaderValue, Request as HttpRequest, Response as HttpResponse};
use hyper::body::Incoming;
use prost::Message;
use tonic::{Request, Response, Status, Streaming, body::Body, server::Grpc};
use tonic_prost::ProstCodec;
use tower_service::Service;

use crate::{auth, cluster, etcd::Etcd, kv, lease, maintenance, proto::HealthCheckResponse, snapshot, watch};

/// The state `SERVING` of gRPC's health protocol.
const SERVING: i32 = 1;

/// The future of a response.
type Answering = Pin<Box<dyn Future<Output = HttpResponse<Body>> + Send>>;

/// Calls the method of a request.
pub(crate) async fn call(etcd: Arc<Etcd>, request: HttpRequest<Incoming>) -> HttpResponse<Body> {
    let path = request.uri().path().to_owned();
    let Some((service, method)) = path.trim_start_matches('/').split_once('/') else {
        return Status::unimplemented(format!("malformed method name: {path:?}")).into_http();
    };
    let call = Call { etcd: Arc::clone(&etcd), request };
    let answering = match service {
        "etcdserverpb.KV" => call.kv(method),
        "etcdserverpb.Watch" | "etcdserverpb.Lease" => call.watch_or_lease(method),
        "etcdserverpb.Cluster" => call.cluster(method),
        "etcdserverpb.Maintenance" => call.maintenance(method),
        "etcdserverpb.Auth" => call.auth(method),
        "grpc.health.v1.Health" => call.health(method),
        _ => return Status::unimplemented(format!("unknown service {service}")).into_http(),
    };
    let response = match answering {
        Some(answering) => answering.await,
        None => Status::unimplemented(format!("unknown method {method} for service {service}")).into_http(),
    };
    etcd.metrics.handled(service, method, &response);
    with_limit_as_etcd(response)
}

/// A call of a method.
struct Call {
    etcd: Arc<Etcd>,
    request: HttpRequest<Incoming>,
}

impl Call {
    fn kv(self, method: &str) -> Option<Answering> {
        Some(match method {
            "Range" => self.unary(kv::range),
            "Put" => self.unary(kv::put),
            "DeleteRange" => self.unary(kv::delete_range),
            "Txn" => self.unary(kv::txn),
            "Compact" => self.unary(kv::compact),
            _ => return None,
        })
    }

    fn watch_or_lease(self, method: &str) -> Option<Answering> {
        Some(match method {
            "Watch" => self.streaming(watch::serve),
            "LeaseGrant" => self.unary(lease::grant),
            "LeaseRevoke" => self.unary(lease::revoke),
            "LeaseKeepAlive" => self.streaming(lease::keep_alive),
            "LeaseTimeToLive" => self.unary(lease::time_to_live),
            "LeaseLeases" => self.unary(lease::leases),
            _ => return None,
        })
    }

    fn cluster(self, method: &str) -> Option<Answering> {
        Some(match method {
            "MemberList" => self.unary(cluster::list),
            "MemberAdd" => self.unary(cluster::add),
            "MemberRemove" => self.unary(cluster::remove),
            "MemberUpdate" => self.unary(cluster::update),
            "MemberPromote" => self.unary(cluster::promote),
            _ => return None,
        })
    }

    fn maintenance(self, method: &str) -> Option<Answering> {
        Some(match method {
            "Alarm" => self.unary(maintenance::alarm),
            "Status" => self.unary(maintenance::status),
            "Defragment" => self.unary(maintenance::defragment),
            "Hash" => self.unary(maintenance::hash),
            "HashKV" => self.unary(maintenance::hash_kv),
            "Snapshot" => self.server_streaming(snapshot::snapshot),
            "MoveLeader" => self.unary(maintenance::move_leader),
            "Downgrade" => self.unary(maintenance::downgrade),
            _ => return None,
        })
    }

    fn auth(self, method: &str) -> Option<Answering> {
        Some(match method {
            "AuthStatus" => self.unary(auth::status),
            "AuthDisable" => self.unary(auth::disable),
            "UserList" | "RoleList" => self.unary(auth::list),
            "AuthEnable"
            | "Authenticate"
            | "UserAdd"
            | "UserGet"
            | "UserDelete"
            | "UserChangePassword"
            | "UserGrantRole"
            | "UserRevokeRole"
            | "RoleAdd"
            | "RoleGet"
            | "RoleDelete"
            | "RoleGrantPermission"
            | "RoleRevokePermission" => {
                let refusal = auth::refusal(method);
                self.unary(move |_, (): ()| std::future::ready(Err::<(), _>(refusal.clone())))
            }
            _ => return None,
        })
    }

    fn health(self, method: &str) -> Option<Answering> {
        let serving = HealthCheckResponse { status: SERVING };
        Some(match method {
            "Check" => self.unary(move |_, (): ()| std::future::ready(Ok(serving))),
            "Watch" => self.server_streaming(move |etcd, (): ()| {
                // The state does not change until the server stops.
                let stopped = async move { etcd.stopped().await };
                let end = futures_util::FutureExt::into_stream(stopped);
                let end = futures_util::StreamExt::filter_map(end, |()| std::future::ready(None));
                let states = futures_util::stream::iter([Ok(serving)]);
                std::future::ready(Ok(futures_util::StreamExt::chain(states, end)))
            }),
            _ => return None,
        })
    }

    fn unary<Q, A, F>(self, call: impl Fn(Arc<Etcd>, Q) -> F + Send + Sync + 'static) -> Answering
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
        F: Future<Output = Result<A, Status>> + Send + 'static,
    {
        let Self { etcd, request } = self;
        let mut grpc = grpc::<A, Q>(&etcd);
        let call = Method(move |request: Request<Q>| {
            let answer = call(Arc::clone(&etcd), request.into_inner());
            async move { answer.await.map(Response::new) }
        });
        Box::pin(async move { grpc.unary(call, request).await })
    }

    fn server_streaming<Q, A, F, S>(self, call: impl Fn(Arc<Etcd>, Q) -> F + Send + Sync + 'static) -> Answering
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
        F: Future<Output = Result<S, Status>> + Send + 'static,
        S: Stream<Item = Result<A, Status>> + Send + 'static,
    {
        let Self { etcd, request } = self;
        let mut grpc = grpc::<A, Q>(&etcd);
        let call = Method(move |request: Request<Q>| {
            let answer = call(Arc::clone(&etcd), request.into_inner());
            async move { answer.await.map(|answers| Response::new(Box::pin(answers))) }
        });
        Box::pin(async move { grpc.server_streaming(call, request).await })
    }

    fn streaming<Q, A, S>(self, call: impl Fn(Arc<Etcd>, Streaming<Q>) -> S + Send + Sync + 'static) -> Answering
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
        S: Stream<Item = Result<A, Status>> + Send + 'static,
    {
        let Self { etcd, request } = self;
        let mut grpc = grpc::<A, Q>(&etcd);
        let call = Method(move |request: Request<Streaming<Q>>| {
            let answers = call(Arc::clone(&etcd), request.into_inner());
            std::future::ready(Ok(Response::new(Box::pin(answers))))
        });
        Box::pin(async move { grpc.streaming(call, request).await })
    }
}

/// The codec of a method, with the limit of a request's size.
fn grpc<A, Q>(etcd: &Etcd) -> Grpc<ProstCodec<A, Q>>
where
    A: Message + 'static,
    Q: Message + Default + 'static,
{
    let most = etcd.limits.max_request_bytes + watch::MESSAGE_OVERHEAD;
    Grpc::new(ProstCodec::default()).apply_max_message_size_config(Some(most), None)
}

/// A function as a service of tonic.
struct Method<F>(F);

impl<F, Q, A, O> Service<Request<Q>> for Method<F>
where
    F: Fn(Request<Q>) -> O,
    O: Future<Output = Result<Response<A>, Status>> + Send + 'static,
{
    type Response = Response<A>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<A>, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        Box::pin((self.0)(request))
    }
}

/// Gives the error about a message that is too large the code and text of grpc-go.
fn with_limit_as_etcd(mut response: HttpResponse<Body>) -> HttpResponse<Body> {
    let headers = response.headers_mut();
    let message = headers.get("grpc-message").and_then(|message| message.to_str().ok()).unwrap_or_default();
    if !message.contains("message%20length%20too%20large") {
        return response;
    }
    let message = message.replace("%20", " ");
    let numbers: Vec<&str> = message.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty()).collect();
    let (found, most) = (numbers.first().copied().unwrap_or("?"), numbers.last().copied().unwrap_or("?"));
    let text = format!("grpc:%20received%20message%20larger%20than%20max%20({found}%20vs.%20{most})");
    if let Ok(text) = HeaderValue::from_str(&text) {
        headers.insert("grpc-status", HeaderValue::from_static("8"));
        headers.insert("grpc-message", text);
    }
    response
}
