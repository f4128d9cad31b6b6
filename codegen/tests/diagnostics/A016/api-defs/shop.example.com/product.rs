/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: u32,

    /// Units in stock.
    #[field(2, list = atomic)]
    pub parts: [String; 3],

    /// Units in stock.
    #[field(3)]
    pub labels: HashMap<String, String>,
}

/// What a shop has in stock.
pub struct ProductStatus {
    /// Parts by shelf.
    #[field(1, list = atomic)]
    pub shelves: Vec<Vec<String>>,

    /// Parts that are missing.
    #[field(2, list = atomic)]
    pub missing: Option<Vec<String>>,
}
