//! A fast tokenizer of JSON text.
//!
//! On an error it returns [`Stop`] without a reason. [`syntax_error`] determines the message in
//! another pass over the whole text: upstream checks a text before it decodes it, so a syntax error
//! anywhere takes precedence.

use std::borrow::Cow;

use super::error::Error;
use crate::limits::MAX_STORED_DEPTH;
use crate::scalar::json_text;

/// Reading cannot continue. The decoder has recorded the reason, or [`syntax_error`] finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop;

/// The error of Go's scanner for this text; `None` if the text is a single JSON value.
pub fn syntax_error(text: &[u8]) -> Option<String> {
    json_text::validate(text).err().map(|error| error.to_string())
}

/// Whether the text is a single JSON value, optionally surrounded by white space.
pub fn is_valid(text: &[u8]) -> bool {
    Reader::of_raw(text).is_one_value()
}

/// Whether the text is a single JSON value with at most this many nested containers.
pub(crate) fn is_valid_within(text: &[u8], max_depth: usize) -> bool {
    Reader::of_raw(text).with_max_depth(max_depth).is_one_value()
}

/// The text of a member of an object; `None` if it is absent.
pub fn member<'t>(text: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let mut reader = Reader::new(std::str::from_utf8(text).ok()?);
    if reader.token() != b'{' || reader.enter_empty(b'}').ok()? {
        return None;
    }
    loop {
        let found = reader.name().ok()? == name;
        let start = reader.at;
        reader.skip().ok()?;
        if found {
            return text.get(start..reader.at);
        }
        if !reader.more(b'}').ok()? {
            return None;
        }
    }
}

/// JSON's white space.
fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\r' | b'\n')
}

/// A position in a text.
pub(crate) struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pub(crate) at: usize,
    /// The number of open containers, and its limit.
    depth: usize,
    max_depth: usize,
}

/// Decodes UTF-8 like Go: each invalid byte becomes one U+FFFD.
pub fn to_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len() + 16);
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(std::iter::repeat_n('\u{fffd}', chunk.invalid().len()));
            }
            Cow::Owned(text)
        }
    }
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Reader { text, bytes: text.as_bytes(), at: 0, depth: 0, max_depth: MAX_STORED_DEPTH }
    }

    /// Sets the limit on nested containers.
    pub(crate) fn with_max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// Creates a reader that can only skip, because it does not return strings.
    pub(crate) fn of_raw(bytes: &'t [u8]) -> Self {
        Reader { text: "", bytes, at: 0, depth: 0, max_depth: MAX_STORED_DEPTH }
    }

    /// The next byte; 0, which does not start a token, at the end.
    #[inline(always)]
    pub(crate) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Skips white space and returns the next byte.
    #[inline(always)]
    pub(crate) fn token(&mut self) -> u8 {
        let c = self.peek();
        if c > b' ' { c } else { self.space() }
    }

    fn space(&mut self) -> u8 {
        while is_space(self.peek()) {
            self.at += 1;
        }
        self.peek()
    }

    /// Skips white space and consumes this byte.
    #[inline(always)]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        if self.token() != byte {
            return Err(Stop);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether only white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.token();
        self.at == self.bytes.len()
    }

    /// Whether the text is a single value.
    pub(crate) fn is_one_value(&mut self) -> bool {
        self.token();
        self.skip().is_ok() && self.at_end()
    }

    /// Consumes a word, if it is next.
    pub(crate) fn word(&mut self, word: &'static [u8]) -> Result<(), Stop> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(Stop);
        }
        self.at += word.len();
        Ok(())
    }

    /// The text from `start` to the current position.
    #[inline]
    pub(crate) fn since(&self, start: usize) -> Result<&'t str, Stop> {
        self.text.get(start..self.at).ok_or(Stop)
    }

    /// Reads a string, starting at its opening quote.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Cow<'t, str>, Stop> {
        self.at += 1;
        let start = self.at;
        self.at = plain_until(self.bytes, start);
        if self.peek() == b'"' {
            let plain = self.since(start)?;
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        self.escaped(start).map(Cow::Owned)
    }

    /// Reads the rest of a string with escapes. `start` is the start of its content.
    #[cold]
    fn escaped(&mut self, mut start: usize) -> Result<String, Stop> {
        let mut out = String::new();
        loop {
            out.push_str(self.since(start)?);
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => out.push(self.escape()?),
                _ => return Err(Stop),
            }
            start = self.at;
            self.at = plain_until(self.bytes, start);
        }
    }

    fn escape(&mut self) -> Result<char, Stop> {
        let code = self.bytes.get(self.at + 1).ok_or(Stop)?;
        let plain = match code {
            b'"' | b'\\' | b'/' => char::from(*code),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(Stop),
        };
        self.at += 2;
        Ok(plain)
    }

    /// Reads `\uXXXX`, or a surrogate pair of two. A lone surrogate becomes U+FFFD.
    fn unicode_escape(&mut self) -> Result<char, Stop> {
        let unit = self.hex4(self.at).ok_or(Stop)?;
        self.at += 6;
        if let Some(plain) = char::from_u32(unit) {
            return Ok(plain);
        }
        if unit < 0xdc00
            && let Some(low @ 0xdc00..=0xdfff) = self.hex4(self.at)
        {
            self.at += 6;
            let joined = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            return Ok(char::from_u32(joined).unwrap_or('\u{fffd}'));
        }
        Ok('\u{fffd}')
    }

    /// The number of the `\uXXXX` at this offset.
    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |sum, &d| Some(sum * 16 + char::from(d).to_digit(16)?))
    }

    /// Reads a name, its colon, and the following white space.
    #[inline]
    pub(crate) fn name(&mut self) -> Result<Cow<'t, str>, Stop> {
        if self.token() != b'"' {
            return Err(Stop);
        }
        let name = self.string()?;
        self.expect(b':')?;
        self.token();
        Ok(name)
    }

    /// Enters a level of nesting until [`Self::ascend`].
    #[inline]
    pub(crate) fn descend(&mut self) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > self.max_depth { Err(Stop) } else { Ok(()) }
    }

    #[inline]
    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Consumes an opening bracket. If the container is empty, also consumes the closing one and
    /// returns true.
    #[inline]
    pub(crate) fn enter_empty(&mut self, close: u8) -> Result<bool, Stop> {
        self.descend()?;
        self.at += 1;
        if self.token() != close {
            return Ok(false);
        }
        self.at += 1;
        self.ascend();
        Ok(true)
    }

    /// After a member: whether another one follows. Consumes the closing bracket otherwise.
    #[inline]
    pub(crate) fn more(&mut self, close: u8) -> Result<bool, Stop> {
        let c = self.token();
        self.at += 1;
        if c == b',' {
            self.token();
            return Ok(true);
        }
        if c != close {
            return Err(Stop);
        }
        self.ascend();
        Ok(false)
    }

    /// Reads a number, starting at its first byte, and returns its text.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<&'t str, Stop> {
        let start = self.at;
        self.skip_number()?;
        self.since(start)
    }

    fn skip_number(&mut self) -> Result<(), Stop> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        match self.peek() {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Stop> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { Err(Stop) } else { Ok(()) }
    }

    /// Skips a string, starting at its opening quote.
    fn skip_string(&mut self) -> Result<(), Stop> {
        self.at += 1;
        loop {
            self.at = plain_until(self.bytes, self.at);
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.escape()?;
                }
                _ => return Err(Stop),
            }
        }
    }

    fn skip_scalar(&mut self) -> Result<(), Stop> {
        match self.peek() {
            b'"' => self.skip_string(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.skip_number(),
        }
    }

    fn skip_key(&mut self) -> Result<(), Stop> {
        if self.token() != b'"' {
            return Err(Stop);
        }
        self.skip_string()?;
        self.expect(b':')
    }

    /// Reads the next value and returns its text.
    pub(crate) fn raw(&mut self) -> Result<&'t str, Stop> {
        self.token();
        let start = self.at;
        self.skip()?;
        self.since(start)
    }

    /// Skips a value and returns the name of its type in Go's messages. Fails for null, which has no name.
    pub(crate) fn skip_named(&mut self) -> Result<&'static str, Stop> {
        let name = match self.peek() {
            b'{' => "object",
            b'[' => "array",
            b'"' => "string",
            b't' | b'f' => "bool",
            b'-' | b'0'..=b'9' => "number",
            _ => return Err(Stop),
        };
        self.skip().map(|()| name)
    }

    /// Skips a value and checks its syntax. A loop, so that deep nesting uses no stack.
    pub(crate) fn skip(&mut self) -> Result<(), Stop> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            let c = self.token();
            if c == b'{' || c == b'[' {
                if self.depth + open.len() == self.max_depth {
                    return Err(Stop);
                }
                self.at += 1;
                if self.token() != c + 2 {
                    open.push(c);
                    if c == b'{' {
                        self.skip_key()?;
                    }
                    continue;
                }
                self.at += 1;
            } else {
                self.skip_scalar()?;
            }
            if self.close(&mut open)? {
                return Ok(());
            }
        }
    }

    /// After a value: closes the containers that end here. Returns true when none is open, false
    /// when a value follows.
    fn close(&mut self, open: &mut Vec<u8>) -> Result<bool, Stop> {
        while let Some(&bracket) = open.last() {
            let c = self.token();
            self.at += 1;
            if c == b',' {
                if bracket == b'{' {
                    self.skip_key()?;
                }
                return Ok(false);
            }
            if c != bracket + 2 {
                return Err(Stop);
            }
            open.pop();
        }
        Ok(true)
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The offset of the first quote, backslash or control character at or after `at`; the length if
/// there is none.
///
/// Processes eight bytes at a time: in each byte, the high bit of `(x ^ pattern) - 1 & !(x ^
/// pattern)` is set if it equals the pattern. Borrows may set bits above the first true one, but
/// never below it.
#[inline]
fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..at + 8).and_then(|c| <[u8; 8]>::try_from(c).ok()) {
        let x = u64::from_le_bytes(chunk);
        let quote = x ^ (ONES * b'"' as u64);
        let backslash = x ^ (ONES * b'\\' as u64);
        let found = (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (x.wrapping_sub(ONES * 0x20) & !x);
        let found = found & HIGHS;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&c) = bytes.get(at) {
        if c == b'"' || c == b'\\' || c < 0x20 {
            return at;
        }
        at += 1;
    }
    at
}

/// The error to report: a syntax error anywhere in the document takes precedence over the decoder's
/// error.
#[cold]
pub(crate) fn reason(document: &[u8], found: Option<Error>) -> Error {
    match (syntax_error(document), found) {
        (None, Some(error)) => error,
        (Some(text), _) => Error::Syntax(text.into()),
        // The reader stopped where Go's scanner does not. The only such place is the depth limit of
        // this server.
        (None, None) => Error::Syntax("invalid character '{' exceeded max depth".into()),
    }
}
