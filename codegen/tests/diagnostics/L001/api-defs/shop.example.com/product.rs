/// Desired state of the product.
pub struct ProductSpec {
    #[field(1)]
    pub stock: i32,
}
