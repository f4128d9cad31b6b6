//! A conversion webhook that runs in the test and can be blocked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::watch;

use super::tls_server::TlsServer;

/// Converts an object to a version; an error is the message of the failed review.
pub type Convert = fn(object: Value, api_version: &str) -> Result<Value, String>;

/// A running webhook. It ends with the runtime of the test.
pub struct Converter {
    server: TlsServer,
    /// Number of received calls.
    calls: Arc<AtomicUsize>,
    held: watch::Sender<bool>,
}

impl Converter {
    pub async fn start(convert: Convert) -> Self {
        let calls = Arc::new(AtomicUsize::new(0));
        let (held, is_held) = watch::channel(false);
        let counted = calls.clone();
        let server = TlsServer::start("127.0.0.1", &["127.0.0.1"], move |stream| {
            let (counted, mut is_held) = (counted.clone(), is_held.clone());
            async move {
                let mut stream = BufReader::new(stream);
                while let Some(review) = read_review(&mut stream).await {
                    counted.fetch_add(1, Ordering::SeqCst);
                    if is_held.wait_for(|held| !held).await.is_err() {
                        return;
                    }
                    let body = answer(&review["request"], convert).to_string();
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:";
                    if stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).await.is_err() {
                        return;
                    }
                    let _ = stream.flush().await;
                }
            }
        })
        .await;
        Converter { server, calls, held }
    }

    /// Returns the `conversion` of a custom resource definition that uses this webhook.
    pub fn strategy(&self) -> Value {
        let url = format!("https://127.0.0.1:{}/convert", self.server.port);
        let client = json!({"url": url, "caBundle": BASE64_STANDARD.encode(&self.server.certificate)});
        json!({"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}})
    }

    /// Blocks calls, or continues all blocked ones.
    pub fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    /// Returns the number of received calls.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

fn answer(request: &Value, convert: Convert) -> Value {
    let to = request["desiredAPIVersion"].as_str().unwrap();
    let objects = request["objects"].as_array().unwrap().iter().cloned();
    let converted: Result<Vec<Value>, String> = objects.map(|object| convert(object, to)).collect();
    let (objects, result) = match converted {
        Ok(objects) => (objects, json!({"status": "Success"})),
        Err(why) => (Vec::new(), json!({"status": "Failure", "message": why})),
    };
    let response = json!({"uid": request["uid"], "convertedObjects": objects, "result": result});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response})
}

/// Reads the review in the next request of a connection.
async fn read_review(stream: &mut BufReader<impl AsyncRead + Unpin>) -> Option<Value> {
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
