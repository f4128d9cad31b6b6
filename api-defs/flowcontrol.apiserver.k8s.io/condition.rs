/// Three-valued outcome used in flow control conditions.
#[open]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}
