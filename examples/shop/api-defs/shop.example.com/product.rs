//! Products.

use crate::meta::{Condition, ObjectMeta, Quantity};

/// A product on sale.
#[kind(plural = "products", short = "prod", scope = Namespaced, category = "all")]
#[versions(v1)]
#[subresource(status)]
#[column("Price", spec.price)]
#[column("Stock", integer, spec.stock)]
#[column("Supplier", spec.supplier, priority = 1)]
#[column("Age", age)]
#[selectable(spec.supplier)]
pub struct Product {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state of the product.
    #[field(2)]
    pub spec: ProductSpec,

    /// Observed state of the product.
    #[field(3)]
    pub status: ProductStatus,
}

/// Desired state of the product.
#[rule(
    "self.supplier != 'workshop' || self.stock <= 100",
    field = stock,
    message_expression = "'the workshop makes 100 units, not %d'.format([self.stock])"
)]
pub struct ProductSpec {
    /// Units to keep in stock.
    #[field(1, default = 1, min = 0, max = 1000)]
    pub stock: Option<i32>,

    /// Price per unit, such as `12500m`.
    #[field(2, required)]
    pub price: Quantity,

    /// Supplier of the product; immutable, defaults to the shop's workshop.
    #[field(3, required, immutable, format = dns1123_subdomain)]
    pub supplier: String,

    /// Maker of the product; replaced by `supplier`.
    #[field(4, deprecated)]
    pub maker: String,
}

/// Observed state of the product.
pub struct ProductStatus {
    /// Conditions, one entry per type.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,

    /// Units on the shelf.
    #[field(2)]
    pub available: i32,
}
