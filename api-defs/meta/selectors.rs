/// One parsed field selector term, used in authorization checks.
pub struct FieldSelectorRequirement {
    /// Field path being compared, such as `spec.nodeName`.
    #[field(1, required)]
    pub key: String,

    /// Comparison applied to the field and the values.
    #[field(2, required)]
    pub operator: FieldSelectorOperator,

    /// Candidates for `In` and `NotIn`; leave empty for existence checks.
    #[field(3, list = atomic)]
    pub values: Vec<String>,
}

/// Set tests usable in parsed field selectors.
#[open]
pub enum FieldSelectorOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// Query over labels; all parts must hold, and an empty one selects everything.
#[direct]
#[structure(atomic)]
#[validate(by_hand = validate_label_selector)]
#[check(matchLabels, labels)]
#[check(matchExpressions, below)]
pub struct LabelSelector {
    /// Exact key and value pairs that must all be present.
    #[field(1)]
    pub match_labels: Map<String, String>,

    /// Set-based conditions, all of which must hold as well.
    #[field(2, list = atomic)]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// Single set-based condition on one label key.
#[check(
    values,
    missing = "must be specified when `operator` is 'In' or 'NotIn'",
    when(operator = (In, NotIn), unset(values))
)]
#[check(
    values,
    forbidden = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    when(operator = (Exists, DoesNotExist))
)]
#[check(
    operator,
    invalid = "not a valid selector operator",
    when(not(operator = (In, NotIn, Exists, DoesNotExist)), not(option(any_selector_operator)))
)]
#[check(key, format = qualified_name)]
#[check(values, each(format = label_value), when(not(option(any_selector_value))))]
pub struct LabelSelectorRequirement {
    /// Label key whose presence or value gets tested.
    #[field(1, required)]
    pub key: String,

    /// Test to apply: `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[field(2, required)]
    pub operator: LabelSelectorOperator,

    /// Values to test with `In` or `NotIn`; must be empty otherwise.
    #[field(3, list = atomic)]
    pub values: Vec<String>,
}

/// Set tests usable in a label selector's `matchExpressions`.
#[open]
pub enum LabelSelectorOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}
