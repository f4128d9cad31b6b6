/// What the seller asks for.
pub struct ProductSpec {
    /// units in stock
    #[field(1)]
    pub stock: i32,
}
