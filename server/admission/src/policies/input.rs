//! The variables of CEL expressions: the request as JSON documents, and the authorizer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use authz::{AuthorizationAttributes as AccessAttributes, Authorizer, Selectors};
use cel::authorizer::{self, AuthorizationCheck, AuthorizationDecision, Authorize};
use cel::{CostBudget, Error, Program, Type, Value, Variables};
use generated::admissionregistration::v1::operation_type;
use kubernetes::admissionregistration::{namespace_type, request_type};
use machinery::catalog::KindDef;
use machinery::json;
use machinery::reflect::Ref;
use machinery::status::Status;
use request::User;
use serde_json::{Map, Value as Json, json};

use super::matching::{PolicyRequest, SeenVersion, operation_name};

static REQUEST: LazyLock<Type> = LazyLock::new(request_type);
static NAMESPACE: LazyLock<Type> = LazyLock::new(namespace_type);

/// A request as JSON documents in one version.
pub struct Input {
    pub object: Json,
    pub old: Json,
    request: Json,
    namespace: Json,
    authorizer: Arc<dyn Authorize>,
    resource: AuthorizationCheck,
}

impl Input {
    /// Converts the request to the version that a policy or webhook matches.
    ///
    /// # Errors
    /// When an object cannot be converted to that version.
    pub fn new(subject: &PolicyRequest<'_>, seen: SeenVersion) -> Result<Self, Status> {
        let attributes = subject.attributes;
        let authorizer = Arc::new(RequestAuthorizer {
            user: attributes.user.clone(),
            authorizer: subject.context.authorizer.clone(),
        });
        Ok(Input {
            object: subject.document(seen.kind, subject.object)?,
            old: subject.document(seen.kind, subject.old)?,
            request: request(subject, seen),
            namespace: namespace(subject),
            authorizer,
            resource: AuthorizationCheck {
                group: attributes.group.into(),
                resource: attributes.plural.into(),
                subresource: attributes.subresource.clone(),
                namespace: attributes.namespace.clone(),
                name: attributes.name.clone(),
                ..AuthorizationCheck::default()
            },
        })
    }
}

impl Input {
    /// Returns the `request` of an AdmissionReview (`admissionv1.AdmissionRequest`).
    pub fn review(&self, uid: &str) -> Json {
        let mut request = self.request.clone();
        if let Json::Object(members) = &mut request {
            members.insert("uid".into(), uid.into());
            members.insert("object".into(), self.object.clone());
            members.insert("oldObject".into(), self.old.clone());
        }
        request
    }
}

/// Builds the variable `request` (`admissionv1.AdmissionRequest`).
pub fn request(subject: &PolicyRequest<'_>, seen: SeenVersion) -> Json {
    let attributes = subject.attributes;
    let gvk = |kind: &KindDef| json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
    let gvr = |group: &str, version: &str| json!({"group": group, "version": version, "resource": attributes.plural});
    let user = &attributes.user;
    let mut request = json!({
        "kind": gvk(seen.kind), "resource": gvr(seen.group, seen.version),
        "requestKind": gvk(attributes.kind), "requestResource": gvr(attributes.group, attributes.version),
        "name": attributes.name, "operation": operation_name(attributes.operation),
        "userInfo": user_info(user), "dryRun": attributes.dry_run,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": options_kind(operation_name(attributes.operation))},
    });
    if let Json::Object(members) = &mut request {
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                members.insert(name.into(), value.into());
            }
        };
        put("subResource", &attributes.subresource);
        put("requestSubResource", &attributes.subresource);
        put("namespace", &attributes.namespace);
    }
    request
}

fn options_kind(operation: &str) -> &'static str {
    match operation {
        operation_type::CREATE => "CreateOptions",
        operation_type::DELETE => "DeleteOptions",
        _ => "UpdateOptions",
    }
}

fn user_info(user: &User) -> Json {
    let mut info = Map::new();
    info.insert("username".into(), user.name.as_str().into());
    if !user.uid.is_empty() {
        info.insert("uid".into(), user.uid.as_str().into());
    }
    if !user.groups.is_empty() {
        info.insert("groups".into(), user.groups.clone().into());
    }
    if !user.extra.is_empty() {
        let extra = user.extra.iter().map(|(key, values)| (key.to_string(), Json::from(values.clone())));
        info.insert("extra".into(), Json::Object(extra.collect()));
    }
    Json::Object(info)
}

/// Builds the variable `namespaceObject`; null for cluster-scoped objects.
fn namespace(subject: &PolicyRequest<'_>) -> Json {
    let Some(namespace) = &subject.namespace else { return Json::Null };
    let mut document = json::to_value(Ref::of(&**namespace));
    if let Some(Json::Object(metadata)) = document.get_mut("metadata")
        && let Some(uid) = metadata.remove("uid")
    {
        metadata.insert("UID".into(), uid);
    }
    document
}

/// Runs authorization checks of expressions with the server's authorizer.
struct RequestAuthorizer {
    user: Arc<User>,
    authorizer: Arc<dyn Authorizer>,
}

impl Authorize for RequestAuthorizer {
    fn authorize(&self, check: &AuthorizationCheck) -> AuthorizationDecision {
        let account = check.service_account.as_ref().map(|(namespace, name)| {
            let groups = ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
            let groups = groups.iter().map(String::as_str).chain(["system:authenticated"]).collect::<Vec<_>>();
            User::new(format!("system:serviceaccount:{namespace}:{name}"), groups)
        });
        let user = account.as_ref().unwrap_or(&self.user);
        let access_attributes = match &check.path {
            Some(path) => AccessAttributes::path(user, check.verb.as_str(), path),
            None => AccessAttributes {
                namespace: &check.namespace,
                version: "*",
                subresource: &check.subresource,
                name: &check.name,
                selectors: Selectors::parse(
                    check.field_selector.as_deref().unwrap_or_default(),
                    check.label_selector.as_deref().unwrap_or_default(),
                ),
                ..AccessAttributes::resource(user, check.verb.as_str(), &check.group, &check.resource)
            },
        };
        // Expression evaluation is synchronous, but the authorizer may call a webhook.
        let decision = serving::work::blocking(|| {
            tokio::runtime::Handle::current().block_on(self.authorizer.authorize(&access_attributes))
        });
        AuthorizationDecision { allowed: decision.is_allowed(), reason: decision.reason().to_owned(), error: None }
    }
}

/// The values of the variables of an expression.
pub struct Activation<'a> {
    input: &'a Input,
    params: Option<&'a Json>,
    /// The composed variables by name. If a name repeats, the last one wins.
    variables: HashMap<&'a str, &'a Result<Program, kubernetes::Error>>,
    namespace: &'a Json,
    evaluated: RefCell<HashMap<&'a str, Result<Value<'a>, Error>>>,
}

impl<'a> Activation<'a> {
    pub fn new(
        input: &'a Input,
        params: Option<&'a Json>,
        variables: &'a [(String, Result<Program, kubernetes::Error>)],
    ) -> Self {
        let variables = variables.iter().map(|(name, program)| (name.as_str(), program)).collect();
        Activation { input, params, variables, namespace: &input.namespace, evaluated: RefCell::default() }
    }

    /// Creates the activation of match conditions. Upstream looks up no namespace for them:
    /// `namespaceObject` is null.
    pub fn of_conditions(input: &'a Input, params: Option<&'a Json>) -> Self {
        Activation { input, params, variables: HashMap::new(), namespace: &Json::Null, evaluated: RefCell::default() }
    }
}

/// Maximum length of a variable's error message in bytes. One variable may fail because of another,
/// in chains of thousands.
const MAX_FAILURE: usize = 4 << 10;

fn failure_of(name: &str, why: Error) -> Error {
    if why == Error::CostLimitExceeded {
        return why;
    }
    let mut why = why.to_string();
    why.truncate(why.floor_char_boundary(MAX_FAILURE));
    Error::failed(format!("composited variable \"{name}\" fails to evaluate: {why}"))
}

impl<'a> Variables<'a> for Activation<'a> {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        let input = self.input;
        Some(Ok(match name {
            "object" => Value::untyped(&input.object),
            "oldObject" => Value::untyped(&input.old),
            "request" => Value::json(&input.request, &REQUEST),
            "namespaceObject" => Value::json(self.namespace, &NAMESPACE),
            "params" => self.params.map_or(Value::Null, Value::untyped),
            "authorizer" => authorizer::authorizer(input.authorizer.clone()),
            "authorizer.requestResource" => {
                authorizer::request_resource(input.authorizer.clone(), input.resource.clone())
            }
            _ => return None,
        }))
    }

    /// Composed variables are evaluated lazily and cached.
    fn member(&self, variable: &str, field: &str, budget: &mut CostBudget) -> Option<Result<Value<'a>, Error>> {
        if variable != "variables" {
            return None;
        }
        let (&name, &program) = self.variables.get_key_value(field)?;
        if let Some(evaluated) = self.evaluated.borrow().get(name) {
            return Some(evaluated.clone());
        }
        let outcome = match program {
            Ok(program) => program.evaluate(self, budget).map_err(|why| failure_of(name, why)),
            Err(why) => Err(Error::failed(format!("composited variable \"{name}\" fails to compile: {why}"))),
        };
        self.evaluated.borrow_mut().insert(name, outcome.clone());
        Some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_errors_of_chained_variables() {
        let first = failure_of("v0", Error::failed("no such key: data"));
        assert_eq!(first.to_string(), "composited variable \"v0\" fails to evaluate: no such key: data");
        let last = (1..10_000).fold(first, |why, _| failure_of("v", why));
        assert!(last.to_string().len() < 2 * MAX_FAILURE, "{}", last.to_string().len());
        assert_eq!(failure_of("v", Error::CostLimitExceeded), Error::CostLimitExceeded);
    }
}
