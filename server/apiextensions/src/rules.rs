//! Validation rules of custom resources (`x-kubernetes-validations`), compiled once and run on every
//! write (`schema/cel.Validator`).

mod bounds;
mod types;

use std::collections::{BTreeMap, HashMap};

use crate::definition::field_path;
use apimachinery::apiextensions::v1::{JSONSchemaProps, ValidationRule};
use cel::{CostBudget, RuleOutcome, RuleText, Type};
pub use cel::{SELF_TYPE, rule_environment as environment};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json;
use schema::Pair;
use serde_json::Value;
use telemetry::metrics::cel::{compiling, evaluating};

pub use bounds::{REQUEST, of as bounds_of};
pub use types::of as type_of;

/// The rules of a schema and its subschemas. Subschemas without rules are omitted.
#[derive(Default)]
pub struct SchemaRules {
    own: Vec<Rule>,
    /// The type of the value, for `self`.
    of: Option<Type>,
    kind: String,
    is_map_list: Vec<String>,
    properties: BTreeMap<String, SchemaRules>,
    additional: Option<Box<SchemaRules>>,
    items: Option<Box<SchemaRules>>,
}

/// A compiled rule.
struct Rule {
    expression: cel::Rule,
    reason: String,
    field_path: String,
}

impl SchemaRules {
    /// Compiles the rules of a schema; nothing if it has none.
    pub fn compile(props: &JSONSchemaProps, is_root: bool) -> Option<Self> {
        let is_object = is_root || props.x_kubernetes_embedded_resource;
        let of = (!props.x_kubernetes_validations.is_empty()).then(|| type_of(props, is_object, SELF_TYPE)).flatten();
        let own = of.as_ref().map_or_else(Vec::new, |of| {
            props.x_kubernetes_validations.iter().map(|rule| Rule::compile(rule, props, of)).collect()
        });
        let below = |props: &JSONSchemaProps| Self::compile(props, false);
        let properties = props.properties.iter().filter_map(|(name, props)| Some((name.clone(), below(props)?)));
        let items = props.items.as_ref().and_then(|items| items.schema.as_deref()).and_then(below);
        let additional = props.additional_properties.as_ref().and_then(|of| of.schema.as_deref()).and_then(below);
        let is_map = props.x_kubernetes_list_type.as_deref() == Some("map");
        let rules = SchemaRules {
            own,
            of,
            kind: props.r#type.clone(),
            is_map_list: if is_map { props.x_kubernetes_list_map_keys.clone() } else { Vec::new() },
            properties: properties.collect(),
            additional: additional.map(Box::new),
            items: items.map(Box::new),
        };
        let is_empty =
            rules.own.is_empty() && rules.properties.is_empty() && rules.items.is_none() && rules.additional.is_none();
        (!is_empty).then_some(rules)
    }

    /// Runs the rules on an object. Errors in unchanged parts become warnings (ratcheting).
    pub fn check(
        &self,
        context: &WriteContext,
        new: &Value,
        old: Option<&Value>,
        pair: Option<Pair<'_>>,
    ) -> Vec<FieldError> {
        let mut run = Run { context, budget: CostBudget::default(), errors: Vec::new() };
        // The outcome is in the errors.
        let _ = run.rules(self, &Path::NONE, new, old, Correlation { now: pair, parent: None });
        run.errors
    }

    /// Runs the rules on a default value, both as unchanged and as new, because transition rules
    /// may differ. Subtracts the higher of the two costs from the budget.
    pub fn check_default(
        &self,
        context: &WriteContext,
        path: &Path<'_>,
        value: &Value,
        budget: &mut CostBudget,
    ) -> Vec<FieldError> {
        let once = |old: Option<&Value>| {
            let mut run = Run { context, budget: *budget, errors: Vec::new() };
            let _ = run.rules(self, path, value, old, Correlation::default());
            (run.errors, run.budget)
        };
        let (mut errors, mut after) = once(Some(value));
        if errors.is_empty() {
            let (found, other) = once(None);
            errors = found;
            after.left = after.left.min(other.left);
        }
        *budget = after;
        errors
    }
}

impl Rule {
    fn compile(rule: &ValidationRule, props: &JSONSchemaProps, of: &Type) -> Self {
        let text = RuleText {
            rule: &rule.rule,
            message: &rule.message,
            message_expression: &rule.message_expression,
            optional_old_self: rule.optional_old_self == Some(true),
        };
        Rule {
            expression: cel::Rule::compile(&text, of, |compile| compiling(compile)),
            reason: rule.reason.clone().unwrap_or_default(),
            field_path: rule_path(&rule.field_path, props),
        }
    }
}

/// The old value for ratcheting.
#[derive(Clone, Copy, Default)]
struct Correlation<'v> {
    now: Option<Pair<'v>>,
    parent: Option<Pair<'v>>,
}

impl<'v> Correlation<'v> {
    fn below(self, pair: impl FnOnce(Pair<'v>) -> Option<Pair<'v>>) -> Self {
        match self.now {
            Some(now) => Correlation { now: pair(now), parent: Some(now) },
            None => self,
        }
    }

    fn is_same(self) -> bool {
        self.now.or(self.parent).is_some_and(Pair::is_same)
    }
}

/// Aborts the remaining rules.
struct Stop;

struct Run<'c> {
    context: &'c WriteContext,
    budget: CostBudget,
    errors: Vec<FieldError>,
}

impl Run<'_> {
    fn rules(
        &mut self,
        rules: &SchemaRules,
        path: &Path<'_>,
        new: &Value,
        old: Option<&Value>,
        correlation: Correlation<'_>,
    ) -> Result<(), Stop> {
        if new.is_null() {
            return Ok(());
        }
        let old = old.filter(|old| !old.is_null());
        if let Some(of) = &rules.of {
            for rule in &rules.own {
                self.rule(rule, (of, &rules.kind), path, (new, old), correlation)?;
            }
        }
        match new {
            Value::Array(items) => {
                let Some(below) = &rules.items else { return Ok(()) };
                let mut pairs = correlation.now.map(Pair::items).unwrap_or_default().into_iter();
                let olds = same_items(old, items, &rules.is_map_list);
                for (index, (item, old)) in items.iter().zip(olds).enumerate() {
                    let pair = pairs.next().flatten();
                    let correlation = correlation.below(|_| pair);
                    self.rules(below, &path.index(index), item, old, correlation)?;
                }
            }
            Value::Object(members) => {
                let mut names: Vec<&String> = members.keys().collect();
                names.sort_unstable();
                for name in names {
                    let (value, old) = (&members[name], old.and_then(|old| old.get(name)));
                    let correlation = correlation.below(|pair| pair.member(name));
                    if let Some(below) = &rules.additional {
                        self.rules(below, &path.key(name), value, old, correlation)?;
                    }
                    if let Some(below) = rules.properties.get(name) {
                        self.rules(below, &path.child(name), value, old, correlation)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn invalid(&mut self, path: &Path<'_>, kind: &str, why: String) {
        self.errors.push(FieldError::invalid(path, kind, why));
    }

    fn rule(
        &mut self,
        rule: &Rule,
        (of, kind): (&Type, &str),
        path: &Path<'_>,
        (new, old): (&Value, Option<&Value>),
        correlation: Correlation<'_>,
    ) -> Result<(), Stop> {
        match evaluating(|| rule.expression.run(of, new, old, &mut self.budget)) {
            RuleOutcome::Holds => return Ok(()),
            RuleOutcome::Broken => {}
            RuleOutcome::Failed(why) => {
                self.invalid(path, kind, why);
                return Ok(());
            }
            RuleOutcome::Stop(why) => {
                self.invalid(path, kind, why);
                return Err(Stop);
            }
        }
        let mut message = || rule.expression.message(of, new, old, &mut self.budget);
        let detail = if rule.expression.makes_message() { evaluating(message) } else { message() };
        let value = if matches!(kind, "object" | "array") { BadValue::Omitted } else { schema::shown(new) };
        let at = if rule.field_path.is_empty() { *path } else { path.child(&rule.field_path) };
        let error = match rule.reason.as_str() {
            "FieldValueForbidden" => FieldError::forbidden(&at, detail),
            "FieldValueRequired" => FieldError::required(&at, detail),
            "FieldValueDuplicate" => FieldError::duplicate(&at, value),
            _ => FieldError::invalid(&at, value, detail),
        };
        if !rule.expression.uses_old_self() && correlation.is_same() {
            self.context.warnings.add(&error.to_string());
        } else {
            self.errors.push(error);
        }
        Ok(())
    }
}

/// For each item, returns the old item with the same keys.
fn same_items<'v>(old: Option<&'v Value>, items: &[Value], keys: &[String]) -> Vec<Option<&'v Value>> {
    let Some(Value::Array(old)) = old.filter(|_| !keys.is_empty()) else { return vec![None; items.len()] };
    let key = |item: &Value| {
        let mut text = Vec::new();
        for key in keys {
            match item.get(key) {
                Some(value) => json::encode_value(value, &mut text),
                None => text.push(b'-'),
            }
            text.push(b',');
        }
        text
    };
    let mut by_key = HashMap::with_capacity(old.len());
    for old in old {
        by_key.entry(key(old)).or_insert(old);
    }
    items.iter().map(|item| by_key.get(&key(item)).copied().filter(|_| item.is_object())).collect()
}

/// Returns the path of a rule's `fieldPath` for errors; empty if it has none.
fn rule_path(path: &str, props: &JSONSchemaProps) -> String {
    field_path::find(path, props, true).map_or(String::new(), |found| found.text)
}
