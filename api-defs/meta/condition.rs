/// Uniform status observation shared by many API types.
#[validate(by_hand = validate_condition)]
#[check(type, distinct)]
#[check(type, format = qualified_name)]
#[check(status, one_of(False, True, Unknown))]
#[check(observedGeneration, min(0, "must be greater than or equal to zero"))]
#[check(lastTransitionTime, required)]
#[check(reason, required, format = condition_reason, max_bytes = 1024)]
#[check(message, max_bytes = 32768)]
pub struct Condition {
    /// CamelCase condition name, optionally domain-prefixed, unique within the list.
    #[field(1, required)]
    pub r#type: String,

    /// Current value; `Unknown` if the controller cannot determine it.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Generation the observation is based on; older than `metadata.generation` means stale.
    #[field(3)]
    pub observed_generation: i64,

    /// When `status` last took a different value.
    #[field(4, required)]
    pub last_transition_time: Time,

    /// CamelCase code for the last transition; must not be empty.
    #[field(5, required)]
    pub reason: String,

    /// Details for people reading the status, up to 32768 characters.
    #[field(6, required)]
    pub message: String,
}

/// Tri-state condition value, where `Unknown` means not determinable.
#[open]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}
