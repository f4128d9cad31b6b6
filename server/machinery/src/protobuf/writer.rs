//! The buffer of an encoder, which is filled from its end.

use super::wire::{DELIMITED, VARINT};

/// Fills a buffer from its end.
pub(crate) struct Writer {
    pub(super) buf: Vec<u8>,
    /// Start of the written bytes.
    pub(super) at: usize,
    pub(super) text: Vec<u8>,
}

impl Writer {
    /// The number of bytes written.
    #[inline]
    pub fn len(&self) -> usize {
        self.buf.len() - self.at
    }

    /// Reserves `n` bytes before the written ones.
    #[inline]
    pub(super) fn room(&mut self, n: usize) -> &mut [u8] {
        if self.at < n {
            self.grow(n);
        }
        let end = self.at;
        self.at -= n;
        &mut self.buf[self.at..end]
    }

    #[cold]
    pub(super) fn grow(&mut self, n: usize) {
        let (old, written) = (self.buf.len(), self.len());
        let len = (old * 2).max(written + n).max(4096);
        self.buf.resize(len, 0);
        self.buf.copy_within(self.at..old, len - written);
        self.at = len - written;
    }

    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    #[inline]
    pub fn varint(&mut self, v: u64) {
        if v < 0x80 {
            self.room(1)[0] = v as u8;
        } else {
            self.long_varint(v);
        }
    }

    pub(super) fn long_varint(&mut self, mut v: u64) {
        let room = self.room(super::wire::varint_len(v));
        let last = room.len() - 1;
        for byte in &mut room[..last] {
            *byte = v as u8 | 0x80;
            v >>= 7;
        }
        room[last] = v as u8;
    }

    #[inline]
    pub fn tag(&mut self, number: u32, wire: u8) {
        self.varint(u64::from(number) << 3 | u64::from(wire));
    }

    /// Writes a tag and the number after it: both are usually short.
    #[inline]
    pub(super) fn head(&mut self, number: u32, wire: u8, v: u64) {
        let tag = u64::from(number) << 3 | u64::from(wire);
        if (tag | v) < 0x80 {
            self.room(2).copy_from_slice(&[tag as u8, v as u8]);
        } else {
            self.varint(v);
            self.varint(tag);
        }
    }

    /// Writes a field of bytes or text.
    #[inline]
    pub fn delimited(&mut self, number: u32, bytes: &[u8]) {
        let (tag, length) = (u64::from(number) << 3 | u64::from(DELIMITED), bytes.len());
        if tag < 0x80 && length < 0x80 {
            let room = self.room(length + 2);
            (room[0], room[1]) = (tag as u8, length as u8);
            room[2..].copy_from_slice(bytes);
        } else {
            self.bytes(bytes);
            self.head(number, DELIMITED, length as u64);
        }
    }

    /// Writes a varint field.
    #[inline]
    pub fn varint_field(&mut self, number: u32, v: u64) {
        self.head(number, VARINT, v);
    }

    /// Writes text that is formatted forwards, and its length.
    pub fn text(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        append(&mut text);
        self.bytes(&text);
        self.varint(text.len() as u64);
        self.text = text;
    }

    /// Turns the bytes written since `self.len()` was `before` into a field.
    #[inline]
    pub fn close(&mut self, number: u32, before: usize) {
        self.head(number, DELIMITED, (self.len() - before) as u64);
    }
}
