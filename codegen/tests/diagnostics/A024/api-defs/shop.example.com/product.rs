/// Desired state of the product.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, format = dns1123_lable)]
    pub supplier: String,
}
