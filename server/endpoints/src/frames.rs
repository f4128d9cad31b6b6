//! Frames of a watch: an event around an object. Small frames are sent together.

use std::collections::VecDeque;

use bytes::Bytes;
use machinery::reflect::{Mut, Ref};
use machinery::status::Status;
use machinery::{cbor, envelope, json};

use crate::media::Encoding;
use crate::render::Encoded;
use crate::response;

/// Minimum length in bytes of pieces that are sent without a copy. Thousands of clients that read
/// the same large objects share the same bytes.
const LARGE: usize = 64 << 10;

/// A frame of the stream.
pub enum Framed {
    One(Bytes),
    /// A large object between the bytes before and after it.
    Around([Bytes; 3]),
}

impl Framed {
    pub fn len(&self) -> usize {
        match self {
            Framed::One(bytes) => bytes.len(),
            Framed::Around(pieces) => pieces.iter().map(Bytes::len).sum(),
        }
    }
}

/// Builds the frame of an event. JSON objects may end with a line break.
pub fn frame(kind: &str, object: Encoded, encoding: Encoding) -> Framed {
    let mut head = Vec::new();
    if object.body.len() < LARGE {
        head.reserve(object.len() + 48);
    }
    let (body, tail) = match encoding {
        Encoding::Protobuf => {
            envelope::watch_head(kind, object.len(), &mut head);
            (object.body, object.tail)
        }
        Encoding::Cbor => {
            cbor_head(kind, &mut head);
            (object.body, object.tail)
        }
        Encoding::Json | Encoding::Yaml => {
            head.extend_from_slice(b"{\"type\":\"");
            head.extend_from_slice(kind.as_bytes());
            head.extend_from_slice(b"\",\"object\":");
            (object.body.slice(..object.body.trim_ascii_end().len()), b"}\n".as_slice())
        }
    };
    head.extend_from_slice(&object.head);
    if body.len() >= LARGE {
        return Framed::Around([head.into(), body, Bytes::from_static(tail)]);
    }
    head.extend_from_slice(&body);
    head.extend_from_slice(tail);
    Framed::One(head.into())
}

/// Appends the start of an event, up to its object: a tagged map of `type` and `object`.
fn cbor_head(kind: &str, out: &mut Vec<u8>) {
    const MAP_OF_TWO: u8 = 0xa2;
    /// Initial byte of a byte string shorter than 24 bytes; its length is added.
    const BYTES: u8 = 0x40;
    out.extend_from_slice(&cbor::MAGIC);
    out.push(MAP_OF_TWO);
    for text in ["type", kind, "object"] {
        out.push(BYTES + text.len() as u8);
        out.extend_from_slice(text.as_bytes());
    }
}

/// Length in bytes of the length prefix of a frame in a stream. Messages have no prefix.
pub fn length_prefix(encoding: Encoding) -> usize {
    if encoding == Encoding::Protobuf { size_of::<u32>() } else { 0 }
}

/// Builds an ERROR event.
pub fn error_frame(status: &Status, encoding: Encoding) -> Bytes {
    let (text, mut object) = (status.to_json(), Vec::new());
    if encoding == Encoding::Protobuf {
        let mut typed = apimachinery::meta::v1::Status::default();
        if json::decode(&text, Mut::of(&mut typed), &mut json::Issues::ignore()).is_ok() {
            envelope::encode_object("v1", "Status", Ref::of(&typed), &mut object);
        }
    } else {
        // Cannot fail: the JSON text was written by this server.
        let _ = response::rewrite(&text, encoding, &mut object);
    }
    match frame("ERROR", Bytes::from(object).into(), encoding) {
        Framed::One(bytes) => bytes,
        Framed::Around(pieces) => pieces.concat().into(),
    }
}

/// Pending bytes of a watch.
#[derive(Default)]
pub struct Chunk {
    pieces: VecDeque<Bytes>,
    length: usize,
}

impl Chunk {
    pub fn push(&mut self, frame: Framed) {
        self.length += frame.len();
        match frame {
            Framed::One(bytes) => self.pieces.push_back(bytes),
            Framed::Around(pieces) => self.pieces.extend(pieces),
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the next bytes to send: small pieces up to the next large piece are joined. A large
    /// piece is shared with the other watchers.
    pub fn take(&mut self) -> Option<Bytes> {
        let small = self.pieces.iter().take_while(|piece| piece.len() < LARGE).count();
        let taken = if small > 1 {
            let mut together = Vec::with_capacity(self.pieces.iter().take(small).map(Bytes::len).sum());
            self.pieces.drain(..small).for_each(|piece| together.extend_from_slice(&piece));
            together.into()
        } else {
            self.pieces.pop_front()?
        };
        self.length -= taken.len();
        Some(taken)
    }

    /// Returns all pending bytes, joined.
    pub fn take_all(&mut self) -> Option<Bytes> {
        self.length = 0;
        match self.pieces.len() {
            0 | 1 => self.pieces.pop_front(),
            _ => Some(Vec::from(std::mem::take(&mut self.pieces)).concat().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lengths of the pieces that a chunk of frames yields. `0` stands for a large
    /// object.
    fn taken(lengths: &[usize]) -> Vec<usize> {
        let mut chunk = Chunk::default();
        for &length in lengths {
            let object = vec![b'x'; if length == 0 { LARGE } else { length - 27 }];
            chunk.push(frame("ADDED", Bytes::from(object).into(), Encoding::Json));
        }
        std::iter::from_fn(|| chunk.take()).map(|bytes| bytes.len()).collect()
    }

    #[test]
    fn joins_small_frames_and_not_large_objects() {
        for (lengths, expect) in [
            (&[][..], &[][..]),
            (&[100], &[100]),
            (&[100, 50, 40], &[190]),
            (&[0], &[25, LARGE, 2]),
            (&[100, 0, 40], &[125, LARGE, 42]),
            (&[0, 0], &[25, LARGE, 27, LARGE, 2]),
        ] {
            assert_eq!(taken(lengths), expect, "{lengths:?}");
        }
    }

    #[test]
    fn does_not_copy_large_objects() {
        let object = Bytes::from(vec![b'x'; LARGE]);
        for encoding in [Encoding::Json, Encoding::Protobuf, Encoding::Cbor] {
            let mut chunk = Chunk::default();
            chunk.push(frame("ADDED", object.clone().into(), encoding));
            let pieces: Vec<Bytes> = std::iter::from_fn(|| chunk.take()).collect();
            assert_eq!((pieces[1].as_ptr(), pieces[1].len()), (object.as_ptr(), LARGE));
        }
        let small = frame("ADDED", Bytes::from_static(b"{}\n").into(), Encoding::Json);
        assert!(matches!(small, Framed::One(bytes) if bytes == "{\"type\":\"ADDED\",\"object\":{}}\n"));
    }
}
