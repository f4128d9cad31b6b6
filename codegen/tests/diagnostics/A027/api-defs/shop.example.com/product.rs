/// What the seller asks for.
#[union(discriminator = kind, members(cash, crad))]
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub cash: i32,

    /// Units in stock.
    #[field(2)]
    pub card: i32,
}
