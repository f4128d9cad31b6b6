//! Field paths, as error messages show them: `spec.template.spec.containers[0].image`.
//!
//! A path is a linked list on the stack, so that code which traverses an object extends it without
//! allocation. Its text is only built for errors.

use std::fmt::{self, Write as _};

/// A path to a field (upstream `field.Path`).
///
/// ```
/// use status::field_path::Path;
///
/// let (spec, index) = (Path::new("spec"), 0);
/// assert_eq!(spec.child("ports").index(index).child("name").to_string(), "spec.ports[0].name");
/// ```
///
/// A name may contain dots: `path.child("template.spec")` is shown like two elements, at the cost
/// of one.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    element: Element<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Element<'a> {
    /// No path: Go's nil `*field.Path`.
    Nothing,
    Name(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// The empty path. Alone it is shown as `<nil>`, which clients of upstream do see; as a parent
    /// it is not shown.
    pub const NONE: Path<'static> = Path { parent: None, element: Element::Nothing };

    /// A path of a single name.
    pub const fn new(name: &'a str) -> Self {
        Self { parent: None, element: Element::Name(name) }
    }

    /// Whether it is [`Path::NONE`].
    pub const fn is_root(&self) -> bool {
        matches!(self.element, Element::Nothing)
    }

    /// The field `name` of this one.
    pub const fn child(&'a self, name: &'a str) -> Self {
        self.with(Element::Name(name))
    }

    /// A path relative to the parent of this one.
    ///
    /// `name` is a child of the parent, `.` is the parent, and each `..` goes one level up. With a
    /// leading slash, the name is an absolute path.
    pub fn relative(&self, name: &'a str) -> Self {
        if let Some(name) = name.strip_prefix('/') {
            return Path::new(name);
        }
        let mut base = self.parent.copied().unwrap_or(Path { parent: None, element: Element::Nothing });
        let (mut parent, mut rest) = (self.parent, name);
        while let Some(below) = rest.strip_prefix("..") {
            parent = parent.and_then(|path| path.parent);
            base = parent.copied().unwrap_or(Path { parent: None, element: Element::Nothing });
            rest = below.strip_prefix('/').unwrap_or(below);
        }
        match rest {
            "" | "." => base,
            rest => Path { parent, element: Element::Name(rest) },
        }
    }

    /// The item at `index` of this list.
    pub const fn index(&'a self, index: usize) -> Self {
        self.with(Element::Index(index))
    }

    /// The entry at `key` of this map.
    pub const fn key(&'a self, key: &'a str) -> Self {
        self.with(Element::Key(key))
    }

    /// The text of the path for errors, truncated to `MAX_TEXT` bytes: an object may have very
    /// many errors below one long key.
    pub fn to_text(&self) -> String {
        let mut text = Truncated(String::new());
        let _ = write!(text, "{self}");
        text.0
    }

    const fn with(&'a self, element: Element<'a>) -> Self {
        let parent = match self.element {
            Element::Nothing => None,
            _ => Some(self),
        };
        Self { parent, element }
    }
}

/// Limit in bytes on the path of an error.
const MAX_TEXT: usize = 4 << 10;

/// A text that keeps only its first [`MAX_TEXT`] bytes.
struct Truncated(String);

impl fmt::Write for Truncated {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.floor_char_boundary(MAX_TEXT - self.0.len());
        self.0.push_str(&text[..end]);
        if end == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.element {
            Element::Nothing => f.write_str("<nil>"),
            Element::Name("") => f.write_str("[]"), // Upstream shows an unnamed field as an unnamed subscript.
            Element::Name(name) if self.parent.is_some() => write!(f, ".{name}"),
            Element::Name(name) => f.write_str(name),
            Element::Index(index) => write!(f, "[{index}]"),
            Element::Key(key) => write!(f, "[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_matches_upstream() {
        let spec = Path::new("spec");
        let containers = spec.child("template.spec").child("containers").to_string();
        assert_eq!(containers, "spec.template.spec.containers");
        assert_eq!(spec.child("containers").index(0).child("image").to_string(), "spec.containers[0].image");
        assert_eq!(Path::new("metadata").child("labels").key("a.b/c").to_string(), "metadata.labels[a.b/c]");
        assert_eq!(Path::new("items").index(1).key("k").to_string(), "items[1][k]");
        assert_eq!(Path::NONE.to_string(), "<nil>");
        assert_eq!(Path::NONE.child("key").to_string(), "key");
        assert_eq!(Path::NONE.index(2).child("name").to_string(), "[2].name");
        assert_eq!(spec.child("").child("x").to_string(), "spec[].x");
        let list = spec.child("ports");
        let item = list.index(1);
        let name = item.child("name");
        let relative = |to| name.relative(to).to_string();
        assert_eq!(relative("port"), "spec.ports[1].port");
        assert_eq!(relative("."), "spec.ports[1]");
        assert_eq!(relative(".."), "spec.ports");
        assert_eq!(relative("../name"), "spec.ports.name");
        assert_eq!(relative("../../ports.name"), "spec.ports.name");
        assert_eq!(relative("/name"), "name");
        assert_eq!(spec.relative("status").to_string(), "status");
    }

    #[test]
    fn truncates_text_of_very_long_path() {
        let key = "é".repeat(MAX_TEXT);
        let text = Path::new("spec").key(&key).child("name").to_text();
        assert!(text.starts_with("spec[é") && text.len() <= MAX_TEXT && text.len() > MAX_TEXT - 4);
        assert_eq!(Path::new("spec").child("name").to_text(), "spec.name");
    }

    #[test]
    fn extends_during_traversal() {
        fn walk(path: &Path<'_>, depth: usize) -> String {
            if depth == 0 { path.to_string() } else { walk(&path.child("properties").index(depth), depth - 1) }
        }
        assert_eq!(walk(&Path::new("schema"), 2), "schema.properties[2].properties[1]");
    }
}
