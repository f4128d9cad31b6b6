//! What a controller works with.

use std::hash::Hash;
use std::sync::Arc;

use endpoints::{Loopback, RunningServer};
use machinery::status::Status;
use registry::ResourceStore;
use request::User;
use request::user::{service_account_groups, service_account_user_name};
use tokio::sync::mpsc;

use crate::client::Client;
use crate::queue::Queue;
use crate::services::ServiceInformers;

/// The namespace of the service accounts of controllers.
const NAMESPACE: &str = "kube-system";
/// The field manager of upstream's controllers.
const MANAGER: &str = "kube-controller-manager";

/// What a controller works with. Clones share it.
#[derive(Clone)]
pub struct Context {
    /// The server.
    pub server: Arc<RunningServer>,
    /// What the controllers of services know of the cluster.
    pub services: Arc<ServiceInformers>,
    /// The service account of the controller in `kube-system`, as upstream.
    account: &'static str,
    /// Open while the first round of an awaited controller is not done.
    first_round: Option<mpsc::Sender<()>>,
}

impl Context {
    /// Creates the context of a controller. `first_round` is closed when its first round is done.
    pub fn new(
        server: Arc<RunningServer>,
        services: Arc<ServiceInformers>,
        account: &'static str,
        first_round: Option<mpsc::Sender<()>>,
    ) -> Self {
        Context { server, services, account, first_round }
    }

    /// Reports that the controller has acted on everything that existed at its start. The start of
    /// the server waits for this for a short time.
    pub fn first_round_done(&mut self) {
        self.first_round = None;
    }

    /// The store of a resource.
    ///
    /// # Errors
    /// The server does not have the resource.
    pub fn store(&self, group: &'static str, plural: &'static str) -> Result<Arc<ResourceStore>, Status> {
        let store = self.server.environment.stores.get(&(group, plural)).cloned();
        store.ok_or_else(|| Status::internal(format!("{plural}.{group} are not stored")))
    }

    /// A client for kinds of the catalog, as the service account of the controller.
    pub fn loopback(&self) -> Loopback {
        self.server.loopback.as_user(self.user()).managed_by(MANAGER)
    }

    /// A client for all resources, as the service account of the controller.
    pub fn client(&self) -> Client {
        Client::new(self.server.loopback.recorded(self.server.handler.clone()), self.user())
    }

    /// A queue with metrics. The name is upstream's, where upstream has the queue.
    pub fn queue<K: Clone + Eq + Hash>(&self, name: &str) -> Queue<K> {
        Queue::new(Some(self.server.environment.metrics.work_queue(name)))
    }

    fn user(&self) -> User {
        let name = service_account_user_name(NAMESPACE, self.account);
        User::new(name, service_account_groups(NAMESPACE)).with_authenticated_group()
    }
}
