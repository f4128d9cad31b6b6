use crate::meta::ObjectMeta;

/// Tracks which etcd version each API server uses for a resource.
#[kind(
    plural = "storageversions",
    scope = Cluster,
    unconditional_update = false,
    generation = false,
    name = any
)]
#[versions(v1alpha1)]
#[subresource(status)]
#[column("CommonEncodingVersion", status.commonEncodingVersion or "<unset>")]
#[column("StorageVersions", by_hand = storage_version_storage_versions, reads(status.storageVersions), "Encoding version of the resource, by server.")]
#[column("Age", age)]
#[check(metadata, by_hand = validate_storage_version_name, when(create))]
#[check(status, below, when(any(create, subresource = status)))]
pub struct StorageVersion {
    /// Identity of the record; its name is `<group>.<resource>`.
    #[field(1, required)]
    pub metadata: ObjectMeta,

    /// Always empty; all information sits in `status`.
    #[field(2)]
    pub spec: StorageVersionSpec,

    /// Versions reported by the API servers and whether they agree.
    #[field(3)]
    pub status: StorageVersionStatus,
}

/// Empty placeholder without any settings.
pub struct StorageVersionSpec {}

/// Per-server version reports plus the commonly agreed one.
#[check(storageVersions, below)]
#[check(self, by_hand = validate_common_version)]
#[check(self, by_hand = validate_storage_version_conditions)]
pub struct StorageVersionStatus {
    /// One entry for every API server that reported.
    #[field(1, list = map(apiServerID))]
    pub storage_versions: Vec<ServerStorageVersion>,

    /// Write version shared by all servers; unset while they disagree.
    #[field(2)]
    pub common_encoding_version: Option<String>,

    /// Latest conditions, such as `AllEncodingVersionsEqual`.
    #[field(3, list = map(type))]
    pub conditions: Vec<StorageVersionCondition>,
}

/// Versions a particular API server reads, writes and serves for one resource.
#[check(apiServerID, field(self, distinct), name = dns1123_subdomain)]
#[check(encodingVersion, format = storage_api_version)]
#[check(decodableVersions, each(format = storage_api_version))]
#[check(self, by_hand = validate_decodable_versions)]
pub struct ServerStorageVersion {
    /// Unique id of the reporting API server instance.
    #[field(1, required, omitempty)]
    pub api_server_id: String,

    /// Version this server uses when writing the resource to etcd.
    #[field(2, required, omitempty)]
    pub encoding_version: String,

    /// Versions this server is able to read from etcd.
    #[field(3, required, omitempty, list = set)]
    pub decodable_versions: Vec<String>,

    /// Versions this server exposes to clients; all of them must be decodable.
    #[field(4, list = set)]
    pub served_versions: Vec<String>,
}

/// One observed aspect of agreement on storage versions among API servers.
#[check(type, format = qualified_name)]
#[check(status, format = qualified_name)]
#[check(reason, filled)]
#[check(message, filled)]
pub struct StorageVersionCondition {
    /// Aspect being reported here, e.g. `AllEncodingVersionsEqual`.
    #[field(1, required)]
    pub r#type: StorageVersionConditionType,

    /// Verdict `True`, `False` or `Unknown` on storage version agreement.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Record generation on which this storage version condition is based.
    #[field(3)]
    pub observed_generation: i64,

    /// Moment when agreement among the servers last changed.
    #[field(4, always)]
    pub last_transition_time: Time,

    /// CamelCase code for the last change in agreement.
    #[field(5, required)]
    pub reason: String,

    /// Readable explanation of whether the servers agree.
    #[field(6, required, omitempty)]
    pub message: String,
}

/// Aspects reported about storage version agreement.
#[open]
pub enum StorageVersionConditionType {
    AllEncodingVersionsEqual,
}

/// Three-valued state used in storage version conditions.
#[open]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}
