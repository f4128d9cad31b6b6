//! The plugin's side of gRPC, and its cipher: what matters to a test is that nothing is in the clear and that it insists on its own words.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::path::Path;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tonic::server::{Grpc, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use super::messages::*;

const ANNOTATION: &str = "plugin.example.com";

/// Listens on a socket, for ever.
pub async fn serve(socket: &Path, key_id: &str) {
    let listener = tokio::net::UnixListener::bind(socket).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let key_id = key_id.to_owned();
        let service = service_fn(move |request| answer(request, key_id.clone()));
        let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move { drop(connection.await) });
    }
}

async fn answer(
    request: hyper::Request<Incoming>,
    key_id: String,
) -> Result<hyper::Response<tonic::body::Body>, Infallible> {
    let path = request.uri().path().to_owned();
    Ok(match path.as_str() {
        "/v2.KeyManagementService/Status" => {
            unary(request, move |_: StatusRequest| {
                Ok(StatusResponse { version: "v2".into(), healthz: "ok".into(), key_id: key_id.clone() })
            })
            .await
        }
        "/v2.KeyManagementService/Encrypt" => {
            unary(request, move |asked: EncryptRequest| {
                let annotations = [(ANNOTATION.to_owned(), b"1".to_vec())].into();
                Ok(EncryptResponse { ciphertext: mask(&asked.plaintext, &key_id), key_id: key_id.clone(), annotations })
            })
            .await
        }
        "/v2.KeyManagementService/Decrypt" => {
            unary(request, |asked: DecryptRequest| match asked.annotations.get(ANNOTATION) {
                Some(_) => Ok(DecryptResponse { plaintext: mask(&asked.ciphertext, &asked.key_id) }),
                None => Err(Status::invalid_argument("that is not mine")),
            })
            .await
        }
        other => Status::unimplemented(other).into_http(),
    })
}

/// Not a cipher, but nothing shows through it.
fn mask(bytes: &[u8], key_id: &str) -> Vec<u8> {
    bytes.iter().zip(key_id.bytes().cycle()).map(|(byte, key)| byte ^ key ^ 0x5a).collect()
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

async fn unary<Q, A>(
    request: hyper::Request<Incoming>,
    method: impl FnMut(Q) -> Result<A, Status>,
) -> hyper::Response<tonic::body::Body>
where
    Q: Message + Default + 'static,
    A: Message + Default + 'static,
{
    Grpc::new(ProstCodec::<A, Q>::default()).unary(Method(method), request).await
}
