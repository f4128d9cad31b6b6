//! Tests of conversion webhooks against an HTTPS server with scripted responses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ::webhook::{Error, ServiceAddress};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use machinery::json::{self, Issues};
use machinery::reflect::Mut;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;

/// Returns the response body for the `request` of a review.
type Answer = Box<dyn Fn(&Value) -> String + Send + Sync>;

/// Starts a webhook server. Returns the webhook and its call counter.
async fn serve(answer: Answer) -> (WebhookConverter, Arc<AtomicUsize>) {
    let (acceptor, authority) = identity();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}/convert", listener.local_addr().expect("an address"));
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let mut stream = BufReader::new(stream);
            while let Some(review) = request(&mut stream).await {
                counted.fetch_add(1, Ordering::Relaxed);
                let body = answer(&review["request"]);
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
                let text = format!("{head}{}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(text.as_bytes()).await;
                let _ = stream.flush().await;
            }
        }
    });
    (webhook(&url, &authority), calls)
}

fn webhook(url: &str, authority: &str) -> WebhookConverter {
    let client = json!({"url": url, "caBundle": BASE64_STANDARD.encode(authority)});
    let conversion =
        json!({"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}});
    let document = json!({"metadata": {"name": "widgets.shop.example.com"}, "spec": {"conversion": conversion}});
    let mut definition = CustomResourceDefinition::default();
    json::from_value(&document, Mut::of(&mut definition), &mut Issues::ignore()).expect("a definition");
    match ConversionStrategy::of(&definition, &Arc::new(Calls::without_services())) {
        ConversionStrategy::Webhook(webhook) => webhook,
        ConversionStrategy::Fields(_) => panic!("no webhook"),
    }
}

impl Calls {
    /// Calls without Services.
    pub fn without_services() -> Self {
        Calls::new(Arc::new(::webhook::Services::new(Arc::new(NoServices))), &prometheus::Registry::new())
    }
}

struct NoServices;

impl ServiceAddress for NoServices {
    fn resolve(&self, _: &str, name: &str, _: i32) -> Result<String, Error> {
        Err(Error::Service(format!("service {name:?} not found")))
    }
}

fn identity() -> (TlsAcceptor, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&authority_key).expect("an authority").pem();
    let issuer = Issuer::from_ca_cert_pem(&authority, authority_key).expect("an issuer");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate").der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a configuration");
    (TlsAcceptor::from(Arc::new(config)), authority)
}

/// Reads the JSON body of the next request on a connection.
async fn request(stream: &mut BufReader<impl AsyncRead + Unpin>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    serde_json::from_slice(&body).ok()
}

fn widget(name: &str) -> Value {
    json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": name, "uid": "u"}, "spec": {"colour": "red"}})
}

fn responding(answer: impl Fn(&Value) -> String + Send + Sync + 'static) -> Answer {
    Box::new(answer)
}

/// Responds with all objects of a request in the desired version, each changed by a function.
fn with(change: fn(&mut Value)) -> Answer {
    responding(move |request| {
        let mut objects = request["objects"].as_array().cloned().unwrap_or_default();
        for object in &mut objects {
            object["apiVersion"] = request["desiredAPIVersion"].clone();
            change(object);
        }
        success(request, objects)
    })
}

fn success(request: &Value, objects: Vec<Value>) -> String {
    let response = json!({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects});
    json!({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response}).to_string()
}

#[tokio::test]
async fn objects_are_converted_in_batches() {
    let (webhook, calls) = serve(with(|object| object["spec"] = json!({"paint": "red"}))).await;
    let objects: Vec<Value> = (0..10_000).map(|index| widget(&format!("w{index}"))).collect();
    let converted = webhook.convert(objects, "shop.example.com/v2").await.expect("a conversion");
    let names: Vec<&str> = converted.iter().filter_map(|object| object["metadata"]["name"].as_str()).collect();
    assert_eq!((names.len(), names[0], names[9_999]), (10_000, "w0", "w9999"));
    assert!(converted.iter().all(|object| object["spec"] == json!({"paint": "red"})));
    assert_eq!(calls.load(Ordering::Relaxed), 20);
}

#[tokio::test]
async fn restores_metadata_except_labels_and_annotations() {
    let change = |object: &mut Value| {
        object["metadata"]["labels"] = json!({"new": "l"});
        object["metadata"]["finalizers"] = json!(["a.b/c"]);
    };
    let (webhook, _) = serve(with(change)).await;
    let converted = webhook.convert_one(widget("a"), "shop.example.com/v2").await.expect("a conversion");
    assert_eq!(converted["metadata"], json!({"name": "a", "uid": "u", "labels": {"new": "l"}}));
}

#[tokio::test]
async fn rejects_invalid_conversions() {
    for (answer, why) in [
        (
            with(|object| object["metadata"]["name"] = "b".into()),
            "returned invalid object: must have the same name: a != b",
        ),
        (
            with(|object| object["apiVersion"] = "shop.example.com/v1".into()),
            "returned invalid object: invalid groupVersion (expected shop.example.com/v2, received shop.example.com/v1)",
        ),
        (
            with(|object| object["kind"] = "Gadget".into()),
            "returned invalid object: invalid kind (expected Widget, received Gadget)",
        ),
        (
            with(|object| object["metadata"]["labels"] = 1.into()),
            "returned invalid metadata: invalid metadata.labels of type int64 in converted object",
        ),
        (responding(|request| success(request, Vec::new())), "returned 0 objects, expected 1"),
        (
            responding(|_| "garbage".to_owned()),
            "failed: couldn't get version/kind; json parse error: invalid character 'g' looking for beginning of value",
        ),
        (
            responding(|_| String::new()),
            "failed: 0-length response with status code: 200 and content type: application/json",
        ),
    ] {
        let (webhook, _) = serve(answer).await;
        let refused =
            webhook.convert_one(widget("a"), "shop.example.com/v2").await.map(drop).map_err(|s| (s.code, s.message));
        assert_eq!(refused, Err((500, format!("conversion webhook for shop.example.com/v1, Kind=Widget {why}"))));
    }
}

#[tokio::test]
async fn reports_timeout_of_webhook() {
    // The listener never responds to a connection.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}/convert", listener.local_addr().expect("an address"));
    let mut webhook = webhook(&url, &identity().1);
    webhook.timeout = Duration::from_millis(50);
    let refused = webhook.convert_one(widget("a"), "shop.example.com/v2").await;
    let expect = format!(
        "conversion webhook for shop.example.com/v1, Kind=Widget failed: Post \"{url}?timeout=30s\": context deadline exceeded"
    );
    assert_eq!(refused.map_err(|status| (status.code, status.message)), Err((500, expect)));
}

#[tokio::test]
async fn reports_unreachable_webhook() {
    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let (_, authority) = identity();
    let url = format!("https://{closed}/convert");
    let refused = webhook(&url, &authority).convert_one(widget("a"), "shop.example.com/v2").await;
    let expect = format!(
        "conversion webhook for shop.example.com/v1, Kind=Widget failed: Post \"{url}?timeout=30s\": dial tcp {closed}: connect: connection refused"
    );
    assert_eq!(refused.map_err(|status| status.message), Err(expect));
}
