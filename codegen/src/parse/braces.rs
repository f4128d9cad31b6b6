//! Braces that are not closed: the parser notices them at the end of a file, or where the next item
//! stands.

/// A `{` on its line.
#[derive(Clone, Copy)]
struct Open {
    /// 1-based.
    line: usize,
    /// 1-based, in characters.
    column: usize,
    /// Blanks at the beginning of the line.
    indent: usize,
}

/// Line and column of a `{` that is not closed; nothing when all are. Of those around each other it
/// is the one that stands deeper than the `}` which would have to close it.
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
    fn the_brace_that_is_not_closed_is_found() {
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
