//! SPDY frames: encoding, and parsing of frame headers.

use bytes::{BufMut, Bytes, BytesMut};

/// Length of a frame header in bytes.
pub const HEAD: usize = 8;
const CONTROL: u32 = 1 << 31;
const VERSION: u32 = 3;
const FIN: u8 = 1;

const SYN_STREAM: u16 = 1;
const SYN_REPLY: u16 = 2;
const RST_STREAM: u16 = 3;
const PING: u16 = 6;
const GOAWAY: u16 = 7;

/// The type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// Data of a stream.
    Data(u32),
    SynReply,
    RstStream,
    Ping,
    GoAway,
    /// Not relevant for a side that opens all streams.
    Other,
}

/// A frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub kind: FrameType,
    /// Whether the frame is the last one of its stream.
    pub is_last: bool,
    /// Payload length in bytes.
    pub length: usize,
}

impl Head {
    pub fn parse(bytes: [u8; HEAD]) -> Self {
        let [a, b, c, d, flags, e, f, g] = bytes;
        let first = u32::from_be_bytes([a, b, c, d]);
        let kind = match u16::from_be_bytes([c, d]) {
            _ if first & CONTROL == 0 => FrameType::Data(first),
            SYN_REPLY => FrameType::SynReply,
            RST_STREAM => FrameType::RstStream,
            PING => FrameType::Ping,
            GOAWAY => FrameType::GoAway,
            _ => FrameType::Other,
        };
        Head { kind, is_last: flags & FIN != 0, length: u32::from_be_bytes([0, e, f, g]) as usize }
    }
}

/// Encodes SYN_STREAM, which opens a stream.
pub fn syn_stream(stream: u32, headers: &[u8]) -> Bytes {
    let (associated, priority) = (0, 0);
    let mut frame = control(SYN_STREAM, 10 + headers.len());
    frame.put_u32(stream);
    frame.put_u32(associated);
    frame.put_u16(priority);
    frame.put_slice(headers);
    frame.freeze()
}

/// Encodes data of a stream, at most [`MAX_DATA`] bytes.
pub fn data(stream: u32, bytes: &[u8], is_last: bool) -> Bytes {
    let mut frame = BytesMut::with_capacity(HEAD + bytes.len());
    frame.put_u32(stream);
    frame.put_u8(if is_last { FIN } else { 0 });
    frame.put_uint(bytes.len() as u64, 3);
    frame.put_slice(bytes);
    frame.freeze()
}

/// Maximum payload of a frame in bytes.
pub const MAX_DATA: usize = (1 << 24) - 1;

/// Encodes PING, as a request or as a reply.
pub fn ping(id: u32) -> Bytes {
    let mut frame = control(PING, 4);
    frame.put_u32(id);
    frame.freeze()
}

/// Encodes GOAWAY, the last frame.
pub fn go_away() -> Bytes {
    let (last_stream, ok) = (0, 0);
    let mut frame = control(GOAWAY, 8);
    frame.put_u32(last_stream);
    frame.put_u32(ok);
    frame.freeze()
}

fn control(kind: u16, length: usize) -> BytesMut {
    let mut frame = BytesMut::with_capacity(HEAD + length);
    frame.put_u32(CONTROL | (VERSION << 16) | u32::from(kind));
    // No flags, and a 24-bit length.
    frame.put_u32(length as u32);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_encoded_frames() {
        let check = |frame: Bytes, kind: FrameType, is_last: bool, length: usize| {
            let head = Head::parse(frame[..HEAD].try_into().unwrap());
            assert_eq!(head, Head { kind, is_last, length });
            assert_eq!(frame.len(), HEAD + length);
        };
        check(data(5, b"abc", false), FrameType::Data(5), false, 3);
        check(data(5, b"", true), FrameType::Data(5), true, 0);
        check(ping(7), FrameType::Ping, false, 4);
        check(go_away(), FrameType::GoAway, false, 8);
        check(syn_stream(1, b"headers"), FrameType::Other, false, 17);
        assert_eq!(syn_stream(1, b"")[..8], [0x80, 3, 0, 1, 0, 0, 0, 10]);
    }
}
