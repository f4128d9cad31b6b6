use crate::meta::ObjectMeta;

/// Non-secret configuration that pods read as files or environment variables.
#[kind(plural = "configmaps", short = "cm", scope = Namespaced, metadata = change)]
#[versions(v1(introduced = "1.2"))]
#[column("Data", by_hand = config_map_data, reads(data, binaryData), "How many entries it has, binary ones included.")]
#[column("Age", age)]
#[check(
    immutable,
    unchanged = "field is immutable when `immutable` is set",
    when(was(immutable = true))
)]
#[check(
    data,
    unchanged = "field is immutable when `immutable` is set",
    when(was(immutable = true))
)]
#[check(
    binaryData,
    refused = "field is immutable when `immutable` is set",
    when(was(immutable = true), any(changed(binaryData), sent_empty(binaryData)))
)]
#[check(metadata, by_hand = validate_namespaced_metadata, when(update))]
#[check(self, by_hand = validate_config_map_keys)]
#[check(binaryData, each_key(format = config_map_key))]
#[check(self, by_hand = validate_config_map_size)]
pub struct ConfigMap {
    /// Name, namespace, labels and annotations of the ConfigMap.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// True freezes the data for good; only deleting and recreating changes it.
    #[field(4)]
    pub immutable: Option<bool>,

    /// UTF-8 text entries; all content together is limited to 1 MiB.
    #[field(2)]
    pub data: Map<String, String>,

    /// Base64-encoded binary entries; keys must not repeat those in `data`.
    #[field(3)]
    pub binary_data: Map<String, Bytes>,
}
