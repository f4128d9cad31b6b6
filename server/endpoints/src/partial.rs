//! `PartialObjectMetadata`: an object's metadata alone, taken out of its bytes.

use apimachinery::meta::v1 as metav1;
use bytes::Bytes;
use http::StatusCode;
use machinery::reflect::{Owned, Ref, Struct};
use machinery::status::Status;
use machinery::{envelope, json, protobuf};
use serving::Response;
use storage::cache::Entry;

use crate::answer;
use crate::media::{Accepted, Encoding};
use crate::render::Renderer;

const KIND: &str = "PartialObjectMetadata";

/// The form in one version of `meta.k8s.io`.
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

    /// Likewise, of an object that is not in the cache.
    pub fn write_json_of(&self, object: Ref<'_>, out: &mut Vec<u8>) {
        let value = partial(object);
        json::encode_object(&self.api_version, KIND, Ref::of(&value), out);
    }

    /// The message, which holds the metadata as the object does.
    pub fn message(&self, renderer: &Renderer, entry: &Entry) -> Result<Bytes, Status> {
        let metadata = renderer.metadata(entry)?;
        let number = metav1::PartialObjectMetadata::def().json_field("metadata").map_or(0, |field| field.number);
        let mut out = Vec::with_capacity(metadata.len() + 8);
        protobuf::write_bytes(number, &metadata, &mut out);
        Ok(out.into())
    }

    /// An object's metadata in its encoding; JSON ends with a line break.
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
                answer::rewrite(&text, renderer.encoding, &mut out)?;
            }
        }
        Ok(out.into())
    }

    /// The metadata of an object that is not in the cache.
    pub fn other(&self, object: Ref<'_>, encoding: Encoding) -> Result<Bytes, Status> {
        let value = partial(object);
        let accepted = Accepted { encoding, form: crate::media::Form::Object, pretty: false, stream: false };
        let typed = answer::Typed { api_version: &self.api_version, kind: KIND, value: Ref::of(&value) };
        answer::encode(&typed, &accepted).map(Bytes::from)
    }

    /// Answers with the metadata of an object that was just written.
    pub fn respond(&self, code: StatusCode, object: &Owned, accepted: &Accepted) -> Result<Response, Status> {
        let value = partial(object.as_ref());
        let typed = answer::Typed { api_version: &self.api_version, kind: KIND, value: Ref::of(&value) };
        Ok(answer::respond(code, accepted.encoding, answer::encode(&typed, accepted)?))
    }
}

fn partial(object: Ref<'_>) -> metav1::PartialObjectMetadata {
    let metadata = registry::meta(object).cloned().unwrap_or_default();
    metav1::PartialObjectMetadata { metadata, ..metav1::PartialObjectMetadata::default() }
}
