//! Cache of compiled policy expressions, valid until the policy changes.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use apimachinery::meta::v1::ObjectMeta;
use cel::{CostBudget, Environment, Error, Program, Type, Value};
use generated::admissionregistration::v1::{MatchCondition, Variable};
use kubernetes::admissionregistration::{Available, Variables, compile, environment};
use telemetry::metrics::cel::{compiling, evaluating};

use super::error::PolicyError;
use super::input::Activation;
use crate::metrics::MatchConditionMetrics;

/// Maximum number of policies with cached programs.
const MAX_POLICIES: usize = 1024;

type Cached = (String, Arc<dyn Any + Send + Sync>);

/// Programs by policy UID.
#[derive(Default)]
pub struct CompiledPolicies(Mutex<HashMap<String, Cached>>);

impl CompiledPolicies {
    /// Returns the cached programs of an object, and compiles them when the object has changed.
    pub fn get<T: Any + Send + Sync>(&self, of: &ObjectMeta, compile: impl FnOnce() -> T) -> Arc<T> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, programs)) = cached.get(&of.uid)
            && *version == of.resource_version
            && let Ok(programs) = programs.clone().downcast::<T>()
        {
            return programs;
        }
        let programs = Arc::new(compile());
        if cached.len() >= MAX_POLICIES {
            cached.clear();
        }
        cached.insert(of.uid.clone(), (of.resource_version.clone(), programs.clone()));
        programs
    }
}

/// An expression and its program or compile error.
pub struct Expression {
    pub source: String,
    program: Result<Program, kubernetes::Error>,
}

impl Expression {
    pub fn new(source: &str, environment: &Environment, wanted: &[Type]) -> Self {
        Expression { source: source.to_owned(), program: compiling(|| compile(source, environment, wanted)) }
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// When the expression does not compile, or its evaluation fails.
    pub fn evaluate<'a>(
        &'a self,
        activation: &Activation<'a>,
        budget: &mut CostBudget,
    ) -> Result<Value<'a>, PolicyError> {
        let outcome = match &self.program {
            Ok(program) => evaluating(|| program.evaluate(activation, budget)),
            Err(error) => return Err(error.clone().into()),
        };
        let whole_budget = budget.left == 0;
        outcome.map_err(|error| match error {
            Error::CostLimitExceeded if whole_budget => PolicyError::Budget,
            source => PolicyError::Evaluate { expression: self.source.clone(), source },
        })
    }
}

/// The compiled parts that both policy types have.
pub struct Common {
    pub conditions: Vec<(String, Expression)>,
    pub variables: Vec<(String, Result<Program, kubernetes::Error>)>,
    /// The environment of expressions after the variables.
    pub environment: Environment,
    pub messages: Environment,
}

impl Common {
    pub fn new(conditions: &[MatchCondition], variables: &[Variable], available: Available) -> Self {
        let plain = environment(Available { patches: false, ..available });
        let conditions =
            conditions.iter().map(|c| (c.name.clone(), Expression::new(c.expression.trim(), &plain, &[Type::Bool])));
        let conditions = conditions.collect();
        let mut known = Variables::default();
        let mut programs = Vec::new();
        for variable in variables {
            let program = compiling(|| compile(&variable.expression, &known.compose(plain.clone()), &[]));
            let of = program.as_ref().map_or(Type::Dyn, |program| program.output().clone());
            known.add(&variable.name, of);
            programs.push((variable.name.clone(), program));
        }
        let messages = Available { authorizer: false, ..available };
        Common {
            conditions,
            variables: programs,
            environment: known.compose(environment(available)),
            messages: known.compose(environment(messages)),
        }
    }
}

/// Whether all conditions hold. A false condition takes precedence over errors
/// (`matchconditions.Matcher`).
///
/// # Errors
/// When no condition is false, and one fails.
pub fn conditions_hold<'a>(
    conditions: &'a [(String, Expression)],
    activation: &Activation<'a>,
    budget: &mut CostBudget,
    metrics: MatchConditionMetrics<'_>,
) -> Result<bool, PolicyError> {
    if conditions.is_empty() {
        return Ok(true);
    }
    let (mut errors, mut excluded, began) = (Vec::new(), false, Instant::now());
    for (_, condition) in conditions {
        match condition.evaluate(activation, budget) {
            Ok(Value::Bool(true)) => {}
            Ok(_) => {
                excluded = true;
                break;
            }
            Err(why) => {
                metrics.failed();
                errors.push(why);
            }
        }
    }
    // As upstream, the duration is not recorded when all conditions hold.
    if excluded || !errors.is_empty() {
        metrics.evaluated(began.elapsed());
    }
    if excluded {
        return Ok(false);
    }
    match (errors.len(), errors.pop()) {
        (_, None) => Ok(true),
        (1, Some(one)) => Err(one),
        (_, Some(last)) => {
            errors.push(last);
            Err(PolicyError::Conditions(errors))
        }
    }
}
