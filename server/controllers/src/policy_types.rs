//! Checks the expressions of admission policies against the kinds that they match, and reports
//! errors in the status of the policy (upstream: `validatingadmissionpolicystatus.Controller`,
//! `validating.TypeChecker`). The errors do not affect the policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use apimachinery::meta::v1::ObjectMeta;
use cel::{Environment, Type};
use endpoints::{Endpoint, GroupVersionResource, RunningServer};
use generated::admissionregistration::v1::{Rule, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec, Variable};
use kubernetes::admissionregistration::{Variables, namespace_type, request_type};
use machinery::reflect::Struct;
use machinery::status::Status;
use registry::{Predicate, kind_type};
use serde_json::{Value, json};

use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::Next;

const POLICIES: GroupVersionResource = ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies");
const DEFINITIONS: GroupVersionResource = ("apiextensions.k8s.io", "v1", "customresourcedefinitions");
/// Upstream's field manager.
const MANAGER: &str = "validatingadmissionpolicy-status";
/// Upstream's `--concurrent-validating-admission-policy-status-syncs`.
const WORKERS: usize = 5;
/// Number of kinds after which no more are looked for (`maxTypesToCheck`).
const MAX_KINDS: usize = 10;
/// Bytes of warnings after which no more expressions are checked: the warnings are stored in the policy,
/// and each repeats its expression for each kind.
const MAX_WARNINGS: usize = 256 << 10;
const AUTHORIZER: Type = Type::Opaque("kubernetes.authorization.Authorizer");

/// Group, version and kind.
type GroupVersionKind = (String, String, String);

/// Checks policies whose spec has changed.
///
/// # Errors
/// The server lacks policies.
pub async fn run(context: Context) -> Result<(), Status> {
    let store = context.store(POLICIES.0, POLICIES.2)?;
    let (queue, everything, loopback) =
        (context.queue("validatingadmissionpolicy-status"), Predicate::default(), context.loopback());
    let changes = follow(&store, &everything, |event: Event<ValidatingAdmissionPolicy>| {
        if let Event::Stored(policy) = event
            && is_unchecked(&policy)
        {
            queue.add(policy.metadata.name);
        }
    });
    let work = queue.work("validatingadmissionpolicy-status-controller", WORKERS, async |name: String| {
        let found = loopback.get::<ValidatingAdmissionPolicy>(POLICIES, "", &name).await?;
        let Some(policy) = found.filter(is_unchecked) else { return Ok(Next::Done) };
        let (generation, checks) = (policy.metadata.generation, Checks::new(&context, &policy.spec).await?);
        // Large policies take long.
        let warnings = tokio::task::spawn_blocking(move || checks.warnings(&policy.spec)).await;
        let warnings = warnings.map_err(Status::internal)?;
        let types = if warnings.is_empty() { json!({}) } else { json!({"expressionWarnings": warnings}) };
        let status = json!({"observedGeneration": generation, "typeChecking": types});
        match loopback.apply_status(POLICIES, &name, MANAGER, status).await {
            Err(status) if status.code == 404 => Ok(Next::Done),
            written => written.map(|()| Next::Done),
        }
    });
    tokio::join!(changes, work);
    Ok(())
}

fn is_unchecked(policy: &ValidatingAdmissionPolicy) -> bool {
    policy.metadata.generation > policy.status.observed_generation
}

/// The types that the expressions of a policy are checked against.
struct Checks {
    /// The matched kinds, in order, and the types of their objects.
    kinds: Vec<(GroupVersionKind, Type)>,
    /// The type of the parameters; `None` if the policy has none.
    params: Option<Type>,
}

impl Checks {
    async fn new(context: &Context, spec: &ValidatingAdmissionPolicySpec) -> Result<Self, Status> {
        let endpoints = all_endpoints(&context.server);
        let mut kinds = Vec::new();
        for (kind, endpoint) in matched_kinds(spec, &endpoints) {
            kinds.extend(type_of(context, endpoint).await?.map(|of| (kind, of)));
        }
        let Some(param) = &spec.param_kind else { return Ok(Checks { kinds, params: None }) };
        let (group, version) = param.api_version.split_once('/').unwrap_or(("", &param.api_version));
        let endpoint = endpoints
            .iter()
            .find(|endpoint| endpoint.group_version == (group, version) && endpoint.kind.kind == param.kind);
        let params = match endpoint {
            Some(endpoint) => type_of(context, endpoint).await?,
            None => None,
        };
        Ok(Checks { kinds, params: Some(params.unwrap_or(Type::Dyn)) })
    }

    /// The warnings about a policy, in the form of the API (`TypeChecker.Check`).
    fn warnings(&self, spec: &ValidatingAdmissionPolicySpec) -> Vec<Value> {
        let environments: Vec<(&GroupVersionKind, Environment)> =
            self.kinds.iter().map(|(kind, of)| (kind, self.environment(of, &spec.variables))).collect();
        let (mut warnings, mut size) = (Vec::new(), 0);
        let mut check = |field: String, expression: &str| {
            if size >= MAX_WARNINGS {
                return;
            }
            let errors: Vec<String> = environments
                .iter()
                .filter_map(|(kind, environment)| {
                    let why = cel::compile(expression, environment).err()?;
                    let (group, version, kind) = kind;
                    Some(format!("{group}/{version}, Kind={kind}: {why}\n"))
                })
                .collect();
            if !errors.is_empty() {
                let warning = errors.join("\n");
                size += field.len() + warning.len();
                warnings.push(json!({"fieldRef": field, "warning": warning}));
            }
        };
        for (index, validation) in spec.validations.iter().enumerate() {
            check(format!("spec.validations[{index}].expression"), &validation.expression);
            if !validation.message_expression.is_empty() {
                check(format!("spec.validations[{index}].messageExpression"), &validation.message_expression);
            }
        }
        warnings
    }

    /// The environment of expressions about objects of a type, with the variables of the policy.
    fn environment(&self, of: &Type, variables: &[Variable]) -> Environment {
        let mut environment = Environment::new([
            ("object", of.clone()),
            ("oldObject", of.clone()),
            ("request", request_type()),
            ("namespaceObject", namespace_type()),
            ("authorizer", AUTHORIZER),
        ]);
        if let Some(params) = &self.params {
            environment = environment.with("params", params.clone());
        }
        let mut known = Variables::default();
        for variable in variables {
            let program = cel::compile(&variable.expression, &known.compose(environment.clone()));
            known.add(&variable.name, program.map_or(Type::Dyn, |program| program.output().clone()));
        }
        known.compose(environment)
    }
}

/// The endpoints of all versions of all resources.
fn all_endpoints(server: &RunningServer) -> Vec<Arc<Endpoint>> {
    let custom = server.environment.custom.get().and_then(std::sync::Weak::upgrade);
    let custom = custom.map(|custom| custom.all()).unwrap_or_default();
    server.loopback.endpoints().cloned().chain(custom).collect()
}

/// The kinds that the rules of a policy name without wildcards (`typesToCheck`).
fn matched_kinds<'e>(
    spec: &ValidatingAdmissionPolicySpec,
    endpoints: &'e [Arc<Endpoint>],
) -> BTreeMap<GroupVersionKind, &'e Endpoint> {
    let mut found = BTreeMap::new();
    for named in spec.match_constraints.iter().flat_map(|constraints| &constraints.resource_rules) {
        let rule = &named.rule_with_operations.rule;
        let mut count = 0;
        for (group, version, plural) in named_resources(rule) {
            // As upstream, the core group is any group.
            let of_rule = endpoints.iter().filter(|endpoint| {
                let is_group = group.is_empty() || endpoint.group_version.0 == group;
                is_group && endpoint.group_version.1 == version && endpoint.resource.plural == plural
            });
            for endpoint in of_rule {
                let (group, version) = endpoint.group_version;
                found.insert((group.to_owned(), version.to_owned(), endpoint.kind.kind.to_owned()), &**endpoint);
                count += 1;
                if count == MAX_KINDS {
                    return found;
                }
            }
        }
    }
    found
}

/// The resources of a rule in order; none if it has a wildcard for groups or versions.
fn named_resources(rule: &Rule) -> Vec<(&str, &str, &str)> {
    let has_wildcard = |names: &[String]| names.iter().any(|name| name.contains('*'));
    if has_wildcard(&rule.api_groups) || has_wildcard(&rule.api_versions) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for group in &rule.api_groups {
        for version in &rule.api_versions {
            let plain = rule.resources.iter().filter(|resource| !resource.contains(['*', '/']));
            all.extend(plain.map(|resource| (group.as_str(), version.as_str(), resource.as_str())));
        }
    }
    all.sort_unstable();
    all
}

/// The type of the objects of an endpoint; `None` if it is not known.
async fn type_of(context: &Context, endpoint: &Endpoint) -> Result<Option<Type>, Status> {
    let kind = endpoint.kind;
    if endpoint.open.is_none() {
        return Ok(Some(kind_type(kind.def, kind.kind)));
    }
    let name = format!("{}.{}", endpoint.resource.plural, kind.group);
    let definition = context.loopback().get::<CustomResourceDefinition>(DEFINITIONS, "", &name).await?;
    let versions = definition.map(|definition| definition.spec.versions).unwrap_or_default();
    let version = versions.into_iter().find(|version| version.name == kind.version);
    let schema = version.and_then(|version| version.schema).and_then(|schema| schema.open_api_v3_schema);
    let of = schema.and_then(|schema| apiextensions::schema_type(&schema, true, kind.kind));
    // Documents of OpenAPI show the whole metadata.
    Ok(of.map(|of| match of {
        Type::Object(object) => {
            let metadata = kind_type(ObjectMeta::def(), &format!("{}.metadata", kind.kind));
            Type::object(object.with_field("metadata", metadata))
        }
        other => other,
    }))
}

#[cfg(test)]
mod tests {
    use generated::admissionregistration::v1::{NamedRuleWithOperations, Validation};
    use generated::core::v1::Pod;

    use super::*;

    fn warnings(params: Option<Type>, expressions: &[&str], variables: &[(&str, &str)]) -> Vec<Value> {
        let kinds = vec![((String::new(), "v1".to_owned(), "Pod".to_owned()), kind_type(Pod::def(), "Pod"))];
        let validation =
            |expression: &&str| Validation { expression: (*expression).to_owned(), ..Validation::default() };
        let variable = |(name, expression): &(&str, &str)| Variable {
            name: (*name).to_owned(),
            expression: (*expression).to_owned(),
        };
        let spec = ValidatingAdmissionPolicySpec {
            validations: expressions.iter().map(validation).collect(),
            variables: variables.iter().map(variable).collect(),
            ..ValidatingAdmissionPolicySpec::default()
        };
        Checks { kinds, params }.warnings(&spec)
    }

    #[test]
    fn fields_that_a_kind_does_not_have_are_reported() {
        let sound = [
            "object.spec.containers.all(c, c.image.startsWith('a'))",
            "object.metadata.labels['a'] == 'b' && object.metadata.creationTimestamp != null",
            "has(oldObject.spec.nodeName) && request.operation == 'CREATE'",
            "authorizer.group('').resource('pods').check('get').allowed()",
        ];
        assert_eq!(warnings(None, &sound, &[]), [Value::Null; 0]);
        let found = warnings(None, &["true", "object.spec.replicas > 1"], &[]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["fieldRef"], "spec.validations[1].expression");
        let text = found[0]["warning"].as_str().unwrap();
        assert!(text.starts_with("/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'replicas'\n"), "{text}");
        assert!(text.ends_with("^\n"), "{text}");
    }

    #[test]
    fn warnings_about_a_large_policy_are_bounded() {
        let long = format!("object.absent == '{}'", "x".repeat(400));
        let found = warnings(None, &[&*long; 2000], &[]);
        let size: usize = found.iter().map(|warning| warning["warning"].as_str().unwrap().len()).sum();
        assert!(size.abs_diff(MAX_WARNINGS) < MAX_WARNINGS / 8, "{} warnings, {size} bytes", found.len());
    }

    #[test]
    fn variables_have_the_types_of_their_expressions() {
        let variables = [("spec", "object.spec"), ("broken", "object.absent")];
        assert_eq!(
            warnings(None, &["variables.spec.nodeName == 'a'", "variables.broken > 1"], &variables),
            [Value::Null; 0]
        );
        assert_eq!(warnings(None, &["variables.spec.replicas > 1"], &variables).len(), 1);
    }

    #[test]
    fn parameters_are_checked_if_their_kind_is_known() {
        assert_eq!(warnings(None, &["params.a == 1"], &[]).len(), 1, "the policy has no parameters");
        assert_eq!(warnings(Some(Type::Dyn), &["params.a == 1"], &[]), [Value::Null; 0]);
        assert_eq!(warnings(Some(kind_type(Pod::def(), "Pod")), &["params.a == 1"], &[]).len(), 1);
    }

    #[test]
    fn rules_with_wildcards_name_no_resources() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let rule = |groups: &[&str], resources: &[&str]| {
            let mut named = NamedRuleWithOperations::default();
            named.rule_with_operations.rule = Rule {
                api_groups: texts(groups),
                api_versions: texts(&["v1"]),
                resources: texts(resources),
                ..Rule::default()
            };
            named.rule_with_operations.rule
        };
        let found = rule(&["apps", ""], &["pods", "*/scale", "pods/log", "*"]);
        assert_eq!(named_resources(&found), [("", "v1", "pods"), ("apps", "v1", "pods")]);
        assert_eq!(named_resources(&rule(&["*"], &["pods"])), []);
    }
}
