//! `OwnerReferencesPermissionEnforcement`: requires permissions for changes of owner references.
//!
//! Setting owner references requires `delete` on the object. Setting `blockOwnerDeletion` requires
//! `update` on the finalizers of the owner.

use std::collections::HashSet;

use apimachinery::meta::v1::OwnerReference;
use authz::{AuthorizationAttributes as AccessAttributes, Authorizer, Decision};
use endpoints::{AdmissionAttributes, Discovery, Operation};
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::meta;
use serde_json::Value;

use super::forbidden;

/// Rejects owner references that the user may not set.
pub async fn check(
    (authorizer, discovery): (&dyn Authorizer, &Discovery),
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let served = |group: &str, version: &str| discovery.resource_list(group, version);
    let check = Check { authorizer, served: &served, attributes };
    check.owners(object, old).await
}

/// Context of one write.
struct Check<'a> {
    authorizer: &'a dyn Authorizer,
    /// Returns the discovery document of a group version.
    served: &'a (dyn Fn(&str, &str) -> Option<Value> + Sync),
    attributes: &'a AdmissionAttributes,
}

impl Check<'_> {
    async fn owners(&self, object: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        let attributes = self.attributes;
        let writes = matches!(attributes.operation, Operation::Create | Operation::Update);
        let exempt = (attributes.group, attributes.plural, attributes.subresource.as_str()) == ("", "pods", "status");
        let owners = |object: Option<&Owned>| {
            object
                .and_then(|object| meta(object.as_ref()))
                .map(|meta| meta.owner_references.clone())
                .unwrap_or_default()
        };
        let (new, old_owners) = (owners(Some(object)), owners(old));
        if !writes || exempt || is_same(&new, &old_owners) {
            return Ok(());
        }
        if attributes.operation == Operation::Update {
            let access_attributes = AccessAttributes {
                namespace: &attributes.namespace,
                version: attributes.version,
                subresource: &attributes.subresource,
                name: &attributes.name,
                ..AccessAttributes::resource(&attributes.user, "delete", attributes.group, attributes.plural)
            };
            let refusal = "cannot set an ownerRef on a resource you can't delete";
            self.require(&access_attributes, refusal).await?;
        }
        let blocking = new_blocking(&new, &old_owners);
        let all_finalizers = AccessAttributes {
            version: "*",
            subresource: "finalizers",
            name: "*",
            ..AccessAttributes::resource(&attributes.user, "update", "*", "*")
        };
        if blocking.is_empty() || self.authorizer.authorize(&all_finalizers).await.is_allowed() {
            return Ok(());
        }
        for owner in blocking {
            self.check_blocking(owner).await?;
        }
        Ok(())
    }

    async fn check_blocking(&self, owner: &OwnerReference) -> Result<(), Status> {
        let attributes = self.attributes;
        let (group, version) = owner.api_version.rsplit_once('/').unwrap_or(("", &owner.api_version));
        let served = (self.served)(group, version).unwrap_or_default();
        let mut resources = served["resources"].as_array().into_iter().flatten();
        let is_meant = |resource: &&Value| resource["kind"] == owner.kind && !resource_name(resource).contains('/');
        let Some(resource) = resources.find(is_meant) else {
            let (version, kind) = (&owner.api_version, &owner.kind);
            let why = format!(
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {version} Kind {kind}: \
                 no matches for kind {kind:?} in version {version:?}"
            );
            return Err(forbidden(attributes, why));
        };
        let access_attributes = AccessAttributes {
            namespace: if resource["namespaced"] == true { &attributes.namespace } else { "" },
            version,
            subresource: "finalizers",
            name: &owner.name,
            ..AccessAttributes::resource(&attributes.user, "update", group, resource_name(resource))
        };
        let refusal =
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
        self.require(&access_attributes, refusal).await
    }

    /// Requires the access; the error has the authorizer's reason.
    async fn require(&self, access_attributes: &AccessAttributes<'_>, refusal: &str) -> Result<(), Status> {
        let decision: Decision = self.authorizer.authorize(access_attributes).await;
        match decision.is_allowed() {
            true => Ok(()),
            false => Err(forbidden(self.attributes, format!("{refusal}: {}, <nil>", decision.reason()))),
        }
    }
}

/// Returns the plural of a served resource, with its subresource.
fn resource_name(resource: &Value) -> &str {
    resource["name"].as_str().unwrap_or_default()
}

fn is_same(new: &[OwnerReference], old: &[OwnerReference]) -> bool {
    let facts = |owner: &OwnerReference| {
        let OwnerReference { api_version, kind, name, uid, controller, block_owner_deletion, .. } = owner.clone();
        (api_version, kind, name, uid, controller, block_owner_deletion)
    };
    new.iter().map(facts).eq(old.iter().map(facts))
}

/// Returns the owners whose deletion is newly blocked by the object.
fn new_blocking<'o>(new: &'o [OwnerReference], old: &[OwnerReference]) -> Vec<&'o OwnerReference> {
    let blocks = |owner: &OwnerReference| owner.block_owner_deletion == Some(true);
    let already_blocking: HashSet<&str> =
        old.iter().filter(|owner| blocks(owner)).map(|owner| owner.uid.as_str()).collect();
    new.iter().filter(|owner| blocks(owner) && !already_blocking.contains(owner.uid.as_str())).collect()
}

#[cfg(test)]
mod tests;
