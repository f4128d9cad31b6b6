//! The first bytes of a document.

/// The self-described tag, which starts every object.
pub const MAGIC: [u8; 3] = [0xd9, 0xd9, 0xf7];
