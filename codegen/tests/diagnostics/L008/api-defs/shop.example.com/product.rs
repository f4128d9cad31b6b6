/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, json = "Stock")]
    pub stock: i32,
}
