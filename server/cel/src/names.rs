//! Reserved names, and the spelling of fields that CEL has no name for.

use crate::lex::WORDS;

/// Names that cel-go reserves, besides keywords.
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

/// Whether a name cannot be used for a variable.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || WORDS.contains(&name)
}

/// The name of a property in expressions; `None` if it has none (`cel.Escape`).
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
    fn spells_values_without_name() {
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
