//! The API of KMS plugins (`k8s.io/kms/apis/v2/api.proto`), and the form of stored values (`kmsv2/v2/api.proto`), by wire number.
//!
//! Written down here rather than generated, as etcd's messages are (`docs/decisions/0003-etcd-client.md`).

use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct StatusRequest {}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StatusResponse {
    #[prost(string, tag = "1")]
    pub version: String,
    /// `ok`, or what is wrong.
    #[prost(string, tag = "2")]
    pub healthz: String,
    /// The key that the plugin encrypts with now.
    #[prost(string, tag = "3")]
    pub key_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DecryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub uid: String,
    #[prost(string, tag = "3")]
    pub key_id: String,
    #[prost(btree_map = "string, bytes", tag = "4")]
    pub annotations: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DecryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub plaintext: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct EncryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub plaintext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub uid: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct EncryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub key_id: String,
    #[prost(btree_map = "string, bytes", tag = "3")]
    pub annotations: BTreeMap<String, Vec<u8>>,
}

/// A stored value, behind its prefix.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct EncryptedObject {
    #[prost(bytes = "vec", tag = "1")]
    pub encrypted_data: Vec<u8>,
    #[prost(string, tag = "2")]
    pub key_id: String,
    #[prost(bytes = "vec", tag = "3")]
    pub encrypted_source: Vec<u8>,
    #[prost(btree_map = "string, bytes", tag = "4")]
    pub annotations: BTreeMap<String, Vec<u8>>,
    /// See [`KEY`] and [`SEED`].
    #[prost(int32, tag = "5")]
    pub source_type: i32,
}

/// The source is the data key itself (`AES_GCM_KEY`), as servers before 1.29 made them.
pub(super) const KEY: i32 = 0;
/// Data keys are derived from the source (`HKDF_SHA256_XNONCE_AES_GCM_SEED`).
pub(super) const SEED: i32 = 1;
