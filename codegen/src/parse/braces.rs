//! Finds unclosed braces. The Rust parser reports them only at the end of the file or at the next item.

/// A `{` and the indentation of its line.
#[derive(Clone, Copy)]
struct Open {
    /// 1-based.
    line: usize,
    /// 1-based, in characters.
    column: usize,
    /// Number of blanks at the beginning of the line.
    indent: usize,
}

/// Line and column of an unclosed `{`; `None` if all are closed. Among nested braces it is the one that
/// is indented deeper than the `}` that would close it.
pub fn unclosed(text: &str) -> Option<(usize, usize)> {
    let (mut open, mut suspect) = (Vec::<Open>::new(), None);
    for (number, line) in text.lines().enumerate() {
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        for (column, sign) in braces(line) {
            if sign == '{' {
                open.push(Open { line: number + 1, column: column + 1, indent });
            } else if let Some(last) = open.pop()
                && last.indent > indent
                && column == indent
            {
                suspect = suspect.or(Some(last));
            }
        }
    }
    let left = open.last().copied()?;
    let found = suspect.unwrap_or(left);
    Some((found.line, found.column))
}

/// The braces of a line outside of strings and comments, with their columns.
fn braces(line: &str) -> Vec<(usize, char)> {
    let (mut found, mut in_string, mut before) = (Vec::new(), false, ' ');
    for (column, c) in line.chars().enumerate() {
        match c {
            '/' if before == '/' && !in_string => break,
            '"' if before != '\\' => in_string = !in_string,
            '{' | '}' if !in_string => found.push((column, c)),
            _ => {}
        }
        before = if before == '\\' && c == '\\' { ' ' } else { c };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_unclosed_brace() {
        for (text, expect) in [
            ("struct A {\n}\nstruct B {\n}\n", None),
            ("struct A {\n    a: B,\n\nstruct B {\n}\n", Some((1, 10))),
            ("mod v2 {\n    struct A {\n        a: B,\n\n    struct B {\n    }\n}\n", Some((2, 14))),
            ("#[rule(\"{\")] // {\nstruct A {\n}\n", None),
        ] {
            assert_eq!(unclosed(text), expect, "{text}");
        }
    }
}
