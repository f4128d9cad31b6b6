/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, min_length = 1)]
    pub stock: i32,

    /// Units in stock.
    #[field(2, min = 1)]
    pub supplier: String,

    /// Shelves it stands on.
    #[field(3, list = atomic, says_kind)]
    pub shelves: Vec<String>,
}
