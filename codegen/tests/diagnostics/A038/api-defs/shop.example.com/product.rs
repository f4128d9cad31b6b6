/// How many work on it.
#[rule("self.min_workers <= self.max")]
#[rule("self.minWorkers <= ")]
#[rule("self.minWorkers + self.max")]
#[rule("self.names.all(name, name.startsWith('a'))", message_expression = "self.max")]
#[rule("self.minWorkers <= self.max", field = max)]
pub struct Workers {
    /// At least so many.
    #[field(1, required)]
    pub min_workers: i32,

    /// At most so many.
    #[field(2, required)]
    pub max: i32,

    /// Their names.
    #[field(3, list = set)]
    pub names: Vec<String>,
}

mod v1beta1 {
    #[differs(Workers)]
    struct Workers {
        /// At most so many.
        #[field(2, required, renamed = max)]
        most: i32,
    }
}
