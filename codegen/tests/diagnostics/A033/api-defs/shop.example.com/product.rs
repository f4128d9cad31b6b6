/// Desired state of the product.
#[allow(L006)]
#[allow(L999)]
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,
}
