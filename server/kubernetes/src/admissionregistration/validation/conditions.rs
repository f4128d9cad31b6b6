//! Match conditions.

use std::collections::HashSet;

use cel::{Environment, Type};
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;

use super::super::expressions::{Available, compile, environment};
use generated::admissionregistration::v1::MatchCondition;

const MAX_CONDITIONS: usize = 64;

/// An expression that has to be there, compile, and have one of these types. Returns its type.
pub(super) fn validate_expression(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &str,
    environment: &Environment,
    wanted: &[Type],
) -> Type {
    if source.is_empty() {
        v.required(path, "");
        return Type::Dyn;
    }
    match compile(source, environment, wanted) {
        Ok(program) => program.output().clone(),
        Err(why) => {
            v.invalid(path, source, why);
            Type::Dyn
        }
    }
}

/// `validateMatchConditions`; expressions have `params` when there is a kind of them.
pub(super) fn validate_match_conditions(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    conditions: &[MatchCondition],
    params: bool,
) {
    let environment = environment(Available { params, authorizer: true, patches: false });
    if conditions.len() > MAX_CONDITIONS {
        v.too_many(path, conditions.len(), MAX_CONDITIONS);
    }
    let mut names = HashSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        validate_expression(v, &path.child("expression"), condition.expression.trim(), &environment, &[Type::Bool]);
        let (path, name) = (path.child("name"), &condition.name);
        if name.is_empty() {
            v.required(&path, "");
            continue;
        }
        v.malformed(&path, name, format::is_qualified_name(name));
        if !names.insert(name) {
            v.duplicate(&path, name);
        }
    }
}
