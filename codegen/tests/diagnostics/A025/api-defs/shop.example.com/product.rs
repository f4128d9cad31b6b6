use crate::meta::ObjectMeta;

/// A thing on sale.
#[kind(plural = "Products", storage = v1beta1)]
#[versions(v1)]
pub struct Product {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state of the product.
    #[field(2)]
    pub spec: ProductSpec,
}

/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,
}

/// A thing that is ordered.
#[kind(plural = "orders", short = "prod", scope = Namespaced)]
#[versions(v1)]
#[column("When", date, spec.stock)]
pub struct Order {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state of the product.
    #[field(2)]
    pub spec: ProductSpec,
}

/// A thing that is sent back.
#[kind(plural = "returns", short = "prod", scope = Namespaced)]
#[versions(v1)]
pub struct Return {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state of the product.
    #[field(2)]
    pub spec: ProductSpec,
}
