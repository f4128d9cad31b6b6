/// Generic response body for errors and for operations returning no object.
#[kind]
#[versions(v1)]
pub struct Status {
    /// List-style metadata, mostly empty here.
    #[field(1)]
    pub metadata: ListMeta,

    /// Overall outcome, `Success` or `Failure`.
    #[field(2)]
    pub status: String,

    /// Human-readable account of the outcome.
    #[field(3)]
    pub message: String,

    /// Machine-readable failure class, refining the HTTP code.
    #[field(4)]
    pub reason: StatusReason,

    /// Extra data about the failure, laid out according to `reason`.
    #[field(5)]
    pub details: Option<StatusDetails>,

    /// HTTP status code proposed for the response.
    #[field(6)]
    pub code: i32,
}

/// Machine-readable failure class such as `NotFound` or `Conflict`.
#[open]
pub enum StatusReason {
    #[value("")]
    Unknown,
    Unauthorized,
    Forbidden,
    NotFound,
    AlreadyExists,
    Conflict,
    Gone,
    Invalid,
    ServerTimeout,
    StorageReadError,
    Timeout,
    TooManyRequests,
    BadRequest,
    MethodNotAllowed,
    NotAcceptable,
    RequestEntityTooLarge,
    UnsupportedMediaType,
    InternalError,
    Expired,
    ServiceUnavailable,
}

/// Structured context for an error: affected object, causes and retry advice.
pub struct StatusDetails {
    /// Affected object's name, when a single one is involved.
    #[field(1)]
    pub name: String,

    /// API group of the affected object.
    #[field(2)]
    pub group: String,

    /// Affected type; occasionally differs from the requested one.
    #[field(3)]
    pub kind: String,

    /// Affected object's unique identifier, when single and known.
    #[field(6, go = "types.UID")]
    pub uid: String,

    /// Individual problems, such as one entry per invalid field.
    #[field(4, list = atomic)]
    pub causes: Vec<StatusCause>,

    /// Seconds to wait before trying again, if a retry could help.
    #[field(5)]
    pub retry_after_seconds: i32,
}

/// One specific problem contributing to a failed request.
pub struct StatusCause {
    /// Machine-readable category of the problem, for example `FieldValueRequired`.
    #[field(1)]
    pub reason: CauseType,

    /// Plain-language description of the problem.
    #[field(2)]
    pub message: String,

    /// JSON path of the offending field, like `spec.containers[0].image`.
    #[field(3)]
    pub field: String,
}

/// Machine-readable category of a single validation or server problem.
#[open]
pub enum CauseType {
    FieldValueNotFound,
    FieldValueRequired,
    FieldValueDuplicate,
    FieldValueInvalid,
    FieldValueNotSupported,
    FieldValueForbidden,
    FieldValueTooLong,
    FieldValueTooMany,
    InternalError,
    FieldValueTypeInvalid,
    UnexpectedServerResponse,
    FieldManagerConflict,
    ResourceVersionTooLarge,
}
