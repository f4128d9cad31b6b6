/// What the seller asks for.
pub struct ProductSpec {
    /// Units in stock.
    #[field(1)]
    pub stock: u32,

    /// Units in stock.
    #[field(2, list = atomic)]
    pub parts: [String; 3],

    /// Units in stock.
    #[field(3)]
    pub labels: HashMap<String, String>,
}
