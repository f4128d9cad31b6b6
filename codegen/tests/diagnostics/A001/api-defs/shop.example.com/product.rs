/// Desired state of the product.
pub struct ProductSpec {
    pub stock i32,
}
