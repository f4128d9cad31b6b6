/// Desired state of the product.
pub struct ProductSpec {
    /// units in stock
    #[field(1)]
    pub stock: i32,
}
