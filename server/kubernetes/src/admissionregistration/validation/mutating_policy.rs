//! Mutating policies.

use cel::Environment;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::super::expressions::{Available, environment, json_patch_type, object_type};
use super::REINVOCATION_POLICIES;
use super::conditions::{validate_expression, validate_match_conditions};
use super::policy::{validate_failure_policy, validate_match_constraints, validate_param_kind, validate_variables};
use super::rules::refuse_deletes;
use generated::admissionregistration::v1::{MutatingAdmissionPolicy, Mutation};

const APPLY: &str = "ApplyConfiguration";
const JSON: &str = "JSONPatch";

/// `ValidateMutatingAdmissionPolicy`, `ValidateMutatingAdmissionPolicyUpdate`
pub fn validate_mutating_policy(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &MutatingAdmissionPolicy,
    old: Option<&MutatingAdmissionPolicy>,
) {
    let (path, spec) = (Path::new("spec"), &new.spec);
    validate_failure_policy(v, &path, spec.failure_policy.as_deref());
    if let Some(kind) = spec.param_kind.as_deref() {
        validate_param_kind(v, &path.child("paramKind"), kind);
    }
    let of_constraints = path.child("matchConstraints");
    validate_match_constraints(v, &of_constraints, spec.match_constraints.as_deref());
    if let Some(constraints) = spec.match_constraints.as_deref() {
        refuse_deletes(v, &of_constraints, constraints);
    }
    let is_same = |old: &MutatingAdmissionPolicy| {
        old.spec.param_kind == spec.param_kind && old.spec.match_conditions == spec.match_conditions
    };
    if !old.is_some_and(is_same) {
        let params = spec.param_kind.is_some();
        validate_match_conditions(v, &path.child("matchConditions"), &spec.match_conditions, params);
    }
    let available = Available { params: spec.param_kind.is_some(), authorizer: true, patches: false };
    let variables = validate_variables(v, &path.child("variables"), &spec.variables, available);
    let environment = variables.compose(environment(Available { patches: true, ..available }));
    let of_mutations = path.child("mutations");
    if spec.mutations.is_empty() {
        v.required(&of_mutations, "mutations must contain at least one item");
    }
    for (index, mutation) in spec.mutations.iter().enumerate() {
        validate_mutation(v, &of_mutations.index(index), mutation, &environment);
    }
    v.required_one_of(&path.child("reinvocationPolicy"), &spec.reinvocation_policy, &REINVOCATION_POLICIES);
}

/// `validateMutation`: the form that the type of the patch says, and no other.
fn validate_mutation(v: &mut Validation<'_>, path: &Path<'_>, mutation: &Mutation, environment: &Environment) {
    let apply = mutation.apply_configuration.as_deref().map(|said| said.expression.as_str());
    let json = mutation.json_patch.as_deref().map(|said| said.expression.as_str());
    let forms = [(APPLY, "applyConfiguration", apply), (JSON, "jsonPatch", json)];
    let kind = mutation.patch_type.as_str();
    v.required_one_of(&path.child("patchType"), kind, &[APPLY, JSON]);
    for (of, field, expression) in forms.into_iter().filter(|(of, ..)| *of == kind) {
        match expression {
            None => v.required(&path.child(field), format!("must be specified when patchType is {of}")),
            Some(expression) => {
                let wanted = if of == JSON { json_patch_type() } else { object_type() };
                let path = path.child(field);
                validate_expression(v, &path.child("expression"), expression.trim(), environment, &[wanted]);
            }
        }
    }
    for (of, field, expression) in forms {
        if of != kind && expression.is_some() && [APPLY, JSON].contains(&kind) {
            let detail = format!("must not be specified when patchType is {kind}");
            v.invalid(&path.child(field), format!("{{{field}}}"), detail);
        }
    }
}
