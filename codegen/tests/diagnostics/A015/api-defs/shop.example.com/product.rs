/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: Stokc,

    /// Units in stock.
    #[field(2)]
    pub meta: ObjectMeta,
}

/// Units in stock.
pub struct Stock {
    /// Units in stock.
    #[field(1)]
    pub units: i32,
}
