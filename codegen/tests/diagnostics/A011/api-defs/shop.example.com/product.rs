/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(0)]
    pub stock: i32,

    /// Units in stock.
    #[field(19001)]
    pub limit: i32,
}
