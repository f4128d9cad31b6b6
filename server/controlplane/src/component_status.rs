//! Health of the control plane components (`registry/core/componentstatus`): the scheduler and the
//! controller manager at their default loopback ports, and each store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use endpoints::SubresourceHandler;
use futures_util::future::join_all;
use generated::core::v1::{ComponentCondition, ComponentStatus, component_condition_type, condition_status};
use http::Uri;
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};
use registry::Stores;
use storage::Store;
use webhook::{Client, Services, Trust};

/// Timeout of a check (`probeTimeOut`).
const TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum size of a response body in bytes (`maxRespBodyLength`).
const MAX_RESPONSE: usize = 10 << 10;

/// Components and their health check URLs.
const COMPONENTS: [(&str, &str); 2] =
    [("controller-manager", "https://127.0.0.1:10257/healthz"), ("scheduler", "https://127.0.0.1:10259/healthz")];

/// Checks the components of the control plane.
pub struct Components {
    /// The store of all resources without a store of their own.
    pub main: Arc<dyn Store>,
    pub stores: Arc<Stores>,
    /// Connects to the components.
    pub services: Arc<Services>,
}

/// The target of a check.
enum Check {
    Address(&'static str),
    Store(Arc<dyn Store>),
}

/// The result of a check.
struct Health {
    status: &'static str,
    message: String,
    error: String,
}

impl Components {
    /// Returns the checks, sorted by name (`serversToValidate`).
    fn checks(&self) -> Vec<(String, Check)> {
        let components = COMPONENTS.map(|(name, address)| (name.to_owned(), Check::Address(address)));
        let mut stores = vec![self.main.clone()];
        let mut resources: Vec<_> = self.stores.iter().collect();
        resources.sort_unstable_by_key(|(name, _)| **name);
        for (_, resource) in resources {
            if !stores.iter().any(|known| Arc::ptr_eq(known, &resource.store)) {
                stores.push(resource.store.clone());
            }
        }
        let stores = stores.into_iter().enumerate().map(|(at, store)| (format!("etcd-{at}"), Check::Store(store)));
        let mut checks: Vec<_> = components.into_iter().chain(stores).collect();
        checks.sort_by(|(one, _), (other, _)| one.cmp(other));
        checks
    }

    async fn component(&self, name: String, check: Check) -> Owned {
        let Health { status, message, error } = match check {
            Check::Address(address) => self.check_server(address).await,
            Check::Store(store) => probe(&*store).await,
        };
        let r#type = component_condition_type::HEALTHY.to_owned();
        let mut component = ComponentStatus::default();
        component.metadata.name = name;
        component.conditions = vec![ComponentCondition { r#type, status: status.to_owned(), message, error }];
        Owned::of(component)
    }

    /// `HttpServer.DoServerCheck`. The certificate is not verified, because the components use
    /// self-signed certificates.
    async fn check_server(&self, address: &'static str) -> Health {
        let failed = |message: String| Health { status: condition_status::FALSE, message, error: String::new() };
        match get(&self.services, address).await {
            Ok((200..300, body)) => Health { status: condition_status::TRUE, message: body, error: String::new() },
            Ok((code, _)) => failed(format!("HTTP probe failed with statuscode: {code}")),
            Err(error) => failed(error.to_string()),
        }
    }
}

async fn get(services: &Services, address: &'static str) -> Result<(u16, String), webhook::Error> {
    let trust = Trust { insecure: true, ..Trust::default() };
    let client: Client = services.client(trust)?;
    let reply = client.get(&Uri::from_static(address), TIMEOUT, MAX_RESPONSE).await?;
    Ok((reply.status.as_u16(), String::from_utf8_lossy(&reply.body).into_owned()))
}

/// `EtcdServer.DoServerCheck`
async fn probe(store: &dyn Store) -> Health {
    let failed = |error: String| Health { status: condition_status::FALSE, message: String::new(), error };
    let checked = async {
        store.current_revision().await?;
        store.check_writable()
    };
    match tokio::time::timeout(TIMEOUT, checked).await {
        Ok(Ok(())) => Health { status: condition_status::TRUE, message: "ok".into(), error: String::new() },
        Ok(Err(why)) => failed(why.to_string()),
        Err(_) => failed("context deadline exceeded".into()),
    }
}

#[async_trait]
impl SubresourceHandler for Components {
    async fn objects(&self, name: Option<&str>) -> Result<Vec<Owned>, Status> {
        let mut checks = self.checks();
        if let Some(name) = name {
            checks.retain(|(known, _)| known == name);
            if checks.is_empty() {
                return Err(Status::not_found(GroupResource { group: "", resource: "componentstatus" }, name));
            }
        }
        Ok(join_all(checks.into_iter().map(|(name, check)| self.component(name, check))).await)
    }
}
