/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(2)]
    pub stock: i32,
}
