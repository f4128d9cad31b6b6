//! Compiled expressions of policies, kept as long as a policy does not change.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use apimachinery::meta::v1::ObjectMeta;
use cel::{Budget, Environment, EvalError, Program, Type, Value};
use generated::admissionregistration::v1::{MatchCondition, Variable};
use kubernetes::admissionregistration::{Available, Variables, compile, environment};
use serving::metrics::cel::{compiling, evaluating};

use super::input::Activation;
use crate::admission::metrics::Conditions;

/// Policies whose programs are kept at most.
const KEPT: usize = 1024;

type Kept = (String, Arc<dyn Any + Send + Sync>);

/// Programs by the uid of their policy.
#[derive(Default)]
pub struct Cache(Mutex<HashMap<String, Kept>>);

impl Cache {
    /// What was compiled of an object, compiled now when it has changed.
    pub fn get<T: Any + Send + Sync>(&self, of: &ObjectMeta, compile: impl FnOnce() -> T) -> Arc<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, programs)) = kept.get(&of.uid)
            && *version == of.resource_version
            && let Ok(programs) = programs.clone().downcast::<T>()
        {
            return programs;
        }
        let programs = Arc::new(compile());
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(of.uid.clone(), (of.resource_version.clone(), programs.clone()));
        programs
    }
}

/// An expression, with its program or why there is none.
pub struct Expression {
    pub source: String,
    program: Result<Program, String>,
}

impl Expression {
    pub fn new(source: &str, environment: &Environment, wanted: &[Type]) -> Self {
        Expression { source: source.to_owned(), program: compiling(|| compile(source, environment, wanted)) }
    }

    /// The value; an error is worded as clients see it.
    pub fn evaluate<'a>(&'a self, activation: &Activation<'a>, budget: &mut Budget) -> Result<Value<'a>, String> {
        let outcome = match &self.program {
            Ok(program) => evaluating(|| program.evaluate(activation, budget)),
            Err(why) => return Err(why.clone()),
        };
        let whole_budget = budget.left == 0;
        outcome.map_err(|error| match error {
            EvalError::CostLimitExceeded if whole_budget => {
                "validation failed due to running out of cost budget, no further validation rules will be run"
                    .to_owned()
            }
            EvalError::CostLimitExceeded => {
                format!("expression '{}' resulted in error: {}", self.source, EvalError::CostLimitExceeded)
            }
            error => format!("expression '{}' resulted in error: {error}", self.source),
        })
    }
}

/// What policies of both kinds have in common.
pub struct Common {
    pub conditions: Vec<(String, Expression)>,
    pub variables: Vec<(String, Result<Program, String>)>,
    /// What further expressions may name.
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

/// Whether all conditions hold; one that does not decides before an error does (`matchconditions.Matcher`).
pub fn conditions_hold<'a>(
    conditions: &'a [(String, Expression)],
    activation: &Activation<'a>,
    budget: &mut Budget,
    noted: Conditions<'_>,
) -> Result<bool, String> {
    if conditions.is_empty() {
        return Ok(true);
    }
    let (mut errors, mut decided, began) = (Vec::new(), false, Instant::now());
    for (_, condition) in conditions {
        match condition.evaluate(activation, budget) {
            Ok(Value::Bool(true)) => {}
            Ok(_) => {
                decided = true;
                break;
            }
            Err(why) => {
                noted.failed();
                errors.push(why);
            }
        }
    }
    // As upstream: the time of conditions that all hold is not noted.
    if decided || !errors.is_empty() {
        noted.evaluated(began.elapsed());
    }
    if decided {
        return Ok(false);
    }
    match &errors[..] {
        [] => Ok(true),
        [one] => Err(one.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}
