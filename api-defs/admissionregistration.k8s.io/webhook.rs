/// Connection settings for a webhook: either a URL or a Service, plus trust roots.
#[check(
    self,
    missing = "exactly one of url or service is required",
    when(any(none(url, service), many(url, service)))
)]
#[check(url, format = webhook_url, when(unset(service)))]
#[check(service, below, when(unset(url)))]
pub struct WebhookClientConfig {
    /// Full `https://` address of an external webhook; mutually exclusive with `service`.
    #[field(3)]
    pub url: Option<String>,

    /// In-cluster Service hosting the webhook; mutually exclusive with `url`.
    #[field(1)]
    pub service: Option<ServiceReference>,

    /// PEM certificates used to verify the webhook's TLS; system roots if empty.
    #[field(2)]
    pub ca_bundle: Bytes,
}

/// Points at the in-cluster Service that hosts a webhook.
// Upstream's caller gives the name for the namespace, and the namespace for the name.
#[check(namespace, at(name, filled))]
#[check(name, at(namespace, filled))]
#[check(port, range(1, 65535, "port is not valid: must be between 1 and 65535, inclusive"))]
#[check(path, format = webhook_path)]
pub struct ServiceReference {
    /// Namespace where the webhook's Service lives; required.
    #[field(1, required)]
    pub namespace: String,

    /// Name of the Service fronting the webhook; required.
    #[field(2, required)]
    pub name: String,

    /// Optional URL path added to each call, for example `/mutate`.
    #[field(3)]
    pub path: Option<String>,

    /// Service port to contact, between 1 and 65535; 443 if unset.
    #[field(4, default_hidden = 443)]
    pub port: Option<i32>,
}

/// How a webhook declares effects it has outside the reviewed object.
pub enum SideEffectClass {
    Unknown,
    None,
    Some,
    NoneOnDryRun,
}
