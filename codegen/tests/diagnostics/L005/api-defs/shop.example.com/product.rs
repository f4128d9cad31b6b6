use crate::meta::Condition;

/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, list = atomic)]
    pub conditions: Vec<Condition>,
}
