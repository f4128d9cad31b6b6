//! Names that the language keeps for itself, and how fields are spelled that CEL has no name for.

use crate::lex::WORDS;

/// What cel-go reserves besides the words that mean something.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether a name cannot be a variable's.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || WORDS.contains(&name)
}

/// What a property is called in expressions; nothing for what none can name (`cel.Escape`).
pub fn escape(name: &str) -> Option<String> {
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(allowed) {
        return None;
    }
    let name = name.replace("__", "__underscores__");
    Some(name.replace('-', "__dash__").replace('.', "__dot__").replace('/', "__slash__"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_what_has_no_name() {
        let cases = [
            ("image", Some("image")),
            ("namespace", Some("__namespace__")),
            ("in", Some("__in__")),
            ("a-b.c/d__e", Some("a__dash__b__dot__c__slash__d__underscores__e")),
            ("1a", None),
            ("", None),
            ("a b", None),
        ];
        for (name, spelled) in cases {
            assert_eq!(escape(name).as_deref(), spelled, "{name}");
        }
    }
}
