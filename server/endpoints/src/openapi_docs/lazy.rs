//! OpenAPI documents that are built on request.

use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest, Sha512};

use crate::compressed::Compressed;

/// A document in both forms, each compressed. Documents are large, and clients cache them.
pub(super) struct CompressedDocument {
    pub(super) json: Compressed,
    pub(super) protobuf: OnceLock<Compressed>,
}

impl CompressedDocument {
    pub(super) fn new(value: &Value) -> Self {
        CompressedDocument { json: Compressed::new(value.to_string().as_bytes()), protobuf: OnceLock::new() }
    }

    pub(super) fn protobuf(&self, encode: fn(&Value) -> Vec<u8>) -> Vec<u8> {
        let make = || serde_json::from_slice(&self.json.bytes()).map(|v| encode(&v)).unwrap_or_default();
        self.protobuf.get_or_init(|| Compressed::new(&make())).bytes()
    }
}

/// A document that is built on the first request. Its hash covers its sources, so it is known
/// before.
pub(super) struct Lazy {
    pub(super) hash: String,
    pub(super) document: OnceLock<CompressedDocument>,
}

impl Lazy {
    pub(super) fn new(sources: &str) -> Self {
        Lazy { hash: hash(sources.as_bytes()), document: OnceLock::new() }
    }

    pub(super) fn get(&self, make: impl FnOnce() -> Value) -> &CompressedDocument {
        self.document.get_or_init(|| CompressedDocument::new(&make()))
    }
}

pub(super) fn hash(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|b| format!("{b:02X}")).collect()
}
