//! Formats definitions: wraps long descriptions and attributes.

/// Maximum width of lines that can be wrapped.
const WIDTH: usize = 100;

/// Wraps lines that are too long.
pub fn lines(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let content = line.trim_start();
        let indent = &line[..line.len() - content.len()];
        match content.strip_prefix("/// ") {
            _ if line.chars().count() <= WIDTH => push(indent, content, &mut out),
            Some(words) => description(indent, words, &mut out),
            None if content.starts_with("#[") => attribute(indent, content, &mut out),
            None => push(indent, content, &mut out),
        }
    }
    out
}

fn push(indent: &str, content: &str, out: &mut String) {
    if !content.is_empty() {
        out.push_str(indent);
        out.push_str(content);
    }
    out.push('\n');
}

/// Wraps a description; no line begins with text that would make it a list item.
fn description(indent: &str, words: &str, out: &mut String) {
    let mut line = String::from("///");
    for word in words.split_whitespace() {
        let is_full = indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH;
        if is_full && line.len() > 3 && !["-", "*"].contains(&word) {
            push(indent, &line, out);
            line = String::from("///");
        }
        line.push(' ');
        line.push_str(word);
    }
    push(indent, &line, out);
}

/// Wraps an attribute, with one argument per line.
fn attribute(indent: &str, content: &str, out: &mut String) {
    let Some((name, arguments)) = content.strip_suffix(")]").and_then(|content| content.split_once('(')) else {
        return push(indent, content, out);
    };
    push(indent, &format!("{name}("), out);
    for argument in split(arguments) {
        push(indent, &format!("    {},", argument.trim()), out);
    }
    push(indent, ")]", out);
}

/// Splits arguments at commas outside of brackets and strings.
pub fn split(arguments: &str) -> Vec<&str> {
    let (mut out, mut start, mut depth, mut quoted, mut escaped) = (Vec::new(), 0, 0, false, false);
    for (at, c) in arguments.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                out.push(&arguments[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(&arguments[start..]);
    out
}
