//! Validates a document against a schema (`validate.SchemaValidator`): the same checks in the same
//! order, with the same messages.

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::scalar::go_text::quote;
use serde_json::{Map, Value};

use crate::lists::{repeated, sorted, text};
use crate::old::Pair;
use crate::prune::is_meta;
use crate::result::{ValidationResult, is_blocking, json_text, name, shown};
use crate::{Additional, Checks, JsonType, Schema, format, numbers};

/// The errors of a new value. `below` is the path of the value in its object.
pub fn check(schema: &Schema, value: &Value, below: &str) -> Vec<FieldError> {
    validate(schema, value, &Path::NONE, None).into_errors(below)
}

/// Whether a quick check proves that an object is valid; false means undecided.
///
/// The check covers the members other than `apiVersion`, `kind` and `metadata`. It requires that
/// they are valid, and that the schema of the object constrains nothing but `required`.
pub fn is_certainly_valid(schema: &Schema, content: &Map<String, Value>) -> bool {
    let has_required = |checks: &Checks| {
        checks.constrain_only_required()
            && checks.required.iter().all(|key| is_meta(key) || content.contains_key(&**key))
    };
    let has_other_constraints = schema.kind != Some(JsonType::Object)
        || !schema.checks.as_deref().is_none_or(has_required)
        || schema.below.embedded
        || schema.below.lists
        || !matches!(schema.additional, Additional::Unset | Additional::Allowed);
    let is_left_alone = |of: &Schema| of.checks.is_none() && of.properties.is_empty();
    !has_other_constraints
        && schema.properties.iter().all(|(key, of)| match content.get(&**key) {
            Some(value) => validate(of, value, &Path::new(key), None).is_valid(),
            None => !is_meta(key) || is_left_alone(of),
        })
}

/// The errors of an updated value. Unchanged parts are not reported (ratcheting).
pub fn check_update(schema: &Schema, value: &Value, old: &Value, below: &str) -> Vec<FieldError> {
    let pair = Pair { new: value, old, schema };
    ratcheted(schema, value, &Path::NONE, pair).into_errors(below)
}

/// The error that replaces the evaluation of validation rules, when one of the given errors forbids
/// that evaluation.
pub fn blocked(errors: &[FieldError]) -> Option<FieldError> {
    const WHY: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    errors.iter().any(is_blocking).then(|| FieldError::invalid(&Path::NONE, BadValue::None, WHY))
}

fn ratcheted(schema: &Schema, value: &Value, path: &Path<'_>, pair: Pair<'_>) -> ValidationResult {
    let mut out = validate(schema, value, path, Some(pair));
    if !out.is_valid() && pair.is_same() {
        out = ValidationResult::counted(out.matches);
    }
    out
}

/// Validates a part of a value, with ratcheting where there is an old value.
fn part(schema: &Schema, value: &Value, path: &Path<'_>, pair: Option<Pair<'_>>) -> ValidationResult {
    match pair {
        Some(pair) => ratcheted(schema, value, path, pair),
        None => validate(schema, value, path, None),
    }
}

fn validate(schema: &Schema, value: &Value, path: &Path<'_>, old: Option<Pair<'_>>) -> ValidationResult {
    let mut out = ValidationResult::default();
    let format = schema.checks.as_ref().map_or("", |checks| &checks.format);
    if value.is_null() {
        out.merge(of_type(schema, format, value, path));
        choices(schema, value, path, &mut out);
        return out;
    }
    if schema.has_kind() || !format.is_empty() {
        out.merge(of_type(schema, format, value, path));
        out.count();
    }
    out.merge(combined(schema, value, path, old));
    out.count();
    match value {
        Value::String(text) => {
            string(schema, text, path, &mut out);
            out.count();
            if format::is_text(format) {
                if !format::matches(format, text) {
                    let words = format!("{} in body must be of type {format}: {}", name(path), quote(text));
                    out.add(words.clone(), FieldError::type_invalid(path, text, words));
                }
                out.count();
            }
        }
        Value::Number(number) => {
            out.merge(numbers::check(schema, number, path));
            out.count();
        }
        Value::Array(items) => {
            out.merge(list(schema, items, path, old));
            out.count();
        }
        _ => {}
    }
    choices(schema, value, path, &mut out);
    out.count();
    if let Value::Object(members) = value {
        out.merge(object(schema, members, path, old));
        out.count();
    }
    out.count();
    out
}

/// Mirrors `typeValidator.Validate`.
fn of_type(schema: &Schema, format: &str, value: &Value, path: &Path<'_>) -> ValidationResult {
    let mut out = ValidationResult::default();
    out.count();
    let found = kind_of(value);
    let Some(kind) = found else {
        if schema.has_kind() && !schema.flags.nullable {
            wrong_type(schema.kind_text(), "null", path, &mut out);
        }
        return out;
    };
    let is_number = schema.is_of(JsonType::Number) || schema.is_of(JsonType::Integer);
    let is_whole = kind == JsonType::Number && value.as_f64().is_some_and(numbers::is_json_integer);
    let fits = schema.is_of(kind)
        || (is_whole && schema.is_of(JsonType::Integer))
        || (kind == JsonType::Integer && schema.is_of(JsonType::Number));
    let is_text = matches!(kind, JsonType::String | JsonType::Array);
    if !is_text && !format.is_empty() && !fits {
        let found = match kind {
            JsonType::Integer => "int64",
            JsonType::Number => "float64",
            _ => "",
        };
        wrong_type(format, found, path, &mut out);
        return out;
    }
    if !is_number && !format.is_empty() && is_text {
        return out;
    }
    if !fits {
        wrong_type(schema.kind_text(), kind.name(), path, &mut out);
    }
    out
}

fn wrong_type(wanted: &str, found: &str, path: &Path<'_>, out: &mut ValidationResult) {
    let text = format!("{} in body must be of type {wanted}: {found:?}", name(path));
    out.add(text.clone(), FieldError::type_invalid(path, found, text));
}

fn kind_of(value: &Value) -> Option<JsonType> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some(JsonType::Boolean),
        Value::Number(n) if n.as_i64().is_some() => Some(JsonType::Integer),
        Value::Number(_) => Some(JsonType::Number),
        Value::String(_) => Some(JsonType::String),
        Value::Array(_) => Some(JsonType::Array),
        Value::Object(_) => Some(JsonType::Object),
    }
}

/// Checks `anyOf`, `oneOf`, `allOf`, `not` (`schemaPropsValidator`).
fn combined(schema: &Schema, value: &Value, path: &Path<'_>, old: Option<Pair<'_>>) -> ValidationResult {
    let mut out = ValidationResult::default();
    if let Some(checks) = &schema.checks {
        let of = |schema: &Schema| validate(schema, value, path, old);
        if !checks.any_of.is_empty() {
            any_of(checks, of, path, &mut out);
        }
        if !checks.one_of.is_empty() {
            one_of(checks, of, path, &mut out);
        }
        if !checks.all_of.is_empty() {
            all_of(checks, of, path, &mut out);
        }
        if checks.not.as_ref().is_some_and(|not| of(not).is_valid()) {
            out.composite(format!("{:?} must not validate the schema (not)", name(path)));
        }
    }
    out.count();
    out
}

/// The failed alternative with more passed checks; the first one if they are equal.
fn furthest(best: Option<ValidationResult>, outcome: ValidationResult) -> Option<ValidationResult> {
    match best {
        Some(best) if best.matches >= outcome.matches => Some(best),
        _ => Some(outcome),
    }
}

fn any_of(checks: &Checks, of: impl Fn(&Schema) -> ValidationResult, path: &Path<'_>, out: &mut ValidationResult) {
    let mut failed = None;
    for schema in &checks.any_of {
        let outcome = of(schema);
        if outcome.is_valid() {
            return out.merge(outcome);
        }
        failed = furthest(failed, outcome);
    }
    out.composite(format!("{:?} must validate at least one schema (anyOf)", name(path)));
    out.merge(failed.unwrap_or_default());
}

fn one_of(checks: &Checks, of: impl Fn(&Schema) -> ValidationResult, path: &Path<'_>, out: &mut ValidationResult) {
    let (mut failed, mut valid) = (None, Vec::new());
    for schema in &checks.one_of {
        let outcome = of(schema);
        if outcome.is_valid() {
            valid.push(outcome);
        } else if valid.is_empty() {
            failed = furthest(failed, outcome);
        }
    }
    let why = match valid.len() {
        1 => return valid.into_iter().for_each(|outcome| out.merge(outcome)),
        0 => "Found none valid".to_owned(),
        n => format!("Found {n} valid alternatives"),
    };
    out.composite(format!("{:?} must validate one and only one schema (oneOf). {why}", name(path)));
    if valid.is_empty() {
        out.merge(failed.unwrap_or_default());
    }
}

fn all_of(checks: &Checks, of: impl Fn(&Schema) -> ValidationResult, path: &Path<'_>, out: &mut ValidationResult) {
    let mut valid = 0;
    for schema in &checks.all_of {
        let outcome = of(schema);
        valid += usize::from(outcome.is_valid());
        out.merge(outcome);
    }
    if valid != checks.all_of.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        out.composite(format!("{:?} must validate all the schemas (allOf){none}", name(path)));
    }
}

/// Mirrors `stringValidator`: reports the first error only.
fn string(schema: &Schema, text: &str, path: &Path<'_>, out: &mut ValidationResult) {
    let Some(checks) = &schema.checks else { return };
    let length = text.chars().count() as i64;
    if let Some(max) = checks.max_length.filter(|max| length > *max) {
        let words = format!("{} in body should be at most {max} chars long", name(path));
        return out.add(words, FieldError::too_long(path, usize::try_from(max).unwrap_or(0)));
    }
    if let Some(min) = checks.min_length.filter(|min| length < *min) {
        let words = format!("{} in body should be at least {min} chars long", name(path));
        return out.invalid(path, text.into(), words);
    }
    if let Some(pattern) = checks.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        out.invalid(path, text.into(), format!("{} in body should match '{}'", name(path), pattern.text));
    }
}

/// Mirrors `basicCommonValidator`.
fn choices(schema: &Schema, value: &Value, path: &Path<'_>, out: &mut ValidationResult) {
    let Some(checks) = schema.checks.as_ref().filter(|checks| !checks.choices.is_empty()) else { return };
    if checks.choices.iter().any(|choice| !choice.is_null() && is_choice(choice, value)) {
        return;
    }
    let texts: Vec<String> =
        checks.choices.iter().map(|choice| choice.as_str().map_or_else(|| json_text(choice), str::to_owned)).collect();
    let words = format!("{} in body should be one of [{}]", name(path), texts.join(" "));
    out.add(words, FieldError::not_supported(path, shown(value), &texts));
}

/// Whether the value equals the enum value after Go's conversion to the type of the enum value.
///
/// The conversion truncates fractions, and turns an integer into the character of that code point.
fn is_choice(choice: &Value, value: &Value) -> bool {
    match (choice, value) {
        (Value::Number(choice), Value::Number(value)) => match choice.as_i64() {
            Some(choice) => value.as_i64().or_else(|| value.as_f64().map(go_integer)) == Some(choice),
            None => choice.as_f64() == value.as_f64(),
        },
        (Value::String(choice), Value::Number(value)) => value.as_i64().is_some_and(|code| {
            let character = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            choice.chars().eq([character])
        }),
        _ => choice == value,
    }
}

/// Converts a float to an integer as Go does on amd64: an out-of-range value becomes `i64::MIN`.
fn go_integer(number: f64) -> i64 {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    if fits { number as i64 } else { i64::MIN }
}

/// Mirrors `schemaSliceValidator`.
fn list(schema: &Schema, items: &[Value], path: &Path<'_>, old: Option<Pair<'_>>) -> ValidationResult {
    let mut out = ValidationResult::default();
    if let Some(of) = &schema.items {
        let mut pairs = old.map(Pair::items).unwrap_or_default().into_iter();
        for (index, item) in items.iter().enumerate() {
            out.merge(part(of, item, &path.index(index), pairs.next().flatten()));
        }
    }
    let size = items.len() as i64;
    let checks = schema.checks.as_ref();
    if let Some(min) = checks.and_then(|checks| checks.min_items).filter(|min| size < *min) {
        let words = format!("{} in body should have at least {min} items", name(path));
        out.invalid(path, BadValue::Int(size), words);
    }
    if let Some(max) = checks.and_then(|checks| checks.max_items).filter(|max| size > *max) {
        let words = format!("{} in body should have at most {max} items", name(path));
        out.add(words, FieldError::too_many(path, Some(items.len()), usize::try_from(max).unwrap_or(0)));
    }
    if schema.flags.unique_items && !repeated(items.iter().map(text)).is_empty() {
        out.invalid(path, "".into(), format!("{} in body shouldn't contain duplicates", name(path)));
    }
    out.count();
    out
}

/// Mirrors `objectValidator`.
fn object(schema: &Schema, members: &Map<String, Value>, path: &Path<'_>, old: Option<Pair<'_>>) -> ValidationResult {
    let mut out = ValidationResult::default();
    sizes(schema, members.len(), path, &mut out);
    additional(schema, members, path, old, &mut out);
    for (key, of) in &schema.properties {
        let Some(value) = members.get(&**key) else { continue };
        let is_type = path.is_root() && matches!(&**key, "kind" | "apiVersion");
        let pair = old.filter(|_| !is_type).and_then(|old| old.member(key));
        out.merge(part(of, value, &path.child(key), pair));
    }
    for key in schema.checks.iter().flat_map(|checks| &checks.required) {
        if !members.contains_key(&**key) {
            let words = format!("{}.{key} in body is required", name(path));
            out.add(words, FieldError::required(&path.child(key), ""));
        }
    }
    out
}

/// Checks members that are not declared as properties.
fn additional(
    schema: &Schema,
    members: &Map<String, Value>,
    path: &Path<'_>,
    old: Option<Pair<'_>>,
    out: &mut ValidationResult,
) {
    if matches!(schema.additional, Additional::Unset | Additional::Allowed) {
        return;
    }
    for (key, value) in sorted(members).into_iter().filter(|(key, _)| schema.property(key).is_none()) {
        match &schema.additional {
            Additional::Schema(of) => {
                // Upstream joins the name of the object and the key by a dot, even if one of them
                // is empty.
                let is_odd = path.is_root() || key.is_empty();
                let joined = if is_odd { format!("{}.{key}", name(path)) } else { String::new() };
                let at = if is_odd { Path::new(&joined) } else { path.child(key) };
                out.merge(part(of, value, &at, old.and_then(|old| old.member(key))));
            }
            _ => {
                let words = format!("{}.{key} in body is a forbidden property", name(path));
                out.invalid(path, key.into(), words);
            }
        }
    }
}

fn sizes(schema: &Schema, count: usize, path: &Path<'_>, out: &mut ValidationResult) {
    let Some(checks) = &schema.checks else { return };
    let size = count as i64;
    if let Some(min) = checks.min_properties.filter(|min| size < *min) {
        let words = format!("{} in body should have at least {min} properties", name(path));
        out.invalid(path, BadValue::Int(size), words);
    }
    if let Some(max) = checks.max_properties.filter(|max| size > *max) {
        let words = format!("{} in body should have at most {max} properties", name(path));
        out.add(words, FieldError::too_many(path, Some(count), usize::try_from(max).unwrap_or(0)));
    }
}
