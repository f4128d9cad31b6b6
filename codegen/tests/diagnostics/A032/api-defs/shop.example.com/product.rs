use crate::meta::ObjectMeta;

/// A thing on sale.
#[kind(plural = "products", scope = Namespaced)]
#[versions(v1, v1beta1)]
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

mod v1beta1 {
    #[differs(ProductSpec)]
    struct ProductSpec {
        /// Units in stock, as text.
        #[field(1)]
        stock: String,
    }
}
