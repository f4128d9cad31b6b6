/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, required, always)]
    pub stock: i32,

    /// Units in stock.
    #[field(2, min = 5, max = 4)]
    pub limit: i32,
}

/// What the seller has.
#[check(units, positive)]
pub struct Store {
    /// Units in stock.
    #[field(1, min = 1)]
    pub units: i32,
}
