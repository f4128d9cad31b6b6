/// What every object has.
pub struct ObjectMeta {
    /// Unique within a namespace.
    #[field(1)]
    pub name: String,

    /// Space in which the name is unique.
    #[field(3)]
    pub namespace: String,

    /// When the server created the object.
    #[field(8)]
    pub creation_timestamp: Time,
}

/// What every list has.
pub struct ListMeta {
    /// Version of the list as a whole.
    #[field(2)]
    pub resource_version: String,
}

/// One aspect of an object's state.
pub struct Condition {
    /// Aspect, in CamelCase.
    #[field(1, required)]
    pub r#type: String,

    /// True, False or Unknown.
    #[field(2, required)]
    pub status: String,
}
