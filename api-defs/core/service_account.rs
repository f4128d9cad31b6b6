use crate::meta::ObjectMeta;

/// Identity that pods use when talking to the API server.
#[kind(plural = "serviceaccounts", short = "sa", scope = Namespaced, delete_returns_object, metadata = both)]
#[versions(v1(introduced = "1.0"))]
#[subresource(token, kind = authentication::v1::TokenRequest, verbs(create))]
#[column("Age", age)]
#[strategy(create = create_service_account, update = update_service_account, warnings = warn_service_account)]
pub struct ServiceAccount {
    /// Account name and namespace, which together form its username.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Secrets pods may mount, enforced only with the mountable-secrets annotation.
    #[field(2, list = map(name), patch = merge)]
    pub secrets: Vec<ObjectReference>,

    /// Registry credentials added to pods that use this account.
    #[field(3, list = atomic)]
    pub image_pull_secrets: Vec<LocalObjectReference>,

    /// Default for mounting an API token in pods; each pod can override it.
    #[field(4)]
    pub automount_service_account_token: Option<bool>,
}
