/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[breaks(C005, reason = "We need more.")]
    #[field(1)]
    pub stock: i32,
}
