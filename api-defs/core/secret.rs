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
#[check(
    data,
    refused = "field is immutable when `immutable` is set",
    when(was(immutable = true), any(changed(data), all(unset(data), sent_empty(data))))
)]
#[check(metadata, by_hand = validate_namespaced_metadata, when(update))]
#[check(data, each_key(format = config_map_key))]
#[check(self, by_hand = validate_secret_size)]
#[check(
    metadata.annotations["kubernetes.io/service-account.name"],
    missing = "",
    when(
        type = ServiceAccountToken,
        metadata.annotations["kubernetes.io/service-account.name"] = ""
    )
)]
#[check(data[".dockercfg"], required, when(type = Dockercfg))]
#[check(data[".dockerconfigjson"], required, when(type = DockerConfigJson))]
#[check(self, by_hand = validate_docker_config, when(type = (Dockercfg, DockerConfigJson)))]
#[check(
    data["username"],
    missing = "",
    when(type = BasicAuth, unset(data["username"]), unset(data["password"]))
)]
#[check(
    data["password"],
    missing = "",
    when(type = BasicAuth, unset(data["username"]), unset(data["password"]))
)]
#[check(
    data["ssh-privatekey"],
    missing = "",
    when(type = SSHAuth, data["ssh-privatekey"] = "")
)]
#[check(data["tls.crt"], required, when(type = TLS))]
#[check(data["tls.key"], required, when(type = TLS))]
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

    /// Format of the data, for consumers; `Opaque` by default and unchangeable.
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
