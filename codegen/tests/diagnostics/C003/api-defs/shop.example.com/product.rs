/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(2)]
    pub stock: i32,
}
