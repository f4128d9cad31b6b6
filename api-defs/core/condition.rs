/// Three-valued outcome used by conditions.
#[open]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}
