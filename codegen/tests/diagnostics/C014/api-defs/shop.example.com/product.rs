use crate::meta::ObjectMeta;

/// A thing on sale.
#[kind(plural = "products", scope = Namespaced)]
#[versions(v1)]
pub struct Product {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state of the product.
    #[field(2)]
    pub spec: ProductSpec,
}

/// Desired state of the product.
#[rule("self.stock != 13", field = stock, message = "must not be 13")]
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, min = 1, max = 200)]
    pub stock: i32,

    /// Where it stands.
    #[field(2, max_length = 8)]
    pub shelf: String,
}
