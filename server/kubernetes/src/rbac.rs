//! Hand-written functions that definitions of `rbac` refer to.

use generated::rbac::{v1, v1alpha1};

mod columns;
mod validation;

pub use columns::*;
pub use validation::*;

const GROUP: &str = "rbac.authorization.k8s.io";
const V1ALPHA1: &str = "rbac.authorization.k8s.io/v1alpha1";

/// Group of all authenticated users (`user.AllAuthenticated`).
const ALL_AUTHENTICATED: &str = "system:authenticated";

/// Kinds of subjects (`rbacv1.ServiceAccountKind`, `UserKind`, `GroupKind`).
pub const SERVICE_ACCOUNT: &str = "ServiceAccount";
pub const USER: &str = "User";
pub const USER_GROUP: &str = "Group";

/// Mirrors `SetDefaults_Subject`.
pub fn default_subject(subject: &mut v1::Subject) {
    if subject.api_group.is_empty() && matches!(&*subject.kind, USER | USER_GROUP) {
        subject.api_group = GROUP.to_owned();
    }
}

/// Mirrors `SetDefaults_Subject` of v1alpha1.
pub fn default_v1alpha1_subject(subject: &mut v1alpha1::Subject) {
    if subject.api_version.is_empty() {
        match &*subject.kind {
            SERVICE_ACCOUNT => subject.api_version = "v1".to_owned(),
            USER | USER_GROUP => subject.api_version = V1ALPHA1.to_owned(),
            _ => {}
        }
    }
}

/// Derives the group from the kind; converts the user `*` to the group of all authenticated users.
pub fn v1alpha1_subject_to_hub(from: &mut v1alpha1::Subject, to: &mut v1::Subject) {
    to.api_group = match &*to.kind {
        SERVICE_ACCOUNT => String::new(),
        USER | USER_GROUP => GROUP.to_owned(),
        _ => group_of(&from.api_version).to_owned(),
    };
    if to.kind == USER && to.name == "*" {
        to.kind = USER_GROUP.to_owned();
        to.name = ALL_AUTHENTICATED.to_owned();
    }
}

/// The group part; empty if there is none or if the text is not an API version.
fn group_of(api_version: &str) -> &str {
    match api_version.split_once('/') {
        Some((group, version)) if !version.contains('/') => group,
        _ => "",
    }
}

/// Sets the version for kinds that are known here, and leaves it empty for others.
pub fn v1alpha1_subject_from_hub(from: &mut v1::Subject, to: &mut v1alpha1::Subject) {
    to.api_version = match (&*to.kind, &*from.api_group) {
        (SERVICE_ACCOUNT, "") => "v1".to_owned(),
        (USER | USER_GROUP, GROUP) => V1ALPHA1.to_owned(),
        (_, "") => String::new(),
        (_, group) => format!("{group}/"),
    };
}
