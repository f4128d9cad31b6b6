//! A gRPC server at a Unix socket, for tests.

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::path::Path;

use futures_util::Stream;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tonic::server::{Grpc, StreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

pub type Called = hyper::Request<Incoming>;
pub type Answer = hyper::Response<tonic::body::Body>;

/// Serves a socket forever.
pub async fn serve<F, A>(socket: &Path, answer: F)
where
    F: Fn(Called) -> A + Clone + Send + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let listener = tokio::net::UnixListener::bind(socket).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answered = answer(request);
            async move { Ok::<_, Infallible>(answered.await) }
        });
        let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move { drop(connection.await) });
    }
}

struct Method<F>(F);

impl<Q, A, F> UnaryService<Q> for Method<F>
where
    F: FnMut(Q) -> Result<A, Status>,
{
    type Response = A;
    type Future = Ready<Result<Response<A>, Status>>;

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        ready((self.0)(request.into_inner()).map(Response::new))
    }
}

/// Handles a unary call.
pub async fn unary<Q, A>(request: Called, method: impl FnMut(Q) -> Result<A, Status>) -> Answer
where
    Q: Message + Default + 'static,
    A: Message + Default + 'static,
{
    Grpc::new(ProstCodec::<A, Q>::default()).unary(Method(method), request).await
}

impl<Q, A, S, F> StreamingService<Q> for Method<F>
where
    F: FnMut(Streaming<Q>) -> S,
    S: Stream<Item = Result<A, Status>> + Send + 'static,
{
    type Response = A;
    type ResponseStream = S;
    type Future = Ready<Result<Response<S>, Status>>;

    fn call(&mut self, request: Request<Streaming<Q>>) -> Self::Future {
        ready(Ok(Response::new((self.0)(request.into_inner()))))
    }
}

/// Handles a bidirectional stream.
pub async fn streams<Q, A, S>(request: Called, method: impl FnMut(Streaming<Q>) -> S + Send) -> Answer
where
    Q: Message + Default + 'static,
    A: Message + Default + 'static,
    S: Stream<Item = Result<A, Status>> + Send + 'static,
{
    Grpc::new(ProstCodec::<A, Q>::default()).streaming(Method(method), request).await
}
