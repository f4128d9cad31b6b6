//! Preserves numbers of patches as they were written. Upstream's JSON patches and merge patches move
//! texts, so that `1.0` stays a number with a fraction. A tree of values does not preserve that; so
//! unique placeholder strings replace such numbers meanwhile.

use machinery::json;
use serde_json::Value;

/// The result of a patch, with placeholder strings for numbers.
pub struct Patched {
    pub document: Value,
    /// The prefix of the placeholders.
    mark: String,
    texts: Vec<String>,
}

/// Returns whether a patch has numbers that a tree would not preserve.
pub fn has_odd_numbers(patch: &[u8]) -> bool {
    !odd_numbers(patch).is_empty()
}

/// Applies a patch to a document. `apply` gets the patch with placeholders for such numbers; most
/// patches have none.
///
/// # Errors
/// Those of `apply`.
pub fn with_numbers<E>(
    patch: &[u8],
    document: &Value,
    mut apply: impl FnMut(&[u8]) -> Result<Value, E>,
) -> Result<Patched, E> {
    let places = odd_numbers(patch);
    let has_members = matches!(patch.trim_ascii().first(), Some(b'{' | b'['));
    // A patch that is just a number is refused as one.
    if places.is_empty() || !has_members || json::syntax_error(patch).is_some() {
        return Ok(Patched { document: apply(patch)?, mark: String::new(), texts: Vec::new() });
    }
    let mark = mark(patch, document);
    let (mut marked, mut texts, mut from) = (Vec::with_capacity(patch.len()), Vec::with_capacity(places.len()), 0);
    for (start, end) in places {
        marked.extend_from_slice(&patch[from..start]);
        marked.extend_from_slice(format!("\"{mark}{}\"", texts.len()).as_bytes());
        texts.push(String::from_utf8_lossy(&patch[start..end]).into_owned());
        from = end;
    }
    marked.extend_from_slice(&patch[from..]);
    match apply(&marked) {
        Ok(document) => Ok(Patched { document, mark, texts }),
        // The error must be that of the patch as sent.
        Err(error) => Err(apply(patch).err().unwrap_or(error)),
    }
}

impl Patched {
    /// Returns the text of the document with its numbers, and with the members of objects in their order.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        json::encode_value_in_order(&self.document, &mut text);
        if self.texts.is_empty() {
            return text;
        }
        let text = String::from_utf8_lossy(&text);
        let mark = format!("\"{}", self.mark);
        let mut parts = text.split(mark.as_str());
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (index, rest) = part.split_once('"').unwrap_or_default();
            out.push_str(index.parse().ok().and_then(|index: usize| self.texts.get(index)).map_or("", String::as_str));
            out.push_str(rest);
        }
        out.into_bytes()
    }

    /// Returns the document with its numbers, as far as a tree can represent them.
    pub fn into_document(mut self) -> Value {
        let mut document = std::mem::take(&mut self.document);
        if !self.texts.is_empty() {
            self.restore(&mut document);
        }
        document
    }

    fn restore(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let index = text.strip_prefix(&self.mark).and_then(|index| index.parse::<usize>().ok());
                if let Some(number) = index.and_then(|index| self.texts.get(index)) {
                    *value = json::parse(number.as_bytes(), &mut json::Issues::only_limit()).unwrap_or_default();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.restore(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.restore(member)),
            _ => {}
        }
    }
}

/// Returns a text that occurs neither in the patch nor in the document.
fn mark(patch: &[u8], document: &Value) -> String {
    let mut text = String::from_utf8_lossy(patch).into_owned().into_bytes();
    json::encode_value_in_order(document, &mut text);
    let text = String::from_utf8_lossy(&text);
    (0..).map(|count| format!("number {count} ")).find(|mark| !text.contains(mark)).unwrap_or_default()
}

/// Returns the positions of numbers that this server would write differently.
fn odd_numbers(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut at, mut quoted) = (0, false);
    while at < text.len() {
        match text[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'-' | b'0'..=b'9' if !quoted => {
                let is_end = |byte: &u8| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let end = text[at..].iter().position(is_end).map_or(text.len(), |length| at + length);
                if is_odd(&text[at..end]) {
                    found.push((at, end));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn is_odd(number: &[u8]) -> bool {
    let Ok(value) = json::parse(number, &mut json::Issues::only_limit()) else { return false };
    let mut text = Vec::new();
    json::encode_value(&value, &mut text);
    text != number
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn odd_numbers_are_kept_as_they_are_written() {
        let check = |patch: &str, marked: &str| {
            let made = with_numbers(patch.as_bytes(), &json!({"a": "number 0 0"}), |bytes| {
                assert_eq!(String::from_utf8_lossy(bytes), marked);
                serde_json::from_slice(bytes)
            })
            .unwrap();
            assert_eq!(String::from_utf8_lossy(&made.text()), patch);
            assert_eq!(made.into_document(), serde_json::from_str::<Value>(patch).unwrap());
        };
        check(r#"{"a":1,"b":1.5,"c":"1.0"}"#, r#"{"a":1,"b":1.5,"c":"1.0"}"#);
        check(r#"{"a":[-0.0,1e19],"b\"":1.0}"#, r#"{"a":["number 1 0","number 1 1"],"b\"":"number 1 2"}"#);
    }
}
