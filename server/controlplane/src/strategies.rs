//! Strategies of kinds by name: what each kind adds to the declared strategy. Everything else has the declared one alone.

mod namespaces;
mod nodes;
mod pods;
mod requests;
mod storage;
mod workloads;

use std::sync::Arc;

use machinery::catalog::{KindDef, ResourceDef};
use machinery::field_error::FieldError;
use machinery::reflect::{Owned, Ref};
use registry::{Context, DeclaredStrategy, Strategy};

/// What a kind adds to the declared strategy.
struct Rules {
    group: &'static str,
    kind: &'static str,
    /// After the declared preparation; `said` is the object as it came, with its status.
    create: fn(context: &Context, object: &mut Owned, said: Ref<'_>),
    /// After the declared preparation.
    update: fn(context: &Context, new: &mut Owned, old: Ref<'_>),
    grace: fn(asked: Option<i64>, object: Ref<'_>) -> Option<i64>,
    warnings: fn(object: Ref<'_>) -> Vec<String>,
}

impl Rules {
    const fn new(group: &'static str, kind: &'static str) -> Self {
        Rules { group, kind, create: |_, _, _| {}, update: |_, _, _| {}, grace: |_, _| None, warnings: |_| Vec::new() }
    }
}

const RULES: [Rules; 10] = [
    Rules { create: namespaces::create, update: namespaces::update, ..Rules::new("", "Namespace") },
    Rules { create: nodes::create, ..Rules::new("", "Node") },
    Rules { create: storage::create_volume, ..Rules::new("", "PersistentVolume") },
    Rules { create: storage::create_claim, update: storage::update_claim, ..Rules::new("", "PersistentVolumeClaim") },
    Rules {
        create: pods::create,
        update: pods::update,
        grace: pods::grace,
        warnings: pods::warnings,
        ..Rules::new("", "Pod")
    },
    Rules {
        create: workloads::create_daemon_set,
        update: workloads::update_daemon_set,
        ..Rules::new("apps", "DaemonSet")
    },
    Rules { create: workloads::create_job, ..Rules::new("batch", "Job") },
    Rules { update: requests::update, ..Rules::new("certificates.k8s.io", "CertificateSigningRequest") },
    Rules { create: nodes::create_endpoint_slice, ..Rules::new("discovery.k8s.io", "EndpointSlice") },
    Rules { create: storage::create_driver, ..Rules::new("storage.k8s.io", "CSIDriver") },
];

/// The strategy of a resource, if it has one of its own.
pub fn of(kind: &'static KindDef, resource: &'static ResourceDef) -> Option<Arc<dyn Strategy>> {
    let rules = RULES.iter().find(|r| r.group == kind.group && r.kind == kind.kind)?;
    Some(Arc::new(KindStrategy { declared: DeclaredStrategy::new(kind, resource), rules }))
}

/// The declared strategy, and then a kind's own rules.
struct KindStrategy {
    declared: DeclaredStrategy,
    rules: &'static Rules,
}

impl Strategy for KindStrategy {
    fn group(&self) -> &'static str {
        self.declared.group()
    }

    fn kind(&self) -> &'static str {
        self.declared.kind()
    }

    fn prepare_for_create(&self, context: &Context, object: &mut Owned) {
        let said = object.clone();
        self.declared.prepare_for_create(context, object);
        (self.rules.create)(context, object, said.as_ref());
    }

    fn prepare_for_update(&self, context: &Context, new: &mut Owned, old: Ref<'_>) {
        self.declared.prepare_for_update(context, new, old);
        (self.rules.update)(context, new, old);
    }

    fn validate(&self, context: &Context, object: Ref<'_>) -> Vec<FieldError> {
        self.declared.validate(context, object)
    }

    fn validate_update(&self, context: &Context, new: Ref<'_>, old: Ref<'_>) -> Vec<FieldError> {
        self.declared.validate_update(context, new, old)
    }

    fn warnings(&self, object: Ref<'_>) -> Vec<String> {
        (self.rules.warnings)(object)
    }

    fn grace_period(&self, asked: Option<i64>, object: Ref<'_>) -> Option<i64> {
        (self.rules.grace)(asked, object)
    }
}
