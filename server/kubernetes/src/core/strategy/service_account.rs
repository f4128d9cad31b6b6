//! Strategy of service accounts.

use machinery::hooks::WriteContext;

use generated::core::v1::{ObjectReference, ServiceAccount};

const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";

/// Keeps only the names of references to secrets (`cleanSecretReferences`).
pub fn create_service_account(_: &WriteContext, account: &mut ServiceAccount, _: Option<&ServiceAccount>) {
    clean(account);
}

/// [`create_service_account`] for updates.
pub fn update_service_account(_: &WriteContext, account: &mut ServiceAccount, _: &ServiceAccount) {
    clean(account);
}

fn clean(account: &mut ServiceAccount) {
    for secret in &mut account.secrets {
        *secret = ObjectReference { name: std::mem::take(&mut secret.name), ..ObjectReference::default() };
    }
}

/// Warns about an added annotation that is deprecated.
pub fn warn_service_account(_: &WriteContext, new: &ServiceAccount, old: Option<&ServiceAccount>) -> Vec<String> {
    let annotated = |account: &ServiceAccount| account.metadata.annotations.contains_key(MOUNTABLE);
    if !annotated(new) || old.is_some_and(annotated) {
        return Vec::new();
    }
    vec![format!(
        "metadata.annotations[{MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
    )]
}
