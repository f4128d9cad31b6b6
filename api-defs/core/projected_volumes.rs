use crate::meta::LabelSelector;

/// Volume merging several sources into a single directory tree.
#[check(defaultMode, range(0, 511, "must be a number between 0 and 0777 (octal), both inclusive"))]
#[check(self, open(files))]
#[check(sources, below)]
pub struct ProjectedVolumeSource {
    /// Pieces to merge: Secrets, ConfigMaps, pod metadata, tokens and certificates.
    #[field(1, always, list = atomic)]
    pub sources: Vec<VolumeProjection>,

    /// Permissions for merged files without their own mode, `0644` by default.
    #[field(2, default_hidden = 420)]
    pub default_mode: Option<i32>,
}

/// One ingredient of a projected volume; exactly one field is set.
#[check(secret, below)]
#[check(configMap, below)]
#[check(
    downwardAPI.items,
    each(
        at("..", below),
        field(
            path,
            optional,
            at("../../../../..", unnoted(files, "conflicting duplicate paths")),
            note = files
        )
    )
)]
#[check(serviceAccountToken, below)]
#[check(clusterTrustBundle, below)]
#[check(
    clusterTrustBundle.path,
    at("../../..", unnoted(files, "conflicting duplicate paths")),
    note = files
)]
#[check(podCertificate, below)]
#[check(
    self,
    forbidden = "may not specify more than 1 volume type per source",
    when(
        many(
            secret,
            configMap,
            downwardAPI,
            serviceAccountToken,
            clusterTrustBundle,
            podCertificate
        )
    )
)]
pub struct VolumeProjection {
    /// Brings in entries of a Secret.
    #[field(1)]
    pub secret: Option<SecretProjection>,

    /// Brings in the pod's own fields.
    #[field(2)]
    pub downward_api: Option<DownwardAPIProjection>,

    /// Brings in entries of a ConfigMap.
    #[field(3)]
    pub config_map: Option<ConfigMapProjection>,

    /// Brings in a short-lived API token.
    #[field(4)]
    pub service_account_token: Option<ServiceAccountTokenProjection>,

    /// Brings in CA certificates from ClusterTrustBundles as a PEM file.
    #[field(5, gate = ClusterTrustBundleProjection)]
    pub cluster_trust_bundle: Option<ClusterTrustBundleProjection>,

    /// Brings in a rotated private key and certificate for the pod.
    #[field(6, gate = PodCertificateRequest)]
    pub pod_certificate: Option<PodCertificateProjection>,
}

/// Feeds Secret entries into a combined `projected` volume as files.
#[check(name, filled)]
#[check(
    items,
    each(
        below,
        field(
            path,
            optional,
            at("../../../../..", show(name, unnoted(files, "conflicting duplicate paths"))),
            note = files
        )
    )
)]
pub struct SecretProjection {
    /// Names the Secret to take entries from, in the pod's namespace.
    #[field(1, inline)]
    pub local_object_reference: LocalObjectReference,

    /// Chooses keys and their file paths; empty projects every key.
    #[field(2, list = atomic)]
    pub items: Vec<KeyToPath>,

    /// If true, missing Secrets or keys do not hold up the pod.
    #[field(4)]
    pub optional: Option<bool>,
}

/// Puts pod metadata and resource figures into a `projected` volume as files.
pub struct DownwardAPIProjection {
    /// Files to generate and the pod field feeding each one.
    #[field(1, list = atomic)]
    pub items: Vec<DownwardAPIVolumeFile>,
}

/// Feeds ConfigMap entries into a combined `projected` volume as files.
#[check(name, filled)]
#[check(
    items,
    each(
        below,
        field(
            path,
            optional,
            at("../../../../..", show(name, unnoted(files, "conflicting duplicate paths"))),
            note = files
        )
    )
)]
pub struct ConfigMapProjection {
    /// Points at the ConfigMap, in the pod's own namespace, to take entries from.
    #[field(1, inline)]
    pub local_object_reference: LocalObjectReference,

    /// Chooses which ConfigMap keys appear and where; when empty every key becomes a file.
    #[field(2, list = atomic)]
    pub items: Vec<KeyToPath>,

    /// Set to true to let the pod start even if the ConfigMap or key is missing.
    #[field(4)]
    pub optional: Option<bool>,
}

/// Writes a short-lived, automatically refreshed API token to a file.
#[check(
    expirationSeconds,
    min(600, "may not specify a duration less than 10 minutes"),
    max(4294967296, "may not specify a duration larger than 2^32 seconds")
)]
#[check(path, at("../../../path", filled))]
#[check(
    path,
    at("../../../path", optional, format = volume_path),
    when(not(option(any_token_path)))
)]
pub struct ServiceAccountTokenProjection {
    /// Recipient the token is meant for; the API server if blank.
    #[field(1)]
    pub audience: String,

    /// Requested lifetime, default 3600 and at least 600; rotated before expiry.
    #[field(2, default_hidden = 3600)]
    pub expiration_seconds: Option<i64>,

    /// Token file location relative to the volume's mount point.
    #[field(3, required)]
    pub path: String,
}

/// Writes root certificates from trust bundles into a pod file.
#[check(
    self,
    invalid = "only one of name and signerName may be used",
    when(set(name), set(signerName))
)]
#[check(
    name,
    missing = "must be a valid object name",
    when(set(name), name = "", unset(signerName))
)]
#[check(name, format = trust_bundle_name, when(set(name), unset(signerName)))]
#[check(
    labelSelector,
    invalid = "labelSelector must be unset if name is specified",
    when(set(name), unset(signerName), set(labelSelector))
)]
#[check(
    signerName,
    missing = "must be a valid signer name",
    when(unset(name), set(signerName), signerName = "")
)]
#[check(signerName, format = signer_name, when(unset(name)))]
#[check(labelSelector, below, when(unset(name), set(signerName)))]
#[check(
    self,
    missing = "either name or signerName must be specified",
    when(none(name, signerName))
)]
#[check(path, filled, format = volume_path)]
pub struct ClusterTrustBundleProjection {
    /// Single bundle to use by name; exclusive with `signerName` and `labelSelector`.
    #[field(1)]
    pub name: Option<String>,

    /// Use all bundles of this signer; exclusive with `name`.
    #[field(2)]
    pub signer_name: Option<String>,

    /// Filters the signer's bundles by label; unset matches nothing, empty matches all.
    #[field(3)]
    pub label_selector: Option<LabelSelector>,

    /// Lets the pod start even if no bundle is found; default false.
    #[field(5)]
    pub optional: Option<bool>,

    /// File, relative to the volume root, receiving the PEM certificates.
    #[field(4, required)]
    pub path: String,
}

/// Issues the pod an auto-rotated key and X.509 certificate as files.
#[check(signerName, format = signer_name)]
#[check(userAnnotations, keys(format = caseless_domain_prefixed_key))]
#[check(self, by_hand = validate_user_annotations)]
#[check(keyType, one_of(RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521, ED25519))]
#[check(maxExpirationSeconds, min(3600, "if provided, maxExpirationSeconds must be >= 3600"))]
#[check(
    maxExpirationSeconds,
    max(86400, "if provided, maxExpirationSeconds must be <= 86400"),
    when(holds(signerName, format = kubernetes_signer_name))
)]
#[check(
    maxExpirationSeconds,
    max(7862400, "if provided, maxExpirationSeconds must be <= 7862400"),
    when(not(holds(signerName, format = kubernetes_signer_name)))
)]
#[check(
    credentialBundlePath,
    optional,
    format = volume_path,
    at("../../..", unnoted(files, "conflicting duplicate paths")),
    note = files
)]
#[check(
    keyPath,
    optional,
    format = volume_path,
    at("../../..", unnoted(files, "conflicting duplicate paths")),
    note = files
)]
#[check(
    certificateChainPath,
    optional,
    format = volume_path,
    at("../../..", unnoted(files, "conflicting duplicate paths")),
    note = files
)]
#[check(
    self,
    missing = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
    when(none(credentialBundlePath, keyPath, certificateChainPath))
)]
pub struct PodCertificateProjection {
    /// Signer that should issue the certificate.
    #[field(1, required, omitempty)]
    pub signer_name: String,

    /// Kind of private key, e.g. `ED25519`, `ECDSAP256` or `RSA3072`.
    #[field(2, required, omitempty)]
    pub key_type: String,

    /// Longest acceptable certificate lifetime: 3600 to 7862400, default 86400 (one day).
    #[field(3)]
    pub max_expiration_seconds: Option<i32>,

    /// File receiving private key and certificate chain together as PEM.
    #[field(4)]
    pub credential_bundle_path: String,

    /// File receiving just the private key; a single bundle is safer during rotation.
    #[field(5)]
    pub key_path: String,

    /// File receiving just the certificate chain.
    #[field(6)]
    pub certificate_chain_path: String,

    /// Extra data passed unchecked to the signer; keys need a domain prefix.
    #[field(7)]
    pub user_annotations: Map<String, String>,
}
