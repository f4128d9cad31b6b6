//! Seeds, and data keys of older servers: in plaintext, and as the plugin encrypted them.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use machinery::field_error::aggregate;
use machinery::field_path::Path;
use machinery::format::field::fully_qualified_domain_name;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::messages::{EncryptResponse, EncryptedObject, EncryptedSourceType};
use crate::failure::TransformFailure;
use crate::gcm::Gcm;
use crate::seed::Seed;
use crate::transformer::Transformer;

const MAX_ANNOTATIONS: usize = 32 << 10;
const MAX_KEY_ID: usize = 1 << 10;
const MAX_CIPHERTEXT: usize = 1 << 10;

/// A seed or data key, encrypted by the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Encrypted {
    pub ciphertext: Vec<u8>,
    /// The ID of the plugin's key.
    pub key_id: String,
    /// Opaque data of the plugin.
    pub annotations: BTreeMap<String, Vec<u8>>,
    pub source_type: i32,
}

impl Encrypted {
    /// Creates the source of a new seed from the plugin's response.
    ///
    /// # Errors
    /// When the plugin's response is invalid.
    pub fn seed(response: EncryptResponse) -> Result<Self, TransformFailure> {
        let EncryptResponse { ciphertext, key_id, annotations } = response;
        let source = Encrypted {
            ciphertext,
            key_id,
            annotations,
            source_type: EncryptedSourceType::HkdfSha256XnonceAesGcmSeed.into(),
        };
        source.check()?;
        Ok(source)
    }

    /// Splits a stored value into its encrypted data and its source.
    ///
    /// # Errors
    /// When the value is malformed.
    pub fn split(stored: &[u8]) -> Result<(Vec<u8>, Self), TransformFailure> {
        let object: EncryptedObject = prost::Message::decode(stored)
            .map_err(|_| TransformFailure::new("proto: cannot parse invalid wire-format data"))?;
        let EncryptedObject { encrypted_data, key_id, encrypted_source, annotations, encrypted_source_type } = object;
        let source =
            Encrypted { ciphertext: encrypted_source, key_id, annotations, source_type: encrypted_source_type };
        source.check_type()?;
        if encrypted_data.is_empty() {
            return Err(TransformFailure::new("encrypted data is empty"));
        }
        source.check()?;
        Ok((encrypted_data, source))
    }

    /// Builds the stored value.
    pub fn join(&self, encrypted_data: Vec<u8>) -> Vec<u8> {
        let Encrypted { ciphertext, key_id, annotations, source_type } = self.clone();
        let object = EncryptedObject {
            encrypted_data,
            key_id,
            encrypted_source: ciphertext,
            annotations,
            encrypted_source_type: source_type,
        };
        prost::Message::encode_to_vec(&object)
    }

    /// Returns the transformer that reads values, given the plaintext of the seed or data key.
    pub fn reader(&self, plaintext: &[u8]) -> Result<Arc<dyn Transformer>, TransformFailure> {
        Ok(match EncryptedSourceType::try_from(self.source_type) {
            Ok(EncryptedSourceType::HkdfSha256XnonceAesGcmSeed) => Arc::new(Seed::new(plaintext)?),
            _ => Arc::new(Gcm::new(plaintext)?),
        })
    }

    fn check_type(&self) -> Result<(), TransformFailure> {
        match EncryptedSourceType::try_from(self.source_type) {
            Ok(_) => Ok(()),
            Err(_) => Err(TransformFailure::new(format!("unknown encryptedDEKSourceType: {}", self.source_type))),
        }
    }

    fn check(&self) -> Result<(), TransformFailure> {
        let ciphertext = match self.ciphertext.len() {
            0 => Some("encrypted DEK source is empty".to_owned()),
            1..=MAX_CIPHERTEXT => None,
            n => Some(format!("encrypted DEK source is {n} bytes, which exceeds the max size of {MAX_CIPHERTEXT}")),
        };
        if let Some(why) = ciphertext {
            return Err(TransformFailure::new(format!("failed to validate encrypted DEK source: {why}")));
        }
        check_key_id(&self.key_id)
            .map_err(|why| TransformFailure::new(why.text()).during("failed to validate key id"))?;
        match wrong_annotations(&self.annotations) {
            Some(why) => Err(TransformFailure::new(format!("failed to validate annotations: {why}"))),
            None => Ok(()),
        }
    }

    /// Returns a hash that identifies the source.
    fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(self.source_type.to_be_bytes());
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        };
        add(&self.ciphertext);
        add(self.key_id.as_bytes());
        for (name, value) in &self.annotations {
            add(name.as_bytes());
            add(value);
        }
        hash.finalize().into()
    }
}

/// Why a key ID is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrongKeyId {
    Empty,
    TooLong(usize),
}

impl WrongKeyId {
    /// Returns the label of metrics.
    pub fn label(self) -> &'static str {
        match self {
            WrongKeyId::Empty => "empty",
            WrongKeyId::TooLong(_) => "too_long",
        }
    }

    pub fn text(self) -> String {
        match self {
            WrongKeyId::Empty => "keyID is empty".into(),
            WrongKeyId::TooLong(length) => {
                format!("keyID is {length} bytes, which exceeds the max size of {MAX_KEY_ID}")
            }
        }
    }
}

pub(super) fn check_key_id(key_id: &str) -> Result<(), WrongKeyId> {
    match key_id.len() {
        0 => Err(WrongKeyId::Empty),
        1..=MAX_KEY_ID => Ok(()),
        length => Err(WrongKeyId::TooLong(length)),
    }
}

fn wrong_annotations(annotations: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let path = Path::new("annotations");
    let size: usize = annotations.iter().map(|(name, value)| name.len() + value.len()).sum();
    let errors: Vec<_> = annotations.keys().flat_map(|name| fully_qualified_domain_name(&path, name)).collect();
    if !errors.is_empty() {
        return Some(aggregate(&errors));
    }
    (size > MAX_ANNOTATIONS)
        .then(|| format!("total size of annotations is {size}, which exceeds the max size of {MAX_ANNOTATIONS}"))
}

/// How long a decrypted source is cached.
const SOURCE_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// The decrypted sources; the plugin decrypts each of them once.
#[derive(Default)]
pub(super) struct KnownSources(HashMap<[u8; 32], (Arc<dyn Transformer>, Instant)>);

impl KnownSources {
    pub fn find(&self, source: &Encrypted) -> Option<Arc<dyn Transformer>> {
        self.0.get(&source.fingerprint()).map(|(reader, _)| reader.clone())
    }

    /// Adds a source and drops expired ones; returns their number.
    pub fn add(&mut self, source: &Encrypted, reader: Arc<dyn Transformer>) -> usize {
        self.0.retain(|_, (_, added)| added.elapsed() < SOURCE_TTL);
        self.0.insert(source.fingerprint(), (reader, Instant::now()));
        self.0.len()
    }
}
