/// Desired state of the product.
pub struct ProductSpec {
    /// The team that answers for it.
    #[field(1, pattern = "^team-[a-z+$")]
    pub owner: String,
}
