/// A named CEL value that other expressions in the policy can reuse.
#[structure(atomic)]
#[check(name, missing = "name is not specified", when(blank(name)))]
#[check(self, by_hand = validate_variable_name, when(not(blank(name))))]
#[check(expression, missing = "expression is not specified", when(blank(expression)))]
#[check(self, by_hand = compile_variable)]
pub struct Variable {
    /// CEL identifier for the value; `foo` becomes `variables.foo`.
    #[field(1, proto = "Name", required)]
    pub name: String,

    /// CEL computed at first use; it may refer to variables defined earlier.
    #[field(2, proto = "Expression", required)]
    pub expression: String,
}

/// Choice between blocking and continuing when a webhook or policy errors.
pub enum FailurePolicyType {
    Ignore,
    Fail,
}

/// Whether a mutator may be run a second time in one admission pass.
pub enum ReinvocationPolicyType {
    Never,
    IfNeeded,
}

mod v1alpha1 {
    #[differs(Variable)]
    #[structure(granular)]
    struct Variable {}
}
