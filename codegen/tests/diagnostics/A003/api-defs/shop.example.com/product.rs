/// Desired state of the product.
#[derive(Clone)]
pub struct ProductSpec {
    /// Units in stock.
    #[feild(1)]
    pub stock: i32,
}
