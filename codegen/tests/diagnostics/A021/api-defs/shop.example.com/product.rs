/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, default = "one")]
    pub stock: Option<i32>,

    /// Units in stock.
    #[field(2, default = Refus)]
    pub on_shortage: OnShortage,

    /// Units in stock.
    #[field(3, default = acme)]
    pub supplier: String,
}

/// What happens on shortage.
pub enum OnShortage {
    Backorder,
    Refuse,
}
