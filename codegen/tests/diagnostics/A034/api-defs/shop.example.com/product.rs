/// Desired state of the product.
#[proto(items)]
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, inline)]
    pub stock: i32,
}

pub struct Nothing;
