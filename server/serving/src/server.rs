//! Assembles a server from its options. The caller adds the resource handler and the roles.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use audit::Audit;
use authn::tokens::{Documents, ExternalSigner, OpenId, ServiceAccountKeys};
use authn::{Anonymous, AudienceAgnostic, Authentication, AuthenticationConfig, TokenFile, TokenWebhook};
use authz::rbac::{NoRoles, RbacAuthorizer, RuleSource};
use authz::{
    Abac, AccessWebhook, AllowedPaths, AlwaysAllow, AlwaysDeny, Authorizer, InstrumentedAuthorizer,
    ReloadableAuthorizer, StaticAuthorizers, UnionAuthorizer,
};
use console::Console;
use flowcontrol::FlowControl;
use options::reload::Reloads;
use options::{AuthorizationMode, Options, RequestOptions, identity};
use request::Handler;
use telemetry::metrics::Metrics;
use telemetry::traces::Tracer;
use tokio::sync::watch;

use crate::certificates::{self, Certificates};
use crate::chain::Chain;
use crate::health::Health;
use crate::link_tokens::LinkTokens;
use crate::listener::Listener;
use crate::shutdown::{Phase, Shutdown};
use crate::system_paths::{ListPaths, SystemPaths};
use crate::{Error, debug, systemd, work};

/// Authentication and authorization of a server.
#[derive(Clone)]
pub struct Access {
    pub authentication: Authentication,
    pub authorizer: Arc<dyn Authorizer>,
    /// The rules of roles, whether or not RBAC is enabled. A user may only grant permissions that
    /// the user has (`escalate`, `bind`).
    pub roles: Arc<dyn RuleSource>,
}

/// The resource handler of a server, and its authentication and authorization.
pub struct Handlers {
    pub handler: Arc<dyn Handler>,
    /// The paths that the handler serves, for the index at `/`.
    pub paths: ListPaths,
    pub access: Access,
}

/// A server that listens but does not serve yet.
pub struct Server {
    pub options: Arc<Options>,
    pub certificates: Certificates,
    pub health: Health,
    pub metrics: Metrics,
    /// Priority and fairness; `None` if disabled.
    pub flow_control: Option<FlowControl>,
    pub shutdown: Shutdown,
    /// The authenticators of the configuration.
    pub configured: AuthenticationConfig,
    /// `None` if it is not served.
    console: Option<Arc<Console>>,
    audit: Option<Arc<Audit>>,
    tracer: Option<Tracer>,
    listener: Listener,
}

impl Server {
    /// Loads or generates certificates, and listens. Requires a tokio runtime; blocks for seconds
    /// on the first start.
    ///
    /// If the options let the system choose the port (`--secure-port=0`), the options of the result
    /// have the chosen one.
    ///
    /// # Errors
    /// A file is unusable, or the address is in use.
    pub fn prepare(mut options: Options) -> Result<Self, Error> {
        certificates::provide_front_proxy(&mut options)?;
        let certificates = Certificates::prepare(&options)?;
        let (shutdown, metrics) = (Shutdown::default(), Metrics::default());
        metrics.show_features(&options.features);
        options.egress.dials.register(metrics.registry());
        work::memory::set_limit(options.requests.max_memory);
        work::register(metrics.registry());
        let listener = Listener::bind(&options, &certificates, &metrics)?;
        options.serving.secure_port = listener.address()?.port();
        let instance = identity::of_host(&options.serving.hostname);
        let tracing = options.tracing_config_file.as_deref();
        let tracer = tracing.map(|path| Tracer::load(path, &instance)).transpose()?;
        Ok(Server {
            tracer,
            certificates,
            health: Health::new(options.program, &shutdown).with_livez_grace(options.serving.livez_grace),
            configured: AuthenticationConfig::load(
                &options.authentication,
                metrics.registry(),
                &options.serving.hostname,
            )?,
            audit: Audit::new(&options.audit, metrics.registry())?,
            flow_control: flow_control(&options.requests, &metrics),
            console: options.ui.then(|| Arc::new(Console::new(options.serving.secure_port))),
            metrics,
            shutdown,
            listener,
            options: Arc::new(options),
        })
    }

    /// Connects to the external signer of service account tokens, if the options have one.
    ///
    /// # Errors
    /// The signer is unusable, or unreachable for a minute.
    pub async fn connect_signer(&mut self) -> Result<(), Error> {
        let options = &self.options.authentication;
        let Some(endpoint) = &options.service_account_signing_endpoint else { return Ok(()) };
        let signer = ExternalSigner::connect(endpoint, self.metrics.registry()).await?;
        signer.check_max_expiration(options.service_account_max_expiration)?;
        self.certificates.service_accounts = ServiceAccountKeys::of_signer(signer);
        Ok(())
    }

    /// The audit log; `None` if nothing is recorded.
    pub fn audit(&self) -> Option<Arc<Audit>> {
        self.audit.clone()
    }

    /// The address on which the server listens.
    ///
    /// # Errors
    /// The system does not report the address.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        self.listener.address()
    }

    /// Front proxies, client certificates, and the token file; the caller adds other token
    /// authenticators.
    ///
    /// # Errors
    /// The token file is unusable.
    pub fn authentication(&self) -> Result<Authentication, Error> {
        let options = &self.options.authentication;
        // As upstream: with AlwaysAllow, anonymous requests are not allowed.
        let allows_all = self.options.authorization.modes == [AuthorizationMode::AlwaysAllow];
        let configured = &self.configured.anonymous;
        if *configured != Anonymous::Disabled && allows_all {
            tracing::warn!(
                "anonymous requests are rejected because --authorization-mode=AlwaysAllow would allow them everything"
            );
        }
        let anonymous = if allows_all { Anonymous::Disabled } else { configured.clone() };
        let audiences = options.api_audiences.clone();
        let mut authentication = Authentication::new(anonymous, audiences.clone());
        if let Some(console) = &self.console {
            authentication = authentication.with_tokens(Arc::new(LinkTokens(console.clone())));
        }
        if let Some((_, headers)) = &options.request_headers {
            authentication = authentication.with_request_headers(headers.clone());
        }
        if let Some(path) = &options.token_auth_file {
            let tokens = AudienceAgnostic { inner: TokenFile::load(path)?, audiences };
            authentication = authentication.with_tokens(Arc::new(tokens));
        }
        Ok(authentication)
    }

    /// Authentication and authorization by the options alone, for a server without its own tokens
    /// and roles.
    ///
    /// # Errors
    /// A file is unusable, or an option requires kinds that the server does not have.
    pub fn access(&self) -> Result<Access, Error> {
        let mut authentication = self.authentication()?;
        let options = &self.options.authentication;
        if let Some(webhook) = &options.webhook {
            let webhook = TokenWebhook::load(webhook, options.api_audiences.clone())?;
            authentication = authentication.with_tokens(Arc::new(webhook));
        }
        let roles = Arc::new(NoRoles);
        let no_nodes = || Err(Error::NoNodes);
        Ok(Access { authentication, authorizer: self.authorizer(roles.clone(), no_nodes)?, roles })
    }

    /// The authorizers of the options, after the one that allows `system:masters` everything.
    /// `nodes` creates the node authorizer.
    ///
    /// # Errors
    /// A file is unusable, or `nodes` fails.
    pub fn authorizer(
        &self,
        roles: Arc<dyn RuleSource>,
        nodes: impl Fn() -> Result<Arc<dyn Authorizer>, Error>,
    ) -> Result<Arc<dyn Authorizer>, Error> {
        let options = &self.options.authorization;
        let metrics = authz::Metrics::register(self.metrics.registry());
        let abac = options.policy_file.as_ref().map(|path| Abac::load(path)).transpose()?;
        let abac = abac.map(|policy| Arc::new(policy) as Arc<dyn Authorizer>);
        let rbac: Arc<dyn Authorizer> = Arc::new(RbacAuthorizer(roles));
        if let Some(path) = &options.config_file {
            let file = authz::load_configuration(path)?;
            let names_nodes =
                file.0.authorizers.iter().any(|authorizer| authorizer.r#type == AuthorizationMode::Node.name());
            let node = names_nodes.then(nodes).transpose()?;
            let reloads = Reloads::register(self.metrics.registry(), "authorization", &self.options.serving.hostname);
            let route = self.options.egress.control_plane.clone();
            let lasting = StaticAuthorizers { rbac, node, abac, metrics, route };
            return Ok(ReloadableAuthorizer::start(path.clone(), file, lasting, reloads)?);
        }
        let mut authorizers: Vec<Arc<dyn Authorizer>> = Vec::new();
        if !options.always_allowed_paths.is_empty() {
            authorizers.push(Arc::new(AllowedPaths(options.always_allowed_paths.clone())));
        }
        for mode in &options.modes {
            let inner: Option<Arc<dyn Authorizer>> = match mode {
                AuthorizationMode::Node => Some(nodes()?),
                AuthorizationMode::Rbac => Some(rbac.clone()),
                AuthorizationMode::Abac => abac.clone(),
                AuthorizationMode::Webhook => {
                    let webhook = options.webhook.as_ref().map(|options| AccessWebhook::load(options, &metrics));
                    webhook.transpose()?.map(|webhook| Arc::new(webhook) as _)
                }
                AuthorizationMode::AlwaysAllow => Some(Arc::new(AlwaysAllow)),
                AuthorizationMode::AlwaysDeny => Some(Arc::new(AlwaysDeny)),
            };
            let of = mode.name();
            let name = match mode {
                AuthorizationMode::Webhook => "default".to_owned(),
                _ => of.to_lowercase(),
            };
            authorizers
                .extend(inner.map(|inner| Arc::new(InstrumentedAuthorizer::new(inner, of, &name, &metrics)) as _));
        }
        Ok(Arc::new(UnionAuthorizer::new(authorizers)))
    }

    /// Prints the address, and serves until a signal stops the server.
    ///
    /// # Errors
    /// As [`Server::serve`].
    pub async fn run(self, handlers: Handlers) -> Result<(), Error> {
        self.announce(self.address()?)?;
        if let Err(error) = self.shutdown.on_signals() {
            tracing::warn!(%error, "cannot install signal handlers; a signal will end the server without draining");
        }
        systemd::notify(systemd::READY);
        systemd::start_watchdog();
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            shutdown.reached(Phase::Initiated).await;
            systemd::notify(systemd::STOPPING);
        });
        self.serve(handlers).await
    }

    /// Serves until `shutdown` is initiated.
    ///
    /// # Errors
    /// The chain of filters cannot be built, or the debug socket cannot be opened.
    pub async fn serve(self, handlers: Handlers) -> Result<(), Error> {
        let address = self.address()?;
        if let Some(path) = &self.options.debug_socket {
            debug::listen(path)?;
        }
        let paths = SystemPaths::new(
            handlers.handler,
            handlers.paths,
            &self.options,
            self.health.clone(),
            self.metrics.clone(),
        );
        let handler = paths.with_openid(self.openid(address)).with_flow_control(self.flow_control.clone());
        if let Some(control) = &self.flow_control {
            control.spawn_adjustment();
        }
        let chain = Chain {
            options: &self.options,
            authentication: handlers.access.authentication,
            authorizer: handlers.access.authorizer,
            flow_control: self.flow_control,
            console: self.console,
            metrics: self.metrics,
            shutdown: self.shutdown.clone(),
            audit: self.audit.clone(),
            tracer: self.tracer.clone(),
        };
        let handler = chain.around(handler)?;
        self.listener.serve(handler, &self.shutdown).await;
        if let Some(audit) = self.audit {
            audit.close().await;
        }
        if let Some(tracer) = self.tracer {
            tracer.close().await;
        }
        Ok(())
    }

    /// The OpenID documents of the issuer, available once its keys are; `None` without an issuer.
    fn openid(&self, address: SocketAddr) -> Option<OpenId> {
        let options = &self.options.authentication;
        let issuer = options.service_account_issuers.first().cloned()?;
        let own = || format!("https://{}{}", self.external_address(address), authn::tokens::KEY_SET);
        let jwks_uri = options.service_account_jwks_uri.clone().unwrap_or_else(own);
        let (sender, receiver) = watch::channel(None);
        let mut keys = self.certificates.service_accounts.subscribe();
        tokio::spawn(async move {
            while let Ok(Some(now)) = keys.wait_for(Option::is_some).await.map(|keys| keys.clone()) {
                match Documents::new(&issuer, &jwks_uri, now) {
                    Ok(documents) => drop(sender.send_replace(Some(documents))),
                    Err(why) => {
                        return tracing::info!(
                            %why,
                            "OpenID documents of service account tokens disabled: invalid issuer"
                        );
                    }
                }
                if keys.changed().await.is_err() {
                    return;
                }
            }
        });
        Some(OpenId(receiver))
    }

    /// The host and port for clients.
    fn external_address(&self, address: SocketAddr) -> String {
        let serving = &self.options.serving;
        match serving.external_hostname.as_str() {
            "" => SocketAddr::new(serving.advertise_address.unwrap_or(address.ip()), address.port()).to_string(),
            host if host.contains(':') => host.to_owned(),
            host => format!("{host}:{}", address.port()),
        }
    }

    /// The address of the console. If the server has an administrator, the link signs the
    /// administrator in, once.
    fn console_link(&self, console: &Console, address: SocketAddr) -> String {
        let address = format!("{}/ui/", certificates::url(address));
        match self.certificates.admin() {
            Some(admin) => format!("{address}#code={} (valid once, for 15 minutes)", console.issue_code(admin)),
            None => address,
        }
    }

    /// Prints the address of the server and a command to try.
    fn announce(&self, address: SocketAddr) -> Result<(), Error> {
        let next = match self.certificates.write_kubeconfig(address)? {
            Some(path) => format!("Try:\n  kubectl --kubeconfig {} get namespaces", path.display()),
            None if self.options.program.delegates() => "Another API server authorizes requests.".into(),
            None => "Clients are known by the certificates of --client-ca-file; no kubeconfig was written.".into(),
        };
        let console =
            self.console.as_ref().map(|console| format!("Console: {}\n", self.console_link(console, address)));
        let text = format!("Serving the Kubernetes API on https://{address}. {next}\n{}", console.unwrap_or_default());
        // The server also runs for a reader that has closed its end.
        let _ = io::stderr().write_all(text.as_bytes());
        Ok(())
    }
}

/// Creates flow control with as many seats as the limits of reads and writes together.
fn flow_control(options: &RequestOptions, metrics: &Metrics) -> Option<FlowControl> {
    let seats = u32::try_from(options.max_in_flight + options.max_mutating_in_flight).unwrap_or(u32::MAX);
    options.priority_and_fairness.then(|| FlowControl::new(seats, options.request_timeout, metrics.registry()))
}
