//! Privilege escalation checks (upstream: `registry/rbac/*/policybased`).
//!
//! Users may write and bind only roles with permissions that they have, unless they have the verbs
//! `escalate` or `bind`.

use std::sync::Arc;

use async_trait::async_trait;
use authz::rbac::{Incomparable, RuleSource, describe_missing, missing};
use authz::{Authorizer, PolicyRule};
use endpoints::{Admission, AdmissionAttributes, Operation};
use generated::rbac::v1::{ClusterRole, Role, RoleRef};
use machinery::reflect::Owned;
use machinery::scalar::go_text::quote;
use machinery::status::{GroupResource, Status};
use registry::{Stores, changes_only_ownership};
use request::user::SYSTEM_MASTERS;

use super::convert::{self, AnyBinding};
use super::reconcile::AnyRole;
use super::{GROUP, convert::rules};

/// Admission that also rejects writes of roles and bindings which grant permissions that the user lacks.
pub struct EscalationCheck {
    /// Admits the object first.
    pub admission: Arc<dyn Admission>,
    pub stores: Arc<Stores>,
    pub authorizer: Arc<dyn Authorizer>,
    /// The rules that users have.
    pub roles: Arc<dyn RuleSource>,
}

#[async_trait]
impl Admission for EscalationCheck {
    async fn admit(
        &self,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        self.admission.admit(attributes, object, old).await?;
        self.check(attributes, object, old).await
    }

    async fn validate(
        &self,
        attributes: &AdmissionAttributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        self.admission.validate(attributes, object, old).await
    }
}

impl EscalationCheck {
    /// Rejects writes of roles and bindings that would grant permissions which the user lacks.
    async fn check(&self, attributes: &AdmissionAttributes, object: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        let writes = matches!(attributes.operation, Operation::Create | Operation::Update);
        if !writes || attributes.kind.group != GROUP || attributes.user.is_in(SYSTEM_MASTERS) {
            return Ok(());
        }
        let check = Check { known: self, attributes };
        match attributes.plural {
            "clusterroles" | "roles" => check.role(object, old).await,
            "clusterrolebindings" | "rolebindings" => check.binding(object, old).await,
            _ => Ok(()),
        }
    }
}

struct Check<'a> {
    known: &'a EscalationCheck,
    attributes: &'a AdmissionAttributes,
}

impl Check<'_> {
    async fn role(&self, object: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        // The name of the request; a create request has none.
        let name = if self.attributes.operation == Operation::Update { &self.attributes.name } else { "" };
        if self.may("escalate", self.attributes.plural, name).await || changes_only_ownership(object, old) {
            return Ok(());
        }
        if let Some(role) = object.downcast_ref::<Role>() {
            return self.confirm(&rules(role.rules()));
        }
        let Some(role) = object.downcast_ref::<ClusterRole>() else { return Ok(()) };
        self.confirm(&rules(role.rules()))?;
        let aggregates = |role: &ClusterRole| role.aggregation().is_some_and(|r| !r.cluster_role_selectors.is_empty());
        if aggregates(role) || old.and_then(Owned::downcast_ref).is_some_and(aggregates) {
            let everything = [PolicyRule::resources(&["*"], &["*"], &["*"]), PolicyRule::paths(&["*"], &["*"])];
            let refused = |_| self.forbidden("must have cluster-admin privileges to use the aggregationRule");
            self.confirm(&everything).map_err(refused)?;
        }
        Ok(())
    }

    async fn binding(&self, object: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        let role = object.downcast_ref().map(|binding: &generated::rbac::v1::RoleBinding| binding.role());
        let role = role.or_else(|| object.downcast_ref().map(|b: &generated::rbac::v1::ClusterRoleBinding| b.role()));
        let Some(role) = role else { return Ok(()) };
        if changes_only_ownership(object, old) || self.may_bind(role).await {
            return Ok(());
        }
        self.confirm(&self.rules_of(role).await?)
    }

    async fn may_bind(&self, role: &RoleRef) -> bool {
        let plural = match role.kind.as_str() {
            "ClusterRole" => "clusterroles",
            "Role" => "roles",
            _ => return false,
        };
        role.api_group == GROUP && self.may("bind", plural, &role.name).await
    }

    /// Reads the current rules of a role from the store.
    async fn rules_of(&self, role: &RoleRef) -> Result<Vec<PolicyRule>, Status> {
        let (plural, namespace) = match role.kind.as_str() {
            "ClusterRole" => ("clusterroles", ""),
            "Role" => ("roles", self.attributes.namespace.as_str()),
            other => return Err(Status::internal(format!("unsupported role reference kind: {}", quote(other)))),
        };
        // As upstream, the error has the resource of the request, not of the role.
        let absent = || Status::not_found(self.resource(), &role.name);
        let store = self.known.stores.get(&(GROUP, plural)).ok_or_else(absent)?;
        let stored = match store.get(namespace, &role.name, "").await {
            Err(status) if status.code == 404 => return Err(absent()),
            stored => stored?,
        };
        let of_role = stored.downcast_ref::<Role>().map(AnyRole::rules);
        let found = of_role.or_else(|| stored.downcast_ref::<ClusterRole>().map(AnyRole::rules));
        Ok(convert::rules(found.unwrap_or_default()))
    }

    async fn may(&self, verb: &str, plural: &str, name: &str) -> bool {
        let access_attributes = authz::AuthorizationAttributes {
            namespace: &self.attributes.namespace,
            version: "*",
            name,
            ..authz::AuthorizationAttributes::resource(&self.attributes.user, verb, GROUP, plural)
        };
        self.known.authorizer.authorize(&access_attributes).await.is_allowed()
    }

    /// Rejects rules that the user's roles do not cover (`ConfirmNoEscalation`).
    fn confirm(&self, wanted: &[PolicyRule]) -> Result<(), Status> {
        let user = &self.attributes.user;
        let own = self.known.roles.rules_for(user, &self.attributes.namespace);
        let missing = missing(&own.rules, wanted).map_err(|why| match why {
            Incomparable::TooComplex => self.forbidden(why),
            Incomparable::TooLarge(exceeded) => exceeded.into(),
        })?;
        if missing.is_empty() {
            return Ok(());
        }
        let groups: Vec<String> = user.groups.iter().map(|group| quote(group)).collect();
        let errors = match own.errors.as_slice() {
            [] => String::new(),
            [one] => format!("; resolution errors: [{one}]"),
            more => format!("; resolution errors: [[{}]]", more.join(", ")),
        };
        Err(self.forbidden(format!(
            "user {} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}{errors}",
            quote(&user.name),
            groups.join(" "),
            describe_missing(&missing)
        )))
    }

    fn resource(&self) -> GroupResource<'static> {
        GroupResource { group: GROUP, resource: self.attributes.plural }
    }

    fn forbidden(&self, why: impl std::fmt::Display) -> Status {
        Status::forbidden(self.resource(), &self.attributes.name, why)
    }
}
