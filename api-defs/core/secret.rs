use crate::meta::ObjectMeta;

/// Holds small sensitive data such as passwords and keys, up to 1 MiB.
#[kind(plural = "secrets", scope = Namespaced, metadata = change)]
#[versions(v1(introduced = "1.0"))]
#[column("Type", type)]
#[column("Data", len(data))]
#[column("Age", age)]
#[selectable(type)]
#[normalize(by_hand = normalize_secret)]
#[strategy(update = update_secret, warnings = warn_secret)]
#[check(type, immutable)]
#[check(
    immutable,
    unchanged = "field is immutable when `immutable` is set",
    when(was(immutable = true))
)]
#[check(self, by_hand = validate_secret_change, when(update))]
#[check(data, each_key(format = config_map_key))]
#[check(self, by_hand = validate_secret_data)]
pub struct Secret {
    /// Name, namespace, labels and annotations of the Secret.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// When true the content can never be altered, only deleted with the object.
    #[field(5)]
    pub immutable: Option<bool>,

    /// Base64-encoded values; keys use letters, digits, `-`, `_` and `.`.
    #[field(2)]
    pub data: Map<String, Bytes>,

    /// Plain-text convenience input, written into `data` on save and never returned.
    #[field(4)]
    pub string_data: Map<String, String>,

    /// Tells consumers what format to expect; `Opaque` by default and unchangeable.
    #[field(3, default_hidden = Opaque)]
    pub r#type: SecretType,
}

/// Format marker of a Secret, from free-form `Opaque` to TLS and registry credentials.
#[open]
pub enum SecretType {
    Opaque,
    #[value("kubernetes.io/service-account-token")]
    ServiceAccountToken,
    #[value("kubernetes.io/dockercfg")]
    Dockercfg,
    #[value("kubernetes.io/dockerconfigjson")]
    DockerConfigJson,
    #[value("kubernetes.io/basic-auth")]
    BasicAuth,
    #[value("kubernetes.io/ssh-auth")]
    SSHAuth,
    #[value("kubernetes.io/tls")]
    TLS,
    #[value("bootstrap.kubernetes.io/token")]
    BootstrapToken,
}
