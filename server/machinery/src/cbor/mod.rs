//! CBOR over descriptors.
pub fn to_json(_: &[u8]) -> Result<Vec<u8>, crate::json::Error> { Ok(Vec::new()) }
pub fn is_self_described(bytes: &[u8]) -> bool { bytes.starts_with(&[0xd9, 0xd9, 0xf7]) }
pub fn encode(_: crate::reflect::Ref<'_>, _: &mut Vec<u8>) {}
