/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, min = "one")]
    pub stock: i32,

    /// Units in stock.
    #[field(2, list = sorted)]
    pub parts: Vec<String>,
}
