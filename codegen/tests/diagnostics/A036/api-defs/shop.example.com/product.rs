/// How a product is sold.
pub enum Sale {
    /// At its price.
    Regular,
    /// For less.
    #[value(gate = ShopSales)]
    Reduced,
}

/// Desired state of the product.
pub struct ProductSpec {
    /// The team that answers for it.
    #[field(1, gate = InPlacePodVerticalScalin)]
    pub owner: String,
    /// How it is sold.
    #[field(2, gate = ShopSale)]
    pub sale: Sale,
}
