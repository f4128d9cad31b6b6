//! Decoding of stored values as upstream's readers do: converted to the storage version and with
//! current defaults.
//!
//! Older servers may have stored an older version, or fields without defaults that were added later.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::quality::RandomState;
use machinery::catalog::{Catalog, KindDef, parse_api_version};
use machinery::reflect::Owned;
use machinery::{defaulting, envelope, json, protobuf};

use crate::error::{Error, Result};

/// Hashes of the values that this process encoded last; each has all defaults. A value that is not
/// found here is decoded and compared.
static WRITTEN: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];
const SLOTS: usize = 4096;

/// Decodes the values of one kind and applies defaults.
pub(crate) struct Complete {
    catalog: &'static Catalog,
    kind: &'static KindDef,
    api_version: String,
    has_defaults: bool,
}

/// The protobuf message of an object in the storage version.
pub(crate) struct StoredMessage<'v> {
    pub raw: Cow<'v, [u8]>,
    /// Whether the message equals the stored value.
    pub is_stored: bool,
}

/// Records a value that has all defaults.
pub(crate) fn written_here(value: &[u8]) {
    let hash = hash(value);
    slot(hash).store(hash, Ordering::Relaxed);
}

fn is_written_here(value: &[u8]) -> bool {
    let hash = hash(value);
    slot(hash).load(Ordering::Relaxed) == hash
}

fn slot(hash: u64) -> &'static AtomicU64 {
    &WRITTEN[hash as usize % SLOTS]
}

fn hash(value: &[u8]) -> u64 {
    static STATE: OnceLock<RandomState> = OnceLock::new();
    STATE.get_or_init(RandomState::default).hash_one(value)
}

impl Complete {
    /// Creates a decoder for `kind`, which is in the storage version.
    pub fn new(catalog: &'static Catalog, kind: &'static KindDef) -> Self {
        let has_defaults = defaulting::has_defaults(kind.def);
        Complete { catalog, kind, api_version: kind.api_version(), has_defaults }
    }

    /// Returns the message of a stored value.
    ///
    /// # Errors
    /// When the value cannot be decoded, or its version is unknown.
    pub fn message<'v>(&self, value: &'v [u8]) -> Result<StoredMessage<'v>> {
        if !envelope::is_envelope(value) {
            return self.of_json(value);
        }
        let parts = envelope::split(value)?;
        let kind = self.kind_of(parts.api_version)?;
        if std::ptr::eq(kind, self.kind) && (!self.has_defaults || is_written_here(value)) {
            return Ok(StoredMessage { raw: parts.raw.into(), is_stored: true });
        }
        let mut object = Owned::new(kind.def);
        protobuf::decode(parts.raw, object.as_mut())?;
        let raw = self.encode(kind, object);
        // Defaults only add to a message, so equal length means no change.
        if std::ptr::eq(kind, self.kind) && raw.len() == parts.raw.len() {
            return Ok(StoredMessage { raw: parts.raw.into(), is_stored: true });
        }
        Ok(StoredMessage { raw: raw.into(), is_stored: false })
    }

    /// Returns the message of a value that is stored as JSON.
    fn of_json<'v>(&self, value: &[u8]) -> Result<StoredMessage<'v>> {
        let (api_version, _) = json::version_and_kind(value)?;
        let kind = self.kind_of(&api_version)?;
        let mut object = Owned::new(kind.def);
        json::decode(value, object.as_mut(), &mut json::Issues::ignore())?;
        let mut before = Vec::new();
        protobuf::encode(object.as_ref(), &mut before);
        let raw = self.encode(kind, object);
        let is_stored = std::ptr::eq(kind, self.kind) && raw.len() == before.len();
        Ok(StoredMessage { raw: raw.into(), is_stored })
    }

    /// Returns the kind in the version of a value; a value without a version is in the storage version.
    fn kind_of(&self, api_version: &str) -> Result<&'static KindDef> {
        if api_version == self.api_version || api_version.is_empty() {
            return Ok(self.kind);
        }
        let (group, version) = parse_api_version(api_version);
        let name = self.kind.kind;
        let known = self.catalog.kind(group, version, name).filter(|known| std::ptr::eq(known.hub, self.kind.hub));
        known.ok_or_else(|| Error::UnknownVersion { kind: name, api_version: api_version.to_owned() })
    }

    /// Applies defaults to an object of any version and encodes it in the storage version.
    fn encode(&self, kind: &'static KindDef, mut object: Owned) -> Vec<u8> {
        defaulting::apply_defaults(object.as_mut());
        if !std::ptr::eq(kind, self.kind) {
            object = self.kind.from_hub(kind.to_hub(object));
        }
        let mut raw = Vec::new();
        protobuf::encode(object.as_ref(), &mut raw);
        raw
    }
}

#[cfg(test)]
mod tests {
    use generated::autoscaling;
    use generated::core::v1::PersistentVolumeClaim;
    use machinery::reflect::{Ref, Struct};

    use super::*;

    fn complete(group: &str, version: &str, kind: &str) -> Complete {
        let catalog = kubernetes::catalog();
        Complete::new(catalog, catalog.kind(group, version, kind).unwrap())
    }

    fn decoded<T: Struct>(message: &StoredMessage<'_>) -> T {
        let mut object = Owned::new(T::def());
        protobuf::decode(&message.raw, object.as_mut()).unwrap();
        object.into_inner().ok().unwrap()
    }

    #[test]
    fn values_stored_without_defaults_are_read_with_them() {
        let complete = complete("", "v1", "PersistentVolumeClaim");
        let mut claim = PersistentVolumeClaim::default();
        claim.metadata.name = "a".into();
        let (mut stored, mut json) = (Vec::new(), Vec::new());
        envelope::encode_object("v1", "PersistentVolumeClaim", Ref::of(&claim), &mut stored);
        json::encode_object("v1", "PersistentVolumeClaim", Ref::of(&claim), &mut json);
        for value in [&stored, &json] {
            let message = complete.message(value).unwrap();
            assert!(!message.is_stored);
            assert_eq!(decoded::<PersistentVolumeClaim>(&message).status.phase, "Pending");
            let mut again = Vec::new();
            envelope::encode_raw("v1", "PersistentVolumeClaim", &message.raw, &mut again);
            assert!(complete.message(&again).unwrap().is_stored);
        }
        written_here(&stored);
        assert!(complete.message(&stored).unwrap().is_stored, "values that this process wrote are not compared");
    }

    #[test]
    fn older_versions_are_converted() {
        let complete = complete("autoscaling", "v2", "HorizontalPodAutoscaler");
        let mut old = autoscaling::v1::HorizontalPodAutoscaler::default();
        old.spec.target_cpu_utilization_percentage = Some(7);
        let mut stored = Vec::new();
        envelope::encode_object("autoscaling/v1", "HorizontalPodAutoscaler", Ref::of(&old), &mut stored);
        let message = complete.message(&stored).unwrap();
        let new: autoscaling::v2::HorizontalPodAutoscaler = decoded(&message);
        let resource = new.spec.metrics[0].resource.as_deref().unwrap();
        assert_eq!(resource.target.average_utilization, Some(7));
        assert!(!message.is_stored);
        stored.clear();
        envelope::encode_object("autoscaling/v9", "HorizontalPodAutoscaler", Ref::of(&old), &mut stored);
        let error = complete.message(&stored).err().unwrap();
        assert_eq!(
            error.to_string(),
            "no kind \"HorizontalPodAutoscaler\" is registered for version \"autoscaling/v9\""
        );
    }
}
