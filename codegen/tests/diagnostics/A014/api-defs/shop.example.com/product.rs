/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,
}

/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,
}
