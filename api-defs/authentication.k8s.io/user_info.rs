/// Identity attributes of an authenticated caller.
pub struct UserInfo {
    /// Login name, e.g. `jane` or `system:serviceaccount:default:builder`.
    #[field(1)]
    pub username: String,

    /// Lasting user id that stays distinct even when names get reused.
    #[field(2)]
    pub uid: String,

    /// Groups the user is in, such as `system:masters`.
    #[field(3, list = atomic)]
    pub groups: Vec<String>,

    /// Further attributes from the authenticator, each with a list of values.
    #[field(4)]
    pub extra: Map<String, ExtraValue>,
}

/// Values of one extra attribute of a user.
#[proto(items)]
pub struct ExtraValue {
    /// The values.
    #[field(1)]
    pub items: Vec<String>,
}

mod v1alpha1 {
    use v1::UserInfo;
}
