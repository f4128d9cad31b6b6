//! Looks through JSON as the server writes it, compact and with the members of objects in order of their names, without making anything of it.

use std::borrow::Cow;

use super::read::Reader;

/// A place in a text. Whatever is asked of it gives nothing once the text is not of that form.
pub struct Scanner<'t>(Reader<'t>);

impl<'t> Scanner<'t> {
    /// The beginning of a text.
    pub fn new(text: &'t str) -> Self {
        Scanner(Reader::new(text))
    }

    /// How many bytes are behind it.
    pub fn at(&self) -> usize {
        self.0.at
    }

    /// The byte here; 0 at the end.
    pub fn peek(&self) -> u8 {
        self.0.peek()
    }

    /// Takes a value.
    pub fn skip(&mut self) -> Option<()> {
        if self.peek() <= b' ' { None } else { self.0.skip().ok() }
    }

    /// Takes an object. `visit` is given the name of each member, and takes the value.
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

    /// Takes a list. `visit` takes each item.
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

    /// The paths of all scalars of a text.
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
    fn only_the_servers_own_form_is_looked_through() {
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
