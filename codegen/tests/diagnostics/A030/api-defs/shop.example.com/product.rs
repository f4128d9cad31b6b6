use crate::meta::ObjectMeta;

/// A thing on sale.
#[kind(plural = "products", scope = Namespaced)]
#[versions(v1, v1beta1)]
#[strategy(update = update_product, warnings = warn_product, grace = grace_of_product)]
pub struct Product {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// What the seller asks for.
    #[field(2)]
    pub spec: ProductSpec,
}

/// What the seller asks for.
#[default(by_hand = product_spec)]
#[validate(by_hand = validate_spec)]
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: i32,
}
