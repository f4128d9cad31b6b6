//! Converts source to tokens (the lexical part of CEL's grammar).

use crate::error::Problem;

/// A token and its position in characters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub at: usize,
    pub kind: TokenKind,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// Operators, brackets, and the words `in`, `true`, `false`, `null`.
    Symbol(&'static str),
    Name,
    /// A field name in backticks.
    Escaped(String),
    Int(Option<i64>),
    Uint(Option<u64>),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    End,
}

const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%",
];
pub(crate) const WORDS: [&str; 4] = ["in", "true", "false", "null"];

/// All tokens, the last of them `End`. Invalid characters are reported and skipped.
pub(crate) fn tokens(source: &[char], problems: &mut Vec<Problem>) -> Vec<Token> {
    let mut lexer = Lexer { source, at: 0 };
    let mut out = Vec::new();
    while lexer.skip_blank() {
        let start = lexer.at;
        match lexer.token() {
            Some(kind) => out.push(Token { at: start, kind, text: source[start..lexer.at].iter().collect() }),
            None => {
                let text: String = source[start..lexer.at].iter().collect();
                problems.push(Problem {
                    at: start,
                    message: format!("Syntax error: token recognition error at: '{text}'"),
                });
            }
        }
    }
    out.push(Token { at: source.len(), kind: TokenKind::End, text: "<EOF>".into() });
    out
}

struct Lexer<'a> {
    source: &'a [char],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> char {
        self.source.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn starts(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.peek(i) == c)
    }

    /// Skips blanks and comments; returns whether anything follows.
    fn skip_blank(&mut self) -> bool {
        while self.at < self.source.len() {
            match self.peek(0) {
                ' ' | '\t' | '\r' | '\n' | '\u{c}' => self.at += 1,
                '/' if self.peek(1) == '/' => {
                    while self.at < self.source.len() && self.peek(0) != '\n' {
                        self.at += 1;
                    }
                }
                _ => return true,
            }
        }
        false
    }

    fn token(&mut self) -> Option<TokenKind> {
        let first = self.peek(0);
        if first.is_ascii_digit() || (first == '.' && self.peek(1).is_ascii_digit()) {
            return Some(self.number());
        }
        if let Some((prefix, raw, bytes)) = self.string_prefix() {
            self.at += prefix;
            return self.string(raw, bytes);
        }
        if first == '`' {
            return self.escaped();
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return Some(self.name());
        }
        let Some(symbol) = SYMBOLS.iter().find(|s| self.starts(s)) else {
            self.at += 1;
            return None;
        };
        self.at += symbol.len();
        Some(TokenKind::Symbol(symbol))
    }

    fn name(&mut self) -> TokenKind {
        let start = self.at;
        while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == '_' {
            self.at += 1;
        }
        let text: String = self.source[start..self.at].iter().collect();
        WORDS.iter().find(|w| **w == text).map_or(TokenKind::Name, |w| TokenKind::Symbol(w))
    }

    fn escaped(&mut self) -> Option<TokenKind> {
        let length =
            self.source[self.at + 1..].iter().position(|c| !(c.is_ascii_alphanumeric() || "_.-/ ".contains(*c)));
        let Some(length) = length.filter(|n| *n > 0 && self.peek(n + 1) == '`') else {
            self.at += 1;
            return None;
        };
        let text = self.source[self.at + 1..=self.at + length].iter().collect();
        self.at += length + 2;
        Some(TokenKind::Escaped(text))
    }

    fn digits(&mut self, is_digit: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while is_digit(self.peek(0)) {
            self.at += 1;
        }
        self.source[start..self.at].iter().collect()
    }

    fn number(&mut self) -> TokenKind {
        if self.peek(0) == '0' && self.peek(1) == 'x' && self.peek(2).is_ascii_hexdigit() {
            self.at += 2;
            let digits = self.digits(|c| c.is_ascii_hexdigit());
            return self.integer(&digits, 16);
        }
        let mut text = self.digits(|c| c.is_ascii_digit());
        let mut fraction = false;
        if self.peek(0) == '.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            text = format!("{text}.{}", self.digits(|c| c.is_ascii_digit()));
            fraction = true;
        }
        let sign = usize::from(matches!(self.peek(1), '+' | '-'));
        if matches!(self.peek(0), 'e' | 'E') && self.peek(1 + sign).is_ascii_digit() {
            let exponent: String = (0..=sign).map(|i| self.peek(i)).collect();
            self.at += 1 + sign;
            text = format!("{text}{exponent}{}", self.digits(|c| c.is_ascii_digit()));
            fraction = true;
        }
        if fraction { TokenKind::Double(text.parse().unwrap_or(f64::INFINITY)) } else { self.integer(&text, 10) }
    }

    fn integer(&mut self, digits: &str, radix: u32) -> TokenKind {
        if matches!(self.peek(0), 'u' | 'U') {
            self.at += 1;
            return TokenKind::Uint(u64::from_str_radix(digits, radix).ok());
        }
        TokenKind::Int(i64::from_str_radix(digits, radix).ok())
    }

    /// Length of the prefix letters before a quote, and whether they make the literal raw or bytes.
    fn string_prefix(&self) -> Option<(usize, bool, bool)> {
        let (mut raw, mut bytes, mut length) = (false, false, 0);
        while !matches!(self.peek(length), '"' | '\'') {
            match self.peek(length) {
                'r' | 'R' if !raw => raw = true,
                'b' | 'B' if !bytes && !raw => bytes = true,
                _ => return None,
            }
            length += 1;
        }
        Some((length, raw, bytes))
    }

    fn string(&mut self, raw: bool, bytes: bool) -> Option<TokenKind> {
        let quote = self.peek(0);
        let long = self.peek(1) == quote && self.peek(2) == quote;
        let width = if long { 3 } else { 1 };
        self.at += width;
        let mut content = Content { out: Vec::new(), bytes };
        loop {
            let c = self.peek(0);
            if self.at >= self.source.len() || (!long && matches!(c, '\n' | '\r')) {
                return None;
            }
            if (0..width).all(|i| self.peek(i) == quote) {
                self.at += width;
                return content.finish();
            }
            self.at += 1;
            if c == '\\' && !raw { self.escape(&mut content)? } else { content.push(c) }
        }
    }

    fn escape(&mut self, content: &mut Content) -> Option<()> {
        let c = self.peek(0);
        let (digits, radix) = match c {
            'x' | 'X' => (2, 16),
            'u' => (4, 16),
            'U' => (8, 16),
            '0'..='3' => (3, 8),
            _ => {
                const PLAIN: [(char, char); 12] = [
                    ('a', '\u{7}'),
                    ('b', '\u{8}'),
                    ('f', '\u{c}'),
                    ('n', '\n'),
                    ('r', '\r'),
                    ('t', '\t'),
                    ('v', '\u{b}'),
                    ('\\', '\\'),
                    ('\'', '\''),
                    ('"', '"'),
                    ('`', '`'),
                    ('?', '?'),
                ];
                let (_, plain) = PLAIN.iter().find(|(from, _)| *from == c)?;
                self.at += 1;
                content.push(*plain);
                return Some(());
            }
        };
        self.at += usize::from(radix == 16);
        let text: String = (0..digits).map(|i| self.peek(i)).collect();
        let value = u32::from_str_radix(&text, radix).ok()?;
        self.at += digits;
        content.push_code(value, digits <= 3)
    }
}

/// The value of a string or bytes literal, built incrementally.
struct Content {
    out: Vec<u8>,
    bytes: bool,
}

impl Content {
    fn push(&mut self, c: char) {
        self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// In bytes literals, `\x` and octal escapes are bytes; otherwise they are characters.
    fn push_code(&mut self, value: u32, short: bool) -> Option<()> {
        if self.bytes && short {
            self.out.push(u8::try_from(value).ok()?);
        } else {
            self.push(char::from_u32(value)?);
        }
        Some(())
    }

    fn finish(self) -> Option<TokenKind> {
        if self.bytes {
            Some(TokenKind::Bytes(self.out))
        } else {
            String::from_utf8(self.out).ok().map(TokenKind::String)
        }
    }
}
