//! A backend of the test's own, which answers every request with the headers that it got.

use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A running backend, at all addresses of this host.
pub struct Recorder {
    pub port: u16,
    /// Its certificate for `back.default.svc`, which it signed itself.
    pub certificate: String,
}

impl Recorder {
    pub async fn start() -> Self {
        let key = KeyPair::generate().unwrap();
        let names = vec!["back.default.svc".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = service_fn(async |request| Ok::<_, std::convert::Infallible>(echo(&request)));
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Recorder { port, certificate: certificate.pem() }
    }
}

/// The headers, in lower case, with their values.
fn echo(request: &http::Request<hyper::body::Incoming>) -> http::Response<String> {
    let headers: Vec<_> =
        request.headers().iter().map(|(name, value)| json!([name.as_str(), value.to_str().unwrap()])).collect();
    let body = json!({"kind": "Echo", "apiVersion": "shop.example.com/v1", "headers": headers}).to_string();
    http::Response::builder().header("Content-Type", "application/json").body(body).unwrap()
}

/// An address by which other hosts know this one; none, reported on stderr, when it has none.
pub fn own_address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    match socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()).map(|address| address.ip()) {
        Ok(IpAddr::V4(ip)) if !ip.is_loopback() => Some(ip.to_string()),
        _ => {
            eprintln!("no network here: passing over");
            None
        }
    }
}
