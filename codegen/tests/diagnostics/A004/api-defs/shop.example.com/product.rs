/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, requierd)]
    pub stock: i32,

    /// Units in stock.
    #[field(2, colour = "red")]
    pub limit: i32,
}
