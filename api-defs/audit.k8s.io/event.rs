use crate::authentication::UserInfo;
use crate::meta::Status;

/// One audit log record about a single stage of an API request.
#[kind(list)]
#[versions(v1)]
pub struct Event {
    /// Amount of detail captured, from `Metadata` up to `RequestResponse`.
    #[field(1, required)]
    pub level: Level,

    /// Unique id shared by all records of the same request.
    #[field(2, required, go = "types.UID")]
    pub audit_id: String,

    /// Point in request handling at which the record was made.
    #[field(3, required)]
    pub stage: Stage,

    /// Path and query string exactly as the client sent them.
    #[field(4, required)]
    pub request_uri: String,

    /// Kubernetes verb such as `list`, or the lowercase HTTP method for non-resource paths.
    #[field(5, required)]
    pub verb: String,

    /// Identity that authenticated for the request.
    #[field(6, required)]
    pub user: UserInfo,

    /// Identity being acted as, when impersonation headers were used.
    #[field(7)]
    pub impersonated_user: Option<UserInfo>,

    /// Further facts gathered while authenticating the caller.
    #[field(17)]
    pub authentication_metadata: Option<AuthenticationMetadata>,

    /// Addresses of the client and proxies; entries from headers can be forged.
    #[field(8, list = atomic)]
    pub source_ips: Vec<String>,

    /// Client program as it identified itself; not verified.
    #[field(16)]
    pub user_agent: String,

    /// Object or collection the request addressed; absent for non-resource paths.
    #[field(9)]
    pub object_ref: Option<ObjectReference>,

    /// HTTP code and status details of the reply.
    #[field(10)]
    pub response_status: Option<Status>,

    /// Body sent by the client; recorded from level `Request` upward.
    #[field(11)]
    pub request_object: Option<RawExtension>,

    /// Body returned to the client; recorded only at level `RequestResponse`.
    #[field(12)]
    pub response_object: Option<RawExtension>,

    /// When the request arrived, with microsecond precision.
    #[field(13, always)]
    pub request_received_timestamp: MicroTime,

    /// When the recorded stage was reached, with microsecond precision.
    #[field(14, always)]
    pub stage_timestamp: MicroTime,

    /// Notes added by server plugins, such as the authorization decision and reason.
    #[field(15)]
    pub annotations: Map<String, String>,
}

/// Degrees of detail for audit logging, from nothing to full bodies.
#[open]
pub enum Level {
    None,
    Metadata,
    Request,
    RequestResponse,
}

/// Phases of request processing at which audit records are made.
#[open]
pub enum Stage {
    RequestReceived,
    ResponseStarted,
    ResponseComplete,
    Panic,
}

/// Extra facts about how an audited caller was authenticated.
pub struct AuthenticationMetadata {
    /// Impersonation verb that authorized the caller; set only under constrained impersonation.
    #[field(1)]
    pub impersonation_constraint: String,
}

/// Identifies the object an audit record is about.
pub struct ObjectReference {
    /// Plural resource type, e.g. `configmaps`.
    #[field(1)]
    pub resource: String,

    /// Namespace of the audited object, if it has one.
    #[field(2)]
    pub namespace: String,

    /// Name of the audited object; blank for collection requests.
    #[field(3)]
    pub name: String,

    /// Unique id of the audited object, if known.
    #[field(4, go = "types.UID")]
    pub uid: String,

    /// API group of the object; blank for core resources.
    #[field(5)]
    pub api_group: String,

    /// API version used, without the group part.
    #[field(6)]
    pub api_version: String,

    /// Object version involved in the request, if it was given.
    #[field(7)]
    pub resource_version: String,

    /// Subresource addressed, for example `exec` or `status`.
    #[field(8)]
    pub subresource: String,
}
