//! Configuration of the admission plugin `EventRateLimit`.

/// Rate limits for events.
#[kind]
#[versions(v1alpha1)]
#[proto(none)]
pub struct Configuration {
    /// Limits, all of which apply; at least one is required.
    #[field(json_only, required, list = atomic)]
    pub limits: Vec<Limit>,
}

/// One limit: a token bucket for the server, or one for each namespace, user or object.
#[proto(none)]
pub struct Limit {
    /// Scope of a bucket: `Server`, `Namespace`, `User` or `SourceAndObject`.
    #[field(json_only, required)]
    pub r#type: String,

    /// Events that a bucket is refilled with per second.
    #[field(json_only, required)]
    pub qps: i32,

    /// Capacity of a bucket, in events.
    #[field(json_only, required)]
    pub burst: i32,

    /// Number of buckets to keep; defaults to 4096. An evicted bucket starts full again.
    #[field(json_only)]
    pub cache_size: i32,
}
