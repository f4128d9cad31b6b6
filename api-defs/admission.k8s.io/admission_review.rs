use crate::authentication::UserInfo;
use crate::meta::{GroupVersionKind, GroupVersionResource, Status};

/// Envelope exchanged with admission webhooks: request goes out, response comes back.
#[kind]
#[versions(
    v1(introduced = "1.19"),
    v1beta1(introduced = "1.9", deprecated = "1.19", replacement = "admission.k8s.io/v1 AdmissionReview")
)]
pub struct AdmissionReview {
    /// Filled in by the API server when it calls the webhook.
    #[field(1)]
    pub request: Option<AdmissionRequest>,

    /// Filled in by the webhook before it sends the review back.
    #[field(2)]
    pub response: Option<AdmissionResponse>,
}

/// The details of one API call under review by a webhook.
pub struct AdmissionRequest {
    /// Correlation id for this call; the webhook must echo it in its answer.
    #[field(1, always, go = "types.UID")]
    pub uid: String,

    /// Full group, version and kind of the payload in `object`, e.g. `apps/v1 Deployment`.
    #[field(2)]
    pub kind: GroupVersionKind,

    /// Resource the webhook rule matched, possibly converted, e.g. `apps/v1 deployments`.
    #[field(3)]
    pub resource: GroupVersionResource,

    /// Subresource being hit, such as `status` or `scale`; empty for the main resource.
    #[field(4)]
    pub sub_resource: String,

    /// Kind the client originally sent, before any conversion to match the webhook's rules.
    #[field(13)]
    pub request_kind: Option<GroupVersionKind>,

    /// Resource the client actually called, before the server converted it to an equivalent.
    #[field(14)]
    pub request_resource: Option<GroupVersionResource>,

    /// Subresource named in the client's original call, before equivalent matching was applied.
    #[field(15)]
    pub request_sub_resource: String,

    /// Object's name from the call; may be empty on create when `generateName` is used.
    #[field(5)]
    pub name: String,

    /// Namespace the call targets, left blank for cluster-scoped resources.
    #[field(6)]
    pub namespace: String,

    /// Action under review: `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    #[field(7, always)]
    pub operation: Operation,

    /// Identity of the caller, as established by API server authentication.
    #[field(8)]
    pub user_info: UserInfo,

    /// Object as it would be stored; null when the operation is `DELETE`.
    #[field(9, always)]
    pub object: RawExtension,

    /// Currently stored object, present for `UPDATE` and `DELETE` calls only.
    #[field(10, always)]
    pub old_object: RawExtension,

    /// True when nothing will be saved, so the webhook must avoid side effects.
    #[field(11)]
    pub dry_run: Option<bool>,

    /// Call options that came along, for example `CreateOptions` or `DeleteOptions`.
    #[field(12, always)]
    pub options: RawExtension,
}

/// Kinds of API action that admission can intercept.
#[open]
pub enum Operation {
    CREATE,
    UPDATE,
    DELETE,
    CONNECT,
}

/// A webhook's verdict on one call, with optional patch and warnings.
pub struct AdmissionResponse {
    /// Must equal the `uid` of the request being answered, or the reply is rejected.
    #[field(1, always, go = "types.UID")]
    pub uid: String,

    /// Verdict flag: true lets the call proceed, false rejects it.
    #[field(2, always)]
    pub allowed: bool,

    /// Error details shown to the client on rejection; ignored when `allowed` is true.
    #[field(3)]
    pub status: Option<Status>,

    /// Base64-encoded JSON Patch (RFC 6902) the server applies; only for mutating webhooks.
    #[field(4)]
    pub patch: Bytes,

    /// Format of `patch`; set it to `JSONPatch` whenever a patch is returned.
    #[field(5)]
    pub patch_type: Option<PatchType>,

    /// Extra key-value pairs added to the audit log, prefixed with the webhook name.
    #[field(6)]
    pub audit_annotations: Map<String, String>,

    /// Messages displayed to the client, as `kubectl` does; keep each under 120 characters.
    #[field(7, list = atomic)]
    pub warnings: Vec<String>,
}

/// Patch formats a mutating webhook may return; only `JSONPatch` exists today.
#[open]
pub enum PatchType {
    JSONPatch,
}
