//! Scans JSON in the format that the server writes, compact and with sorted members, without
//! allocation.

use std::borrow::Cow;

use super::read::Reader;

/// A position in a text. All methods return `None` if the text does not have that format.
pub struct Scanner<'t>(Reader<'t>);

impl<'t> Scanner<'t> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'t str) -> Self {
        Scanner(Reader::new(text))
    }

    /// The offset in bytes.
    pub fn at(&self) -> usize {
        self.0.at
    }

    /// The next byte; 0 at the end.
    pub fn peek(&self) -> u8 {
        self.0.peek()
    }

    /// Skips a value.
    pub fn skip(&mut self) -> Option<()> {
        if self.peek() <= b' ' { None } else { self.0.skip().ok() }
    }

    /// Scans an object. `visit` gets the name of each member, and consumes its value.
    pub fn members(&mut self, mut visit: impl FnMut(&str, &mut Self) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.peek() == b'}' {
            return self.take(b'}');
        }
        let mut before: Option<Cow<'t, str>> = None;
        loop {
            if self.peek() != b'"' {
                return None;
            }
            let name = self.0.string().ok()?;
            if before.is_some_and(|before| before >= name) {
                return None;
            }
            self.take(b':')?;
            visit(&name, self)?;
            before = Some(name);
            if self.peek() != b',' {
                return self.take(b'}');
            }
            self.take(b',')?;
        }
    }

    /// Scans a list. `visit` consumes each item.
    pub fn items(&mut self, mut visit: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.peek() == b']' {
            return self.take(b']');
        }
        loop {
            visit(self)?;
            if self.peek() != b',' {
                return self.take(b']');
            }
            self.take(b',')?;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        if self.peek() != byte {
            return None;
        }
        self.0.at += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of all scalars in a text.
    fn paths(text: &str) -> Option<String> {
        let mut out = String::new();
        let mut scanner = Scanner::new(text);
        walk(&mut scanner, "", &mut out)?;
        (scanner.at() == text.len()).then_some(out)
    }

    fn walk(at: &mut Scanner<'_>, path: &str, out: &mut String) -> Option<()> {
        match at.peek() {
            b'{' => at.members(|name, at| walk(at, &format!("{path}.{name}"), out)),
            b'[' => at.items(|at| walk(at, &format!("{path}[]"), out)),
            _ => {
                out.push_str(path);
                at.skip()
            }
        }
    }

    #[test]
    fn scans_only_compact_sorted_json() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(paths(text).as_deref(), expect, "{text}");
        check(r#"{"a":1,"b":{"c":[true,{"d":"x"}],"e":{}},"f":[]}"#, Some(".a.b.c[].b.c[].d"));
        check(r#"{"b":1,"a":2}"#, None);
        check(r#"{"a":1,"a":2}"#, None);
        check(r#"{"a": 1}"#, None);
        check("{\"a\":[1,\n2]}", None);
        check(r#"{"a":1"#, None);
        check(r#"{"a":1,}"#, None);
        check(r#"{"a":1} "#, None);
    }
}
