//! The service Auth: authentication is disabled, and cannot be enabled.

use std::sync::Arc;

use tonic::Status;

use crate::{
    answer::Answer,
    etcd::Etcd,
    proto::{AuthDisableResponse, AuthListResponse, AuthStatusResponse},
};

/// The revision of users and roles of an etcd that never had any.
const REVISION: u64 = 1;

pub(crate) async fn status(etcd: Arc<Etcd>, (): ()) -> Result<AuthStatusResponse, Status> {
    Ok(AuthStatusResponse { header: Some(etcd.header().await?), enabled: false, auth_revision: REVISION })
}

pub(crate) async fn disable(etcd: Arc<Etcd>, (): ()) -> Result<AuthDisableResponse, Status> {
    Ok(AuthDisableResponse { header: Some(etcd.header().await?) })
}

/// The list of users, and that of roles.
pub(crate) async fn list(etcd: Arc<Etcd>, (): ()) -> Result<AuthListResponse, Status> {
    Ok(AuthListResponse { header: Some(etcd.header().await?), names: Vec::new() })
}

/// Refuses the methods that need a user or role, or create one.
pub(crate) fn refusal(method: &str) -> Status {
    match method {
        "AuthEnable" => Answer::ROOT_USER_MISSING,
        "Authenticate" => Answer::AUTH_NOT_ENABLED,
        "UserGet" | "UserDelete" | "UserChangePassword" | "UserGrantRole" | "UserRevokeRole" => Answer::USER_NOT_FOUND,
        "RoleGet" | "RoleDelete" | "RoleGrantPermission" | "RoleRevokePermission" => Answer::ROLE_NOT_FOUND,
        _ => Answer::NO_USERS,
    }
    .into()
}
