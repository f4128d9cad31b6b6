//! The compiled checks of a field.

use regex::Regex;

use super::ValidationScope;
use crate::def::FieldInfo;
use crate::format::field::DeclaredFormat;

/// A rule, and the feature gates that enable it.
pub(super) struct GatedRule {
    /// The name of its tag without `k8s:`; checks run in this order.
    pub tag: &'static str,
    /// Feature gates, and whether each must be enabled or disabled.
    pub gates: Vec<(&'static str, bool)>,
    pub rule: TagRule,
}

/// The rule of a check.
pub(super) enum TagRule {
    Required,
    /// Skips the remaining checks of an unset field.
    Optional,
    Forbidden,
    Immutable,
    Update(Vec<UpdateConstraint>),
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
    EachVal(Box<GatedRule>),
    EachKey(Box<GatedRule>),
    Subfield(&'static str, Box<GatedRule>),
}

/// A forbidden update of a field (upstream `validate.UpdateConstraint`).
#[derive(Clone, Copy)]
pub(super) enum UpdateConstraint {
    Set,
    Unset,
    Modify,
}

impl TagRule {
    /// Creates a pattern rule. The generator has rejected patterns that do not compile.
    pub fn pattern(pattern: &str) -> Option<TagRule> {
        Regex::new(pattern).ok().map(TagRule::Pattern)
    }

    /// Whether a failure skips the remaining checks (upstream's `ShortCircuit`).
    ///
    /// Custom resource definitions report all errors of a present value, and so do kinds with
    /// [`ValidationScope::Declared`].
    pub fn short_circuits(&self, scope: ValidationScope) -> bool {
        match self {
            TagRule::Required | TagRule::Optional | TagRule::Forbidden => true,
            TagRule::Immutable | TagRule::Update(_) | TagRule::MaxItems(_) | TagRule::MaxProperties(_) => {
                scope == ValidationScope::Tagged
            }
            _ => false,
        }
    }

    /// Whether it runs before the other checks, even without a value.
    pub fn comes_first(&self, scope: ValidationScope) -> bool {
        matches!(self, TagRule::Immutable | TagRule::Update(_)) || self.short_circuits(scope)
    }
}
