/// Desired state of the order.
pub struct OrderSpec {
    /// How many.
    #[field(1)]
    pub count: i32,

/// What was delivered.
pub struct OrderStatus {
    /// How many.
    #[field(1)]
    pub count: i32,
}
