//! Field selectors: `metadata.name=x,status.phase!=Running` (upstream: `apimachinery/pkg/fields`).

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// One term of a field selector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldRequirement {
    /// The field's label, for example `metadata.name`.
    pub field: String,
    /// Whether the field must equal the value, or must differ from it.
    pub equal: bool,
    /// The value, without escapes.
    pub value: String,
}

impl FieldRequirement {
    /// Whether a field with this value satisfies the term. An absent field is the empty string.
    pub fn matches(&self, value: &str) -> bool {
        (self.value == value) == self.equal
    }
}

/// A conjunction of terms (upstream `fields.Selector`).
///
/// ```
/// use selector::FieldSelector;
///
/// let selector = FieldSelector::parse("metadata.name=web,status.phase!=Running")?;
/// assert_eq!(selector.requires_exact_match("metadata.name"), Some("web"));
/// assert!(selector.matches(|field| (field == "metadata.name").then_some("web")));
/// # Ok::<(), selector::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector {
    requirements: Vec<FieldRequirement>,
}

impl FieldSelector {
    /// The selector that matches every object.
    pub const fn everything() -> Self {
        Self { requirements: Vec::new() }
    }

    /// The selector `field=value`.
    pub fn equal(field: impl Into<String>, value: impl Into<String>) -> Self {
        Self { requirements: vec![FieldRequirement { field: field.into(), equal: true, value: value.into() }] }
    }

    /// The selector with the additional term `field=value`.
    #[must_use]
    pub fn and_equal(mut self, field: &str, value: &str) -> Self {
        let is_required = |term: &FieldRequirement| term.equal && term.field == field && term.value == value;
        if !self.requirements.iter().any(is_required) {
            self.requirements.insert(0, FieldRequirement { field: field.into(), equal: true, value: value.into() });
        }
        self
    }

    /// Parses the text form. As in upstream, terms are sorted by their text, and terms without
    /// field and value are dropped.
    ///
    /// # Errors
    /// [`Error`] when a term has no operator, or its value has a malformed or missing
    /// escape.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut terms = split_terms(text);
        terms.sort_unstable();
        let terms = terms.into_iter().filter(|term| !term.is_empty());
        let selector = Self { requirements: terms.map(|term| parse_term(term, text)).collect::<Result<_, _>>()? };
        selector.transform(|field, value| Ok((field, value)))
    }

    /// Whether the selector has no terms.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The terms.
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// Whether an object with these fields satisfies all terms.
    pub fn matches<'o>(&self, field: impl Fn(&str) -> Option<&'o str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(field(&requirement.field).unwrap_or("")))
    }

    /// The value that the selector requires for a field, if it does.
    pub fn requires_exact_match(&self, field: &str) -> Option<&str> {
        let exact = |requirement: &&FieldRequirement| requirement.equal && requirement.field == field;
        self.requirements.iter().find(exact).map(|requirement| requirement.value.as_str())
    }

    /// The selector with the field and value of each term replaced, as in the conversion of field
    /// labels between versions. A term that becomes empty on both sides is dropped.
    ///
    /// # Errors
    /// The first error of `convert`.
    pub fn transform<E>(
        self,
        mut convert: impl FnMut(String, String) -> Result<(String, String), E>,
    ) -> Result<Self, E> {
        let mut requirements = Vec::with_capacity(self.requirements.len());
        for requirement in self.requirements {
            let (field, value) = convert(requirement.field, requirement.value)?;
            if !field.is_empty() || !value.is_empty() {
                requirements.push(FieldRequirement { field, value, equal: requirement.equal });
            }
        }
        Ok(Self { requirements })
    }
}

/// Splits at commas without a preceding backslash.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

fn parse_term(term: &str, selector: &str) -> Result<FieldRequirement, Error> {
    let Some((field, equal, value)) = split_operator(term) else {
        return Err(Error::Term { selector: selector.to_owned(), term: term.to_owned() });
    };
    Ok(FieldRequirement { field: field.to_owned(), equal, value: unescape(value)? })
}

/// Splits at the first operator; the field has no escapes.
fn split_operator(term: &str) -> Option<(&str, bool, &str)> {
    let at = term.find('=')?;
    let (field, value) = (&term[..at], &term[at + 1..]);
    Some(match field.strip_suffix('!') {
        Some(field) => (field, false, value),
        None => (field, true, value.strip_prefix('=').unwrap_or(value)),
    })
}

fn unescape(value: &str) -> Result<String, Error> {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                Some(other) => return Err(Error::Escape(format!("\\{other}"))),
                None => return Err(Error::Escape("\\".to_owned())),
            },
            ',' | '=' => return Err(Error::Unescaped(character)),
            _ => out.push(character),
        }
    }
    Ok(out)
}

impl FromStr for FieldSelector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for FieldRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.field, if self.equal { "=" } else { "!=" })?;
        self.value.chars().try_for_each(|character| match character {
            '\\' | ',' | '=' => write!(f, "\\{character}"),
            _ => write!(f, "{character}"),
        })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::label::write_joined(f, &self.requirements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        let cases = [
            ("", ""),
            ("a=b", "a=b"),
            ("a==b", "a=b"),
            ("a!=b", "a!=b"),
            ("b=2,a=1,", "a=1,b=2"),
            (",,a=1", "a=1"),
            ("a=", "a="),
            ("=b", "=b"),
            ("==,a=1,!=", "a=1"),
            ("a=b\\,c\\=d\\\\", "a=b\\,c\\=d\\\\"),
            (" a = b ", " a = b "),
            ("a!b=c", "a!b=c"),
        ];
        for (text, expect) in cases {
            assert_eq!(FieldSelector::parse(text).unwrap().to_string(), expect, "{text}");
        }
    }

    #[test]
    fn errors_match_upstream() {
        let cases = [
            ("a", "invalid selector: 'a'; can't understand 'a'"),
            ("b=1,a", "invalid selector: 'b=1,a'; can't understand 'a'"),
            ("a=b=c", "invalid field selector: unescaped character in value: 61"),
            ("a!==b", "invalid field selector: unescaped character in value: 61"),
            ("a=\\x", "invalid field selector: invalid escape sequence: \\x"),
            ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
        ];
        for (text, expect) in cases {
            assert_eq!(FieldSelector::parse(text).unwrap_err().to_string(), expect, "{text}");
        }
    }

    #[test]
    fn matches_objects() {
        let fields = |name: &str| match name {
            "metadata.name" => Some("web"),
            "status.phase" => Some("Running"),
            _ => None,
        };
        let cases = [
            ("", true),
            ("metadata.name=web", true),
            ("metadata.name=db", false),
            ("metadata.name!=db", true),
            ("metadata.name=web,status.phase!=Running", false),
            ("spec.nodeName=", true),
            ("spec.nodeName!=", false),
        ];
        for (text, expect) in cases {
            assert_eq!(FieldSelector::parse(text).unwrap().matches(fields), expect, "{text}");
        }
    }

    #[test]
    fn returns_required_values() {
        let selector = FieldSelector::parse("a=1,b!=2,a=3").unwrap();
        assert_eq!(selector.requires_exact_match("a"), Some("1"));
        assert_eq!(selector.requires_exact_match("b"), None);
        assert_eq!(FieldSelector::equal("metadata.name", "x").to_string(), "metadata.name=x");
    }

    #[test]
    fn adds_terms() {
        for (text, expect) in [("", "a=1"), ("a=1,b=2", "a=1,b=2"), ("a=2", "a=1,a=2"), ("a!=1", "a=1,a!=1")] {
            assert_eq!(FieldSelector::parse(text).unwrap().and_equal("a", "1").to_string(), expect, "{text}");
        }
    }

    #[test]
    fn converts_terms() {
        let selector = FieldSelector::parse("a=1,b!=2").unwrap();
        let converted = selector.clone().transform(|field, value| {
            Ok::<_, String>(if field == "a" { (String::new(), String::new()) } else { (field + "x", value) })
        });
        assert_eq!(converted.unwrap().to_string(), "bx!=2");
        assert!(selector.transform(|field, _| Err::<_, String>(field)).is_err());
    }
}
