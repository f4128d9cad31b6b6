//! Tokenizes label selectors (upstream: `labels.Lexer`).

/// A token type. In a list of values, `in` and `notin` are identifiers; the parser decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Identifier,
    In,
    NotIn,
    Comma,
    Open,
    Close,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
}

/// Yields tokens with their texts, then [`Token::End`] forever.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub fn next(&mut self) -> (Token, &'a str) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
        let start = self.at;
        let token = match self.peek() {
            0 => {
                self.at = self.text.len(); // Upstream treats a NUL as the end of the text.
                return (Token::End, "");
            }
            byte if is_special(byte) => self.special(byte),
            _ => self.word(),
        };
        let literal = &self.text[start..self.at];
        if self.peek() == 0 && self.at < self.text.len() {
            self.at += 1; // A NUL directly after a token only ends the token.
        }
        (token, literal)
    }

    fn special(&mut self, byte: u8) -> Token {
        self.at += 1;
        let token = match (byte, self.peek()) {
            (b'=', b'=') => Token::DoubleEquals,
            (b'!', b'=') => Token::NotEquals,
            (b'=', _) => Token::Equals,
            (b'!', _) => Token::Not,
            (b'(', _) => Token::Open,
            (b')', _) => Token::Close,
            (b',', _) => Token::Comma,
            (b'>', _) => Token::Greater,
            _ => Token::Less,
        };
        if matches!(token, Token::DoubleEquals | Token::NotEquals) {
            self.at += 1;
        }
        token
    }

    fn word(&mut self) -> Token {
        let start = self.at;
        while !matches!(self.peek(), 0 | b' ' | b'\t' | b'\r' | b'\n') && !is_special(self.peek()) {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            "in" => Token::In,
            "notin" => Token::NotIn,
            _ => Token::Identifier,
        }
    }

    /// The next byte, or NUL at the end.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'=' | b'!' | b'(' | b')' | b',' | b'>' | b'<')
}
