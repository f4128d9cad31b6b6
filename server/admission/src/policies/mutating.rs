//! Mutating policies: expressions that return apply configurations or JSON patches.

use std::time::Instant;

use apimachinery::meta::v1::status_reason;
use cel::{CostBudget, MapValue, Value};
use endpoints::{AdmissionAttributes, Operation};
use generated::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingAdmissionPolicySpec, failure_policy_type,
    reinvocation_policy_type,
};
use kubernetes::admissionregistration::{Available, json_patch_type, object_type};
use machinery::catalog::KindDef;
use machinery::offload;
use machinery::reflect::Owned;
use machinery::status::Status;
use patch::schema::SchemaType;
use patch::typed::{self, Duplicates};
use serde_json::Value as Json;

use super::super::forbidden;
use super::super::lookup::find;
use super::super::metrics::Metrics;
use super::super::reinvocation::Reinvocation;
use super::compiled::{Common, Expression, conditions_hold};
use super::error::PolicyError;
use super::input::{Activation, Input};
use super::matching::{PolicyRequest, SeenVersion};
use super::{Policies, PolicyInformers, params, refused};

/// Fields that the server manages and that mutations must not set.
const SERVER_MANAGED_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata.managedFields"];

struct Programs {
    common: Common,
    mutations: Vec<Mutation>,
}

enum Mutation {
    Apply(Expression),
    Patch(Expression),
}

impl Programs {
    fn new(spec: &MutatingAdmissionPolicySpec) -> Self {
        let available = Available { params: spec.param_kind.is_some(), authorizer: true, patches: true };
        let common = Common::new(&spec.match_conditions, &spec.variables, available);
        let mutations = spec.mutations.iter().filter_map(|mutation| {
            let compile = |source: &str, of: cel::Type| Expression::new(source.trim(), &common.environment, &[of]);
            let apply = mutation.apply_configuration.as_ref();
            let apply = apply.map(|configuration| Mutation::Apply(compile(&configuration.expression, object_type())));
            let patch = mutation.json_patch.as_ref();
            apply.or_else(|| patch.map(|patch| Mutation::Patch(compile(&patch.expression, json_patch_type()))))
        });
        let mutations = mutations.collect();
        Programs { common, mutations }
    }
}

/// Applies all matching policies to the object.
pub async fn run(
    policies: &Policies,
    watched: &PolicyInformers<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>,
    attributes: &AdmissionAttributes,
    object: &mut Owned,
    old: Option<&Owned>,
    rounds: &mut Reinvocation,
) -> Result<(), Status> {
    let all = watched.policies.all();
    if all.is_empty() {
        return Ok(());
    }
    let namespace = find(&policies.context.stores, attributes, ("", "namespaces"), ("", &attributes.namespace)).await?;
    for policy in &all {
        let programs = policies.compiled.get(&policy.metadata, || Programs::new(&policy.spec));
        for binding in watched.bindings.all().iter().filter(|b| b.spec.policy_name == policy.metadata.name) {
            let before = object.clone();
            let subject = PolicyRequest {
                context: &policies.context,
                attributes,
                object: Some(&before),
                old,
                namespace: namespace.clone(),
            };
            let matched = policy.spec.match_constraints.as_deref().and_then(|constraints| subject.matched(constraints));
            let bound = binding.spec.match_resources.as_deref().is_none_or(|r| subject.matched(r).is_some());
            let Some(seen) = matched.filter(|_| bound) else { continue };
            let (name, binding_name) = (&policy.metadata.name, &binding.metadata.name);
            let key = format!("{name}/{binding_name}");
            if !rounds.policies.should_invoke(rounds.round, &key) {
                continue;
            }
            offload::to_work_pool().await?;
            let changed = mutated(&policies.metrics, policy, binding, &programs, &subject, seen).await;
            let ran = matches!(changed, Ok(Some(_)));
            if policy.spec.reinvocation_policy == reinvocation_policy_type::IF_NEEDED {
                rounds.policies.add_reinvocable(key);
            }
            if ran {
                // As upstream, a policy that ran requires reinvocation of the earlier policies and
                // of itself.
                rounds.policies.require_reinvocation();
                rounds.wanted = true;
            }
            match changed {
                Ok(Some(new)) => *object = new,
                Ok(None) => {}
                Err(_) if policy.spec.failure_policy.as_deref() == Some(failure_policy_type::IGNORE) => {}
                Err(why) => {
                    let why = format!("policy '{name}' with binding '{binding_name}' denied request: {why}");
                    let mut status = refused(forbidden(attributes, &why), status_reason::INVALID, why.clone());
                    // As upstream, the code is 403 and the reason `Invalid`.
                    status.code = 403;
                    status.message = why;
                    return Err(status);
                }
            }
        }
    }
    Ok(())
}

/// Applies a policy for one binding; returns `None` when match conditions exclude the request.
async fn mutated(
    metrics: &Metrics,
    policy: &MutatingAdmissionPolicy,
    binding: &MutatingAdmissionPolicyBinding,
    programs: &Programs,
    subject: &PolicyRequest<'_>,
    seen: SeenVersion,
) -> Result<Option<Owned>, PolicyError> {
    let found = params::find(subject, policy.spec.param_kind.as_deref(), binding.spec.param_ref.as_deref()).await?;
    let kind = seen.kind;
    let mut input = Input::new(subject, seen).map_err(PolicyError::NotConverted)?;
    let mut changed = false;
    let names = (&policy.metadata.name[..], &binding.metadata.name[..]);
    let policy_metrics = PolicyMetrics { metrics, names, operation: subject.attributes.operation };
    for param in &found {
        changed |= mutate(programs, &mut input, param.as_ref(), kind, policy_metrics)?;
    }
    if !changed {
        return Ok(None);
    }
    Ok(Some(subject.object_of(kind, &input.object)?))
}

/// The metrics and the labels of evaluations.
#[derive(Clone, Copy)]
struct PolicyMetrics<'m> {
    metrics: &'m Metrics,
    /// The names of the policy and the binding.
    names: (&'m str, &'m str),
    operation: Operation,
}

fn mutate(
    programs: &Programs,
    input: &mut Input,
    param: Option<&Json>,
    kind: &KindDef,
    policy_metrics: PolicyMetrics<'_>,
) -> Result<bool, PolicyError> {
    let (metrics, (policy, binding)) = (policy_metrics.metrics, policy_metrics.names);
    let budget = &mut CostBudget::default();
    let variables = &programs.common.variables;
    let (conditions, activation) = (&programs.common.conditions, Activation::of_conditions(input, param));
    if !conditions_hold(conditions, &activation, budget, metrics.of_policy(policy, policy_metrics.operation))? {
        return Ok(false);
    }
    drop(activation);
    for mutation in &programs.mutations {
        let (activation, began) = (Activation::new(input, param, variables), Instant::now());
        let object = match mutation {
            Mutation::Apply(expression) => applied(expression, &activation, budget, &input.object, kind),
            Mutation::Patch(expression) => patched(expression, &activation, budget, &input.object),
        };
        let failure = object.as_ref().err().map(ToString::to_string);
        metrics.mutated(policy, binding, failure.as_deref(), began.elapsed());
        drop(activation);
        input.object = object?;
    }
    Ok(true)
}

/// Merges an apply configuration into the object.
fn applied<'a>(
    expression: &'a Expression,
    activation: &Activation<'a>,
    budget: &mut CostBudget,
    object: &Json,
    kind: &KindDef,
) -> Result<Json, PolicyError> {
    let value = expression.evaluate(activation, budget)?;
    check_names(&value, "Object")?;
    let config = value.to_json().map_err(PolicyError::NotJson)?;
    for field in SERVER_MANAGED_FIELDS {
        let pointer = format!("/{}", field.replace('.', "/"));
        if config.pointer(&pointer).is_some() {
            return Err(PolicyError::ServerManaged { field });
        }
    }
    let of = SchemaType::Struct(kind.def);
    typed::validate(of, &config, Duplicates::Refused).map_err(PolicyError::Untyped)?;
    let paths = typed::atomics(of, &config);
    if !paths.is_empty() {
        return Err(PolicyError::Atomic { paths });
    }
    Ok(typed::merge(of, object, &config))
}

/// Checks that the type name of each object is its field path, such as `Object.spec.template`.
fn check_names(value: &Value<'_>, path: &str) -> Result<(), PolicyError> {
    let Value::Map(MapValue::Made(of, fields)) = value else { return Ok(()) };
    if of.name != path {
        return Err(PolicyError::TypeName { found: of.name.clone(), path: path.to_owned() });
    }
    fields.iter().try_for_each(|(name, value)| match value {
        Value::List(items) => items.iter().try_for_each(|item| check_names(&item, &format!("{path}.{name}"))),
        value => check_names(value, &format!("{path}.{name}")),
    })
}

/// Applies a JSON patch to the object.
fn patched<'a>(
    expression: &'a Expression,
    activation: &Activation<'a>,
    budget: &mut CostBudget,
    object: &Json,
) -> Result<Json, PolicyError> {
    let value = expression.evaluate(activation, budget)?.to_json();
    let Json::Array(operations) = value.map_err(PolicyError::NotJson)? else {
        return Err(PolicyError::NotAnArray);
    };
    let operations = operations.into_iter().filter_map(|operation| match operation {
        Json::Object(operation) => Some(operation),
        _ => None,
    });
    let operations: Vec<_> = operations.collect();
    patch::json_patch_of(object, &operations).map_err(PolicyError::Patch)
}
