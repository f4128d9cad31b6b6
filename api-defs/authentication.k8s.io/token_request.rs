use crate::meta::ObjectMeta;

/// Requests a short-lived token on behalf of a service account.
#[kind]
#[versions(v1(introduced = "1.10"))]
pub struct TokenRequest {
    /// Name and namespace of the service account the token is for.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Wanted audiences, lifetime and binding of the token.
    #[field(2)]
    pub spec: TokenRequestSpec,

    /// Issued token and its expiry.
    #[field(3)]
    pub status: TokenRequestStatus,
}

/// Properties the issued token should have.
pub struct TokenRequestSpec {
    /// Recipients that may accept the token; empty defaults to the API server.
    #[field(1, always, list = atomic)]
    pub audiences: Vec<String>,

    /// Requested lifetime in seconds, at least 600; default 3600, issuer may differ.
    #[field(4, always, default_hidden = 3600)]
    pub expiration_seconds: Option<i64>,

    /// Ties the token to an object, invalidating it once that object is deleted.
    #[field(3, always)]
    pub bound_object_ref: Option<BoundObjectReference>,
}

/// Object whose existence a service account token depends on.
pub struct BoundObjectReference {
    /// Type of the bound object, e.g. `Pod` or `Secret`.
    #[field(1)]
    pub kind: String,

    /// API version of the bound object, e.g. `v1`.
    #[field(2)]
    pub api_version: String,

    /// Name of the object tying down the token's lifetime.
    #[field(3)]
    pub name: String,

    /// Exact instance the token is bound to; recreating the object voids it.
    #[field(4, proto = "uID", go = "types.UID")]
    pub uid: String,
}

/// Outcome of a token request.
pub struct TokenRequestStatus {
    /// Signed bearer token (JWT); treat it as a secret.
    #[field(1, always)]
    pub token: String,

    /// Moment after which the token stops working.
    #[field(2, always)]
    pub expiration_timestamp: Time,
}
