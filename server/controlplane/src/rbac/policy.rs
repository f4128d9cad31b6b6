//! The bootstrap roles and bindings as data (`bootstrappolicy`).

use generated::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use machinery::features::FeatureGates;
use machinery::json;
use machinery::reflect::{Mut, Struct};
use serde_json::{Map, Value, json};

use crate::Error;

/// The roles and bindings without their common fields. A `gate` names the feature that a role,
/// binding, or rule requires.
const POLICY: &str = include_str!("policy.json");

/// The annotation that enables reconciliation at server start; `false` disables it.
pub const AUTO_UPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";
const BOOTSTRAPPING: &str = "kubernetes.io/bootstrapping";

/// The bootstrap policy.
pub struct BootstrapPolicy {
    pub cluster_roles: Vec<ClusterRole>,
    pub cluster_role_bindings: Vec<ClusterRoleBinding>,
    pub roles: Vec<Role>,
    pub role_bindings: Vec<RoleBinding>,
}

impl BootstrapPolicy {
    /// Loads the policy for these features.
    ///
    /// # Errors
    /// When the embedded data is invalid, which tests exclude.
    pub fn load(features: &FeatureGates) -> Result<Self, Error> {
        let mut data: Value = serde_json::from_str(POLICY)?;
        let mut of = |name: &str| data[name].take();
        Ok(BootstrapPolicy {
            cluster_roles: objects(of("clusterRoles"), features)?,
            cluster_role_bindings: objects(of("clusterRoleBindings"), features)?,
            roles: objects(of("roles"), features)?,
            role_bindings: objects(of("roleBindings"), features)?,
        })
    }
}

fn objects<T: Struct>(list: Value, features: &FeatureGates) -> Result<Vec<T>, Error> {
    enabled(list, features).into_iter().map(|entry| object(entry, features)).collect()
}

/// Returns the entries without a gate or with an enabled gate.
fn enabled(list: Value, features: &FeatureGates) -> Vec<Map<String, Value>> {
    let Value::Array(entries) = list else { return Vec::new() };
    let entries =
        entries.into_iter().filter_map(|entry| if let Value::Object(entry) = entry { Some(entry) } else { None });
    let gated = |mut entry: Map<String, Value>| match entry.remove("gate") {
        Some(gate) => features.enabled(gate.as_str()?).then_some(entry),
        None => Some(entry),
    };
    entries.filter_map(gated).collect()
}

fn object<T: Struct>(mut entry: Map<String, Value>, features: &FeatureGates) -> Result<T, Error> {
    let mut metadata = json!({
        "name": entry.remove("name"),
        "labels": entry.remove("labels").unwrap_or_else(|| json!({})),
        "annotations": {AUTO_UPDATE: "true"},
    });
    metadata["labels"][BOOTSTRAPPING] = "rbac-defaults".into();
    if let Some(namespace) = entry.remove("namespace") {
        metadata["namespace"] = namespace;
    }
    entry.insert("metadata".into(), metadata);
    if let Some(rules) = entry.remove("rules") {
        entry.insert("rules".into(), enabled(rules, features).into_iter().map(Value::Object).collect());
    }
    let mut object = T::default();
    json::from_value(&Value::Object(entry), Mut::of(&mut object), &mut json::Issues::ignore())?;
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(gates: &str, role: &str) -> Option<usize> {
        let policy =
            BootstrapPolicy::load(&FeatureGates::parse(gates.split(',').filter(|g| !g.is_empty())).unwrap()).unwrap();
        policy.cluster_roles.iter().find(|r| r.metadata.name == role).map(|r| r.rules.len())
    }

    #[test]
    fn features_enable_roles_and_rules() {
        let policy = BootstrapPolicy::load(&FeatureGates::default()).unwrap();
        let counts = [
            policy.cluster_roles.len(),
            policy.cluster_role_bindings.len(),
            policy.roles.len(),
            policy.role_bindings.len(),
        ];
        assert_eq!(counts, [69, 50, 7, 7]);
        let bundle = "system:cluster-trust-bundle-discovery";
        assert_eq!((rules("", bundle), rules("ClusterTrustBundle=true", bundle)), (None, Some(1)));
        let node = "system:node";
        assert_eq!(rules("PodCertificateRequest=true", node), rules("", node).map(|n| n + 1));
    }
}
