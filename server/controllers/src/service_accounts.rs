//! The default service account of each namespace (upstream:
//! `serviceaccount.ServiceAccountsController`).

use endpoints::GroupVersionResource;
use generated::core::v1::ServiceAccount;
use machinery::status::Status;

use crate::context::Context;
use crate::per_namespace::{self, Wanted};

struct DefaultAccount;

impl Wanted for DefaultAccount {
    type Object = ServiceAccount;
    const RESOURCE: GroupVersionResource = ("", "v1", "serviceaccounts");
    const NAME: &'static str = "default";
    const QUEUE: &'static str = "serviceaccount";

    fn object(&self) -> ServiceAccount {
        let mut account = ServiceAccount::default();
        account.metadata.name = Self::NAME.into();
        account
    }

    fn set_namespace(account: &mut ServiceAccount, namespace: &str) {
        account.metadata.namespace = namespace.into();
    }

    fn correct(&self, _: &mut ServiceAccount) -> bool {
        false
    }
}

/// Keeps a default service account in each namespace.
///
/// # Errors
/// The server lacks service accounts.
pub async fn run(context: Context) -> Result<(), Status> {
    per_namespace::run("serviceaccount-controller", DefaultAccount, context).await
}
