/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1, list = atomic)]
    pub certificate: Bytes,
}
