//! The compiled checks of a struct, built from its descriptor when it is first validated.

use crate::def::{Constraint, FieldDef, Flags, ListType, Shape, StructDef, UnionDef};

use super::rule::{GatedRule, TagRule};
use super::scope::ValidationScope;
use super::tag::{self, list_keys};

/// The checks of a struct.
pub(crate) struct ValidationPlan {
    pub(super) unions: Vec<UnionMembership>,
    /// Fields with checks in or below them, in order.
    pub(super) fields: Vec<FieldPlan>,
}

/// The checks of a field.
pub(super) struct FieldPlan {
    pub index: usize,
    pub shape: Shape,
    pub list: ListType,
    /// Checks that can skip the others; all of them run.
    pub first: Vec<GatedRule>,
    pub rest: Vec<GatedRule>,
    /// Whether no declaration makes the field required or optional: an unset field is then valid.
    pub implied_optional: bool,
    /// Whether structs in the field have checks.
    pub below: bool,
}

/// A union of fields, by JSON name.
pub(super) struct UnionMembership {
    pub discriminator: &'static str,
    /// Pairs of discriminator value and JSON name.
    pub members: Vec<(&'static str, &'static str)>,
    pub zero_allowed: bool,
}

impl ValidationPlan {
    /// The plan of a struct, compiled on first use.
    pub fn of(def: &'static StructDef, scope: ValidationScope) -> &'static ValidationPlan {
        let [tagged, declared] = &def.tables().plans;
        let plan = if scope == ValidationScope::Tagged { tagged } else { declared };
        let plan = plan.get_or_init(|| Box::new(ValidationPlan::new(def, scope)));
        plan.downcast_ref().expect("only this function sets the plan")
    }

    fn new(def: &'static StructDef, scope: ValidationScope) -> ValidationPlan {
        let fields = def.fields.iter().enumerate().map(|(index, field)| FieldPlan::new(def, index, field, scope));
        ValidationPlan { unions: unions(def, scope), fields: fields.filter(FieldPlan::has_any).collect() }
    }
}

impl FieldPlan {
    fn new(def: &'static StructDef, index: usize, field: &'static FieldDef, scope: ValidationScope) -> FieldPlan {
        let mut checks: Vec<GatedRule> = field.info.constraints.iter().flat_map(|c| compile(field, c)).collect();
        if scope == ValidationScope::Declared {
            checks.extend(declared(field));
        }
        // As in upstream, checks run in order of tag names.
        checks.sort_by_key(|check| check.tag);
        let decides_presence =
            |check: &GatedRule| matches!(check.rule, TagRule::Required | TagRule::Optional | TagRule::Forbidden);
        let implied_optional = !checks.iter().any(decides_presence) && scope == ValidationScope::Declared;
        let (first, rest) = checks.into_iter().partition(|check| check.rule.comes_first(scope));
        let below = field.shape().struct_def().is_some_and(|below| has_checks(below, scope, &mut vec![def]));
        FieldPlan { index, shape: field.shape(), list: field.info.list, first, rest, implied_optional, below }
    }

    fn has_any(&self) -> bool {
        self.below || !self.first.is_empty() || !self.rest.is_empty()
    }
}

fn compile(field: &'static FieldDef, constraint: &'static Constraint) -> Option<GatedRule> {
    let (tag, rule) = match constraint {
        Constraint::Required => ("required", TagRule::Required),
        Constraint::Min(n) => ("minimum", TagRule::Min(*n)),
        Constraint::Max(n) => ("maximum", TagRule::Max(*n)),
        Constraint::MinLength(n) => ("minLength", TagRule::MinLength(*n as usize)),
        Constraint::MaxLength(n) => ("maxLength", TagRule::MaxLength(*n as usize)),
        Constraint::MaxBytes(n) => ("maxBytes", TagRule::MaxBytes(*n as usize)),
        Constraint::MinItems(n) => ("minItems", TagRule::MinItems(*n as usize)),
        Constraint::MaxItems(n) => ("maxItems", TagRule::MaxItems(*n as usize)),
        Constraint::Pattern(pattern) => ("pattern", TagRule::pattern(pattern)?),
        Constraint::Format(format) => ("format", TagRule::Format(*format)),
        Constraint::Immutable => ("immutable", TagRule::Immutable),
        Constraint::Unique => ("unique", TagRule::Unique(list_keys(field))),
        Constraint::Tag(text) => return tag::parse(field, text),
    };
    Some(GatedRule { tag, gates: Vec::new(), rule })
}

/// Checks of a declaration beyond its constraints.
fn declared(field: &'static FieldDef) -> impl Iterator<Item = GatedRule> {
    let required = field.flags.has(Flags::REQUIRED).then_some(("required", TagRule::Required));
    let enumerated = (!field.info.enum_values.is_empty()).then_some(("enum", TagRule::Enum(field.info)));
    let is_declared_unique = field.info.constraints.iter().any(|constraint| matches!(constraint, Constraint::Unique));
    let is_unique = matches!(field.info.list, ListType::Set | ListType::Map(_)) && !is_declared_unique;
    let unique = is_unique.then(|| ("unique", TagRule::Unique(list_keys(field))));
    let all = [required, enumerated, unique].into_iter().flatten();
    all.map(|(tag, rule)| GatedRule { tag, gates: Vec::new(), rule })
}

fn unions(def: &'static StructDef, scope: ValidationScope) -> Vec<UnionMembership> {
    let tagged: Vec<&str> =
        def.json_fields().filter(|field| tag::has(field, "unionMember")).map(|field| field.json).collect();
    let at_most_one: Vec<&str> =
        def.json_fields().filter(|field| tag::has(field, "zeroOrOneOfMember")).map(|field| field.json).collect();
    let enforced = |union: &&UnionDef| {
        scope == ValidationScope::Declared
            || union.members.iter().any(|(_, m)| tagged.contains(m) || at_most_one.contains(m))
    };
    let mut unions: Vec<UnionMembership> = def
        .unions
        .iter()
        .filter(enforced)
        .map(|u| UnionMembership {
            discriminator: u.discriminator,
            members: u.members.to_vec(),
            zero_allowed: u.zero_allowed,
        })
        .collect();
    for (members, zero_allowed) in [(tagged, false), (at_most_one, true)] {
        let is_declared = |name: &&&str| def.unions.iter().any(|u| u.members.iter().any(|(_, m)| m == *name));
        if !members.is_empty() && !members.iter().any(|name| is_declared(&name)) {
            let members = members.into_iter().map(|name| ("", name)).collect();
            unions.push(UnionMembership { discriminator: "", members, zero_allowed });
        }
    }
    unions
}

/// Whether a struct or one below it has checks; `seen` ends the recursion in recursive types.
fn has_checks(def: &'static StructDef, scope: ValidationScope, seen: &mut Vec<&'static StructDef>) -> bool {
    if def.validate.is_some() || !def.rules.is_empty() || !unions(def, scope).is_empty() {
        return true;
    }
    let own = |field: &'static FieldDef| {
        !field.info.constraints.is_empty() || (scope == ValidationScope::Declared && declared(field).next().is_some())
    };
    if def.fields.iter().any(own) {
        return true;
    }
    def.fields.iter().filter_map(|field| field.shape().struct_def()).any(|below| {
        if seen.iter().any(|seen| std::ptr::eq(*seen, below)) {
            return false;
        }
        seen.push(below);
        has_checks(below, scope, seen)
    })
}
