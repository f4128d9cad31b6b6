//! The compiled checks of a field.

use regex::Regex;

use super::Scope;
use crate::def::FieldInfo;
use crate::format::field::DeclaredFormat;

/// A rule, and the feature gates that enable it.
pub(super) struct Check {
    /// The name of its tag without `k8s:`; checks run in this order.
    pub tag: &'static str,
    /// Feature gates, and whether each must be enabled or disabled.
    pub gates: Vec<(&'static str, bool)>,
    pub rule: Rule,
}

/// The rule of a check.
pub(super) enum Rule {
    Required,
    /// Skips the remaining checks of an unset field.
    Optional,
    Forbidden,
    Immutable,
    Update(Vec<Update>),
    Min(i64),
    Max(i64),
    MinLength(usize),
    MaxLength(usize),
    MaxBytes(usize),
    MinItems(usize),
    MaxItems(usize),
    MaxProperties(usize),
    Pattern(Regex),
    Format(DeclaredFormat),
    /// The values of the field's enum.
    Enum(&'static FieldInfo),
    /// By these keys, or by whole items.
    Unique(Vec<&'static str>),
    EachVal(Box<Check>),
    EachKey(Box<Check>),
    Subfield(&'static str, Box<Check>),
}

/// A forbidden update of a field (upstream `validate.UpdateConstraint`).
#[derive(Clone, Copy)]
pub(super) enum Update {
    Set,
    Unset,
    Modify,
}

impl Rule {
    /// Creates a pattern rule. The generator has rejected patterns that do not compile.
    pub fn pattern(pattern: &str) -> Option<Rule> {
        Regex::new(pattern).ok().map(Rule::Pattern)
    }

    /// Whether a failure skips the remaining checks (upstream's `ShortCircuit`).
    ///
    /// Custom resource definitions report all errors of a present value, and so do kinds with
    /// [`Scope::Declared`].
    pub fn short_circuits(&self, scope: Scope) -> bool {
        match self {
            Rule::Required | Rule::Optional | Rule::Forbidden => true,
            Rule::Immutable | Rule::Update(_) | Rule::MaxItems(_) | Rule::MaxProperties(_) => scope == Scope::Tagged,
            _ => false,
        }
    }

    /// Whether it runs before the other checks, even without a value.
    pub fn comes_first(&self, scope: Scope) -> bool {
        matches!(self, Rule::Immutable | Rule::Update(_)) || self.short_circuits(scope)
    }
}
