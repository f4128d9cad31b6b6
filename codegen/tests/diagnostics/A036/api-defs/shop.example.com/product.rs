/// What the seller asks for.
pub struct ProductSpec {
    /// The team that answers for it.
    #[field(1, gate = InPlacePodVerticalScalin)]
    pub owner: String,
}
