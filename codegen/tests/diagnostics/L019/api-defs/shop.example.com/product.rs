/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, list = atomic)]
    pub parts: Vec<Part>,
}

/// A part.
pub struct Part {
    /// Units in stock.
    #[field(1)]
    pub name: String,
}
