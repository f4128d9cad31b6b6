//! `OwnerReferencesPermissionEnforcement`: who says that an object goes with another may delete it, and may hold up the other's deletion.

use apimachinery::meta::v1::OwnerReference;
use endpoints::{Attributes, Environment, Operation};
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::meta;
use serde_json::Value;
use serving::authorization::{Attributes as Wish, Decision};

use super::forbidden;

/// Refuses owners that the user may not name.
pub async fn check(
    environment: &Environment,
    attributes: &Attributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let writes = matches!(attributes.operation, Operation::Create | Operation::Update);
    let exempt = (attributes.group, attributes.plural, attributes.subresource.as_str()) == ("", "pods", "status");
    let owners = |object: Option<&Owned>| {
        object.and_then(|object| meta(object.as_ref())).map(|meta| meta.owner_references.clone()).unwrap_or_default()
    };
    let (new, old_owners) = (owners(Some(object)), owners(old));
    if !writes || exempt || is_same(&new, &old_owners) {
        return Ok(());
    }
    if attributes.operation == Operation::Update {
        let wish = Wish {
            namespace: &attributes.namespace,
            version: attributes.version,
            subresource: &attributes.subresource,
            name: &attributes.name,
            ..Wish::resource(&attributes.user, "delete", attributes.group, attributes.plural)
        };
        let refusal = "cannot set an ownerRef on a resource you can't delete";
        allowed(environment, &wish).await.map_err(|why| forbidden(attributes, format!("{refusal}: {why}, <nil>")))?;
    }
    let blocking = new_blocking(&new, &old_owners);
    let anything = Wish {
        version: "*",
        subresource: "finalizers",
        name: "*",
        ..Wish::resource(&attributes.user, "update", "*", "*")
    };
    if blocking.is_empty() || allowed(environment, &anything).await.is_ok() {
        return Ok(());
    }
    for owner in blocking {
        check_blocking(environment, attributes, owner).await?;
    }
    Ok(())
}

async fn check_blocking(
    environment: &Environment,
    attributes: &Attributes,
    owner: &OwnerReference,
) -> Result<(), Status> {
    let (group, version) = owner.api_version.rsplit_once('/').unwrap_or(("", &owner.api_version));
    let served = environment.discovery.resource_list(group, version).unwrap_or_default();
    let mut resources = served["resources"].as_array().into_iter().flatten();
    let is_meant = |resource: &&Value| resource["kind"] == owner.kind && !text(resource).contains('/');
    let Some(resource) = resources.find(is_meant) else {
        let (version, kind) = (&owner.api_version, &owner.kind);
        let why = format!(
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {version} Kind {kind}: \
             no matches for kind {kind:?} in version {version:?}"
        );
        return Err(forbidden(attributes, why));
    };
    let wish = Wish {
        namespace: if resource["namespaced"] == true { &attributes.namespace } else { "" },
        version,
        subresource: "finalizers",
        name: &owner.name,
        ..Wish::resource(&attributes.user, "update", group, text(resource))
    };
    let refusal = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    allowed(environment, &wish).await.map_err(|why| forbidden(attributes, format!("{refusal}: {why}, <nil>")))
}

/// The plural of a served resource, with its subresource.
fn text(resource: &Value) -> &str {
    resource["name"].as_str().unwrap_or_default()
}

/// Whether a wish is granted; if not, the reason.
async fn allowed(environment: &Environment, wish: &Wish<'_>) -> Result<(), String> {
    let decision: Decision = environment.access.authorizer.authorize(wish).await;
    if decision.is_allowed() { Ok(()) } else { Err(decision.reason().to_owned()) }
}

fn is_same(new: &[OwnerReference], old: &[OwnerReference]) -> bool {
    let facts = |owner: &OwnerReference| {
        let OwnerReference { api_version, kind, name, uid, controller, block_owner_deletion, .. } = owner.clone();
        (api_version, kind, name, uid, controller, block_owner_deletion)
    };
    new.iter().map(facts).eq(old.iter().map(facts))
}

/// Owners whose deletion the object did not hold up before.
fn new_blocking<'o>(new: &'o [OwnerReference], old: &[OwnerReference]) -> Vec<&'o OwnerReference> {
    let blocks = |owner: &OwnerReference| owner.block_owner_deletion == Some(true);
    let did = |owner: &OwnerReference| old.iter().any(|known| known.uid == owner.uid && blocks(known));
    new.iter().filter(|owner| blocks(owner) && !did(owner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_compared_by_what_they_say() {
        let owner = |uid: &str, blocks: bool| OwnerReference {
            uid: uid.into(),
            block_owner_deletion: Some(blocks),
            ..OwnerReference::default()
        };
        let check = |new: &[OwnerReference], old: &[OwnerReference], same: bool, blocking: &[&str]| {
            let found: Vec<&str> = new_blocking(new, old).iter().map(|owner| owner.uid.as_str()).collect();
            assert_eq!((is_same(new, old), found.as_slice()), (same, blocking));
        };
        check(&[], &[], true, &[]);
        check(&[owner("a", true)], &[owner("a", true)], true, &[]);
        check(&[owner("a", true), owner("b", false)], &[owner("a", false)], false, &["a"]);
        check(&[owner("c", true)], &[], false, &["c"]);
    }
}
