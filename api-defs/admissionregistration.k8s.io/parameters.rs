use crate::meta::LabelSelector;

/// Type of the objects that can serve as parameters for a policy.
#[structure(atomic)]
#[check(apiVersion, required, format = versioned_group)]
#[check(kind, required, format = kind_name)]
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
#[check(name, optional, format = path_segment_name)]
#[check(name, forbidden = "name and selector are mutually exclusive", when(set(selector)))]
#[check(selector, below)]
#[check(selector, forbidden = "name and selector are mutually exclusive", when(set(name)))]
#[check(self, missing = "one of name or selector must be specified", when(none(name, selector)))]
#[check(parameterNotFoundAction, missing = "", when(parameterNotFoundAction = ""))]
#[check(parameterNotFoundAction, one_of(Deny, Allow), when(not(parameterNotFoundAction = "")))]
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
