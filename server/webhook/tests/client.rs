//! Calls to an HTTPS server: trust settings and error texts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use webhook::{Client, DialMetrics, Proxy, Route, Trust};

const TIME: Duration = Duration::from_secs(10);

/// Serves one response per connection as `back.default.svc`. Returns the port and the CA in PEM.
async fn server(answer: &'static str) -> (u16, Vec<u8>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::from_ca_cert_pem(&authority, authority_key).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["back.default.svc".to_owned()]).unwrap().signed_by(&key, &issuer);
    let port = serve(vec![certificate.unwrap().der().clone()], &key, answer).await;
    (port, authority.into_bytes())
}

/// Serves one response per connection. Returns the port.
async fn serve(chain: Vec<CertificateDer<'static>>, key: &KeyPair, answer: &'static str) -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    port
}

async fn get(port: u16, trust: Trust) -> String {
    let uri = format!("https://127.0.0.1:{port}/apis").parse().unwrap();
    match Client::new(&trust).unwrap().get(&uri, TIME, 1000).await {
        Ok(reply) => format!("{} {}", reply.status.as_u16(), String::from_utf8_lossy(&reply.body)),
        Err(error) => error.to_string().replace(&port.to_string(), "PORT"),
    }
}

#[tokio::test]
async fn verifies_server_certificates() {
    let (port, authorities) = server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let named = |name: &str| Trust { server_name: Some(name.into()), ..Trust::default() };
    let call = "Get \"https://127.0.0.1:PORT/apis\": tls: failed to verify certificate: x509: ";
    for (trust, expect) in [
        (Trust { authorities: authorities.clone(), ..named("back.default.svc") }, "200 ok".to_owned()),
        (named("back.default.svc"), format!("{call}certificate signed by unknown authority")),
        (
            Trust { authorities, ..named("other.default.svc") },
            format!("{call}certificate is valid for back.default.svc, not other.default.svc"),
        ),
        (Trust { insecure: true, ..Trust::default() }, "200 ok".to_owned()),
    ] {
        assert_eq!(get(port, trust).await, expect);
    }
}

/// Serves as `back.default.svc` with a CA certificate.
async fn authority() -> (u16, Vec<u8>) {
    let mut params = CertificateParams::new(vec!["back.default.svc".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let port = serve(vec![certificate.der().clone()], &key, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    (port, certificate.pem().into_bytes())
}

#[tokio::test]
async fn accepts_ca_certificate_of_server() {
    let (port, authorities) = authority().await;
    let named =
        |name: &str| Trust { authorities: authorities.clone(), server_name: Some(name.into()), ..Trust::default() };
    assert_eq!(get(port, named("back.default.svc")).await, "200 ok");
    assert!(get(port, named("other.default.svc")).await.contains("certificate is"));
    let (other, _) = authority().await;
    assert!(get(other, named("back.default.svc")).await.contains("x509: "));
}

#[tokio::test]
async fn returns_redirects() {
    let (port, authorities) =
        server("HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/elsewhere\r\nContent-Length: 0\r\n\r\n").await;
    let trust = Trust { authorities, server_name: Some("back.default.svc".into()), ..Trust::default() };
    assert_eq!(get(port, trust).await, "302 ");
}

/// Starts a proxy that connects every client to one port and records the requested address. Returns
/// its port.
async fn proxy(to: u16, requests: tokio::sync::mpsc::UnboundedSender<String>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            requests.send(String::from_utf8_lossy(&head).lines().next().unwrap().to_owned()).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let mut back = tokio::net::TcpStream::connect(("127.0.0.1", to)).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut back).await;
        }
    });
    port
}

#[tokio::test]
async fn proxy_resolves_names() {
    let (back, authorities) = server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let (sender, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let address = format!("http://127.0.0.1:{}", proxy(back, sender).await);
    let route = Route::through(Proxy::Tcp(address.parse().unwrap(), Box::default()), &DialMetrics::default()).unwrap();
    let client = Client::new(&Trust { authorities, route, ..Trust::default() }).unwrap();
    let reply = client.get(&"https://back.default.svc/apis".parse().unwrap(), TIME, 1000).await.unwrap();
    assert_eq!(&*reply.body, b"ok");
    assert_eq!(requests.recv().await.unwrap(), "CONNECT back.default.svc:443 HTTP/1.1");
}

#[tokio::test]
async fn errors_have_texts_of_go() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    assert_eq!(
        get(closed, Trust::default()).await,
        "Get \"https://127.0.0.1:PORT/apis\": dial tcp 127.0.0.1:PORT: connect: connection refused"
    );
    let (port, _) = server("").await;
    let insecure = Trust { insecure: true, ..Trust::default() };
    assert_eq!(get(port, insecure).await, "Get \"https://127.0.0.1:PORT/apis\": EOF");
    let none = Trust { authorities: b"no certificate".to_vec(), ..Trust::default() };
    let why = Client::new(&none).map(drop).unwrap_err().to_string();
    assert_eq!(why, "unable to load root certificates: unable to parse bytes as PEM block");
}
