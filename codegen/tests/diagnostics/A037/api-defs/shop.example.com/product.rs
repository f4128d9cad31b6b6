/// Desired state of the product.
#[default(size.width = 0)]
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, default = 500, max = 100)]
    pub stock: Option<i32>,

    /// The team that answers for it.
    #[field(2, default = "sales", pattern = "^team-")]
    pub owner: String,

    /// Where it is sold.
    #[field(3, default = ["north"], min_items = 2, list = atomic)]
    pub regions: Vec<String>,

    /// How large it is.
    #[field(4)]
    pub size: Size,
}

/// How large something is.
pub struct Size {
    /// Width in centimetres.
    #[field(1, min = 1)]
    pub width: Option<i32>,
}
