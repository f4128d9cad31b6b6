use crate::meta::ObjectMeta;

/// What works.
#[kind(plural = "workers", scope = Namespaced)]
#[versions(v1)]
#[check(tool, below = newest)]
pub struct Worker {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// What it works with.
    #[field(2)]
    pub tool: Tool,
}

/// What is worked with.
#[check(name, required, when(part(new)))]
pub struct Tool {
    /// How it is called.
    #[field(1)]
    pub name: String,
}
