//! Validation of expressions. Hand-written, because expressions are compiled, and each may use the
//! variables that are declared before it.

use cel::{Environment, Type};
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;

use super::super::expressions::{Available, Variables, compile, environment, json_patch_type, object_type};
use generated::admissionregistration::v1::{
    self, ApplyConfiguration, AuditAnnotation, JSONPatch, MatchCondition, Variable,
};

const MAX_ANNOTATION_EXPRESSION: usize = 5 * 1024;

const CONDITION: Available = Available { params: false, authorizer: true, patches: false };
const MESSAGE: Available = Available { authorizer: false, ..CONDITION };
const MUTATION: Available = Available { patches: true, ..CONDITION };

/// Defines functions that compile the expression of a struct and check its type.
macro_rules! compiled {
    ($($function:ident($of:ty, $field:literal, $expression:expr, $available:expr, $wanted:expr);)*) => {$(
        #[doc = concat!("Compiles `", $field, "`.")]
        pub fn $function(v: &mut Validation<'_>, path: &Path<'_>, new: &$of, _: Option<&$of>) {
            let expression: fn(&$of) -> &str = $expression;
            let (source, environment) = (expression(new), scope(v, $available));
            if let Err(why) = compile(source, &environment, &[$wanted]) {
                v.invalid(&path.child($field), source, why.to_string());
            }
        }
    )*};
}

compiled! {
    compile_match_condition(MatchCondition, "expression", |new| new.expression.trim(), CONDITION, Type::Bool);
    compile_validation(v1::Validation, "expression", |new| &new.expression, CONDITION, Type::Bool);
    compile_message(v1::Validation, "messageExpression", |new| &new.message_expression, MESSAGE, Type::String);
    compile_apply_configuration(ApplyConfiguration, "expression", |new| new.expression.trim(), MUTATION, object_type());
    compile_json_patch(JSONPatch, "expression", |new| new.expression.trim(), MUTATION, json_patch_type());
}

/// The environment of an expression, including the variables that precede it.
fn scope(v: &mut Validation<'_>, available: Available) -> Environment {
    let environment = environment(Available { params: v.has_option(options::PARAMS), ..available });
    match v.kept::<Variables>() {
        Some(variables) => variables.compose(environment),
        None if available.patches => Variables::default().compose(environment),
        None => environment,
    }
}

/// Validates the name of a variable. Hand-written, because CEL reserves names.
pub fn validate_variable_name(v: &mut Validation<'_>, path: &Path<'_>, variable: &Variable, _: Option<&Variable>) {
    let name = &variable.name;
    let is_word = name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    if !is_word || name.starts_with(|first: char| first.is_ascii_digit()) || cel::is_reserved(name) {
        v.invalid(&path.child(json_name!(Variable.name)), name, "must be a valid CEL identifier");
    }
}

/// `validateVariable`: later expressions may use the variable.
pub fn compile_variable(v: &mut Validation<'_>, path: &Path<'_>, variable: &Variable, _: Option<&Variable>) {
    let mut known = v.kept::<Variables>().cloned().unwrap_or_default();
    v.keep(known.clone());
    let Variable { name, expression } = variable;
    if !expression.trim().is_empty() {
        let compiled = compile(expression, &scope(v, CONDITION), &[]);
        known.add(name, compiled.as_ref().map_or(Type::Dyn, |program| program.output().clone()));
        if let Err(why) = compiled {
            v.invalid(&path.child(json_name!(Variable.expression)), expression, why.to_string());
        }
    }
    v.keep(known);
}

/// Validates the key of an annotation. Hand-written, because the name of the policy precedes it.
pub fn validate_annotation_key(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    annotation: &AuditAnnotation,
    _: Option<&AuditAnnotation>,
) {
    let (path, key) = (path.child(json_name!(AuditAnnotation.key)), &annotation.key);
    match v.option(options::OBJECT_NAME).unwrap_or_default() {
        "" => v.invalid(&path, key, "requires metadata.name be non-empty"),
        policy => {
            let key = format!("{policy}/{key}");
            v.malformed(&path, &key, format::is_qualified_name(&key));
        }
    }
}

/// `validateAuditAnnotation`: the expression returns a string or null.
pub fn compile_annotation(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    annotation: &AuditAnnotation,
    _: Option<&AuditAnnotation>,
) {
    let (path, expression) = (path.child(json_name!(AuditAnnotation.value_expression)), &annotation.value_expression);
    let source = expression.trim();
    if source.len() > MAX_ANNOTATION_EXPRESSION {
        return v.required(&path, format!("must not exceed {MAX_ANNOTATION_EXPRESSION} bytes in length"));
    }
    if let Err(why) = compile(source, &scope(v, CONDITION), &[Type::String, Type::Null]) {
        v.invalid(&path, expression, why.to_string());
    }
}
