//! `PartialObjectMetadata`: the metadata of an object, extracted from its encoded bytes.

use apimachinery::meta::v1 as metav1;
use bytes::Bytes;
use http::StatusCode;
use machinery::reflect::{Owned, Ref, Struct};
use machinery::status::Status;
use machinery::{envelope, json, protobuf};
use request::Response;
use storage::cache::Entry;

use crate::media::{Accepted, Encoding};
use crate::render::Renderer;
use crate::response;

const KIND: &str = "PartialObjectMetadata";

/// The kind in a version of `meta.k8s.io`.
pub struct Partial {
    pub api_version: String,
}

impl Partial {
    pub fn new(version: &str) -> Self {
        Partial { api_version: format!("meta.k8s.io/{version}") }
    }

    /// Appends an object's metadata as JSON, with kind and version.
    pub fn write_json(&self, renderer: &Renderer, entry: &Entry, out: &mut Vec<u8>) -> Result<(), Status> {
        out.extend_from_slice(
            format!("{{\"kind\":\"{KIND}\",\"apiVersion\":\"{}\",\"metadata\":", self.api_version).as_bytes(),
        );
        renderer.write_metadata(entry, out)?;
        out.push(b'}');
        Ok(())
    }

    /// Same as [`write_json`](Self::write_json), for an object that is not in the cache.
    pub fn write_json_of(&self, object: Ref<'_>, out: &mut Vec<u8>) {
        let value = partial(object);
        json::encode_object(&self.api_version, KIND, Ref::of(&value), out);
    }

    /// Returns the protobuf message, with the object's encoded metadata.
    pub fn message(&self, renderer: &Renderer, entry: &Entry) -> Result<Bytes, Status> {
        let metadata = renderer.metadata(entry)?;
        let number = metav1::PartialObjectMetadata::def().json_field("metadata").map_or(0, |field| field.number);
        let mut out = Vec::with_capacity(metadata.len() + 8);
        protobuf::write_bytes(number, &metadata, &mut out);
        Ok(out.into())
    }

    /// Encodes an object's metadata. JSON ends with a line break.
    pub fn object(&self, renderer: &Renderer, entry: &Entry) -> Result<Bytes, Status> {
        let mut out = Vec::new();
        match renderer.encoding {
            Encoding::Protobuf => {
                envelope::encode_raw(&self.api_version, KIND, &self.message(renderer, entry)?, &mut out);
            }
            Encoding::Json if renderer.pretty => {
                let mut compact = Vec::new();
                self.write_json(renderer, entry, &mut compact)?;
                json::pretty(&compact, &mut out);
            }
            Encoding::Json => {
                self.write_json(renderer, entry, &mut out)?;
                out.push(b'\n');
            }
            Encoding::Yaml | Encoding::Cbor => {
                let mut text = Vec::new();
                self.write_json(renderer, entry, &mut text)?;
                response::rewrite(&text, renderer.encoding, &mut out)?;
            }
        }
        Ok(out.into())
    }

    /// Encodes the metadata of an object that is not in the cache.
    pub fn other(&self, object: Ref<'_>, encoding: Encoding) -> Result<Bytes, Status> {
        let value = partial(object);
        let accepted = Accepted { encoding, form: crate::media::Representation::Object, pretty: false, stream: false };
        let typed = response::Typed { api_version: &self.api_version, kind: KIND, value: Ref::of(&value) };
        response::encode(&typed, &accepted).map(Bytes::from)
    }

    /// Responds with the metadata of a written object.
    pub fn respond(&self, code: StatusCode, object: &Owned, accepted: &Accepted) -> Result<Response, Status> {
        let value = partial(object.as_ref());
        let typed = response::Typed { api_version: &self.api_version, kind: KIND, value: Ref::of(&value) };
        Ok(response::respond(code, accepted.encoding, response::encode(&typed, accepted)?))
    }
}

fn partial(object: Ref<'_>) -> metav1::PartialObjectMetadata {
    let metadata = registry::meta(object).cloned().unwrap_or_default();
    metav1::PartialObjectMetadata { metadata, ..metav1::PartialObjectMetadata::default() }
}
