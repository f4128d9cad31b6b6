//! Admission for namespaces of the main server: rejects creates in absent or terminating namespaces
//! (upstream: `NamespaceLifecycle`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use endpoints::{Admission, AdmissionAttributes, Operation};
use machinery::reflect::Owned;
use machinery::status::{Cause, GroupResource, Status};
use options::AuthenticationOptions;
use request::request_info::NAMESPACES;
use serde_json::Value;
use webhook::{Client, Kubeconfig};

/// How long an existing namespace is cached. Upstream reads an informer, which lags by about as
/// much.
const CACHE_TTL: Duration = Duration::from_secs(5);
/// Maximum number of cached namespaces.
const CACHE_CAPACITY: usize = 4096;
/// Timeout of a lookup, and the maximum size of its response in bytes.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE: usize = 4 << 20;

/// Looks up namespaces at the main server.
pub struct Namespaces {
    client: Client,
    server: Kubeconfig,
    seen: Mutex<HashMap<String, Instant>>,
}

impl Namespaces {
    /// Creates admission for the server that authentication is delegated to; none without
    /// delegation.
    ///
    /// # Errors
    /// Returns an error if its kubeconfig is unusable.
    pub fn of(options: &AuthenticationOptions) -> Result<Option<Self>, options::Error> {
        let Some(delegation) = &options.delegation else { return Ok(None) };
        let server = delegation.server.kubeconfig()?;
        let client = server.client()?;
        Ok(Some(Namespaces { client, server, seen: Mutex::default() }))
    }

    fn is_known(&self, name: &str) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(name).is_some_and(|when| when.elapsed() < CACHE_TTL)
    }

    fn cache(&self, name: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= CACHE_CAPACITY {
            seen.clear();
        }
        seen.insert(name.to_owned(), Instant::now());
    }

    async fn check(&self, attributes: &AdmissionAttributes) -> Result<(), Status> {
        let name = attributes.namespace.as_str();
        let failed = |why: String| Status::internal(format!("namespace {name:?} cannot be looked up: {why}"));
        let address = self.server.at(&format!("/api/v1/{NAMESPACES}/{name}")).map_err(|why| failed(why.to_string()))?;
        let reply = self.client.get(&address, TIMEOUT, MAX_RESPONSE).await.map_err(|why| failed(why.to_string()))?;
        if reply.status == 404 {
            return Err(Status::not_found(GroupResource { group: "", resource: NAMESPACES }, name));
        }
        if let Some(refusal) = reply.refusal() {
            return Err(failed(refusal));
        }
        let namespace: Value = serde_json::from_slice(&reply.body).map_err(|why| failed(why.to_string()))?;
        if namespace["status"]["phase"] == "Terminating" {
            return Err(terminating(attributes));
        }
        self.cache(name);
        Ok(())
    }
}

fn terminating(attributes: &AdmissionAttributes) -> Status {
    let name = &attributes.namespace;
    let of = GroupResource { group: attributes.group, resource: attributes.plural };
    let why = format!("unable to create new content in namespace {name} because it is being terminated");
    let mut status = Status::forbidden(of, &attributes.name, why);
    status.details.get_or_insert_default().causes.push(Cause {
        reason: "NamespaceTerminating".into(),
        message: format!("namespace {name} is being terminated"),
        field: "metadata.namespace".into(),
    });
    status
}

#[async_trait]
impl Admission for Namespaces {
    async fn admit(&self, attributes: &AdmissionAttributes, _: &mut Owned, _: Option<&Owned>) -> Result<(), Status> {
        let creates = attributes.operation == Operation::Create && attributes.subresource.is_empty();
        if !creates || attributes.namespace.is_empty() || self.is_known(&attributes.namespace) {
            return Ok(());
        }
        self.check(attributes).await
    }
}
