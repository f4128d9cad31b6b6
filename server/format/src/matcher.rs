//! Matchers for the character sets of names, without regular expressions.

/// A label syntax: the bytes that a label may start with, contain and end with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
    Dns1123,
    /// As [`Label::Dns1123`] with upper-case letters.
    Dns1123Caseless,
    /// `[a-z]([-a-z0-9]*[a-z0-9])?`
    Dns1035,
    /// `_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?`
    Underscore,
    /// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
    Name,
}

impl Label {
    /// Whether the text is a single label.
    pub fn matches(self, text: &str) -> bool {
        let text = text.as_bytes();
        let text = if self == Self::Underscore { text.strip_prefix(b"_").unwrap_or(text) } else { text };
        match text {
            [] => false,
            [only] => self.starts(*only),
            [first, middle @ .., last] => {
                self.starts(*first) && self.ends(*last) && middle.iter().all(|byte| self.holds(*byte))
            }
        }
    }

    /// Whether the text is a list of labels separated by dots.
    pub fn matches_dotted(self, text: &str) -> bool {
        text.split('.').all(|label| self.matches(label))
    }

    fn starts(self, byte: u8) -> bool {
        if self == Self::Dns1035 { byte.is_ascii_lowercase() } else { self.ends(byte) }
    }

    fn ends(self, byte: u8) -> bool {
        let capitals = matches!(self, Self::Name | Self::Dns1123Caseless);
        byte.is_ascii_digit() || byte.is_ascii_lowercase() || (capitals && byte.is_ascii_uppercase())
    }

    fn holds(self, byte: u8) -> bool {
        match byte {
            b'-' => true,
            b'_' => matches!(self, Self::Name | Self::Underscore),
            b'.' => self == Self::Name,
            _ => self.ends(byte),
        }
    }
}

/// Whether the text is not empty and has only accepted bytes.
pub(super) fn is_all(text: &str, accept: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(accept)
}

/// `[-._a-zA-Z0-9]`
pub(super) fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}
