/// What the seller asks for.
#[default(by_hand = product_spec)]
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,
}
