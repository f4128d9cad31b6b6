//! Encoding of objects for read responses, in one version and encoding.
//!
//! An object in its stored version is not decoded: protobuf is the cached form, and JSON is
//! transcoded from it. Expensive encodings of frequently read objects are cached with the object.

use std::borrow::Cow;
use std::sync::Arc;

use apimachinery::meta::v1::ObjectMeta;
use bytes::Bytes;
use machinery::protobuf;
use machinery::reflect::{Mut, Owned, Ref, Struct};
use machinery::status::Status;
use machinery::{envelope, json};
use registry::ObjectSource;
use storage::cache::{EncodingId, Entry};

use crate::endpoint::Endpoint;
use crate::media::{Accepted, Encoding};
use crate::response::{self, Typed};

/// Encodes objects of an endpoint; see the module documentation.
pub struct Renderer {
    pub endpoint: Arc<Endpoint>,
    pub source: ObjectSource,
    pub encoding: Encoding,
    pub pretty: bool,
    api_version: String,
    /// Whether the requested version equals the stored one, except for its name.
    is_stored: bool,
    /// Whether entries are JSON text in the requested version.
    pub is_text: bool,
}

/// An encoded object with its kind and version. Most of its bytes may be shared with other
/// responses.
pub struct Encoded {
    pub head: Vec<u8>,
    pub body: Bytes,
    pub tail: &'static [u8],
}

impl Encoded {
    pub fn len(&self) -> usize {
        self.head.len() + self.body.len() + self.tail.len()
    }
}

impl From<Bytes> for Encoded {
    fn from(body: Bytes) -> Self {
        Encoded { head: Vec::new(), body, tail: &[] }
    }
}

impl Renderer {
    pub fn new(endpoint: &Arc<Endpoint>, accepted: &Accepted) -> Result<Self, Status> {
        let source = match &endpoint.store {
            Some(store) => ObjectSource::Stored(store.clone()),
            None => ObjectSource::Computed(endpoint.kind),
        };
        let storage_kind = source.storage_kind();
        Ok(Renderer {
            endpoint: endpoint.clone(),
            encoding: accepted.encoding,
            pretty: accepted.pretty,
            api_version: endpoint.kind.api_version(),
            is_stored: std::ptr::eq(endpoint.kind.def, storage_kind.def),
            is_text: registry::is_text(storage_kind),
            source,
        })
    }

    /// Encodes the object with its kind and version. JSON ends with a line break.
    pub fn object(&self, entry: &Arc<Entry>) -> Result<Bytes, Status> {
        match self.encoding {
            Encoding::Json if self.pretty => {
                let mut out = Vec::new();
                json::pretty(&self.json(entry)?, &mut out);
                Ok(out.into())
            }
            Encoding::Json => self.json(entry),
            Encoding::Yaml | Encoding::Cbor => {
                let mut out = Vec::new();
                response::rewrite(&self.json(entry)?, self.encoding, &mut out)?;
                Ok(out.into())
            }
            Encoding::Protobuf => self.protobuf(entry),
        }
    }

    /// Same as [`Self::object`], without a copy of the stored bytes.
    pub fn shared(&self, entry: &Arc<Entry>) -> Result<Encoded, Status> {
        if self.encoding != Encoding::Protobuf || !self.is_stored || self.is_text {
            return self.object(entry).map(Encoded::from);
        }
        let mut head = Vec::new();
        envelope::raw_head(&self.api_version, self.endpoint.kind.kind, entry.object.len(), &mut head);
        Ok(Encoded { head, body: entry.object.clone(), tail: &envelope::TAIL })
    }

    fn protobuf(&self, entry: &Arc<Entry>) -> Result<Bytes, Status> {
        let (api_version, kind) = (self.api_version.as_str(), self.endpoint.kind.kind);
        if self.is_text {
            return Err(response::no_protobuf("unstructured.Unstructured"));
        }
        if self.is_stored {
            let mut out = Vec::new();
            envelope::encode_raw(api_version, kind, &entry.object, &mut out);
            return Ok(out.into());
        }
        self.cached_encoding(entry, |out| {
            let value = self.converted(entry)?;
            envelope::encode_object(api_version, kind, value.as_ref(), out);
            Ok(())
        })
    }

    fn json(&self, entry: &Arc<Entry>) -> Result<Bytes, Status> {
        if self.is_text {
            return Ok(entry.object.clone());
        }
        self.cached_encoding(entry, |out| self.write_json(entry, out))
    }

    fn write_json(&self, entry: &Entry, out: &mut Vec<u8>) -> Result<(), Status> {
        let (api_version, kind) = (self.api_version.as_str(), self.endpoint.kind.kind);
        if self.is_stored {
            protobuf::object_to_json(api_version, kind, self.endpoint.kind.def, &entry.object, out)
                .map_err(Status::internal)?;
        } else {
            json::encode_object(api_version, kind, self.converted(entry)?.as_ref(), out);
        }
        out.push(b'\n');
        Ok(())
    }

    /// Returns the cached encoding, or encodes the object and caches it.
    fn cached_encoding(
        &self,
        entry: &Arc<Entry>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Status>,
    ) -> Result<Bytes, Status> {
        let id = self.encoding_id();
        if let Some(bytes) = entry.encoding(id) {
            return Ok(bytes);
        }
        let mut out = Vec::with_capacity(entry.object.len() * 2);
        write(&mut out)?;
        if !entry.was_requested_recently() {
            return Ok(out.into());
        }
        out.shrink_to_fit();
        let bytes = Bytes::from(out);
        entry.keep_encoding(id, &bytes);
        Ok(bytes)
    }

    /// The cache key. YAML and CBOR are derived from JSON, so they share its entry.
    fn encoding_id(&self) -> EncodingId {
        let kind = std::ptr::from_ref(self.endpoint.kind) as u64;
        kind << 1 | u64::from(self.encoding == Encoding::Protobuf)
    }

    /// Appends the object as an item of a JSON list. Declared kinds have no kind and version there.
    pub fn write_json_item(&self, entry: &Entry, out: &mut Vec<u8>) -> Result<(), Status> {
        if self.is_text {
            out.extend_from_slice(entry.object.trim_ascii_end());
            return Ok(());
        }
        if let Some(known) = entry.encoding(self.encoding_id()) {
            let head = br#"{"kind":"","apiVersion":"","#.len() + self.endpoint.kind.kind.len() + self.api_version.len();
            out.push(b'{');
            out.extend_from_slice(known.get(head..known.len() - 1).unwrap_or_default());
            return Ok(());
        }
        if self.is_stored {
            return protobuf::to_json(self.endpoint.kind.def, &entry.object, out).map_err(Status::internal);
        }
        json::encode(self.converted(entry)?.as_ref(), out);
        Ok(())
    }

    /// Returns the protobuf message of an object of a declared kind, without an envelope.
    pub fn message(&self, entry: &Entry) -> Result<Bytes, Status> {
        if self.is_stored {
            return Ok(entry.object.clone());
        }
        let mut out = Vec::new();
        protobuf::encode(self.converted(entry)?.as_ref(), &mut out);
        Ok(out.into())
    }

    /// Decodes the object and converts it to the requested version.
    pub fn converted(&self, entry: &Entry) -> Result<Owned, Status> {
        Ok(response::in_version(self.endpoint.kind, self.source.object(entry)?))
    }

    /// Appends the object's metadata as JSON. It is the same in all versions.
    pub fn write_metadata(&self, entry: &Entry, out: &mut Vec<u8>) -> Result<(), Status> {
        if self.is_text {
            out.extend_from_slice(json::member(&entry.object, "metadata").unwrap_or(b"{}"));
            return Ok(());
        }
        protobuf::to_json(ObjectMeta::def(), self.metadata_message(entry)?, out).map_err(Status::internal)
    }

    /// Returns the protobuf message of the object's metadata.
    pub fn metadata<'e>(&self, entry: &'e Entry) -> Result<Cow<'e, [u8]>, Status> {
        if !self.is_text {
            return self.metadata_message(entry).map(Cow::Borrowed);
        }
        let text = json::member(&entry.object, "metadata").unwrap_or(b"{}");
        let (mut metadata, mut out) = (ObjectMeta::default(), Vec::new());
        json::decode(text, Mut::of(&mut metadata), &mut json::Issues::ignore()).map_err(Status::internal)?;
        protobuf::encode(Ref::of(&metadata), &mut out);
        Ok(out.into())
    }

    fn metadata_message<'e>(&self, entry: &'e Entry) -> Result<&'e [u8], Status> {
        let number = self.source.storage_kind().def.json_field("metadata").map_or(0, |field| field.number);
        protobuf::bytes_of(&entry.object, number).map_err(Status::internal)
    }

    /// Encodes an object that is not stored, such as a bookmark.
    pub fn other(&self, value: Ref<'_>) -> Result<Bytes, Status> {
        let accepted = Accepted {
            encoding: self.encoding,
            form: crate::media::Representation::Object,
            pretty: false,
            stream: false,
        };
        let typed = Typed { api_version: &self.api_version, kind: self.endpoint.kind.kind, value };
        response::encode(&typed, &accepted).map(Bytes::from)
    }
}
