/// Query options accepted by server-side apply requests.
#[kind]
#[versions(v1)]
pub struct ApplyOptions {
    /// Use `All` to run every stage without persisting the result.
    #[field(1, list = atomic)]
    pub dry_run: Vec<String>,

    /// Takes over fields owned by other managers instead of failing with a conflict.
    #[field(2, required)]
    pub force: bool,

    /// Owner recorded for applied fields; apply requests must supply it.
    #[field(3, required)]
    pub field_manager: String,
}

/// Query options accepted when creating an object.
#[kind]
#[versions(v1)]
pub struct CreateOptions {
    /// Set to `All` for a create that validates but stores nothing.
    #[field(1, list = atomic)]
    pub dry_run: Vec<String>,

    /// Name recorded as owner of the created fields, at most 128 characters.
    #[field(3)]
    pub field_manager: String,

    /// Reaction to unknown or duplicate fields on create: `Ignore`, `Warn` or `Strict`.
    #[field(4)]
    pub field_validation: String,
}

/// Options, sent as query or body, that shape a delete request.
#[kind]
#[versions(v1)]
pub struct DeleteOptions {
    /// Seconds granted for clean shutdown; 0 deletes immediately, unset uses the type's default.
    #[field(1)]
    pub grace_period_seconds: Option<i64>,

    /// Checks that must hold, otherwise the server answers 409 Conflict.
    #[field(2)]
    pub preconditions: Option<Preconditions>,

    /// Deprecated switch for keeping dependents; choose `propagationPolicy` instead.
    #[field(3, deprecated)]
    pub orphan_dependents: Option<bool>,

    /// Fate of dependents: keep them, collect them later, or remove them first.
    #[field(4)]
    pub propagation_policy: Option<DeletionPropagation>,

    /// Set to `All` to rehearse the deletion without removing anything.
    #[field(5, list = atomic)]
    pub dry_run: Vec<String>,

    /// Forces removal of an undecodable stored object, skipping finalizers; dangerous and privileged.
    #[field(6)]
    pub ignore_store_read_error_with_cluster_breaking_potential: Option<bool>,
}

/// Guards compared with the stored object prior to a delete or update.
pub struct Preconditions {
    /// Required identifier of the stored object.
    #[field(1, go = "types.UID")]
    pub uid: Option<String>,

    /// Required resource version of the stored object.
    #[field(2)]
    pub resource_version: Option<String>,
}

/// Policy for dependents when their owner is deleted.
#[open]
pub enum DeletionPropagation {
    Orphan,
    Background,
    Foreground,
}

/// Query options accepted when reading one object.
#[kind]
#[versions(v1)]
pub struct GetOptions {
    /// Freshness demanded; empty reads the latest, `0` accepts any cached copy.
    #[field(1)]
    pub resource_version: String,
}

/// Query options accepted by list and watch requests.
#[kind]
#[versions(v1)]
pub struct ListOptions {
    /// Keeps only objects whose labels match, for example `app=web,tier!=db`.
    #[field(1)]
    pub label_selector: String,

    /// Keeps only objects whose fields match, for example `status.phase=Running`.
    #[field(2)]
    pub field_selector: String,

    /// Turns the request into a stream of add, modify and delete notifications.
    #[field(3)]
    pub watch: bool,

    /// Requests periodic `BOOKMARK` events carrying only a fresh resource version.
    #[field(9)]
    pub allow_watch_bookmarks: bool,

    /// Starting point for a watch, or freshness requirement for a list.
    #[field(4)]
    pub resource_version: String,

    /// How strictly a list honours `resourceVersion`; valid only if that is set.
    #[field(10)]
    pub resource_version_match: ResourceVersionMatch,

    /// Ends the list or watch after this many seconds, regardless of activity.
    #[field(5)]
    pub timeout_seconds: Option<i64>,

    /// Maximum objects per chunk; more results are signalled through `continue`.
    #[field(7)]
    pub limit: i64,

    /// Token from the preceding chunk; expires after some minutes with a 410 error.
    #[field(8)]
    pub r#continue: String,

    /// Begins a watch with synthetic events for existing objects, closed by a bookmark.
    #[field(11)]
    pub send_initial_events: Option<bool>,

    /// Restricts results to one slice of objects, split by hash range.
    #[field(15, gate = ShardedListAndWatch)]
    pub shard_selector: String,
}

/// Interprets a list's resource version as a minimum or an exact snapshot.
#[open]
pub enum ResourceVersionMatch {
    NotOlderThan,
    Exact,
}

/// Query options accepted by patch and apply requests.
#[kind]
#[versions(v1)]
pub struct PatchOptions {
    /// Set to `All` to see the patched outcome without saving it.
    #[field(1, list = atomic)]
    pub dry_run: Vec<String>,

    /// Overrides conflicting field owners; allowed for apply patches only.
    #[field(2)]
    pub force: Option<bool>,

    /// Owner recorded for patched fields; compulsory for apply patches.
    #[field(3)]
    pub field_manager: String,

    /// Reaction to unknown or duplicate fields in a patch: `Ignore`, `Warn` or `Strict`.
    #[field(4)]
    pub field_validation: String,
}

/// Query options accepted when replacing an object.
#[kind]
#[versions(v1)]
pub struct UpdateOptions {
    /// Set to `All` to test a replacement without saving it.
    #[field(1, list = atomic)]
    pub dry_run: Vec<String>,

    /// Name credited with fields changed by the update; up to 128 printable characters.
    #[field(2)]
    pub field_manager: String,

    /// Reaction to unknown or duplicate fields on update: `Ignore`, `Warn` or `Strict`.
    #[field(3)]
    pub field_validation: String,
}
