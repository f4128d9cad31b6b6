/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, required, default = 0)]
    pub stock: i32,
}
