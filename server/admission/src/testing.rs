//! Helpers for tests of plugins.

use std::sync::Arc;

use audit::AuditContext;
use authz::{Authorizer, Decision};
use endpoints::{AdmissionAttributes, Conversions, Operation, Reservations};
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Owned, Struct};
use registry::ReadRevision;
use request::warnings::Warnings;
use request::{BoxFuture, User};
use serde_json::Value;

/// Attributes of a request of user `mallory` in namespace `team-a`. `resource` is of the core
/// group, such as `pods/resize`.
pub fn request(operation: Operation, kind: &'static str, resource: &'static str) -> AdmissionAttributes {
    let (plural, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    AdmissionAttributes {
        operation,
        kind: kubernetes::catalog().kind("", "v1", kind).unwrap(),
        group: "",
        version: "v1",
        plural,
        subresource: subresource.into(),
        namespace: "team-a".into(),
        name: "one".into(),
        generate_name: String::new(),
        user: Arc::new(User::new("mallory", ["testers"])),
        dry_run: false,
        warnings: Warnings::default(),
        trail: AuditContext::default(),
        as_of: ReadRevision::default(),
        reservations: Reservations::default(),
        definition: None,
        conversions: Conversions::default(),
    }
}

/// Parses an object from its JSON document.
pub fn parsed<T: Struct>(document: &Value) -> T {
    let mut object = T::default();
    json::from_value(document, Mut::of(&mut object), &mut Issues::ignore()).unwrap();
    object
}

/// Like [`parsed`], with a dynamic type.
pub fn owned<T: Struct>(document: &Value) -> Owned {
    Owned::of(parsed::<T>(document))
}

/// An authorizer that uses a function to decide.
pub struct FnAuthorizer<F>(pub F);

impl<F: Fn(&authz::AuthorizationAttributes<'_>) -> bool + Send + Sync> Authorizer for FnAuthorizer<F> {
    fn authorize<'a>(&'a self, attributes: &'a authz::AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        let decision = if (self.0)(attributes) { Decision::Allow("".into()) } else { Decision::NoOpinion("".into()) };
        Box::pin(std::future::ready(decision))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, authz::UserRules> {
        Box::pin(std::future::ready(authz::UserRules::default()))
    }
}
