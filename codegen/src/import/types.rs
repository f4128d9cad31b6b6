//! Types of imported definitions, before rendering.

/// A struct or an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedType {
    pub name: String,
    pub docs: String,
    /// Attributes of a struct besides those of a kind.
    pub attributes: Vec<String>,
    pub body: ImportedBody,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ImportedBody {
    Struct(Vec<ImportedField>),
    /// Variants with their values.
    Enum(Vec<(String, String)>),
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedField {
    pub json: String,
    /// The hub's JSON name of the field.
    pub hub: String,
    /// The Rust name, as spelled in the definition.
    pub name: String,
    pub docs: String,
    pub number: usize,
    /// Words of `#[field(..)]` after the number.
    pub words: Vec<String>,
    pub ty: String,
}

impl ImportedType {
    /// The fields of a struct.
    pub fn fields(&self) -> &[ImportedField] {
        match &self.body {
            ImportedBody::Struct(fields) => fields,
            ImportedBody::Enum(_) => &[],
        }
    }
}

impl ImportedField {
    /// The type without `Option`.
    pub fn inner(&self) -> &str {
        self.ty.strip_prefix("Option<").and_then(|ty| ty.strip_suffix('>')).unwrap_or(&self.ty)
    }

    /// The innermost type of a list or map, or of the field itself.
    pub fn innermost(&self) -> &str {
        let mut ty = self.inner();
        while let Some(inner) = ty.strip_prefix("Vec<").or_else(|| ty.strip_prefix("Map<String, ")) {
            ty = inner.strip_suffix('>').unwrap_or(inner);
        }
        ty
    }
}
