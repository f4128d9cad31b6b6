//! Base64 decoding with the rules of Go's `encoding/base64` where they differ from the `base64`
//! crate.
//!
//! Line breaks are ignored anywhere, trailing bits are not checked, and errors have the same
//! offsets as Go's.

/// Decodes standard base64. The error is the offset that Go reports.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut decoder = Decoder { text: text.as_bytes(), at: 0, out: Vec::with_capacity(text.len() / 4 * 3) };
    while decoder.quantum()? {}
    Ok(decoder.out)
}

struct Decoder<'t> {
    text: &'t [u8],
    at: usize,
    out: Vec<u8>,
}

impl Decoder<'_> {
    /// Decodes four characters to at most three bytes. Returns false at the end.
    fn quantum(&mut self) -> Result<bool, usize> {
        let mut bits = 0u32;
        for count in 0..4 {
            self.skip_line_breaks();
            let Some(&c) = self.text.get(self.at) else {
                return if count == 0 { Ok(false) } else { Err(self.at - count) };
            };
            match value(c) {
                Some(six) => bits |= u32::from(six) << (18 - 6 * count),
                None if c == b'=' && count >= 2 => {
                    self.padding(count)?;
                    self.out.extend_from_slice(&bits.to_be_bytes()[1..count]);
                    return Ok(false);
                }
                None => return Err(self.at),
            }
            self.at += 1;
        }
        self.out.extend_from_slice(&bits.to_be_bytes()[1..]);
        Ok(true)
    }

    /// Reads the padding after two or three characters, which must be at the end.
    fn padding(&mut self, count: usize) -> Result<(), usize> {
        self.at += 1;
        self.skip_line_breaks();
        if count == 2 {
            match self.text.get(self.at) {
                Some(b'=') => self.at += 1,
                Some(_) => return Err(self.at - 1),
                None => return Err(self.text.len()),
            }
            self.skip_line_breaks();
        }
        if self.at < self.text.len() { Err(self.at) } else { Ok(()) }
    }

    fn skip_line_breaks(&mut self) {
        while matches!(self.text.get(self.at), Some(b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}

fn value(c: u8) -> Option<u8> {
    match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
