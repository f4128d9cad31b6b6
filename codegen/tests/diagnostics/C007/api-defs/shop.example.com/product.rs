/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, default = 2)]
    pub stock: Option<i32>,
}
