use crate::core::ConditionStatus;
use crate::meta::ObjectMeta;

/// Requests an X.509 certificate from a signer, subject to approval.
#[kind(
    plural = "certificatesigningrequests",
    short = "csr",
    scope = Cluster,
    generation = false,
    name = any,
    resets(spec, status),
    metadata = unchecked
)]
#[versions(
    v1(introduced = "1.19"),
    v1beta1(
        unserved,
        introduced = "1.12",
        deprecated = "1.19",
        replacement = "certificates.k8s.io/v1 CertificateSigningRequest"
    )
)]
#[subresource(approval, verbs(get, patch, update), resets(spec, status.certificate), without_tables)]
#[subresource(status, resets(spec))]
#[column("Age", age)]
#[column("SignerName", spec.signerName or "<none>")]
#[column("Requestor", spec.username)]
#[column("RequestedDuration", by_hand = certificate_signing_request_requested_duration, reads(spec.expirationSeconds), "Requested validity of the certificate.")]
#[column("Condition", by_hand = certificate_signing_request_condition, reads(status.conditions, status.certificate), "Whether the request is pending, approved, denied or failed, and whether a certificate was issued.")]
#[selectable(spec.signerName)]
#[strategy(update = update_request)]
#[condition(approved, some(status.conditions, type = Approved))]
#[condition(denied, some(status.conditions, type = Denied))]
#[check(metadata, by_hand = validate_request_metadata)]
#[check(spec, below)]
#[check(self, choose = any_condition_type, when(was(some(status.conditions, type = ""))))]
#[check(self, choose = contradictions, when(was(approved), was(denied)))]
#[check(self, choose = repeated_conditions, when(was(not(holds(status.conditions, each(field(type, distinct)))))))]
#[check(status.conditions, below)]
#[check(status, by_hand = validate_certificate)]
#[check(
    status.conditions,
    refused = "updates may not remove a condition of type \"Approved\"",
    when(update, fewer(status.conditions, type = Approved))
)]
#[check(
    status.conditions,
    refused = "updates may not remove a condition of type \"Denied\"",
    when(update, fewer(status.conditions, type = Denied))
)]
#[check(
    status.conditions,
    refused = "updates may not remove a condition of type \"Failed\"",
    when(update, fewer(status.conditions, type = Failed))
)]
#[check(
    status.conditions,
    refused = "updates may not add a condition of type \"Approved\"",
    when(update, not(subresource = approval), more(status.conditions, type = Approved))
)]
#[check(
    status.conditions,
    refused = "updates may not add a condition of type \"Denied\"",
    when(update, not(subresource = approval), more(status.conditions, type = Denied))
)]
#[check(status.certificate, unchanged = "updates may not set certificate content", when(not(subresource = status)))]
#[check(
    status.certificate,
    unchanged = "updates may not modify existing certificate content",
    when(subresource = status, was(set(status.certificate)))
)]
#[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
pub struct CertificateSigningRequest {
    /// Name, labels and annotations of the cluster-scoped signing request.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Encoded CSR, chosen signer and requester identity; fixed after creation.
    #[field(2, required)]
    pub spec: CertificateSigningRequestSpec,

    /// Approval conditions and, in the end, the issued certificate.
    #[field(3)]
    pub status: CertificateSigningRequestStatus,
}

/// Certificate request to sign, its signer, and the wanted validity.
#[condition(legacy, signerName = "kubernetes.io/legacy-unknown")]
#[check(self, by_hand = validate_request)]
#[check(usages, required)]
#[check(
    usages,
    each(one_of(
        Any,
        CertSign,
        ClientAuth,
        CodeSigning,
        ContentCommitment,
        CrlSign,
        DataEncipherment,
        DecipherOnly,
        DigitalSignature,
        EmailProtection,
        EncipherOnly,
        IpsecEndSystem,
        IpsecTunnel,
        IpsecUser,
        KeyAgreement,
        KeyEncipherment,
        MicrosoftSgc,
        NetscapeSgc,
        OcspSigning,
        SMime,
        ServerAuth,
        Signing,
        Timestamping
    )),
    when(not(was(not(holds(usages, each(one_of()))))))
)]
#[check(usages, each(distinct), when(not(was(not(holds(usages, each(distinct)))))))]
#[check(
    signerName,
    invalid = "the legacy signerName is not allowed via this API version",
    when(legacy, not(was(legacy)))
)]
#[check(signerName, format = signer_name, when(not(all(legacy, not(was(legacy))))))]
#[check(expirationSeconds, min(600, "may not specify a duration less than 600 seconds (10 minutes)"))]
pub struct CertificateSigningRequestSpec {
    /// PEM block of type `CERTIFICATE REQUEST`, base64-encoded in JSON and YAML.
    #[field(1, required)]
    pub request: Bytes,

    /// Signer to use, e.g. `kubernetes.io/kube-apiserver-client`; cannot be changed.
    #[field(7, required)]
    pub signer_name: String,

    /// Wanted validity in seconds, at least 600; signers may choose otherwise.
    #[field(8)]
    pub expiration_seconds: Option<i32>,

    /// Key usages wanted in the certificate, such as `client auth`.
    #[field(5, list = atomic)]
    pub usages: Vec<KeyUsage>,

    /// Creator's username, stamped by the API server.
    #[field(2)]
    pub username: String,

    /// Creator's uid, stamped by the API server.
    #[field(3)]
    pub uid: String,

    /// Creator's groups, stamped by the API server.
    #[field(4, list = atomic)]
    pub groups: Vec<String>,

    /// Creator's extra attributes, stamped by the API server.
    #[field(6)]
    pub extra: Map<String, ExtraValue>,
}

/// Purposes a certificate's key can be permitted for.
pub enum KeyUsage {
    #[value("signing")]
    Signing,
    #[value("digital signature")]
    DigitalSignature,
    #[value("content commitment")]
    ContentCommitment,
    #[value("key encipherment")]
    KeyEncipherment,
    #[value("key agreement")]
    KeyAgreement,
    #[value("data encipherment")]
    DataEncipherment,
    #[value("cert sign")]
    CertSign,
    #[value("crl sign")]
    CrlSign,
    #[value("encipher only")]
    EncipherOnly,
    #[value("decipher only")]
    DecipherOnly,
    #[value("any")]
    Any,
    #[value("server auth")]
    ServerAuth,
    #[value("client auth")]
    ClientAuth,
    #[value("code signing")]
    CodeSigning,
    #[value("email protection")]
    EmailProtection,
    #[value("s/mime")]
    SMime,
    #[value("ipsec end system")]
    IpsecEndSystem,
    #[value("ipsec tunnel")]
    IpsecTunnel,
    #[value("ipsec user")]
    IpsecUser,
    #[value("timestamping")]
    Timestamping,
    #[value("ocsp signing")]
    OcspSigning,
    #[value("microsoft sgc")]
    MicrosoftSgc,
    #[value("netscape sgc")]
    NetscapeSgc,
}

/// Values of one extra attribute of a user.
#[proto(items)]
pub struct ExtraValue {
    /// The values.
    #[field(1)]
    pub items: Vec<String>,
}

/// Decision on a signing request and its result.
pub struct CertificateSigningRequestStatus {
    /// Decisions taken so far, such as `Approved`.
    #[field(1, list = map(type))]
    pub conditions: Vec<CertificateSigningRequestCondition>,

    /// Issued PEM chain, base64-encoded in output; empty until signed.
    #[field(2)]
    pub certificate: Bytes,
}

/// Records approval, denial or failure of a signing request.
#[condition(always_true, type = (Approved, Denied, Failed))]
#[check(type, required, when(not(option(any_condition_type))))]
#[check(status, required, one_of(True), when(always_true))]
#[check(status, required, one_of(False, True, Unknown), when(not(always_true)))]
#[check(
    type,
    at("..", invalid = "Approved and Denied conditions are mutually exclusive"),
    when(type = Approved, preceded(type = Denied), not(option(contradictions)))
)]
#[check(
    type,
    at("..", invalid = "Approved and Denied conditions are mutually exclusive"),
    when(type = Denied, preceded(type = Approved), not(option(contradictions)))
)]
#[check(type, distinct, when(not(option(repeated_conditions))))]
pub struct CertificateSigningRequestCondition {
    /// Decision recorded: `Approved`, `Denied` or `Failed`.
    #[field(1, required)]
    pub r#type: RequestConditionType,

    /// Value of the decision; `Approved` and `Denied` may only be `True`.
    #[field(6, required)]
    pub status: ConditionStatus,

    /// CamelCase code for the decision, e.g. `AutoApproved`.
    #[field(2)]
    pub reason: String,

    /// Readable text about the approval, denial or failure.
    #[field(3)]
    pub message: String,

    /// When the decision record was last touched.
    #[field(4, always)]
    pub last_update_time: Time,

    /// When the decision's status last changed; set by the server if empty.
    #[field(5, always)]
    pub last_transition_time: Time,
}

/// Decisions that can be recorded on a signing request.
#[open]
pub enum RequestConditionType {
    Approved,
    Denied,
    Failed,
}

mod v1beta1 {
    #[differs(CertificateSigningRequestSpec)]
    #[default(usages = [DigitalSignature, KeyEncipherment])]
    #[default(by_hand = default_v1beta1_certificate_signing_request_spec)]
    struct CertificateSigningRequestSpec {
        /// Signer to use, e.g. `kubernetes.io/kube-apiserver-client`; cannot be changed.
        #[field(7)]
        signer_name: Option<String>,
    }

    #[differs(CertificateSigningRequestCondition)]
    struct CertificateSigningRequestCondition {
        /// Value of the decision; `Approved` and `Denied` may only be `True`.
        #[field(6, always, default_hidden = True)]
        status: ConditionStatus,
    }
}
