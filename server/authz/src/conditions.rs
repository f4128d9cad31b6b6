//! Match conditions of authorization webhooks: CEL over the SubjectAccessReview (upstream: `authorization/cel`).

use cel::{CostBudget, Environment, ObjectType, Program, Type, Value as Cel};
use serde_json::{Map, Value};

use crate::Error;

/// The name of the CEL variable.
const REQUEST: &str = "request";

/// Expressions that all have to evaluate to true (upstream: `CELMatcher`).
#[derive(Debug, Default)]
pub struct MatchConditions(Vec<Program>);

impl MatchConditions {
    pub fn new(programs: Vec<Program>) -> Self {
        MatchConditions(programs)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all conditions are true for the spec of a review (`v1`).
    ///
    /// A false condition takes precedence over conditions that fail to evaluate.
    ///
    /// # Errors
    /// The evaluation errors, if no condition is false.
    pub(super) fn matches(&self, spec: &Value) -> Result<bool, Error> {
        let (document, of) = (with_defaults(spec), request_type());
        let variables = [(REQUEST, Cel::json(&document, &of))];
        let mut errors = Vec::new();
        for program in &self.0 {
            let expression = || program.source().to_owned();
            match program.evaluate(&variables, &mut CostBudget::default()) {
                Ok(Cel::Bool(true)) => {}
                Ok(Cel::Bool(false)) => return Ok(false),
                Ok(_) => errors.push(Error::NoBool(expression())),
                Err(source) => errors.push(Error::Evaluation { expression: expression(), source }),
            }
        }
        if errors.is_empty() { Ok(true) } else { Err(Error::Conditions(errors)) }
    }
}

/// Compiles a condition.
pub(super) fn compile(source: &str) -> Result<Program, Error> {
    let environment = Environment::new([(REQUEST, request_type())]);
    let program = cel::compile(source, &environment).map_err(Error::Compilation)?;
    match program.output() {
        Type::Bool => Ok(program),
        other => Err(Error::ConditionType(other.to_string())),
    }
}

/// Adds empty values for absent fields, so that expressions can access every field.
fn with_defaults(spec: &Value) -> Value {
    let mut out = Map::new();
    for (key, empty) in [("user", Value::from("")), ("uid", "".into()), ("groups", Value::Array(Vec::new()))] {
        out.insert(key.into(), empty);
    }
    out.insert("extra".into(), Value::Object(Map::new()));
    out.extend(spec.as_object().cloned().unwrap_or_default());
    if let Some(resource) = out.get_mut("resourceAttributes").and_then(Value::as_object_mut) {
        for key in ["namespace", "verb", "group", "version", "resource", "subresource", "name"] {
            resource.entry(key).or_insert_with(|| "".into());
        }
    }
    Value::Object(out)
}

fn request_type() -> Type {
    let object =
        |name: &str, fields: Vec<(&str, Type)>| Type::object(ObjectType::new(format!("kubernetes.{name}"), fields));
    let strings = || Type::list(Type::String);
    let requirement =
        object("SelectorRequirement", vec![("key", Type::String), ("operator", Type::String), ("values", strings())]);
    let selector = |name: &str| {
        object(name, vec![("rawSelector", Type::String), ("requirements", Type::list(requirement.clone()))])
    };
    let texts = ["namespace", "verb", "group", "version", "resource", "subresource", "name"];
    let mut resource: Vec<(&str, Type)> = texts.map(|name| (name, Type::String)).to_vec();
    resource.push(("fieldSelector", selector("FieldSelectorAttributes")));
    resource.push(("labelSelector", selector("LabelSelectorAttributes")));
    let path = object("NonResourceAttributes", vec![("path", Type::String), ("verb", Type::String)]);
    let fields = vec![
        ("resourceAttributes", object("ResourceAttributes", resource)),
        ("nonResourceAttributes", path),
        ("user", Type::String),
        ("groups", strings()),
        ("extra", Type::map(Type::String, strings())),
        ("uid", Type::String),
    ];
    object("SubjectAccessReviewSpec", fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn evaluates_conditions_on_review() {
        let pods = json!({"user": "jane", "groups": ["dev"], "resourceAttributes": {"resource": "pods", "verb": "list",
            "labelSelector": {"requirements": [{"key": "app", "operator": "In", "values": ["x"]}]}}});
        let path = json!({"user": "jane", "nonResourceAttributes": {"path": "/x", "verb": "get"}});
        for (spec, expressions, expect) in [
            (&pods, &["has(request.resourceAttributes)", "request.resourceAttributes.namespace == ''"][..], Ok(true)),
            (&pods, &["request.user == 'bob'"], Ok(false)),
            (&pods, &["'dev' in request.groups && request.uid == ''"], Ok(true)),
            (&pods, &["request.resourceAttributes.labelSelector.requirements.all(r, r.key == 'app')"], Ok(true)),
            (&path, &["request.nonResourceAttributes.path.startsWith('/x')"], Ok(true)),
            (&path, &["request.resourceAttributes.verb == 'get'", "request.user != 'jane'"], Ok(false)),
            (&path, &["request.resourceAttributes.verb == 'get'"], Err(())),
        ] {
            let programs = expressions.iter().map(|source| compile(source).unwrap()).collect();
            assert_eq!(MatchConditions(programs).matches(spec).map_err(drop), expect, "{expressions:?}");
        }
        assert_eq!(compile("request.user").unwrap_err().to_string(), "must evaluate to bool but got string");
        assert!(compile("request.name").unwrap_err().to_string().contains("undefined field 'name'"));
    }
}
