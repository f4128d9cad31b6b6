/// What the seller asks for.
#[derive(Clone)]
pub struct ProductSpec {
    /// Units in stock.
    #[feild(1)]
    pub stock: i32,
}
