//! The configuration of `EventRateLimit`.

/// How many events are taken.
#[kind]
#[versions(v1alpha1)]
#[proto(none)]
pub struct Configuration {
    /// Limits, all of which have to be kept; at least one.
    #[field(json_only, required, list = atomic)]
    pub limits: Vec<Limit>,
}

/// One limit: a bucket, or one for each of something.
#[proto(none)]
pub struct Limit {
    /// What has a bucket of its own: `Server`, `Namespace`, `User` or `SourceAndObject`.
    #[field(json_only, required)]
    pub r#type: String,

    /// Events a second that go into a bucket again.
    #[field(json_only, required)]
    pub qps: i32,

    /// Events that a full bucket holds.
    #[field(json_only, required)]
    pub burst: i32,

    /// Buckets that are kept; 4096 unless said. One that was forgotten begins full.
    #[field(json_only)]
    pub cache_size: i32,
}
