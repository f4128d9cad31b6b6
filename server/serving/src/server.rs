//! A server from its options: what is left to add is who answers requests, and what roles there are.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::Error;
use crate::authentication::{Authentication, TokenFile};
use crate::authorization::rbac::{RbacAuthorizer, RuleSource};
use crate::authorization::{AlwaysAllow, AlwaysDeny, Authorizer, Union};
use crate::certificates::Certificates;
use crate::chain::Chain;
use crate::handler::Handler;
use crate::health::Health;
use crate::listener::Listener;
use crate::metrics::Metrics;
use crate::options::{AuthorizationMode, Options};
use crate::shutdown::Shutdown;
use crate::system_paths::SystemPaths;

/// A server that listens and does not serve yet.
pub struct Server {
    pub options: Options,
    pub certificates: Certificates,
    pub health: Health,
    pub metrics: Metrics,
    pub shutdown: Shutdown,
    listener: Listener,
}

impl Server {
    /// Finds or makes certificates, and listens. Needs a tokio runtime; blocks for seconds on the very first start.
    pub fn prepare(options: Options) -> Result<Self, Error> {
        let certificates = Certificates::prepare(&options)?;
        let listener = Listener::bind(&options, &certificates)?;
        let shutdown = Shutdown::default();
        Ok(Server {
            certificates,
            health: Health::new(&shutdown),
            metrics: Metrics::default(),
            shutdown,
            listener,
            options,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        self.listener.address()
    }

    /// Client certificates and the token file; the caller adds who else knows tokens.
    pub fn authentication(&self) -> Result<Authentication, Error> {
        let options = &self.options.authentication;
        // Upstream does the same: who lets everybody do everything should at least know who they are.
        let allows_all = self.options.authorization_modes == [AuthorizationMode::AlwaysAllow];
        if options.anonymous && allows_all {
            tracing::warn!(
                "anonymous requests are refused, because --authorization-mode=AlwaysAllow would let them do everything"
            );
        }
        let authentication = Authentication::new(options.anonymous && !allows_all);
        Ok(match &options.token_auth_file {
            Some(path) => authentication.with_tokens(Arc::new(TokenFile::load(path)?)),
            None => authentication,
        })
    }

    /// The authorizers of the options, behind the one that lets `system:masters` do everything.
    pub fn authorizer(&self, rules: impl RuleSource + 'static) -> Arc<dyn Authorizer> {
        let rbac: Arc<dyn Authorizer> = Arc::new(RbacAuthorizer(rules));
        let authorizer = |mode: &AuthorizationMode| -> Arc<dyn Authorizer> {
            match mode {
                AuthorizationMode::Rbac => Arc::clone(&rbac),
                AuthorizationMode::AlwaysAllow => Arc::new(AlwaysAllow),
                AuthorizationMode::AlwaysDeny => Arc::new(AlwaysDeny),
            }
        };
        Arc::new(Union::new(self.options.authorization_modes.iter().map(authorizer)))
    }

    /// Serves until told to stop, by a signal or by `shutdown`.
    pub async fn run(
        self,
        handler: impl Handler + 'static,
        authentication: Authentication,
        authorizer: Arc<dyn Authorizer>,
    ) -> Result<(), Error> {
        let address = self.address()?;
        self.announce(address)?;
        let handler = SystemPaths::new(handler, &self.options, self.health.clone(), self.metrics.clone());
        let chain = Chain {
            options: &self.options,
            authentication,
            authorizer,
            metrics: self.metrics,
            shutdown: self.shutdown.clone(),
        };
        let handler = chain.around(handler)?;
        if let Err(error) = self.shutdown.on_signals() {
            tracing::warn!(%error, "signals will end the server at once");
        }
        self.listener.serve(handler, &self.shutdown).await;
        Ok(())
    }

    /// Says where the server is and what to type next.
    fn announce(&self, address: SocketAddr) -> Result<(), Error> {
        println!("kube-apiserver listens on https://{address}");
        match self.certificates.write_kubeconfig(address)? {
            Some(path) => println!("Try: kubectl --kubeconfig {} get namespaces", path.display()),
            None => println!("Clients are known by the certificates of --client-ca-file; no kubeconfig was written."),
        }
        Ok(())
    }
}
