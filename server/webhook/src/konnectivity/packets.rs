//! The messages of `proto/konnectivity.proto`.

#![allow(clippy::all, clippy::pedantic, missing_docs, reason = "written by prost-build")]

include!(concat!(env!("OUT_DIR"), "/konnectivity.rs"));

pub(super) use packet::Payload;

impl Packet {
    /// Creates a packet with a payload.
    pub(super) fn new(of: PacketType, payload: Payload) -> Self {
        Packet { r#type: of.into(), payload: Some(payload) }
    }
}
