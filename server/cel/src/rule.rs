//! Validation rules: expressions over `self`, and `oldSelf` on updates, as in CustomResourceDefinitions
//! (`x-kubernetes-validations`) and declared types (`#[rule]`).

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::environment::Environment;
use crate::error::Error;
use crate::eval::CostBudget;
use crate::program::{Program, compile};
use crate::types::Type;
use crate::value::Value;

/// Maximum length of a message from an expression, in bytes.
const LONGEST_MESSAGE: usize = 5 << 10;

const NO_BUDGET: &str = "validation failed due to running out of cost budget, no further validation rules will be run";

/// Type name of `self`. Upstream's name ends in a part of the current time; this one ends in 0.
pub const SELF_TYPE: &str = "selfType0";

/// The text of a rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleText<'a> {
    pub rule: &'a str,
    /// Message of a violation; if empty, the rule itself.
    pub message: &'a str,
    /// Expression that evaluates to the message; empty if there is none.
    pub message_expression: &'a str,
    /// Whether `oldSelf` is an optional value, and the rule is evaluated for new values too.
    pub optional_old_self: bool,
}

/// A compiled rule.
pub struct Rule {
    program: Result<Program, Error>,
    message_expression: Option<Program>,
    /// Message if there is no message expression.
    message: String,
    /// Name of the rule in evaluation errors.
    name: String,
    optional_old_self: bool,
    uses_old_self: bool,
}

/// Result of evaluating a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleResult {
    /// The rule holds, or needs an old value that does not exist.
    Holds,
    /// The rule is violated.
    Broken,
    /// The evaluation failed with this message.
    Failed(String),
    /// The evaluation failed, and no further rules may be evaluated.
    Stop(String),
}

/// The environment of a rule: `self` and `oldSelf` with their types.
pub fn environment(of: &Type, optional_old_self: bool) -> Environment {
    let old = if optional_old_self { Type::optional(of.clone()) } else { of.clone() };
    Environment::new([("self", of.clone()), ("oldSelf", old)])
}

impl Rule {
    /// Compiles a rule for values of a type. `compiling` is called for each expression, so that callers
    /// can time it. A rule that does not compile fails when it is evaluated.
    pub fn compile(
        text: &RuleText<'_>,
        of: &Type,
        compiling: impl Fn(&dyn Fn() -> Result<Program, Error>) -> Result<Program, Error>,
    ) -> Self {
        let environment = environment(of, text.optional_old_self);
        let compile = |source: &str| compiling(&|| compile(source, &environment));
        let program = compile(text.rule);
        let label = if text.message.is_empty() { text.rule.trim() } else { text.message.trim() };
        Rule {
            uses_old_self: program.as_ref().is_ok_and(|program| program.names().contains("oldSelf")),
            program,
            message_expression: match text.message_expression {
                "" => None,
                source => compile(source).ok(),
            },
            message: if text.message.is_empty() { format!("failed rule: {label}") } else { label.to_owned() },
            name: label.to_owned(),
            optional_old_self: text.optional_old_self,
        }
    }

    /// Whether the rule uses the old value (a transition rule).
    pub fn uses_old_self(&self) -> bool {
        self.uses_old_self
    }

    /// Whether the message comes from an expression.
    pub fn makes_message(&self) -> bool {
        self.message_expression.is_some()
    }

    /// Evaluates the rule, and charges the budget for its cost.
    pub fn run(&self, of: &Type, new: &Json, old: Option<&Json>, budget: &mut CostBudget) -> RuleResult {
        if budget.left == 0 {
            return RuleResult::Stop(NO_BUDGET.into());
        }
        let program = match &self.program {
            Ok(program) => program,
            Err(why) => return RuleResult::Failed(format!("rule compile error: {why}")),
        };
        if self.uses_old_self && old.is_none() && !self.optional_old_self {
            return RuleResult::Holds;
        }
        let is_last = budget.left < budget.per_call;
        match program.evaluate(&self.variables(of, new, old), budget) {
            Ok(Value::Bool(true)) => RuleResult::Holds,
            Ok(_) => RuleResult::Broken,
            Err(Error::CostLimitExceeded) if is_last => RuleResult::Stop(NO_BUDGET.into()),
            Err(why @ Error::CostLimitExceeded) => RuleResult::Stop(format!(
                "'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {}",
                self.name
            )),
            Err(why) => RuleResult::Failed(evaluation_error(&why.to_string(), &self.name)),
        }
    }

    /// The message of a violated rule, from the rule's expression if that yields a usable text.
    pub fn message(&self, of: &Type, new: &Json, old: Option<&Json>, budget: &mut CostBudget) -> String {
        let variables = self.variables(of, new, old);
        let made = self.message_expression.as_ref().and_then(|program| program.evaluate(&variables, budget).ok());
        let text = made.as_ref().and_then(|made| made.as_str()).map(str::trim);
        let usable = text.filter(|text| !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n'));
        usable.unwrap_or(&self.message).to_owned()
    }

    fn variables<'v>(&self, of: &'v Type, new: &'v Json, old: Option<&'v Json>) -> HashMap<&'static str, Value<'v>> {
        let old = old.map(|old| Value::json(old, of));
        let old = match self.optional_old_self {
            true => Some(Value::Optional(old.map(Arc::new))),
            false => old,
        };
        let own = std::iter::once(("self", Value::json(new, of)));
        own.chain(old.map(|old| ("oldSelf", old))).collect()
    }
}

fn evaluation_error(why: &str, name: &str) -> String {
    if why.starts_with("no such overload") {
        return format!(
            "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
        );
    }
    format!("{why} evaluating rule: {name}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::types::ObjectType;

    fn rule(text: RuleText<'_>) -> (Rule, Type) {
        let of = Type::object(ObjectType::new("self", [("min", Type::Int), ("max", Type::Int)]));
        (Rule::compile(&text, &of, |compile| compile()), of)
    }

    fn check(text: RuleText<'_>, new: Json, old: Option<Json>) -> (RuleResult, String) {
        let (rule, of) = rule(text);
        let mut budget = CostBudget::default();
        let outcome = rule.run(&of, &new, old.as_ref(), &mut budget);
        (outcome, rule.message(&of, &new, old.as_ref(), &mut budget))
    }

    #[test]
    fn violated_rule_returns_its_message() {
        let text = RuleText { rule: "self.min <= self.max", ..RuleText::default() };
        assert_eq!(check(text, json!({"min": 1, "max": 2}), None).0, RuleResult::Holds);
        let broken = check(text, json!({"min": 3, "max": 2}), None);
        assert_eq!(broken, (RuleResult::Broken, "failed rule: self.min <= self.max".into()));
        let text = RuleText { message_expression: "'at most %d'.format([self.max])", ..text };
        assert_eq!(check(text, json!({"min": 3, "max": 2}), None).1, "at most 2");
    }

    #[test]
    fn list_in_place_of_string_fails_at_lookup_or_comparison() {
        let texts = || Type::list(Type::String);
        let map = Type::map(Type::String, Type::String);
        let fields = [("a", Type::String), ("n", Type::Int), ("l", texts()), ("m", map)];
        let of = Type::object(ObjectType::new("self", fields));
        let run = |rule: &str| {
            let text = RuleText { rule, ..RuleText::default() };
            let object = json!({"a": [], "n": 1, "l": ["x", []], "m": {"k": []}});
            Rule::compile(&text, &of, |compile| compile()).run(&of, &object, None, &mut CostBudget::default())
        };
        let rules = [
            "self.a == self.a",
            "has(self.a)",
            "!has(self.a) || self.a == ''",
            "has(self.a) && self.n == 1 || self.a == ''",
            "[1].exists(n, self.a == '')",
            "self.?a.hasValue()",
            "self.?a.optMap(a, true).orValue(true)",
            "self == self",
            "self.l == ['x', 'y']",
            "'y' in self.l",
            "'k' in self.m",
            "self.m == self.m",
            "self.m[?'k'].hasValue()",
        ];
        for rule in rules {
            let why = format!("invalid data, expected string, got []interface {{}} evaluating rule: {rule}");
            assert_eq!(run(rule), RuleResult::Failed(why));
        }
        let rules = [
            "has(self.a) || self.n == 1",
            "has(self.l) && has(self.m) && self.l.size() == 2",
            "self.l != ['x', 'y']",
            "!(self.l == ['y', 'y'])",
            "'x' in self.l",
            "self.l[?1].hasValue()",
            "self.l.exists(x, x == 'x')",
            "self.m.all(k, k == 'k')",
        ];
        for rule in rules {
            assert_eq!(run(rule), RuleResult::Holds, "{rule}");
        }
    }

    #[test]
    fn transition_rules_run_on_update_unless_old_self_is_optional() {
        let text = RuleText { rule: "self.min >= oldSelf.min", ..RuleText::default() };
        assert_eq!(check(text, json!({"min": 1}), None).0, RuleResult::Holds);
        assert_eq!(check(text, json!({"min": 1}), Some(json!({"min": 2}))).0, RuleResult::Broken);
        let text = RuleText { rule: "oldSelf.hasValue() || self.min == 0", optional_old_self: true, ..text };
        assert_eq!(check(text, json!({"min": 1}), None).0, RuleResult::Broken);
    }

    #[test]
    fn missing_fields_and_invalid_expressions_fail() {
        let text = RuleText { rule: "self.min <= self.max", message: "in order", ..RuleText::default() };
        let RuleResult::Failed(why) = check(text, json!({"min": 1}), None).0 else { panic!("no failure") };
        assert_eq!(why, "no such key: max evaluating rule: in order");
        let text = RuleText { rule: "self.other", ..RuleText::default() };
        assert!(
            matches!(check(text, json!({}), None).0, RuleResult::Failed(why) if why.starts_with("rule compile error"))
        );
    }

    #[test]
    fn exhausted_budget_stops_rules() {
        let (rule, of) = rule(RuleText { rule: "true", ..RuleText::default() });
        let mut budget = CostBudget { left: 0, ..CostBudget::default() };
        assert_eq!(rule.run(&of, &json!({}), None, &mut budget), RuleResult::Stop(NO_BUDGET.into()));
    }
}
