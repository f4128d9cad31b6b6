/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, list = map(title))]
    pub parts: Vec<Part>,

    /// Units in stock.
    #[field(2, list = map(name))]
    pub names: Vec<String>,
}

/// A part.
pub struct Part {
    /// Units in stock.
    #[field(1, required)]
    pub name: String,
}
