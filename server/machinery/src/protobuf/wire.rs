//! The wire format: varints, tags and lengths.

use super::error::Error;

pub(crate) const VARINT: u8 = 0;
pub(crate) const FIXED64: u8 = 1;
pub(crate) const DELIMITED: u8 = 2;
const START_GROUP: u8 = 3;
const END_GROUP: u8 = 4;
const FIXED32: u8 = 5;

/// The encoded length of a varint in bytes.
#[inline]
pub(crate) const fn varint_len(v: u64) -> usize {
    (70 - (v | 1).leading_zeros() as usize) / 7
}

/// The remaining bytes of a message.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(pub &'a [u8]);

/// A field's number and wire type.
#[derive(Clone, Copy)]
pub(crate) struct Tag {
    pub number: u32,
    pub wire: u8,
}

impl<'a> Reader<'a> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub fn varint(&mut self) -> Result<u64, Error> {
        match self.0 {
            [first, rest @ ..] if *first < 0x80 => {
                self.0 = rest;
                Ok(u64::from(*first))
            }
            _ => self.long_varint(),
        }
    }

    /// Decodes at most ten bytes. As in upstream, bits past the 64th are dropped.
    fn long_varint(&mut self) -> Result<u64, Error> {
        let mut v = 0;
        for (i, &byte) in self.0.iter().take(10).enumerate() {
            v |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.0 = &self.0[i + 1..];
                return Ok(v);
            }
        }
        Err(if self.0.len() < 10 { Error::UnexpectedEof } else { Error::Overflow })
    }

    /// Decodes the next tag of the named message.
    #[inline]
    pub fn tag(&mut self, message: &'static str) -> Result<Tag, Error> {
        let tag = self.varint()?;
        let (number, wire) = ((tag >> 3) as i32, (tag & 7) as u8);
        if number > 0 && wire != END_GROUP {
            return Ok(Tag { number: number as u32, wire });
        }
        Err(match wire {
            END_GROUP => Error::EndGroup(message),
            _ => Error::IllegalTag { message, number, tag },
        })
    }

    /// Decodes length-delimited bytes.
    #[inline]
    pub fn delimited(&mut self) -> Result<&'a [u8], Error> {
        let len = self.varint()?;
        if len > i64::MAX as u64 {
            return Err(Error::NegativeLength);
        }
        self.take(len)
    }

    #[inline]
    fn take(&mut self, len: u64) -> Result<&'a [u8], Error> {
        match usize::try_from(len).ok().and_then(|len| self.0.split_at_checked(len)) {
            Some((taken, rest)) => {
                self.0 = rest;
                Ok(taken)
            }
            None => Err(Error::UnexpectedEof),
        }
    }

    pub fn fixed64(&mut self) -> Result<u64, Error> {
        match self.0.split_first_chunk() {
            Some((bytes, rest)) => {
                self.0 = rest;
                Ok(u64::from_le_bytes(*bytes))
            }
            None => Err(Error::UnexpectedEof),
        }
    }

    /// Skips the value of a field after its tag.
    pub fn skip(&mut self, wire: u8) -> Result<(), Error> {
        let mut groups = 0usize;
        let mut wire = wire;
        loop {
            match wire {
                VARINT => drop(self.varint()?),
                FIXED64 => drop(self.take(8)?),
                DELIMITED => drop(self.delimited()?),
                START_GROUP => groups += 1,
                END_GROUP => groups = groups.checked_sub(1).ok_or(Error::UnexpectedEndOfGroup)?,
                FIXED32 => drop(self.take(4)?),
                other => return Err(Error::IllegalWireType(other)),
            }
            if groups == 0 {
                return Ok(());
            }
            wire = (self.varint()? & 7) as u8;
        }
    }
}
