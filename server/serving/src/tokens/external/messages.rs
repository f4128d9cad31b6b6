//! The API of signers (`k8s.io/externaljwt/apis/v1/api.proto`), by wire number.

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SignRequest {
    /// Base64 of a JSON object.
    #[prost(string, tag = "1")]
    pub claims: String,
}

/// Both in base64, as they stand in a token.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SignResponse {
    #[prost(string, tag = "1")]
    pub header: String,
    #[prost(string, tag = "2")]
    pub signature: String,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct FetchKeysRequest {}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FetchKeysResponse {
    #[prost(message, repeated, tag = "1")]
    pub keys: Vec<Key>,
    /// When the signer last looked at its keys.
    #[prost(message, optional, tag = "2")]
    pub data_timestamp: Option<Timestamp>,
    /// For how long the keys may be kept.
    #[prost(int64, tag = "3")]
    pub refresh_hint_seconds: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Key {
    #[prost(string, tag = "1")]
    pub key_id: String,
    /// A `SubjectPublicKeyInfo`.
    #[prost(bytes = "vec", tag = "2")]
    pub key: Vec<u8>,
    #[prost(bool, tag = "3")]
    pub exclude_from_oidc_discovery: bool,
}

/// `google.protobuf.Timestamp`
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct MetadataRequest {}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct MetadataResponse {
    #[prost(int64, tag = "1")]
    pub max_token_expiration_seconds: i64,
}
