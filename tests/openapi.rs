//! The OpenAPI documents have the structure of kube-apiserver's, as `tests/conformance` records it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::collections::HashMap;

use common::Server;
use conversations::client::Remote;
use conversations::{archive, digest};

#[tokio::test(flavor = "multi_thread")]
async fn openapi_documents_have_the_recorded_structure() {
    let server = Server::start();
    let remote = Remote::new(&server.kubeconfig(), HashMap::new()).unwrap();
    for version in [2, 3] {
        let want = archive::digest(&archive::recordings(), version).unwrap();
        assert!(want["operations"].as_object().unwrap().len() > 500, "version {version} has few operations");
        let got = digest::of_server(&remote, version).await.unwrap();
        let found = digest::differences(&want, &got);
        assert!(found.is_empty(), "OpenAPI v{version}\n{}", found.join("\n"));
    }
}
