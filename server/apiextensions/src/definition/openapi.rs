//! Validation of schemas (`ValidateCustomResourceDefinitionOpenAPISchema`).

use std::collections::HashSet;

use apimachinery::apiextensions::v1::{JSONSchemaProps, ValidationRule};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::status::listed_errors;

use super::cost::{self, MaxOccurrences, Total};
use super::structural::list_type;
use super::{field_path, internal, visit};
use crate::rules::{SELF_TYPE, bounds_of, environment, type_of};

/// Checks that apply unless the previous definition already violates them.
#[derive(Clone, Copy)]
pub struct Requirements {
    pub known_types: bool,
    pub atomic_sets: bool,
    pub map_keys: bool,
    /// Whether each expression must be within its own cost limit.
    pub cheap_rules: bool,
}

impl Requirements {
    pub const ALL: Requirements =
        Requirements { known_types: true, atomic_sets: true, map_keys: true, cheap_rules: true };

    /// Returns the requirements for an update of a definition with these schemas.
    pub fn after<'s>(schemas: impl Iterator<Item = &'s JSONSchemaProps> + Clone) -> Self {
        let any = |is: &dyn Fn(&JSONSchemaProps) -> bool| schemas.clone().any(|props| visit::any(props, is));
        Requirements {
            known_types: !any(&|props| !props.r#type.is_empty() && !TYPES.contains(&props.r#type.as_str())),
            atomic_sets: !any(&|props| !set_faults(&Path::NONE, props).is_empty()),
            map_keys: !any(&|props| !key_faults(&Path::NONE, props).is_empty()),
            cheap_rules: true,
        }
    }
}

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// The position of a schema in an object, as far as validation depends on it.
#[derive(Clone, Copy, Default)]
struct Place<'p> {
    /// Whether rules are compiled; false below `allOf` and the like.
    has_rules: bool,
    /// Maximum number of occurrences.
    count: MaxOccurrences,
    /// The enclosing list or atomic map without correlation of old and new values.
    uncorrelated: Option<&'p Path<'p>>,
    is_root: bool,
    in_metadata: bool,
    /// Why defaults are forbidden, if they are.
    no_defaults: Option<&'p str>,
}

impl Place<'_> {
    /// Returns the position of direct children of a schema's values.
    fn below(self, props: &JSONSchemaProps) -> Self {
        Place { is_root: false, count: cost::count_below(props, self.count), ..self }
    }
}

/// Returns the errors of a schema. `has_rules`: whether other checks passed, so that rules can be
/// compiled.
pub fn check(path: &Path<'_>, props: &JSONSchemaProps, requirements: Requirements, has_rules: bool) -> Vec<FieldError> {
    let mut check = Check { requirements, errors: Vec::new(), of_rules: Vec::new(), total: Total::default() };
    check.schema(path, props, Place { is_root: true, has_rules, count: Some(1), ..Place::default() });
    check.errors.append(&mut check.of_rules);
    check.errors.extend(check.total.faults(path));
    check.errors
}

struct Check {
    requirements: Requirements,
    errors: Vec<FieldError>,
    /// Errors of expressions, which follow all others.
    of_rules: Vec<FieldError>,
    total: Total,
}

impl Check {
    fn forbid(&mut self, path: &Path<'_>, why: impl Into<std::borrow::Cow<'static, str>>) {
        self.errors.push(FieldError::forbidden(path, why));
    }

    fn schema(&mut self, path: &Path<'_>, props: &JSONSchemaProps, place: Place<'_>) {
        let before = self.errors.len();
        self.standard(path, props, place);
        if props.unique_items {
            let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.forbid(&path.child("uniqueItems"), why);
        }
        let inner = place.below(props);
        self.members(path, props, place);
        let plain = Place { has_rules: false, ..inner };
        if let Some(not) = &props.not {
            self.schema(&path.child("not"), not, plain);
        }
        for (name, list) in [("allOf", &props.all_of), ("oneOf", &props.one_of), ("anyOf", &props.any_of)] {
            let at = path.child(name);
            list.iter().enumerate().for_each(|(index, of)| self.schema(&at.index(index), of, plain));
        }
        let definitions = path.child("definitions");
        props.definitions.iter().for_each(|(name, of)| self.schema(&definitions.key(name), of, plain));
        if let Some(items) = &props.items {
            let at = path.child("items");
            // Only items of map lists are correlated with the stored object.
            let is_map = props.x_kubernetes_list_type.as_deref() == Some("map");
            let uncorrelated = inner.uncorrelated.or((!is_map).then_some(path));
            let inner = Place { uncorrelated, ..inner };
            items.schema.iter().for_each(|of| self.schema(&at, of, inner));
            items.json_schemas.iter().enumerate().for_each(|(index, of)| self.schema(&at.index(index), of, inner));
        }
        let dependencies = path.child("dependencies");
        for (name, of) in props.dependencies.iter().filter_map(|(name, of)| Some((name, of.schema.as_ref()?))) {
            self.schema(&dependencies.key(name), of, plain);
        }
        self.extensions(path, props);
        self.errors.extend(rule_faults(path, props));
        if place.has_rules && self.errors.len() == before {
            self.expressions(path, props, place);
        }
    }

    /// Compiles the rules of a schema without other errors.
    fn expressions(&mut self, path: &Path<'_>, props: &JSONSchemaProps, place: Place<'_>) {
        if props.x_kubernetes_validations.is_empty() {
            return;
        }
        let is_object = place.is_root || props.x_kubernetes_embedded_resource;
        let rules = path.child("x-kubernetes-validations");
        let (Some(of), Some(bounds)) = (type_of(props, is_object, SELF_TYPE), bounds_of(props, is_object)) else {
            let why = "internal error: failed to retrieve type information for x-kubernetes-validations";
            self.of_rules.push(FieldError::internal(&rules, why));
            return;
        };
        for (index, rule) in props.x_kubernetes_validations.iter().enumerate() {
            self.expression(&rules.index(index), rule, (&of, &bounds), place);
        }
    }

    fn expression(
        &mut self,
        path: &Path<'_>,
        rule: &ValidationRule,
        (of, bounds): (&cel::Type, &cel::Bounds),
        place: Place<'_>,
    ) {
        let environment = environment(of, rule.optional_old_self == Some(true));
        let (at, shown) = (path.child("rule"), || internal::shown(rule));
        let compiled = cel::compile(&rule.rule, &environment);
        let runs = compiled.as_ref().ok().filter(|program| *program.output() == cel::Type::Bool);
        let cost = runs.map_or(0, |program| program.estimate(bounds));
        self.costs(&at, "estimated rule cost", cost::of_rule(cost, place.count, bounds.least_bytes));
        match &compiled {
            Err(why) => {
                let why = format!("compilation failed: {why}");
                self.of_rules.push(FieldError::invalid(&at, shown(), why));
            }
            Ok(program) if *program.output() != cel::Type::Bool => {
                self.of_rules.push(FieldError::invalid(&at, shown(), "cel expression must evaluate to a bool"));
            }
            Ok(_) => {}
        }
        if !rule.message_expression.is_empty() && runs.is_some() {
            let at = path.child("messageExpression");
            match cel::compile(&rule.message_expression, &environment) {
                Err(why) => {
                    let why = format!("messageExpression compilation failed: {why}");
                    self.of_rules.push(FieldError::invalid(&at, shown(), why));
                }
                Ok(program) if *program.output() != cel::Type::String => {
                    let why = "messageExpression must evaluate to a string";
                    self.of_rules.push(FieldError::invalid(&at, shown(), why));
                }
                Ok(program) => self.costs(&at, "estimated messageExpression cost", program.estimate(bounds)),
            }
        }
        let uses_old_self = compiled.is_ok_and(|program| program.names().contains("oldSelf"));
        if let Some(list) = place.uncorrelated.filter(|_| uses_old_self) {
            let why = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {list}");
            self.of_rules.push(FieldError::invalid(&at, &rule.rule, why));
        }
        if let Some(value) = rule.optional_old_self.filter(|_| !uses_old_self) {
            let why = "may not be set if oldSelf is not used in rule";
            self.of_rules.push(FieldError::invalid(&path.child("optionalOldSelf"), value, why));
        }
    }

    /// Records the cost of an expression, individually and in the total.
    fn costs(&mut self, path: &Path<'_>, what: &str, cost: u64) {
        self.of_rules.extend(cost::fault(path, what, cost).filter(|_| self.requirements.cheap_rules));
        self.total.add(path, cost);
    }

    fn members(&mut self, path: &Path<'_>, props: &JSONSchemaProps, place: Place<'_>) {
        let inner = place.below(props);
        if let Some(additional) = &props.additional_properties {
            let at = path.child("additionalProperties");
            if !props.properties.is_empty() && (!additional.allows || additional.schema.is_some()) {
                self.forbid(&at, "additionalProperties and properties are mutual exclusive");
            }
            let below = match place.in_metadata {
                // Pruning there depends on the actual value.
                true => Place { no_defaults: Some("inside additionalProperties applying to object metadata"), ..inner },
                false => inner,
            };
            additional.schema.iter().for_each(|of| self.schema(&at, of, below));
        }
        let properties = path.child("properties");
        let is_whole = props.x_kubernetes_map_type.as_deref().is_some_and(|kind| kind != "granular");
        let uncorrelated = inner.uncorrelated.or(is_whole.then_some(path));
        for (name, of) in &props.properties {
            let is_meta = matches!(name.as_str(), "metadata" | "kind" | "apiVersion")
                && (place.is_root || props.x_kubernetes_embedded_resource);
            let why = format!("in top-level {name}");
            let below = Place {
                in_metadata: inner.in_metadata || is_meta,
                no_defaults: if is_meta && place.is_root { Some(&why) } else { inner.no_defaults },
                uncorrelated,
                ..inner
            };
            self.schema(&properties.key(name), of, below);
        }
    }

    /// `specStandardValidatorV3.validate`
    fn standard(&mut self, path: &Path<'_>, props: &JSONSchemaProps, place: Place<'_>) {
        let kind = props.r#type.as_str();
        if self.requirements.known_types && !kind.is_empty() && !TYPES.contains(&kind) {
            self.errors.push(FieldError::not_supported(&path.child("type"), kind, &TYPES));
        }
        if let (Some(_), Some(why)) = (&props.default, place.no_defaults) {
            self.forbid(&path.child("default"), format!("must not be set {why}"));
        }
        let items = props.items.as_ref().is_some_and(|items| !items.json_schemas.is_empty());
        let unsupported = [
            ("id", !props.id.is_empty(), "id is not supported"),
            ("additionalItems", props.additional_items.is_some(), "additionalItems is not supported"),
            ("patternProperties", !props.pattern_properties.is_empty(), "patternProperties is not supported"),
            ("definitions", !props.definitions.is_empty(), "definitions is not supported"),
            ("dependencies", !props.dependencies.is_empty(), "dependencies is not supported"),
            ("$ref", props.r#ref.is_some(), "$ref is not supported"),
            ("type", kind == "null", "type cannot be set to null, use nullable as an alternative"),
            ("items", items, "items must be a schema object and not an array"),
            (
                "x-kubernetes-embedded-resource",
                place.in_metadata && props.x_kubernetes_embedded_resource,
                "must not be used inside of resource meta",
            ),
        ];
        for (name, _, why) in unsupported.into_iter().filter(|(_, is_set, _)| *is_set) {
            self.forbid(&path.child(name), why);
        }
    }

    fn extensions(&mut self, path: &Path<'_>, props: &JSONSchemaProps) {
        if props.x_kubernetes_preserve_unknown_fields == Some(false) {
            let at = path.child("x-kubernetes-preserve-unknown-fields");
            self.errors.push(FieldError::invalid(&at, false, "must be true or undefined"));
        }
        if let Some(map) = props.x_kubernetes_map_type.as_deref() {
            self.type_is(path, props, "object", "must be object if x-kubernetes-map-type is specified");
            if !matches!(map, "atomic" | "granular") {
                let at = path.child("x-kubernetes-map-type");
                self.errors.push(FieldError::not_supported(&at, map, &["atomic", "granular"]));
            }
        }
        if let Some(list) = props.x_kubernetes_list_type.as_deref() {
            if !self.type_is(path, props, "array", "must be array if x-kubernetes-list-type is specified") {
            } else if self.requirements.atomic_sets {
                self.errors.extend(set_faults(path, props));
            }
            if !matches!(list, "atomic" | "set" | "map") {
                let at = path.child("x-kubernetes-list-type");
                self.errors.push(FieldError::not_supported(&at, list, &["atomic", "set", "map"]));
            }
        }
        self.map_list(path, props);
        if self.requirements.map_keys {
            self.errors.extend(key_faults(path, props));
        }
    }

    /// Checks that a schema has the type that an extension requires. Returns whether it has.
    fn type_is(&mut self, path: &Path<'_>, props: &JSONSchemaProps, wanted: &str, why: &'static str) -> bool {
        let at = path.child("type");
        match props.r#type.as_str() {
            kind if kind == wanted => return true,
            "" => self.errors.push(FieldError::required(&at, why)),
            kind => self.errors.push(FieldError::invalid(&at, kind, why)),
        }
        false
    }

    fn map_list(&mut self, path: &Path<'_>, props: &JSONSchemaProps) {
        let (list, keys) = (props.x_kubernetes_list_type.as_deref(), &props.x_kubernetes_list_map_keys);
        let at = path.child("x-kubernetes-list-type");
        const NON_EMPTY: &str = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list {
            None if !keys.is_empty() => self.errors.push(FieldError::required(&at, NON_EMPTY)),
            Some(other) if !keys.is_empty() && other != "map" => {
                self.errors.push(FieldError::invalid(&at, other, NON_EMPTY));
            }
            _ => {}
        }
        if list != Some("map") {
            return;
        }
        let (keys_at, items_at) = (path.child("x-kubernetes-list-map-keys"), path.child("items"));
        if keys.is_empty() {
            let why = "must not be empty if x-kubernetes-list-type is map";
            self.errors.push(FieldError::required(&keys_at, why));
        }
        match &props.items {
            None => {
                let why = "must have a schema if x-kubernetes-list-type is map";
                self.errors.push(FieldError::required(&items_at, why));
            }
            Some(items) => match &items.schema {
                None => {
                    let why = "must only have a single schema if x-kubernetes-list-type is map";
                    self.errors.push(FieldError::invalid(&items_at, internal::shown(&**items), why));
                }
                Some(item) if item.r#type != "object" => {
                    let why = "must be object if parent array's x-kubernetes-list-type is map";
                    self.errors.push(FieldError::invalid(&items_at.child("type"), &item.r#type, why));
                }
                Some(item) => self.keys(&keys_at, &items_at, keys, item),
            },
        }
    }

    fn keys(&mut self, path: &Path<'_>, items: &Path<'_>, keys: &[String], item: &JSONSchemaProps) {
        let mut seen = HashSet::new();
        // Each error contains all keys.
        let listed = listed_errors(keys.iter().map(String::len).sum());
        for key in keys {
            match item.properties.get(key) {
                Some(property) if matches!(property.r#type.as_str(), "array" | "object") => {
                    let properties = items.child("properties");
                    let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    let at = properties.key(key);
                    self.errors.push(FieldError::invalid(&at.child("type"), &item.r#type, why));
                }
                Some(_) => {}
                None if self.errors.len() >= listed => {}
                None => {
                    let why = "entries must all be names of item properties";
                    self.errors.push(FieldError::invalid(path, BadValue::strings(keys), why));
                }
            }
            if !seen.insert(key) && self.errors.len() < listed {
                self.errors.push(FieldError::invalid(
                    path,
                    BadValue::strings(keys),
                    "must not contain duplicate entries",
                ));
            }
        }
    }
}

/// Returns errors of set items that are not atomic.
fn set_faults(path: &Path<'_>, props: &JSONSchemaProps) -> Vec<FieldError> {
    const WHY: &str = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let item = props.items.as_ref().and_then(|items| items.schema.as_deref());
    let Some(item) = item.filter(|_| props.x_kubernetes_list_type.as_deref() == Some("set")) else {
        return Vec::new();
    };
    let (list, map) = (item.x_kubernetes_list_type.as_deref(), item.x_kubernetes_map_type.as_deref());
    let items = path.child("items");
    let name = match item.r#type.as_str() {
        "array" if list.is_some_and(|list| list != "atomic") => "x-kubernetes-list-type",
        "object" if map != Some("atomic") => "x-kubernetes-map-type",
        _ => return Vec::new(),
    };
    vec![FieldError::invalid(&items.child(name), list_type(list), WHY)]
}

/// `validateMapListKeysMapSet`
fn key_faults(path: &Path<'_>, props: &JSONSchemaProps) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let item = props.items.as_ref().and_then(|items| items.schema.as_deref());
    let list = props.x_kubernetes_list_type.as_deref().filter(|list| matches!(*list, "set" | "map"));
    let (Some(item), Some(list)) = (item, list) else { return errors };
    let items = path.child("items");
    if item.nullable {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        errors.push(FieldError::forbidden(&items.child("nullable"), why));
    }
    if list != "map" {
        return errors;
    }
    let properties = items.child("properties");
    let required: HashSet<&String> = item.required.iter().collect();
    for key in &props.x_kubernetes_list_map_keys {
        let Some(property) = item.properties.get(key) else { continue };
        let at = properties.key(key);
        if !required.contains(key) && property.default.is_none() {
            let why =
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(FieldError::required(&at.child("default"), why));
        }
        if property.nullable {
            let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(&at.child("nullable"), why));
        }
    }
    errors
}

/// Returns errors of rules, except for those of their expressions.
fn rule_faults(path: &Path<'_>, props: &JSONSchemaProps) -> Vec<FieldError> {
    let rules = path.child("x-kubernetes-validations");
    let mut errors = Vec::new();
    for (index, rule) in props.x_kubernetes_validations.iter().enumerate() {
        one_rule(&rules.index(index), rule, props, &mut errors);
    }
    errors
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

fn one_rule(path: &Path<'_>, rule: &ValidationRule, props: &JSONSchemaProps, errors: &mut Vec<FieldError>) {
    let (text, message) = (rule.rule.trim(), rule.message.trim());
    let at = path.child("message");
    if text.is_empty() {
        errors.push(FieldError::required(&path.child("rule"), "rule is not specified"));
    } else if !rule.message.is_empty() && message.is_empty() {
        errors.push(FieldError::invalid(&at, &rule.message, "must be non-empty if specified"));
    } else if has_line_break(message) {
        errors.push(FieldError::invalid(&at, &rule.message, "must not contain line breaks"));
    } else if has_line_break(text) && message.is_empty() {
        errors.push(FieldError::required(&at, "message must be specified if rule contains line breaks"));
    }
    if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
        let why = "messageExpression must be non-empty if specified";
        errors.push(FieldError::required(&path.child("messageExpression"), why));
    }
    if let Some(reason) = rule.reason.as_deref().filter(|reason| !REASONS.contains(reason)) {
        errors.push(FieldError::not_supported(&path.child("reason"), BadValue::json_string(reason), &REASONS));
    }
    let at = path.child("fieldPath");
    if !rule.field_path.is_empty() && rule.field_path.trim().is_empty() {
        errors.push(FieldError::invalid(&at, &rule.field_path, "must be non-empty if specified"));
    }
    if has_line_break(&rule.field_path) {
        errors.push(FieldError::invalid(&at, &rule.field_path, "must not contain line breaks"));
    }
    if !rule.field_path.is_empty() && field_path::find(&rule.field_path, props, true).is_err() {
        errors.push(FieldError::invalid(&at, &rule.field_path, "must be a valid path"));
    }
}
