use crate::meta::LabelSelector;

/// Type of the objects that can serve as parameters for a policy.
#[structure(atomic)]
pub struct ParamKind {
    /// API group and version of the parameter type, for example `rules.example.com/v1`.
    #[field(1)]
    pub api_version: String,

    /// Parameter type's kind, e.g. `ConfigMap` or a custom resource kind.
    #[field(2)]
    pub kind: String,
}

/// Locates the parameter object or objects handed to a policy.
#[structure(atomic)]
pub struct ParamRef {
    /// Picks one parameter object by name; cannot be combined with `selector`.
    #[field(1)]
    pub name: String,

    /// Where to find parameters; if omitted, the evaluated object's namespace is searched.
    #[field(2)]
    pub namespace: String,

    /// Picks several parameter objects by label; the policy runs once for each.
    #[field(3)]
    pub selector: Option<LabelSelector>,

    /// Treat missing parameters as a pass (`Allow`) or apply `failurePolicy` (`Deny`).
    #[field(4)]
    pub parameter_not_found_action: Option<ParameterNotFoundActionType>,
}

/// Choice of outcome when a binding's parameters cannot be found.
#[open]
pub enum ParameterNotFoundActionType {
    Allow,
    Deny,
}

mod v1alpha1 {
    #[differs(ParamRef)]
    struct ParamRef {
        /// Treat missing parameters as a pass (`Allow`) or apply `failurePolicy` (`Deny`).
        #[field(4, default_hidden = Deny)]
        parameter_not_found_action: Option<ParameterNotFoundActionType>,
    }
}
