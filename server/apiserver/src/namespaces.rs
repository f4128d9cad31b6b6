//! Namespaces of the main server: nothing is created in one that is not there or is going away (upstream: `NamespaceLifecycle`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use endpoints::{Admission, Attributes, Operation};
use machinery::reflect::Owned;
use machinery::status::{Cause, GroupResource, Status};
use serde_json::Value;
use serving::options::AuthenticationOptions;
use webhook::{Client, Kubeconfig};

/// For how long a namespace that was there is taken to be there (upstream asks an informer, which is behind by about as much).
const KEPT: Duration = Duration::from_secs(5);
/// How many namespaces are remembered.
const REMEMBERED: usize = 4096;
/// How long an answer may take, and how many bytes it may have.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER: usize = 4 << 20;

/// Asks the main server for namespaces.
pub struct Namespaces {
    client: Client,
    server: Kubeconfig,
    seen: Mutex<HashMap<String, Instant>>,
}

impl Namespaces {
    /// Those of the server that is asked whom to believe; none where nobody is.
    ///
    /// # Errors
    /// When its kubeconfig cannot be used.
    pub fn of(options: &AuthenticationOptions) -> Result<Option<Self>, serving::Error> {
        let Some(delegation) = &options.delegation else { return Ok(None) };
        let server = delegation.server.kubeconfig()?;
        let client = server.client().map_err(|why| serving::Error::Options(why.to_string()))?;
        Ok(Some(Namespaces { client, server, seen: Mutex::default() }))
    }

    fn is_known(&self, name: &str) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(name).is_some_and(|when| when.elapsed() < KEPT)
    }

    fn remember(&self, name: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(name.to_owned(), Instant::now());
    }

    async fn check(&self, attributes: &Attributes) -> Result<(), Status> {
        let name = attributes.namespace.as_str();
        let away = |why: String| Status::internal(format!("namespace {name:?} cannot be looked up: {why}"));
        let address = self.server.at(&format!("/api/v1/namespaces/{name}")).map_err(|why| away(why.to_string()))?;
        let reply = self.client.get(&address, TIMEOUT, MAX_ANSWER).await.map_err(|why| away(why.to_string()))?;
        if reply.status == 404 {
            return Err(Status::not_found(GroupResource { group: "", resource: "namespaces" }, name));
        }
        if let Some(refusal) = reply.refusal() {
            return Err(away(refusal));
        }
        let namespace: Value = serde_json::from_slice(&reply.body).map_err(|why| away(why.to_string()))?;
        if namespace["status"]["phase"] == "Terminating" {
            return Err(terminating(attributes));
        }
        self.remember(name);
        Ok(())
    }
}

fn terminating(attributes: &Attributes) -> Status {
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
    async fn admit(&self, attributes: &Attributes, _: &mut Owned, _: Option<&Owned>) -> Result<(), Status> {
        let creates = attributes.operation == Operation::Create && attributes.subresource.is_empty();
        if !creates || attributes.namespace.is_empty() || self.is_known(&attributes.namespace) {
            return Ok(());
        }
        self.check(attributes).await
    }
}
