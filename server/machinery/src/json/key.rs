//! The encoded key of a field: `,"name":`.

/// A key that is stored in place, with padding: copying a fixed number of bytes is faster than
/// copying a variable number from elsewhere.
pub(crate) struct InlineKey {
    padded: [u8; InlineKey::ROOM],
    /// 0 if the key does not fit.
    length: u8,
}

impl InlineKey {
    /// With the length it takes 30 bytes, so that a step of the conversion from protobuf to JSON
    /// fits into a cache line.
    const ROOM: usize = 29;

    pub fn new(name: &str) -> Self {
        let mut padded = [0; Self::ROOM];
        let text = format!(",\"{name}\":");
        let length = match padded.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                text.len() as u8
            }
            None => 0,
        };
        InlineKey { padded, length }
    }

    /// Appends the key; returns false if it did not fit.
    #[inline(always)]
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        let end = out.len() + usize::from(self.length);
        out.extend_from_slice(&self.padded);
        out.truncate(end);
        self.length > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_keys_that_fit() {
        for (length, fits) in [(0, true), (1, true), (25, true), (26, false), (300, false)] {
            let (name, mut out) = ("n".repeat(length), b"{".to_vec());
            assert_eq!(InlineKey::new(&name).write(&mut out), fits, "{length}");
            let expect = if fits { format!("{{,\"{name}\":") } else { "{".to_owned() };
            assert_eq!(out, expect.as_bytes());
        }
    }
}
