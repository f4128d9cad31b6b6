/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, default = 2)]
    pub stock: Option<i32>,
}
