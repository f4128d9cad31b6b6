/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, list = map(name))]
    pub parts: Vec<Part>,
}

/// A part.
pub struct Part {
    /// Units in stock.
    #[field(1)]
    pub name: String,

    /// Units in stock.
    #[field(2, required)]
    pub number: i32,
}
