/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub timeout: Duration,
}
