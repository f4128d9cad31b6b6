//! What is sent on a stream (`konnectivity-client/proto/client/client.proto`), by wire number.

use bytes::Bytes;

/// What a packet is; its payload says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub(super) enum Type {
    DialRequest = 0,
    DialResponse = 1,
    CloseRequest = 2,
    CloseResponse = 3,
    Data = 4,
    CloseDial = 5,
    Drain = 6,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Packet {
    #[prost(enumeration = "Type", tag = "1")]
    pub r#type: i32,
    #[prost(oneof = "Payload", tags = "2, 3, 4, 5, 6, 7")]
    pub payload: Option<Payload>,
}

impl Packet {
    pub fn new(of: Type, payload: Payload) -> Self {
        Packet { r#type: of.into(), payload: Some(payload) }
    }
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Payload {
    #[prost(message, tag = "2")]
    DialRequest(DialRequest),
    #[prost(message, tag = "3")]
    DialResponse(DialResponse),
    #[prost(message, tag = "4")]
    Data(Data),
    #[prost(message, tag = "5")]
    CloseRequest(CloseRequest),
    #[prost(message, tag = "6")]
    CloseResponse(CloseResponse),
    #[prost(message, tag = "7")]
    CloseDial(CloseDial),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DialRequest {
    /// `tcp`
    #[prost(string, tag = "1")]
    pub protocol: String,
    #[prost(string, tag = "2")]
    pub address: String,
    /// What the answer is known by.
    #[prost(int64, tag = "3")]
    pub random: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DialResponse {
    #[prost(string, tag = "1")]
    pub error: String,
    #[prost(int64, tag = "2")]
    pub connect_id: i64,
    #[prost(int64, tag = "3")]
    pub random: i64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct CloseRequest {
    #[prost(int64, tag = "1")]
    pub connect_id: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CloseResponse {
    #[prost(string, tag = "1")]
    pub error: String,
    #[prost(int64, tag = "2")]
    pub connect_id: i64,
}

/// The connection will not be made.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct CloseDial {
    #[prost(int64, tag = "1")]
    pub random: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Data {
    #[prost(int64, tag = "1")]
    pub connect_id: i64,
    #[prost(string, tag = "2")]
    pub error: String,
    #[prost(bytes = "bytes", tag = "3")]
    pub data: Bytes,
}
