/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(4)]
    pub stock: i32,

    /// Units in stock.
    #[field(5)]
    pub price: i32,

    /// Units in stock.
    #[field(4)]
    pub limit: i32,
}
