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

    /// What the shop saw last.
    #[field(3)]
    pub status: ProductStatus,
}

/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,
}

/// What the shop saw last.
pub struct ProductStatus {
    /// Units on the shelf.
    #[field(1)]
    pub available: i32,
}
