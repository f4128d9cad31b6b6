/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,

    /// Units in stock.
    #[field(2, json = "stock")]
    pub limit: i32,
}
