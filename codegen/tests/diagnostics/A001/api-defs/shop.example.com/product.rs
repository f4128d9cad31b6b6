/// What the seller asks for.
pub struct ProductSpec {
    pub stock i32,
}
