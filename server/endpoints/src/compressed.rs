//! Compressed storage for long-lived, rarely read bytes. Schemas and documents shrink to a fifth or
//! less.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

/// Compressed bytes.
pub struct Compressed(Box<[u8]>);

impl Compressed {
    /// Compresses bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
        // Writes to memory do not fail.
        let packed = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
        Compressed(packed.into())
    }

    /// Decompresses the bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 6);
        match DeflateDecoder::new(&*self.0).read_to_end(&mut bytes) {
            Ok(_) => bytes,
            Err(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_bytes() {
        for text in ["", "a", &"a sentence of a schema. ".repeat(5000)] {
            assert_eq!(Compressed::new(text.as_bytes()).bytes(), text.as_bytes());
        }
        assert!(Compressed::new(&[7; 1 << 20]).0.len() < 1 << 15);
    }
}
