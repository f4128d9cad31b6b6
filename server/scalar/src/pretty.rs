//! Indentation of JSON text.

use crate::limits::max_blanks;

/// Indents JSON (Go's `json.Indent` with two spaces). The text stays compact if most of the result
/// would be indentation, because values are nested deeply.
pub fn pretty(compact: &[u8], out: &mut Vec<u8>) {
    indent(compact, 2, out);
}

/// [`pretty`] with an indentation of `width` spaces.
pub fn indent(compact: &[u8], width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let longest = max_blanks(compact.len());
    let (mut depth, mut blanks) = (0usize, 0usize);
    let mut in_string = false;
    let mut escaped = false;
    for (index, &c) in compact.iter().enumerate() {
        if in_string {
            out.push(c);
            in_string = escaped || c != b'"';
            escaped = !escaped && c == b'\\';
            continue;
        }
        match c {
            b'{' | b'[' => {
                out.push(c);
                if !matches!(compact.get(index + 1), Some(b'}' | b']')) {
                    depth += 1;
                    blanks += depth * width;
                    if blanks > longest {
                        out.truncate(start);
                        return out.extend_from_slice(compact);
                    }
                    new_line(depth * width, out);
                }
            }
            b'}' | b']' => {
                if !matches!(index.checked_sub(1).and_then(|before| compact.get(before)), Some(b'{' | b'[')) {
                    depth = depth.saturating_sub(1);
                    new_line(depth * width, out);
                }
                out.push(c);
            }
            b',' => {
                out.push(c);
                blanks += depth * width;
                if blanks > longest {
                    out.truncate(start);
                    return out.extend_from_slice(compact);
                }
                new_line(depth * width, out);
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                in_string = c == b'"';
                out.push(c);
            }
        }
    }
}

fn new_line(blanks: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', blanks));
}
