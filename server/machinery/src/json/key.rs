//! The name of a field as objects have it: `,"name":`.

/// Ready to be copied, in place: copying a fixed number of bytes is faster than copying the right number from elsewhere.
pub(crate) struct Key {
    padded: [u8; Key::ROOM],
    /// 0 when there is no room for it.
    length: u8,
}

impl Key {
    /// With its length it is 30 bytes, which lets a step on the way from protobuf to JSON be one line of the processor's caches.
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
        Key { padded, length }
    }

    /// Appends it; false when there was no room for it here.
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
    fn a_key_is_written_if_there_is_room() {
        for (length, fits) in [(0, true), (1, true), (25, true), (26, false), (300, false)] {
            let (name, mut out) = ("n".repeat(length), b"{".to_vec());
            assert_eq!(Key::new(&name).write(&mut out), fits, "{length}");
            let expect = if fits { format!("{{,\"{name}\":") } else { "{".to_owned() };
            assert_eq!(out, expect.as_bytes());
        }
    }
}
