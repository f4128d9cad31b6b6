/// How a product is sold.
#[open]
pub enum Sale {
    /// At its price.
    Regular,
    /// For less.
    #[value(gate = ShopSale)]
    Reduced,
}

/// Desired state of the product.
pub struct ProductSpec {
    /// How it is sold.
    #[field(1, gate = ShopTills)]
    pub sale: Sale,
}
