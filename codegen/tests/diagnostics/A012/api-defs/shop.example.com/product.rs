/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(4)]
    pub stock: i32,

    /// Units in stock.
    #[field(5)]
    pub price: i32,

    /// Units in stock.
    #[field(4)]
    pub limit: i32,
}

mod v1beta1 {
    #[differs(ProductSpec)]
    struct ProductSpec {
        /// Units on their way.
        #[field(7)]
        coming: i32,

        #[gone]
        price: (),
    }

    #[convert(ProductSpec, by_hand = coming, here(coming), hub(price))]
    struct Coming;
}
