/// A list of objects of any kinds.
#[kind]
#[versions(v1)]
pub struct List {
    /// Metadata of the list.
    #[field(1)]
    pub metadata: ListMeta,

    /// The objects, each with its own kind.
    #[field(2, required)]
    pub items: Vec<RawExtension>,
}

/// Information about a list response, including paging and consistency data.
pub struct ListMeta {
    /// No longer populated; earlier releases put the list URL here.
    #[field(1, deprecated)]
    pub self_link: String,

    /// Version of the whole list; start a watch from it to miss nothing.
    #[field(2)]
    pub resource_version: String,

    /// Opaque paging token; send it back to fetch the next chunk.
    #[field(3)]
    pub r#continue: String,

    /// Estimated items left after this chunk; absent when selectors are used.
    #[field(4)]
    pub remaining_item_count: Option<i64>,

    /// Returned shard, when the list request used a shard selector.
    #[field(5, gate = ShardedListAndWatch)]
    pub shard_info: Option<ShardInfo>,
}

/// Identifies the shard that a partial list represents.
pub struct ShardInfo {
    /// Shard selector the server honoured for this response.
    #[field(1, required)]
    pub selector: String,
}

/// One notification on a watch stream.
#[kind(bare)]
#[versions(v1)]
pub struct WatchEvent {
    /// Change kind: `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    #[field(1, required)]
    pub r#type: String,

    /// The object after the change, its last state if deleted, or a Status on error.
    #[field(2, required)]
    pub object: RawExtension,
}

mod v1beta1 {
    use v1::ListMeta;
}
