/// Desired state of the product.
#[union(discriminator = kind, members(cash, crad))]
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub cash: i32,

    /// Units in stock.
    #[field(2)]
    pub card: i32,
}

/// How something is sent.
#[union(discriminator = type, members(Parcel = parcel))]
#[rule("has(self.parcel)", reason = Impossible)]
pub struct Shipping {
    /// The way that it goes.
    #[field(1, required)]
    pub r#type: ShippingType,

    /// The number of the parcel.
    #[field(2)]
    pub parcel: Option<String>,
}

/// Ways that things go.
pub enum ShippingType {
    Parcel,
    Letter,
}
