/// What the seller asks for.
pub struct ProductSpec {
    #[field(1)]
    pub stock: i32,
}
