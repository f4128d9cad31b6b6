//! Products and their parts.

use crate::meta::{Condition, ObjectMeta, Quantity};

/// A thing on sale.
#[kind(plural = "products", short = "prod", scope = Namespaced, category = "all")]
#[versions(v1(introduced = "1.36"), v1beta1(off))]
#[subresource(status)]
#[subresource(scale, kind = autoscaling::v1::Scale, replicas = spec.stock, observed = status.available, selector = status.selector)]
#[column("Price", spec.price)]
#[column("Stock", integer, spec.stock)]
#[column("Available", integer, status.available or "none", priority = 1, "Units on the shelf.")]
#[column("Age", age)]
#[selectable(spec.supplier)]
#[rule("self.spec.stock <= self.spec.limit", field = spec.stock, message = "stock must not exceed limit")]
#[default(spec.terms = "net 30")]
pub struct Product {
    /// Standard object metadata.
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
#[default(by_hand = product_spec)]
pub struct ProductSpec {
    /// Units to keep in stock.
    #[field(1, default = 1, min = 0)]
    pub stock: Option<i32>,

    /// Most units ever kept.
    #[field(2, required)]
    pub limit: i32,

    /// Price per unit, such as `12500m`.
    #[field(3, required)]
    pub price: Quantity,

    /// Who delivers. Fixed once set.
    #[field(4, required, immutable, format = dns1123_subdomain)]
    pub supplier: String,

    /// Parts, one entry per name.
    #[field(5, list = map(name), patch = merge)]
    pub parts: Vec<Part>,

    /// What happens on shortage.
    #[field(6, default = Backorder)]
    pub on_shortage: OnShortage,

    /// Terms of payment.
    #[field(8)]
    pub terms: String,
}

/// A part of a product.
pub struct Part {
    /// Name of the part.
    #[field(1, required)]
    pub name: String,

    /// Parts of the part.
    #[field(2, list = atomic)]
    pub parts: Vec<Part>,
}

/// What happens on shortage.
pub enum OnShortage {
    Backorder,
    Refuse,
}

/// What the shop saw last.
pub struct ProductStatus {
    /// Units on the shelf.
    #[field(1)]
    pub available: i32,

    /// Labels of what is counted.
    #[field(2)]
    pub selector: String,

    /// Conditions, one entry per type.
    #[field(3, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,

    /// Addresses that were seen.
    #[field(4, list = set)]
    pub source_ips: Vec<String>,
}

/// Differences of v1beta1; everything else is as in v1.
mod v1beta1 {
    #[differs(ProductSpec)]
    struct ProductSpec {
        /// Renamed in v1; the number stayed.
        #[field(1, default = 2, renamed = stock)]
        replicas: Option<i32>,

        /// Became one of the parts in v1.
        #[field(7)]
        colour: Option<String>,

        #[gone]
        parts: (),
    }

    #[differs(Product)]
    #[rule("self.spec.replicas <= self.spec.limit", field = spec.replicas, message = "replicas must not exceed limit")]
    struct Product {}

    #[convert(ProductSpec, by_hand = colour, here(colour), hub(parts))]
    struct Colour;
}
