/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,

    /// Units in stock.
    #[field(2)]
    pub price: String,
}
