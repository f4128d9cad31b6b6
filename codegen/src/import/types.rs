//! Types of the language as an import makes them, before they are text.

/// A struct or an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    pub name: String,
    pub docs: String,
    /// Attributes of a struct besides those of its kind.
    pub attributes: Vec<String>,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Struct(Vec<Field>),
    /// Variants and their values.
    Enum(Vec<(String, String)>),
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub json: String,
    /// The JSON name that the hub has for it.
    pub hub: String,
    /// The name in Rust, as it is written.
    pub name: String,
    pub docs: String,
    pub number: usize,
    /// Words of `#[field(..)]` behind the number.
    pub words: Vec<String>,
    pub ty: String,
}

impl Type {
    /// The fields of a struct.
    pub fn fields(&self) -> &[Field] {
        match &self.body {
            Body::Struct(fields) => fields,
            Body::Enum(_) => &[],
        }
    }
}

impl Field {
    /// The type without `Option`.
    pub fn inner(&self) -> &str {
        self.ty.strip_prefix("Option<").and_then(|ty| ty.strip_suffix('>')).unwrap_or(&self.ty)
    }

    /// The type that a list or map, or the field itself, holds in the end.
    pub fn innermost(&self) -> &str {
        let mut ty = self.inner();
        while let Some(inner) = ty.strip_prefix("Vec<").or_else(|| ty.strip_prefix("Map<String, ")) {
            ty = inner.strip_suffix('>').unwrap_or(inner);
        }
        ty
    }
}
